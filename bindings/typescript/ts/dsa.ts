import { bytesOf, bytesOfLength, isBytes } from "./bytes.js";
import { Held, notMade, uncloneable } from "./held.js";
import { GambesonError, untrapped } from "./error.js";
import { encoded, ofJwk, type PrivateJwk, type PublicJwk } from "./jwk.js";
import { has, known, knownIf, type Names } from "./known.js";
import { wasm } from "./primitives.js";
import type { DsaKey, Dsa as Id } from "./wasm/gambeson.js";

const NOTHING = /* @__PURE__ */ new Uint8Array();

/** How a message is signed or verified. */
export interface SignatureOptions {
  /** At most 255 bytes that signer and verifier agree on (FIPS 204, §5.2); empty by default. */
  context?: Uint8Array;
}

const OPTIONS: Names<SignatureOptions> = { context: true };

/** What is signed: a message, or its representative μ of 64 bytes, which has its context in it (FIPS 204, Algorithm 7, line 6). */
export type Message = Uint8Array | { readonly mu: Uint8Array };

/** A message that comes in parts, and may be of any size. */
export type MessageStream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** Above this a message goes into the module in parts. */
const PART = 1 << 20;

function contextOf(options: SignatureOptions | undefined): Uint8Array {
  const context = knownIf(options, "signature options", OPTIONS)?.context ?? NOTHING;
  if (isBytes(context) && context.length > 255) throw new GambesonError("bad-length", "the context has more than 255 bytes");
  return bytesOf(context);
}

/** A message that is not one part, as μ. */
function represented(message: { readonly mu: Uint8Array }, options: SignatureOptions | undefined): Uint8Array {
  if (!has(message, "mu")) bytesOf(message as never);
  if (options !== undefined) throw new GambesonError("bad-form", "μ includes the context: no options are permitted with it");
  return bytesOfLength(known(message, "a message", { mu: true }).mu, 64, "a message representative");
}

const isStream = (message: unknown): message is MessageStream => {
  const stream = message as Partial<ReadableStream & AsyncIterable<Uint8Array>> | null | undefined;
  return typeof stream?.[Symbol.asyncIterator] === "function" || typeof stream?.getReader === "function";
};

/** The parts of a stream, in browsers whose streams have no iterator too. */
async function* partsOf(stream: MessageStream): AsyncGenerator<Uint8Array, void, undefined> {
  if (Symbol.asyncIterator in stream) return yield* stream as AsyncIterable<Uint8Array>;
  const reader = (stream as ReadableStream<Uint8Array>).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
}

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
    return new SigningKey(this, wasm().DsaKey.fromSeed(this.id, bytesOfLength(seed, 32, "a seed")));
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
  readonly #bytes: Uint8Array;

  /** @internal */
  constructor(
    readonly dsa: Dsa,
    bytes: Uint8Array,
  ) {
    if (!isBytes(bytes)) throw notMade("VerifyingKey");
    this.#bytes = bytes;
    uncloneable(this);
  }

  /** The bytes to publish. */
  toBytes(): Uint8Array {
    return this.#bytes.slice();
  }

  /** The JSON Web Key to publish (RFC 9964). */
  toJwk(): PublicJwk {
    return { kty: "AKP", alg: this.dsa.name, pub: encoded(this.#bytes) };
  }

  /** In JSON it is its JSON Web Key. */
  toJSON(): PublicJwk {
    return this.toJwk();
  }

  /**
   * Returns if `signature` is this key's over `message` (FIPS 204, Algorithm 3), and throws otherwise; of a stream, the promise must be awaited.
   * @throws GambesonError `bad-signature`, and `bad-length` for a context or a representative of a wrong length
   */
  verify(signature: Uint8Array, message: Message, options?: SignatureOptions): void;
  verify(signature: Uint8Array, message: MessageStream, options?: SignatureOptions): Promise<void>;
  verify(signature: Uint8Array, message: Message | MessageStream, options?: SignatureOptions): void | Promise<void> {
    if (isStream(message)) return this.mu(message, options).then((mu) => this.verify(signature, { mu }));
    if (isBytes(signature) && signature.length !== this.dsa.signatureLength) {
      // It is none, whatever it is of; but an argument of another kind is the caller's mistake.
      if (!isBytes(message)) represented(message, options);
      contextOf(options);
      throw new GambesonError("bad-signature", `a signature of ${signature.length} bytes, where ${this.dsa.signatureLength} are needed`);
    }
    const [id, key] = [this.dsa.id, this.#bytes];
    if (!isBytes(message)) return wasm().verifyMu(id, key, bytesOf(signature), represented(message, options));
    if (message.length > PART) return wasm().verifyMu(id, key, bytesOf(signature), this.mu(message, options));
    return wasm().verify(id, key, bytesOf(signature), message, contextOf(options));
  }

  /** The representative μ of a message (FIPS 204, Algorithm 7, line 6), which a key elsewhere signs. @throws GambesonError `bad-length` */
  mu(message: Uint8Array, options?: SignatureOptions): Uint8Array;
  mu(message: MessageStream, options?: SignatureOptions): Promise<Uint8Array>;
  mu(message: Uint8Array | MessageStream, options?: SignatureOptions): Uint8Array | Promise<Uint8Array> {
    const hash = wasm().Mu.of(this.dsa.id, this.#bytes, contextOf(options));
    const take = (part: Uint8Array): void => {
      for (let at = 0; at < part.length; at += PART) hash.update(part.subarray(at, at + PART));
    };
    const end = (): Uint8Array => untrapped(() => hash.finalize());
    const all = async (stream: MessageStream): Promise<Uint8Array> => {
      try {
        for await (const part of partsOf(stream)) take(isBytes(part) ? part : bytesOf(part));
        return end();
      } finally {
        hash.free();
      }
    };
    if (isStream(message)) return all(message);
    try {
      take(isBytes(message) ? message : bytesOf(message));
      return end();
    } finally {
      hash.free();
    }
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

  /**
   * Signs a message of any size, hedged with fresh randomness (FIPS 204, Algorithm 2): bytes, a stream of them, or its representative μ.
   * @throws GambesonError `bad-length` for a context or a representative of a wrong length
   */
  sign(message: Message, options?: SignatureOptions): Uint8Array;
  sign(message: MessageStream, options?: SignatureOptions): Promise<Uint8Array>;
  sign(message: Message | MessageStream, options?: SignatureOptions): Uint8Array | Promise<Uint8Array> {
    if (isStream(message)) return this.#signed(message, options);
    if (!isBytes(message)) return this.secret.signMu(represented(message, options));
    if (message.length > PART) return this.secret.signMu(this.verifyingKey.mu(message, options));
    return this.secret.sign(message, contextOf(options));
  }

  async #signed(stream: MessageStream, options: SignatureOptions | undefined): Promise<Uint8Array> {
    // At once, if it was wiped.
    void this.secret;
    const mu = await this.verifyingKey.mu(stream, options);
    return this.secret.signMu(mu);
  }

  /** In JSON it is its public key. */
  override toJSON(): object {
    return { verifyingKey: this.verifyingKey };
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
