import { bytesOf } from "./bytes.js";
import { notMade, uncloneable } from "./held.js";
import { untrapped } from "./error.js";
import { wasm } from "./hash-module.js";

/** A public key of LMS (RFC 8554, §5). Its bytes name its types. */
export class LmsVerifyingKey {
  readonly #bytes: Uint8Array;
  /** The type of the tree, such as `LMS_SHA256_M32_H10`. */
  readonly lmsType: string;
  /** The type of the one-time signatures, such as `LMOTS_SHA256_N32_W8`. */
  readonly lmotsType: string;

  /** @internal */
  constructor(bytes: Uint8Array, types: readonly string[]) {
    if (!Array.isArray(types)) throw notMade("LmsVerifyingKey");
    this.#bytes = bytes;
    [this.lmsType = "", this.lmotsType = ""] = types;
    uncloneable(this);
  }

  /** The bytes to publish. */
  toBytes(): Uint8Array {
    return this.#bytes.slice();
  }

  /** Returns if `signature` is this key's over `message` (RFC 8554, Algorithm 6), and throws otherwise. @throws GambesonError `bad-signature` */
  verify(signature: Uint8Array, message: Uint8Array): void {
    untrapped(() => wasm().verifyLms(this.#bytes, bytesOf(signature), bytesOf(message)));
  }
}

/** A public key of HSS, of 1 to 8 levels of LMS trees (RFC 8554, §6). */
export class HssVerifyingKey {
  readonly #bytes: Uint8Array;
  /** The number of levels: 1 to 8. */
  readonly levels: number;
  /** The type of the highest tree, such as `LMS_SHA256_M32_H10`. */
  readonly lmsType: string;
  /** The type of the one-time signatures of the highest tree, such as `LMOTS_SHA256_N32_W8`. */
  readonly lmotsType: string;

  /** @internal */
  constructor(bytes: Uint8Array, types: readonly string[]) {
    if (!Array.isArray(types)) throw notMade("HssVerifyingKey");
    this.#bytes = bytes;
    this.levels = bytes[3] ?? 0;
    [this.lmsType = "", this.lmotsType = ""] = types;
    uncloneable(this);
  }

  /** The bytes to publish. */
  toBytes(): Uint8Array {
    return this.#bytes.slice();
  }

  /** Returns if `signature` is this key's over `message` (RFC 8554, §6.3), and throws otherwise. @throws GambesonError `bad-signature` */
  verify(signature: Uint8Array, message: Uint8Array): void {
    untrapped(() => wasm().verifyHss(this.#bytes, bytesOf(signature), bytesOf(message)));
  }
}

/** LMS (RFC 8554, RFC 9858): every type of tree with every type of one-time signatures of its hash function. */
export const lms = {
  /** The verifying key that was published, of 48 or 56 bytes. @throws GambesonError `bad-length`, `bad-key` */
  verifyingKey(bytes: Uint8Array): LmsVerifyingKey {
    const own = bytesOf(bytes).slice();
    return new LmsVerifyingKey(own, untrapped(() => wasm().typesOfLms(own)));
  },
};

/** HSS (RFC 8554, §6). */
export const hss = {
  /** The verifying key that was published, of 52 or 60 bytes. @throws GambesonError `bad-length`, `bad-key` */
  verifyingKey(bytes: Uint8Array): HssVerifyingKey {
    const own = bytesOf(bytes).slice();
    return new HssVerifyingKey(own, untrapped(() => wasm().typesOfHss(own)));
  },
};
