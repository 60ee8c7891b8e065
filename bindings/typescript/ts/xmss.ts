import { bytesOf, isBytes } from "./bytes.js";
import { notMade, uncloneable } from "./held.js";
import { untrapped } from "./error.js";
import { wasm } from "./hash-module.js";

/** A public key of XMSS or XMSS^MT (RFC 8391). Its bytes name its parameter set. */
export class XmssVerifyingKey {
  readonly #bytes: Uint8Array;
  /** The name in the standard, such as `XMSS-SHA2_10_256` or `XMSSMT-SHA2_20/2_256`. */
  readonly parameterSet: string;

  /** @internal */
  constructor(
    bytes: Uint8Array,
    private readonly isMultiTree: boolean,
  ) {
    if (!isBytes(bytes) || typeof isMultiTree !== "boolean") throw notMade("XmssVerifyingKey");
    this.#bytes = bytes;
    this.parameterSet = untrapped(() => wasm().setOfXmss(bytes, isMultiTree));
    uncloneable(this);
  }

  /** The bytes to publish. */
  toBytes(): Uint8Array {
    return this.#bytes.slice();
  }

  /** Returns if `signature` is this key's over `message` (RFC 8391, Algorithms 14 and 17), and throws otherwise. @throws GambesonError `bad-signature` */
  verify(signature: Uint8Array, message: Uint8Array): void {
    untrapped(() => wasm().verifyXmss(this.#bytes, this.isMultiTree, bytesOf(signature), bytesOf(message)));
  }
}

/** XMSS (RFC 8391, SP 800-208): every set verifies. */
export const xmss = {
  /** The verifying key that was published, of 52, 68 or 132 bytes. @throws GambesonError `bad-length`, `bad-key` */
  verifyingKey: (bytes: Uint8Array): XmssVerifyingKey => new XmssVerifyingKey(bytesOf(bytes).slice(), false),
};

/** XMSS^MT (RFC 8391, SP 800-208), whose sets are counted apart from those of XMSS. */
export const xmssmt = {
  /** The verifying key that was published, of 52, 68 or 132 bytes. @throws GambesonError `bad-length`, `bad-key` */
  verifyingKey: (bytes: Uint8Array): XmssVerifyingKey => new XmssVerifyingKey(bytesOf(bytes).slice(), true),
};
