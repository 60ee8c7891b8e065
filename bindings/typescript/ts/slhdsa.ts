import { bytesOf, bytesOfLength, isBytes } from "./bytes.js";
import { Held, notMade, uncloneable } from "./held.js";
import { GambesonError, untrapped } from "./error.js";
import { has, known, knownIf, type Names } from "./known.js";
import { wasm } from "./hash-module.js";
import type { SlhDsaKey } from "./wasm/hash.js";

const NOTHING = /* @__PURE__ */ new Uint8Array();

/** The name of a parameter set in the standard (FIPS 205, §11). Those that end in `s` have small signatures, those in `f` sign fast. */
export type ParameterSet = `SLH-DSA-${"SHA2" | "SHAKE"}-${128 | 192 | 256}${"s" | "f"}`;

/** The name of a hash function of HashSLH-DSA (FIPS 205, §10.2.2). */
export type PreHash =
  | `SHA2-${224 | 256 | 384 | 512 | "512/224" | "512/256"}`
  | `SHA3-${224 | 256 | 384 | 512}`
  | `SHAKE-${128 | 256}`;

/** How a message is verified. */
export interface SignatureOptions {
  /** At most 255 bytes that signer and verifier agree on (FIPS 205, §10.2); empty by default. */
  context?: Uint8Array;
}

/** How a message is signed. */
export interface SigningOptions extends SignatureOptions {
  /** True for the deterministic variant: one message has one signature. Hedged by fresh randomness by default. */
  deterministic?: boolean;
}

const OPTIONS: Names<SignatureOptions> = { context: true };
const SIGNING: Names<SigningOptions> = { context: true, deterministic: true };

/** What is signed: a message, or a digest that a hash function made of it (HashSLH-DSA), whose signatures are not those of the message. */
export type Message = Uint8Array | { readonly digest: Uint8Array; readonly prehash: PreHash };

/** Bytes of a signature, by n and the last letter of the set. */
const SIGNATURES: Readonly<Record<string, number>> = { "128s": 7856, "128f": 17088, "192s": 16224, "192f": 35664, "256s": 29792, "256f": 49856 };

function contextOf(context: Uint8Array | undefined): Uint8Array {
  if (isBytes(context) && context.length > 255) throw new GambesonError("bad-length", "the context has more than 255 bytes");
  return bytesOf(context ?? NOTHING);
}

/** The bytes that are signed, and the name of the function that made them. */
function messageOf(message: Message): [Uint8Array, string | undefined] {
  if (isBytes(message) || !has(message, "digest")) return [bytesOf(message as Uint8Array), undefined];
  const { digest, prehash } = known(message, "a message", { digest: true, prehash: true });
  if (typeof prehash !== "string") throw new GambesonError("bad-form", "a digest needs the name of its hash function, prehash");
  return [bytesOf(digest), prehash];
}

/** A parameter set of SLH-DSA. Lengths are in bytes. */
export class SlhDsa {
  readonly verifyingKeyLength: number;
  readonly signingKeyLength: number;
  readonly signatureLength: number;

  /** @internal */
  constructor(
    /** The name in the standard. */
    readonly name: ParameterSet,
  ) {
    const [, kind = "", bits = ""] = /^SLH-DSA-(?:SHA2|SHAKE)-((\d+)[sf])$/.exec(String(name)) ?? [];
    const signature = Object.hasOwn(SIGNATURES, kind) ? SIGNATURES[kind] : undefined;
    if (signature === undefined) throw new GambesonError("bad-form", `there is no parameter set "${String(name)}": a name is such as SLH-DSA-SHA2-128s`);
    this.verifyingKeyLength = Number(bits) / 4;
    this.signingKeyLength = Number(bits) / 2;
    this.signatureLength = signature;
  }

  /** A new signing key (FIPS 205, Algorithm 21). */
  generate(): SigningKey {
    return new SigningKey(this, untrapped(() => wasm().SlhDsaKey.generate(this.name)));
  }

  /** The signing key of SK.seed, SK.prf and PK.seed, one behind the other (FIPS 205, Algorithm 18). @throws GambesonError `bad-length` */
  fromSeed(seeds: Uint8Array): SigningKey {
    const bytes = bytesOfLength(seeds, (this.signingKeyLength / 4) * 3, "seeds");
    return new SigningKey(this, untrapped(() => wasm().SlhDsaKey.fromSeed(this.name, bytes)));
  }

  /**
   * The signing key of its bytes, as `exportBytes` gives them. Its public half is made again to check it, which takes the time of `generate`.
   * @throws GambesonError `bad-length`, `bad-key`
   */
  fromBytes(bytes: Uint8Array): SigningKey {
    const own = bytesOfLength(bytes, this.signingKeyLength, "a signing key");
    return new SigningKey(this, untrapped(() => wasm().SlhDsaKey.fromBytes(this.name, own)));
  }

  /** The verifying key that was published. @throws GambesonError `bad-length` */
  verifyingKey(bytes: Uint8Array): VerifyingKey {
    return new VerifyingKey(this, bytesOfLength(bytes, this.verifyingKeyLength, "a verifying key").slice());
  }
}

/** The parameter set of a name. @throws GambesonError `bad-form` */
export const slhdsa = (name: ParameterSet): SlhDsa => new SlhDsa(name);

/** A public key for signatures. */
export class VerifyingKey {
  readonly #bytes: Uint8Array;

  /** @internal */
  constructor(
    readonly slhdsa: SlhDsa,
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

  /**
   * Returns if `signature` is this key's over `message` (FIPS 205, Algorithms 24 and 25), and throws otherwise.
   * @throws GambesonError `bad-signature`, and `bad-length` for a context or a digest of a wrong length
   */
  verify(signature: Uint8Array, message: Message, options?: SignatureOptions): void {
    const context = contextOf(knownIf(options, "signature options", OPTIONS)?.context);
    const [bytes, prehash] = messageOf(message);
    untrapped(() => wasm().verifySlhDsa(this.slhdsa.name, this.#bytes, bytesOf(signature), bytes, prehash, context));
  }
}

/** A private key that signs. */
export class SigningKey extends Held<SlhDsaKey> {
  /** The key to publish. */
  readonly verifyingKey: VerifyingKey;

  /** @internal */
  constructor(
    readonly slhdsa: SlhDsa,
    key: SlhDsaKey,
  ) {
    super(key);
    this.verifyingKey = new VerifyingKey(slhdsa, key.verifyingKey());
  }

  /**
   * Signs a message, or a digest of one (FIPS 205, Algorithms 22 and 23).
   * @throws GambesonError `bad-length` for a context or a digest of a wrong length
   */
  sign(message: Message, options?: SigningOptions): Uint8Array {
    const { context, deterministic = false } = knownIf(options, "signing options", SIGNING) ?? {};
    if (typeof deterministic !== "boolean") throw new GambesonError("bad-form", "deterministic is true or false");
    const [bytes, prehash] = messageOf(message);
    const key = this.secret;
    return untrapped(() => key.sign(bytes, prehash, contextOf(context), deterministic));
  }

  /** A copy of SK.seed, SK.prf, PK.seed and PK.root, to store: whoever has it has the key. */
  exportBytes(): Uint8Array {
    return this.secret.exportBytes();
  }
}
