import { GambesonError } from "./error.js";

/** The name of what something is, in whatever realm it was made. */
export const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

/** Whether it is a `Uint8Array`, of this realm or of another, such as that of a frame or of `node:vm`. */
export const isBytes = (value: unknown): value is Uint8Array => ArrayBuffer.isView(value) && tagOf(value) === "Uint8Array";

/** The most bytes that are copied into a module at once. */
const MAX = 1 << 30;

/** The same, if it is bytes: what is only like them would be signed as none at all. @throws GambesonError `bad-form`, `too-large` */
export function bytesOf(value: Uint8Array): Uint8Array {
  if (!isBytes(value)) throw new GambesonError("bad-form", `bytes must be a Uint8Array, not a value of the kind ${tagOf(value)}`);
  if (value.length > MAX) throw new GambesonError("too-large", `${value.length} bytes; at most ${MAX} are taken at once`);
  return value;
}

/** As `bytesOf`, of one length. @throws GambesonError `bad-form`, `bad-length` */
export function bytesOfLength(value: Uint8Array, length: number, what: string): Uint8Array {
  if (isBytes(value) && value.length !== length) throw new GambesonError("bad-length", `${what} of ${value.length} bytes, where ${length} are needed`);
  return bytesOf(value);
}
