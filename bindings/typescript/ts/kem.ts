import { bytesOfLength, isBytes } from "./bytes.js";
import { Held, notMade, uncloneable } from "./held.js";
import { encoded } from "./jwk.js";
import { wasm } from "./primitives.js";
import type { Kem as Id, KemEncapsulationKey, KemKey } from "./wasm/gambeson.js";

/** A shared secret of 32 bytes, and the ciphertext that carries it to the holder of the decapsulation key. */
export interface Encapsulation {
  ciphertext: Uint8Array;
  sharedSecret: Uint8Array;
}

/** A key-encapsulation mechanism. Lengths are in bytes. */
export class Kem {
  /** @internal */
  constructor(
    /** @internal */
    readonly id: Id,
    /** The name in its standard. */
    readonly name: "ML-KEM-512" | "ML-KEM-768" | "ML-KEM-1024" | "X-Wing",
    readonly encapsulationKeyLength: number,
    readonly ciphertextLength: number,
    readonly seedLength: 64 | 32,
  ) {}

  /** A new decapsulation key (FIPS 203, Algorithm 19). */
  generate(): DecapsulationKey {
    return new DecapsulationKey(this, wasm().KemKey.generate(this.id));
  }

  /** The decapsulation key of a seed, for ML-KEM d ‖ z. @throws GambesonError `bad-length` */
  fromSeed(seed: Uint8Array): DecapsulationKey {
    return new DecapsulationKey(this, wasm().KemKey.fromSeed(this.id, bytesOfLength(seed, this.seedLength, "a seed")));
  }

  /** The encapsulation key that was sent. @throws GambesonError `bad-length`, `bad-key` (FIPS 203, §7.2) */
  encapsulationKey(bytes: Uint8Array): EncapsulationKey {
    wasm().checkEncapsulationKey(this.id, bytesOfLength(bytes, this.encapsulationKeyLength, "an encapsulation key"));
    return new EncapsulationKey(this, bytes.slice());
  }
}

/**
 * A public key for shared secrets. The module keeps the matrix of one that is used again, so that every operation from the second on is as fast
 * as can be.
 */
export class EncapsulationKey {
  readonly #bytes: Uint8Array;
  /** A key that is used once takes no memory of the module. */
  #used = false;
  #prepared: KemEncapsulationKey | undefined;

  /** @internal */
  constructor(
    readonly kem: Kem,
    bytes: Uint8Array,
  ) {
    if (!isBytes(bytes)) throw notMade("EncapsulationKey");
    this.#bytes = bytes;
    uncloneable(this);
  }

  /** The bytes to send. */
  toBytes(): Uint8Array {
    return this.#bytes.slice();
  }

  /** In JSON it is its bytes in base64url, with the name of the mechanism. */
  toJSON(): { kem: string; bytes: string } {
    return { kem: this.kem.name, bytes: encoded(this.#bytes) };
  }

  /** A new shared secret (FIPS 203, Algorithm 20). */
  encapsulate(): Encapsulation {
    if (this.#used) this.#prepared ??= wasm().KemEncapsulationKey.prepare(this.kem.id, this.#bytes);
    const both = this.#prepared?.encapsulate() ?? wasm().encapsulate(this.kem.id, this.#bytes);
    this.#used = true;
    const sharedSecret = both.slice(0, 32);
    both.fill(0, 0, 32);
    return { ciphertext: both.subarray(32), sharedSecret };
  }
}

/** A private key that finds shared secrets. It remembers its matrix, so that the second operation is as fast as can be. */
export class DecapsulationKey extends Held<KemKey> {
  /** The key to publish. */
  readonly encapsulationKey: EncapsulationKey;

  /** @internal */
  constructor(
    readonly kem: Kem,
    key: KemKey,
  ) {
    super(key);
    this.encapsulationKey = new EncapsulationKey(kem, key.encapsulationKey());
  }

  /** In JSON it is its public key. */
  override toJSON(): object {
    return { encapsulationKey: this.encapsulationKey };
  }

  /**
   * The shared secret that a ciphertext carries (FIPS 203, Algorithm 21). A ciphertext that was changed gives another secret,
   * and no error. @throws GambesonError `bad-length`
   */
  decapsulate(ciphertext: Uint8Array): Uint8Array {
    return this.secret.decapsulate(bytesOfLength(ciphertext, this.kem.ciphertextLength, "a ciphertext"));
  }

  /** A copy of the seed, to store: whoever has it has the key. */
  exportSeed(): Uint8Array {
    return this.secret.exportSeed();
  }
}

/** ML-KEM-512 (FIPS 203, §8). */
export const mlkem512 = /* @__PURE__ */ new Kem(0, "ML-KEM-512", 800, 768, 64);
/** ML-KEM-768 (FIPS 203, §8). */
export const mlkem768 = /* @__PURE__ */ new Kem(1, "ML-KEM-768", 1184, 1088, 64);
/** ML-KEM-1024 (FIPS 203, §8). */
export const mlkem1024 = /* @__PURE__ */ new Kem(2, "ML-KEM-1024", 1568, 1568, 64);
/** X-Wing: ML-KEM-768 with X25519, safe while one of them is (draft-connolly-cfrg-xwing-kem). */
export const xwing = /* @__PURE__ */ new Kem(3, "X-Wing", 1216, 1120, 32);
