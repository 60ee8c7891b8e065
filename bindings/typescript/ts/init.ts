import { GambesonError } from "./error.js";

/** What a module can be started from: its bytes, the compiled module, or the response of a `fetch`. */
export type ModuleSource = BufferSource | WebAssembly.Module | Response;

interface Startable {
  default: (options: { module_or_path: ModuleSource | Promise<ModuleSource> }) => Promise<unknown>;
}

/** Loads one WebAssembly module, once. */
export class Loader<Glue extends Startable> {
  #starting: Promise<void> | undefined;
  #started: Glue | undefined;

  constructor(
    private readonly glue: () => Glue | Promise<Glue>,
    private readonly read: () => ModuleSource | Promise<ModuleSource>,
  ) {}

  /** Later calls wait for the first; one that failed may be repeated. @throws GambesonError `load-failed` */
  init(source?: ModuleSource | Promise<ModuleSource>): Promise<void> {
    this.#starting ??= this.#start(source).catch((error: unknown) => {
      this.#starting = undefined;
      throw error instanceof GambesonError || error instanceof WebAssembly.CompileError ? error : failed(error);
    });
    return this.#starting;
  }

  /** Whether it was asked for, and did not fail. */
  get asked(): boolean {
    return this.#starting !== undefined;
  }

  /** The functions of the module, if it was loaded. */
  get loaded(): Glue | undefined {
    return this.#started;
  }

  async #start(source: ModuleSource | Promise<ModuleSource> | undefined): Promise<void> {
    const [module_or_path, glue] = [source ?? this.read(), this.glue()];
    // Together: a promise that fails while the other is awaited is not unhandled.
    const [module, ready] = await Promise.all([module_or_path, glue]);
    const response = module as Partial<Response>;
    if (response.ok === false) throw failed(`${response.url || "the server"} answered with status ${response.status}`);
    // Bytes that the caller gave are the caller's: an error of WebAssembly tells what is wrong with them.
    await ready.default({ module_or_path: module }).catch((cause: unknown) => {
      throw response.ok === undefined && !forbidden(cause) ? cause : failed(cause);
    });
    this.#started = ready;
  }
}

/** The functions of a module that was loaded. @throws GambesonError `not-initialized` */
export function running<Glue>(glue: Glue | undefined): Glue {
  if (glue === undefined) throw new GambesonError("not-initialized", "call `await init()` first");
  return glue;
}

const textOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
const forbidden = (cause: unknown): boolean => /unsafe-eval|content security/i.test(textOf(cause));

function failed(cause: unknown): GambesonError {
  const said = textOf(cause);
  const hint = forbidden(cause)
    ? "a page whose Content-Security-Policy has a `script-src` must allow 'wasm-unsafe-eval' there"
    : "where a bundler puts the module elsewhere, give it: `init(fetch(url))`";
  return new GambesonError("load-failed", `the WebAssembly module could not be loaded: ${said}; ${hint}`, { cause });
}
