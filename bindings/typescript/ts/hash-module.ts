import { readHash } from "#module";
import { Loader, running, type ModuleSource } from "./init.js";
import * as glue from "./wasm/hash.js";

const loader = /* @__PURE__ */ new Loader(() => glue, readHash);

/**
 * Loads the hash-based signatures, once; call it before anything else here. Later calls wait for the first.
 *
 * Without an argument the module is found beside this file. Where a bundler or a platform puts it elsewhere, give it: the package
 * exports it as `gambeson/hash.wasm`.
 * @throws GambesonError `load-failed`
 */
export function init(source?: ModuleSource | Promise<ModuleSource>): Promise<void> {
  return loader.init(source);
}

/** The functions of the module. */
export const wasm = (): typeof glue => running(loader.loaded);
