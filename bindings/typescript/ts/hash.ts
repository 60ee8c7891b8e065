import { bytesOf } from "./bytes.js";
import { GambesonError, untrapped } from "./error.js";
import { wasm } from "./primitives.js";

/** SHA3-256 (FIPS 202, §6.1): 32 bytes. */
export function sha3_256(message: Uint8Array): Uint8Array {
  return untrapped(() => wasm().sha3_256(bytesOf(message)));
}

/** SHA3-384 (FIPS 202, §6.1): 48 bytes. */
export function sha3_384(message: Uint8Array): Uint8Array {
  return untrapped(() => wasm().sha3_384(bytesOf(message)));
}

/** SHA3-512 (FIPS 202, §6.1): 64 bytes. */
export function sha3_512(message: Uint8Array): Uint8Array {
  return untrapped(() => wasm().sha3_512(bytesOf(message)));
}

/** `length` bytes of SHAKE128 (FIPS 202, §6.2), at most 2^30. @throws GambesonError `bad-length` */
export function shake128(message: Uint8Array, length: number): Uint8Array {
  return untrapped(() => wasm().shake128(bytesOf(message), lengthOf(length)));
}

/** `length` bytes of SHAKE256 (FIPS 202, §6.2), at most 2^30. @throws GambesonError `bad-length` */
export function shake256(message: Uint8Array, length: number): Uint8Array {
  return untrapped(() => wasm().shake256(bytesOf(message), lengthOf(length)));
}

function lengthOf(length: number): number {
  if (Number.isInteger(length) && length >= 0 && length <= 1 << 30) return length;
  throw new GambesonError("bad-length", `a length must be an integer from 0 to 2^30, not ${length}`);
}
