import { GambesonError } from "./error.js";

/** What a module can be started from: its bytes, the compiled module, or the response of a `fetch`. */
export type ModuleSource = BufferSource | WebAssembly.Module | Response;

/** Loads one WebAssembly module, once. */
export class Loader<Glue extends { default: (options: { module_or_path: ModuleSource | Promise<ModuleSource> }) => Promise<unknown> }> {
  #starting: Promise<void> | undefined;
  #started = false;

  constructor(
    private readonly glue: Glue,
    private readonly read: () => ModuleSource | Promise<ModuleSource>,
  ) {}

  /** Later calls wait for the first; one that failed may be repeated. */
  init(source: ModuleSource | Promise<ModuleSource> | (() => ModuleSource | Promise<ModuleSource>) = this.read): Promise<void> {
    this.#starting ??= this.#start(source).catch((error: unknown) => {
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  /** The functions of the module. */
  functions(): Glue {
    if (!this.#started) throw new GambesonError("not-initialized", "call `await init()` first");
    return this.glue;
  }

  async #start(source: ModuleSource | Promise<ModuleSource> | (() => ModuleSource | Promise<ModuleSource>)): Promise<void> {
    await this.glue.default({ module_or_path: typeof source === "function" ? source() : source });
    this.#started = true;
  }
}
