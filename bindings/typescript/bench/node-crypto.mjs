// ML-KEM-768 and ML-DSA-65 of node:crypto, where the running Node has them: since 24.7, with OpenSSL 3.5 or newer.
import * as crypto from "node:crypto";

/** The heads of PKCS #8 for keys that are written as their seed (RFC 9935 and RFC 9881). */
const KEM_SEED = Buffer.from("3054020100300b060960864801650304040204428040", "hex");
const DSA_SEED = Buffer.from("3034020100300b060960864801650304031204228020", "hex");

/** Whether the running Node has both algorithms. */
export function hasPostQuantum() {
  try {
    crypto.encapsulate(crypto.generateKeyPairSync("ml-kem-768").publicKey);
    crypto.generateKeyPairSync("ml-dsa-65");
    return true;
  } catch {
    return false;
  }
}

/** A pair of key objects from a seed, and a function that imports other bytes of a public key. */
function pair(head, seed) {
  const privateKey = crypto.createPrivateKey({ key: Buffer.concat([head, seed]), format: "der", type: "pkcs8" });
  const publicKey = crypto.createPublicKey(privateKey);
  const spki = publicKey.export({ format: "der", type: "spki" });
  // Both algorithms have a head of 22 bytes, and the public key behind it.
  const imported = (bytes) => crypto.createPublicKey({ key: Buffer.concat([spki.subarray(0, 22), bytes]), format: "der", type: "spki" });
  return { privateKey, publicKey, publicBytes: new Uint8Array(spki.subarray(22)), imported };
}

export const kemPair = (seed) => pair(KEM_SEED, seed);
export const dsaPair = (seed) => pair(DSA_SEED, seed);
export const { encapsulate, decapsulate, generateKeyPairSync, sign, verify } = crypto;
