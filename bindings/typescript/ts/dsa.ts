import { bytesOf } from "./bytes.js";
import { Held } from "./held.js";
import { knownIf, type Names } from "./known.js";
import { wasm } from "./primitives.js";
import type { DsaKey, Dsa as Id } from "./wasm/gambeson.js";

const NOTHING = /* @__PURE__ */ new Uint8Array();

/** How a message is signed or verified. */
export interface SignatureOptions {
  /** At most 255 bytes that signer and verifier agree on (FIPS 204, §5.2); empty by default. */
  context?: Uint8Array;
}

const OPTIONS: Names<SignatureOptions> = { context: true };
const contextOf = (options: SignatureOptions | undefined): Uint8Array => bytesOf(knownIf(options, "signature options", OPTIONS)?.context ?? NOTHING);

/** A parameter set of ML-DSA. Lengths are in bytes. */
export class Dsa {
  /** @internal */
  constructor(
    /** @internal */
    readonly id: Id,
    /** The name in the standard. */
    readonly name: "ML-DSA-44" | "ML-DSA-65" | "ML-DSA-87",
    readonly verifyingKeyLength: number,
    readonly signatureLength: number,
  ) {}

  /** A new signing key (FIPS 204, Algorithm 1). */
  generate(): SigningKey {
    return new SigningKey(this, wasm().DsaKey.generate(this.id));
  }

  /** The signing key of a seed ξ of 32 bytes. @throws GambesonError `bad-length` */
  fromSeed(seed: Uint8Array): SigningKey {
    return new SigningKey(this, wasm().DsaKey.fromSeed(this.id, bytesOf(seed)));
  }

  /** The verifying key that was published. @throws GambesonError `bad-length` when it is used */
  verifyingKey(bytes: Uint8Array): VerifyingKey {
    return new VerifyingKey(this, bytesOf(bytes).slice());
  }
}

/** A public key for signatures. */
export class VerifyingKey {
  /** @internal */
  constructor(
    readonly dsa: Dsa,
    private readonly bytes: Uint8Array,
  ) {}

  /** The bytes to publish. */
  toBytes(): Uint8Array {
    return this.bytes.slice();
  }

  /**
   * Returns if `signature` is this key's over `message` (FIPS 204, Algorithm 3), and throws otherwise.
   * @throws GambesonError `bad-signature`, and `bad-length` for a key or a context of a wrong length
   */
  verify(signature: Uint8Array, message: Uint8Array, options?: SignatureOptions): void {
    wasm().verify(this.dsa.id, this.bytes, bytesOf(signature), bytesOf(message), contextOf(options));
  }
}

/** A private key that signs. It remembers its matrix, so that the second signature is as fast as can be. */
export class SigningKey extends Held<DsaKey> {
  /** The key to publish. */
  readonly verifyingKey: VerifyingKey;

  /** @internal */
  constructor(
    readonly dsa: Dsa,
    key: DsaKey,
  ) {
    super(key);
    this.verifyingKey = new VerifyingKey(dsa, key.verifyingKey());
  }

  /** Signs `message`, hedged with fresh randomness (FIPS 204, Algorithm 2). @throws GambesonError `bad-length` for a long context */
  sign(message: Uint8Array, options?: SignatureOptions): Uint8Array {
    return this.secret.sign(bytesOf(message), contextOf(options));
  }

  /** A copy of the seed ξ, to store: whoever has it has the key. */
  exportSeed(): Uint8Array {
    return this.secret.exportSeed();
  }
}

/** ML-DSA-44 (FIPS 204, §4). */
export const mldsa44 = /* @__PURE__ */ new Dsa(0, "ML-DSA-44", 1312, 2420);
/** ML-DSA-65 (FIPS 204, §4). */
export const mldsa65 = /* @__PURE__ */ new Dsa(1, "ML-DSA-65", 1952, 3309);
/** ML-DSA-87 (FIPS 204, §4). */
export const mldsa87 = /* @__PURE__ */ new Dsa(2, "ML-DSA-87", 2592, 4627);
