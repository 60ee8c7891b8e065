// The same work by this package and by its peers, in turn in one run, after their outputs were compared.
//
// node bench/bench.mjs [--check]: with --check it fails unless this package is at least as fast as liboqs-js in every row, and as small as promised.
//
// The figures are microseconds of processor time, which a machine that does other things disturbs less than the time on the
// clock: the median of rounds, and the best. Messages have 32 bytes and are new each time, for signing repeats until an
// attempt passes. The peers' private keys are bytes, which they read in each operation. Ours are held, and there is a row that
// imports them from the seed each time.
import assert from "node:assert/strict";
import { cpus } from "node:os";
import { createMLDSA65, createMLKEM768 } from "@oqs/liboqs-js";
import { ml_dsa65 } from "@noble/post-quantum/ml-dsa.js";
import { ml_kem768 } from "@noble/post-quantum/ml-kem.js";
import { MlKem768 } from "mlkem";
import { init, mldsa65, mlkem768 } from "../dist/index.js";
import { sizes } from "./size.mjs";

const ROUNDS = 15;
/** Processor time of one peer in one round, in microseconds. */
const ROUND = 60_000;

await init();
const [oqsKem, oqsDsa, tsKem] = [await createMLKEM768(), await createMLDSA65(), new MlKem768()];
const peers = ["gambeson", "liboqs-js", "noble", "mlkem"];

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

const verified = message.slice();
let count = 0;
function fresh() {
  new DataView(message.buffer).setUint32(0, count++);
  return message;
}
const rows = [
  [
    "ML-KEM-768 key generation",
    () => { const key = mlkem768.generate(); key.encapsulationKey.toBytes(); key.wipe(); },
    () => oqsKem.generateKeyPair(),
    () => ml_kem768.keygen(),
    () => tsKem.generateKeyPair(),
  ],
  [
    "ML-KEM-768 encapsulation, from bytes",
    () => mlkem768.encapsulationKey(ekBytes).encapsulate(),
    () => oqsKem.encapsulate(ekBytes),
    () => ml_kem768.encapsulate(ekBytes),
    () => tsKem.encap(ekBytes),
  ],
  [
    "ML-KEM-768 decapsulation",
    () => dk.decapsulate(ours.ciphertext),
    () => oqsKem.decapsulate(ours.ciphertext, oqsKemKey.secretKey),
    () => ml_kem768.decapsulate(ours.ciphertext, nobleKem.secretKey),
    () => tsKem.decap(ours.ciphertext, tsDk),
  ],
  [
    "ML-KEM-768 decapsulation, key imported",
    () => { const key = mlkem768.fromSeed(seed); key.decapsulate(ours.ciphertext); key.wipe(); },
    () => oqsKem.decapsulate(ours.ciphertext, oqsKemKey.secretKey),
  ],
  [
    "ML-DSA-65 key generation",
    () => { const key = mldsa65.generate(); key.verifyingKey.toBytes(); key.wipe(); },
    () => oqsDsa.generateKeyPair(),
    () => ml_dsa65.keygen(),
  ],
  [
    "ML-DSA-65 signature",
    () => sk.sign(fresh()),
    () => oqsDsa.sign(fresh(), oqsDsaKey.secretKey),
    () => ml_dsa65.sign(fresh(), nobleDsa.secretKey),
  ],
  [
    "ML-DSA-65 signature, key imported",
    () => { const key = mldsa65.fromSeed(xi); key.sign(fresh()); key.wipe(); },
    () => oqsDsa.sign(fresh(), oqsDsaKey.secretKey),
  ],
  [
    "ML-DSA-65 verification, from bytes",
    () => mldsa65.verifyingKey(vkBytes).verify(signature, verified),
    () => oqsDsa.verify(verified, signature, vkBytes),
    () => ml_dsa65.verify(signature, verified, nobleDsa.publicKey),
  ],
];

/** Which rows a check may not demand: work that liboqs-js's row does not have. */
const MORE_WORK = /key imported/;

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
let slower = 0;
for (const [name, ...works] of rows) {
  const figures = works.map(() => []);
  const times = [];
  for (const work of works) {
    await spent(work, 30);
    times.push(Math.max(3, Math.round(ROUND / (await spent(work, 30)))));
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, work] of works.entries()) figures[i].push(await spent(work, times[i]));
  }
  const medians = figures.map((all) => all.sort((a, b) => a - b)[ROUNDS >> 1]);
  const cells = figures.map((all, i) => `${medians[i].toFixed(1)} (${all[0].toFixed(1)})`);
  console.log(`| ${[name, ...cells, ...peers.slice(cells.length).map(() => "")].join(" | ")} |`);
  if (!MORE_WORK.test(name) && medians[0] > medians[1]) slower += 1;
}

/** At most 80 KB by gzip for primitives and identity together: what the package promised before it was built. */
const PROMISED = 80_000;
const loaded = await sizes();
const total = loaded.filter(({ name }) => name !== "whole").reduce((sum, { size }) => sum + size, 0);
console.log("\nBytes a page loads, by gzip\n\n| | WebAssembly | with JavaScript |\n|---|---:|---:|");
for (const { name, module, size } of loaded) console.log(`| ${name} | ${module} | ${size} |`);
console.log(`| both | | ${total}, at most ${PROMISED} promised |`);

if (process.argv.includes("--check")) {
  const over = total - PROMISED;
  console.log(slower === 0 ? "\nat least as fast as liboqs-js in every row" : `\nslower than liboqs-js in ${slower} rows`);
  // Red until it is kept: the reason, and what would be left out, stand in decision 15.
  console.log(over <= 0 ? "as small as promised" : `${over} bytes above the promised ${PROMISED}: see decision 15`);
  process.exitCode = slower === 0 && over <= 0 ? 0 : 1;
}
