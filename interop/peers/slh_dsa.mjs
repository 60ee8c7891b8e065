// Keys, signatures and certificates of SLH-DSA with the OpenSSL inside Node: a JSON object on standard input, one on standard output.
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";

const asked = JSON.parse(readFileSync(0, "utf8"));
const [message, other] = [Buffer.from("quilted linen"), Buffer.from("quilted wool")];
const context = Buffer.from(asked.context, "base64");
const signature = Buffer.from(asked.signature, "base64");
const pem = (key, type) => key.export({ format: "pem", type });

const ours = createPrivateKey(asked.private);
const published = createPublicKey(asked.public);
const made = generateKeyPairSync(asked.type);
const [root, leaf] = [asked.root, asked.leaf].map((text) => new X509Certificate(text));
const answer = {
  openssl: process.versions.openssl,
  type: ours.asymmetricKeyType,
  privateAgain: pem(ours, "pkcs8"),
  publicAgain: pem(createPublicKey(ours), "spki"),
  verified: verify(null, message, { key: published, context }, signature),
  otherVerified: verify(null, other, { key: published, context }, signature),
  verifiedWithoutContext: verify(null, message, published, signature),
  signature: sign(null, message, { key: ours, context }).toString("base64"),
  madePrivate: pem(made.privateKey, "pkcs8"),
  madePublic: pem(made.publicKey, "spki"),
  // A signature of an s set takes seconds; one is enough.
  madeSignature: asked.type.endsWith("f") ? sign(null, message, made.privateKey).toString("base64") : null,
  rootHolds: root.verify(root.publicKey),
  leafHolds: leaf.checkIssued(root) && leaf.verify(root.publicKey),
  leafHoldsWithOther: leaf.verify(made.publicKey),
};
console.log(JSON.stringify(answer));
