import { bytesOf, isBytes } from "./bytes.js";
import { Held } from "./held.js";
import { GambesonError } from "./error.js";
import { encoded, ofJwk, type PrivateJwk, type PublicJwk } from "./jwk.js";
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

  /**
   * The signing key of a JSON Web Key (RFC 9964), as `exportPrivateJwk` writes it.
   * @throws GambesonError `bad-key` also if `pub` is not the public key of `priv`, `bad-algorithm`, `bad-encoding`, `bad-form`
   */
  fromPrivateJwk(jwk: PrivateJwk): SigningKey {
    const { pub, priv = NOTHING } = ofJwk(jwk, this.name, "sign");
    if (priv.length !== 32) throw new GambesonError("bad-key", `priv is a seed of 32 bytes, not of ${priv.length}`);
    const key = this.fromSeed(priv);
    priv.fill(0);
    const own = key.verifyingKey.toBytes();
    if (own.length === pub.length && own.every((byte, i) => byte === pub[i])) return key;
    key.wipe();
    throw new GambesonError("bad-key", "pub is not the public key of priv");
  }

  /** The verifying key that was published: its bytes, or its JSON Web Key. @throws GambesonError `bad-length`; for a JWK `bad-key`, … */
  verifyingKey(key: Uint8Array | PublicJwk): VerifyingKey {
    const bytes = isBytes(key) ? key.slice() : ofJwk(key, this.name, "verify").pub;
    if (bytes.length === this.verifyingKeyLength) return new VerifyingKey(this, bytes);
    const code = isBytes(key) ? "bad-length" : "bad-key";
    throw new GambesonError(code, `a verifying key of ${bytes.length} bytes, where ${this.verifyingKeyLength} are needed`);
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

  /** The JSON Web Key to publish (RFC 9964). */
  toJwk(): PublicJwk {
    return { kty: "AKP", alg: this.dsa.name, pub: encoded(this.bytes) };
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

  /** The key as JSON Web Key (RFC 9964), with the seed in it: whoever has it has the key. */
  exportPrivateJwk(): PrivateJwk {
    const seed = this.exportSeed();
    const jwk = { ...this.verifyingKey.toJwk(), priv: encoded(seed) };
    seed.fill(0);
    return jwk;
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
