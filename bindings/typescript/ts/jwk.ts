import { tagOf } from "./bytes.js";
import { GambesonError } from "./error.js";

/** A public key of ML-DSA as JSON Web Key (RFC 9964, section 3). */
export interface PublicJwk {
  kty: "AKP";
  alg: "ML-DSA-44" | "ML-DSA-65" | "ML-DSA-87";
  /** The key in base64url. */
  pub: string;
}

/** A private key as JSON Web Key: who has it has the key. */
export interface PrivateJwk extends PublicJwk {
  /** The seed of 32 bytes in base64url. */
  priv: string;
}

const failed = (code: string, message: string): GambesonError => new GambesonError(code, message);

/** Bytes in base64url, without padding. */
export function encoded(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function decoded(jwk: { [name: string]: unknown }, name: "pub" | "priv"): Uint8Array {
  const text = jwk[name];
  if (typeof text !== "string") throw failed("bad-form", `a JWK needs the text "${name}"`);
  if (/^[\w-]*$/.test(text) && text.length % 4 !== 1) {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
    if (encoded(bytes) === text) return bytes;
  }
  throw failed("bad-encoding", `${name} is not base64url without padding (RFC 4648, section 5)`);
}

/** The bytes of a JWK of this algorithm, of which nothing is verified: `pub`, and `priv` if one is wanted. */
export function ofJwk(given: object, alg: string, use: "verify" | "sign"): { pub: Uint8Array; priv: Uint8Array | undefined } {
  if (tagOf(given) !== "Object" || !("kty" in given)) throw failed("bad-form", "a JWK is an object with the member kty");
  const jwk = given as { [name: string]: unknown };
  if (jwk["kty"] !== "AKP") throw failed("bad-key", "the key type is not AKP (RFC 9964)");
  if (typeof jwk["alg"] !== "string") throw failed("bad-form", 'a JWK needs the text "alg"');
  if (jwk["alg"] !== alg) throw failed("bad-algorithm", `the algorithm of the key is not ${alg}`);
  const secret = use === "sign";
  if ("priv" in jwk !== secret) throw failed("bad-key", secret ? "a public key: a private one has priv" : "a private key, where a public one is needed");
  const operations = jwk["key_ops"] ?? [use];
  if ((jwk["use"] ?? "sig") !== "sig" || !Array.isArray(operations) || !operations.includes(use)) {
    throw failed("bad-key", `use or key_ops of this key do not let it ${use}`);
  }
  return { pub: decoded(jwk, "pub"), priv: secret ? decoded(jwk, "priv") : undefined };
}
