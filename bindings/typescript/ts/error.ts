/** What every refusal of this package is: `code` is stable and the same in Rust, Python and on the command line; the message says what was wrong. */
export class GambesonError extends Error {
  override readonly name = "GambesonError";
  /** A reason in kebab case, for programs: `bad-signature`, `bad-length`, `expired`, … */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
