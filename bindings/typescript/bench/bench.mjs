// The same work by this package and by its peers, in turn in one run, after their outputs were compared.
//
// node bench/bench.mjs [--check] [--node-crypto]: with --check it fails unless this package is at least as fast as liboqs-js and node:crypto in
// every row. With --node-crypto it measures node:crypto alone beside this package. Sizes are judged by size.mjs.
//
// The figures are microseconds of processor time, which a machine that does other things disturbs less than the time on the
// clock: the median of rounds, and the best. Messages have 32 bytes and are new each time, for signing repeats until an
// attempt passes. The peers' private keys are expanded bytes, which they read in each operation; they have no door for a seed (noble has).
// Ours are held, and so are the key objects of node:crypto. In the rows of a key that is used once, everybody makes the key first, from new randomness.
import assert from "node:assert/strict";
import { cpus } from "node:os";
import { createMLDSA65, createMLKEM768 } from "@oqs/liboqs-js";
import { ml_dsa65 } from "@noble/post-quantum/ml-dsa.js";
import { ml_kem768 } from "@noble/post-quantum/ml-kem.js";
import { MlKem768 } from "mlkem";
import { init, mldsa65, mlkem768 } from "../dist/index.js";
import { dsaPair, hasPostQuantum, kemPair } from "./node-crypto.mjs";
import * as nodeCrypto from "./node-crypto.mjs";
import { JUDGED, slower } from "./promises.mjs";
import { sizes } from "./size.mjs";

const ROUNDS = 15;
/** Processor time of one peer in one round, in microseconds. */
const ROUND = 60_000;

await init();
const [oqsKem, oqsDsa, tsKem] = [await createMLKEM768(), await createMLDSA65(), new MlKem768()];
const peers = ["gambeson", "liboqs-js", "noble", "mlkem", "node:crypto"];
const onNode = hasPostQuantum();
const asked = (peer) => peer === "gambeson" || (peer === "node:crypto" ? onNode : !process.argv.includes("--node-crypto"));

const seed = new Uint8Array(64).map((_, i) => i);
const dk = mlkem768.fromSeed(seed);
const ek = dk.encapsulationKey;
const ekBytes = ek.toBytes();
const nobleKem = ml_kem768.keygen(seed);
const [tsEk, tsDk] = await tsKem.deriveKeyPair(seed);
assert.deepEqual(nobleKem.publicKey, ekBytes);
assert.deepEqual(tsEk, ekBytes);
const oqsKemKey = oqsKem.generateKeyPair();

// Each encapsulates to our key, and we to liboqs-js's.
const ours = ek.encapsulate();
for (const [ciphertext, secret] of [
  [ours.ciphertext, ours.sharedSecret],
  ...[oqsKem.encapsulate(ekBytes)].map(({ ciphertext, sharedSecret }) => [ciphertext, sharedSecret]),
  ...[ml_kem768.encapsulate(ekBytes)].map(({ cipherText, sharedSecret }) => [cipherText, sharedSecret]),
  await tsKem.encap(ekBytes),
]) {
  assert.deepEqual(dk.decapsulate(ciphertext), secret);
  assert.deepEqual(ml_kem768.decapsulate(ciphertext, nobleKem.secretKey), secret);
  assert.deepEqual(await tsKem.decap(ciphertext, tsDk), secret);
}
const toOqs = mlkem768.encapsulationKey(oqsKemKey.publicKey).encapsulate();
assert.deepEqual(oqsKem.decapsulate(toOqs.ciphertext, oqsKemKey.secretKey), toOqs.sharedSecret);

const xi = seed.subarray(0, 32);
const sk = mldsa65.fromSeed(xi);
const vk = sk.verifyingKey;
const vkBytes = vk.toBytes();
const nobleDsa = ml_dsa65.keygen(xi);
assert.deepEqual(nobleDsa.publicKey, vkBytes);
const oqsDsaKey = oqsDsa.generateKeyPair();
const message = new Uint8Array(32);
const signature = sk.sign(message);
assert.ok(ml_dsa65.verify(signature, message, nobleDsa.publicKey));
vk.verify(ml_dsa65.sign(message, nobleDsa.secretKey), message);
assert.ok(oqsDsa.verify(message, signature, vkBytes));
mldsa65.verifyingKey(oqsDsaKey.publicKey).verify(oqsDsa.sign(message, oqsDsaKey.secretKey), message);

// Beside node:crypto, from the same seeds.
const [nodeKem, nodeDsa] = onNode ? [kemPair(seed), dsaPair(xi)] : [];
if (onNode) {
  assert.deepEqual([nodeKem.publicBytes, nodeDsa.publicBytes], [ekBytes, vkBytes]);
  const { ciphertext, sharedKey } = nodeCrypto.encapsulate(nodeKem.imported(ekBytes));
  assert.deepEqual(dk.decapsulate(ciphertext), new Uint8Array(sharedKey));
  assert.deepEqual(new Uint8Array(nodeCrypto.decapsulate(nodeKem.privateKey, ours.ciphertext)), ours.sharedSecret);
  for (const { ciphertext, sharedSecret } of [ek.encapsulate(), ek.encapsulate()]) {
    assert.deepEqual(new Uint8Array(nodeCrypto.decapsulate(nodeKem.privateKey, ciphertext)), sharedSecret);
  }
  assert.ok(nodeCrypto.verify(null, message, nodeDsa.imported(vkBytes), signature));
  vk.verify(new Uint8Array(nodeCrypto.sign(null, message, nodeDsa.privateKey)), message);
}

const verified = message.slice();
let count = 0;
function fresh() {
  new DataView(message.buffer).setUint32(0, count++);
  return message;
}
const none = undefined;
const rows = [
  [
    "ML-KEM-768 key generation",
    () => { const key = mlkem768.generate(); key.encapsulationKey.toBytes(); key.wipe(); },
    () => oqsKem.generateKeyPair(),
    () => ml_kem768.keygen(),
    () => tsKem.generateKeyPair(),
    () => nodeCrypto.generateKeyPairSync("ml-kem-768"),
  ],
  [
    "ML-KEM-768 encapsulation, from bytes",
    () => mlkem768.encapsulationKey(ekBytes).encapsulate(),
    () => oqsKem.encapsulate(ekBytes),
    () => ml_kem768.encapsulate(ekBytes),
    () => tsKem.encap(ekBytes),
    () => nodeCrypto.encapsulate(nodeKem.imported(ekBytes)),
  ],
  [
    "ML-KEM-768 encapsulation, from a key object",
    () => ek.encapsulate(),
    none,
    none,
    none,
    () => nodeCrypto.encapsulate(nodeKem.publicKey),
  ],
  [
    "ML-KEM-768 decapsulation",
    () => dk.decapsulate(ours.ciphertext),
    () => oqsKem.decapsulate(ours.ciphertext, oqsKemKey.secretKey),
    () => ml_kem768.decapsulate(ours.ciphertext, nobleKem.secretKey),
    () => tsKem.decap(ours.ciphertext, tsDk),
    () => nodeCrypto.decapsulate(nodeKem.privateKey, ours.ciphertext),
  ],
  [
    "ML-KEM-768 key made, used for one decapsulation",
    () => { const key = mlkem768.generate(); key.decapsulate(ours.ciphertext); key.wipe(); },
    () => oqsKem.decapsulate(ours.ciphertext, oqsKem.generateKeyPair().secretKey),
    () => ml_kem768.decapsulate(ours.ciphertext, ml_kem768.keygen().secretKey),
    async () => tsKem.decap(ours.ciphertext, (await tsKem.generateKeyPair())[1]),
    () => nodeCrypto.decapsulate(nodeCrypto.generateKeyPairSync("ml-kem-768").privateKey, ours.ciphertext),
  ],
  [
    "ML-DSA-65 key generation",
    () => { const key = mldsa65.generate(); key.verifyingKey.toBytes(); key.wipe(); },
    () => oqsDsa.generateKeyPair(),
    () => ml_dsa65.keygen(),
    none,
    () => nodeCrypto.generateKeyPairSync("ml-dsa-65"),
  ],
  [
    "ML-DSA-65 signature",
    () => sk.sign(fresh()),
    () => oqsDsa.sign(fresh(), oqsDsaKey.secretKey),
    () => ml_dsa65.sign(fresh(), nobleDsa.secretKey),
    none,
    () => nodeCrypto.sign(null, fresh(), nodeDsa.privateKey),
  ],
  [
    "ML-DSA-65 key made, used for one signature",
    () => { const key = mldsa65.generate(); key.sign(fresh()); key.wipe(); },
    () => oqsDsa.sign(fresh(), oqsDsa.generateKeyPair().secretKey),
    () => ml_dsa65.sign(fresh(), ml_dsa65.keygen().secretKey),
    none,
    () => nodeCrypto.sign(null, fresh(), nodeCrypto.generateKeyPairSync("ml-dsa-65").privateKey),
  ],
  [
    "ML-DSA-65 verification, from bytes",
    () => mldsa65.verifyingKey(vkBytes).verify(signature, verified),
    () => oqsDsa.verify(verified, signature, vkBytes),
    () => ml_dsa65.verify(signature, verified, nobleDsa.publicKey),
    none,
    () => nodeCrypto.verify(null, verified, nodeDsa.imported(vkBytes), signature),
  ],
  [
    "ML-DSA-65 verification, from a key object",
    () => vk.verify(signature, verified),
    none,
    none,
    none,
    () => nodeCrypto.verify(null, verified, nodeDsa.publicKey, signature),
  ],
];

async function spent(work, times) {
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) {
    const result = work();
    // Of the peers, mlkem alone answers later.
    if (result instanceof Promise) await result;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}

console.log(`Node ${process.version}, ${cpus()[0].model}; µs of processor time, median (best) of ${ROUNDS} rounds\n`);
console.log(`| | ${peers.join(" | ")} |\n|---|${peers.map(() => "---:|").join("")}`);
const judged = [];
for (const [name, ...works] of rows) {
  const measured = peers.flatMap((peer, i) => (works[i] && asked(peer) ? [{ peer, work: works[i], figures: [] }] : []));
  for (const entry of measured) {
    await spent(entry.work, 30);
    entry.times = Math.max(3, Math.round(ROUND / (await spent(entry.work, 30))));
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const { work, times, figures } of measured) figures.push(await spent(work, times));
  }
  for (const { figures } of measured) figures.sort((a, b) => a - b);
  const median = (figures) => figures[ROUNDS >> 1];
  const cells = Object.fromEntries(measured.map(({ peer, figures }) => [peer, `${median(figures).toFixed(1)} (${figures[0].toFixed(1)})`]));
  console.log(`| ${[name, ...peers.map((peer) => cells[peer] ?? "")].join(" | ")} |`);
  judged.push({ name, times: Object.fromEntries(measured.map(({ peer, figures }) => [peer, median(figures)])) });
}
if (!onNode) console.log(`\nnot run: node:crypto: Node ${process.version} has no ML-KEM and no ML-DSA`);

console.log("\nBytes a page loads, by gzip\n\n| | WebAssembly | with JavaScript |\n|---|---:|---:|");
for (const { name, module, size } of await sizes()) console.log(`| ${name} | ${module} | ${size} |`);

if (process.argv.includes("--check")) {
  const lost = slower(judged);
  for (const { name, peer } of lost) console.log(`missed: ${name}: slower than ${peer}`);
  const held = JUDGED.filter(asked).join(" and ");
  if (lost.length === 0) console.log(`\nat least as fast as ${held} in every row`);
  process.exitCode = lost.length === 0 ? 0 : 1;
}
