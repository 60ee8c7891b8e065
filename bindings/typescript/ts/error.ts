/** What every refusal of this package is: `code` is stable and the same in Rust, Python and on the command line; the message says what was wrong. */
export class GambesonError extends Error {
  override readonly name = "GambesonError";
  /** A reason in kebab case, for programs: `bad-signature`, `bad-length`, `expired`, … */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * Works with a module. Where that stops, such as for want of memory, an error of this package says so in the place of that of WebAssembly.
 * @throws GambesonError `module-failed`
 */
export function untrapped<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof WebAssembly.RuntimeError)) throw cause;
    throw new GambesonError("module-failed", "the WebAssembly module stopped; most likely there is too little memory", { cause });
  }
}
