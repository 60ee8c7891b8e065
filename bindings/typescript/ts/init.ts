import { readModule } from "#module";
import { GambesonError } from "./error.js";
import * as glue from "./wasm/gambeson.js";

let starting: Promise<void> | undefined;
let started = false;

/**
 * Loads the WebAssembly module, once; call it before anything else. Later calls wait for the first.
 *
 * Without an argument the module is found beside this file. Where a bundler or a platform puts it elsewhere, give its bytes,
 * the compiled module, or the response of a `fetch` (the package exports it as `gambeson/gambeson.wasm`).
 */
export function init(
  source?: BufferSource | WebAssembly.Module | Response | Promise<BufferSource | WebAssembly.Module | Response>,
): Promise<void> {
  starting ??= (async () => {
    await glue.default({ module_or_path: source ?? readModule() });
    started = true;
  })().catch((error: unknown) => {
    starting = undefined;
    throw error;
  });
  return starting;
}

/** The functions of the module. */
export function wasm(): typeof glue {
  if (!started) throw new GambesonError("not-initialized", "call `await init()` first");
  return glue;
}
