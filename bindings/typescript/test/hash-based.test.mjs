// Hash-based signatures through the package: published answers, what is refused, wiping.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { inspect } from "node:util";
import { GambesonError, HssVerifyingKey, LmsVerifyingKey, SigningKey, VerifyingKey, XmssVerifyingKey, hss, init, lms, slhdsa, xmss, xmssmt } from "gambeson/hash";

const PUBLISHED = JSON.parse(readFileSync(new URL("../../published/hash-based.json", import.meta.url), "utf8"));
const code = (expected) => (error) => {
  assert.ok(error instanceof GambesonError, String(error));
  assert.equal(error.code, expected, error.message);
  return true;
};
const unhex = (digits) => new Uint8Array(Buffer.from(digits, "hex"));
const hex = (bytes) => Buffer.from(bytes).toString("hex");
const bytes = (text) => new TextEncoder().encode(text);
const FAST = "SLH-DSA-SHAKE-128f";

/** The digest of HashSLH-DSA by node:crypto. Functions of variable length give twice their security (FIPS 205, §10.2.2). */
function digestOf(prehash, message) {
  const name = prehash.toLowerCase().replace("sha2-", "sha").replace("shake-", "shake").replace("/", "-");
  const outputLength = { shake128: 32, shake256: 64 }[name];
  return new Uint8Array(createHash(name, outputLength === undefined ? undefined : { outputLength }).update(message).digest());
}

const messageOf = ({ message, prehash }) => (prehash === "" ? unhex(message) : { digest: digestOf(prehash, unhex(message)), prehash });

test("nothing works before init", async () => {
  assert.throws(() => slhdsa(FAST).generate(), code("not-initialized"));
  assert.throws(() => lms.verifyingKey(new Uint8Array(56)), code("not-initialized"));
  await assert.rejects(init(new Uint8Array(3)), WebAssembly.CompileError);
  await Promise.all([init(), init()]);
});

test("keys of seeds are the published ones, in every parameter set", () => {
  assert.equal(new Set(PUBLISHED.slhdsaKeys.map(({ set }) => set)).size, 12);
  for (const { set, seeds, root } of PUBLISHED.slhdsaKeys) {
    const key = slhdsa(set).fromSeed(unhex(seeds));
    assert.equal(hex(key.exportBytes()), seeds + root, set);
    assert.equal(hex(key.verifyingKey.toBytes()), seeds.slice(2 * root.length) + root, set);
    assert.equal(key.exportBytes().length, slhdsa(set).signingKeyLength);
    assert.equal(key.verifyingKey.toBytes().length, slhdsa(set).verifyingKeyLength);
  }
});

test("signatures are the published ones, and verify", () => {
  let deterministic = 0;
  for (const vector of PUBLISHED.slhdsaSignatures) {
    const set = slhdsa(vector.set);
    const key = set.fromBytes(unhex(vector.sk));
    const [message, context] = [messageOf(vector), unhex(vector.context)];
    const verifyingKey = set.verifyingKey(key.verifyingKey.toBytes());
    // Those of given randomness have no door here: they are signed anew.
    const isDeterministic = vector.randomness === "";
    const signature = key.sign(message, { context, deterministic: isDeterministic });
    assert.equal(signature.length, set.signatureLength);
    verifyingKey.verify(signature, message, { context });
    assert.throws(() => verifyingKey.verify(signature, bytes("another"), { context }), code("bad-signature"));
    assert.throws(() => verifyingKey.verify(signature, message, { context: bytes("another") }), code("bad-signature"));
    if (!isDeterministic) continue;
    assert.equal(createHash("sha256").update(signature).digest("hex"), vector.sha256, vector.set);
    deterministic += 1;
  }
  assert.deepEqual([deterministic, PUBLISHED.slhdsaSignatures.length], [10, 16]);
});

test("published signatures by SLH-DSA are refused", () => {
  assert.equal(PUBLISHED.slhdsaVerified.length, 4);
  for (const vector of PUBLISHED.slhdsaVerified) {
    const key = slhdsa(vector.set).verifyingKey(unhex(vector.pk));
    assert.throws(() => key.verify(unhex(vector.signature), messageOf(vector), { context: unhex(vector.context) }), code("bad-signature"));
  }
});

test("signatures by LMS are judged as published, alone and in one level of HSS", () => {
  let valid = 0;
  for (const vector of PUBLISHED.lms) {
    const [pk, message, signature] = [vector.pk, vector.message, vector.signature].map(unhex);
    const key = lms.verifyingKey(pk);
    const top = hss.verifyingKey(unhex(`00000001${vector.pk}`));
    for (const it of [key, top]) assert.deepEqual([it.lmsType, it.lmotsType], [vector.lmsType, vector.lmotsType]);
    assert.deepEqual([top.levels, key.toBytes()], [1, pk]);
    const checks = [() => key.verify(signature, message), () => top.verify(unhex(`00000000${vector.signature}`), message)];
    if (vector.valid) checks.forEach((check) => check());
    else checks.forEach((check) => assert.throws(check, code("bad-signature")));
    if (vector.valid) valid += 1;
    assert.throws(() => key.verify(signature, bytes("another")), code("bad-signature"));
  }
  assert.deepEqual([valid, PUBLISHED.lms.length], [20, 24]);
});

test("signatures by HSS are those of RFC 8554", () => {
  assert.equal(PUBLISHED.hss.length, 2);
  for (const vector of PUBLISHED.hss) {
    const [pk, message, signature] = [vector.pk, vector.message, vector.signature].map(unhex);
    const key = hss.verifyingKey(pk);
    assert.equal(key.levels, 2);
    key.verify(signature, message);
    for (const wrong of [new Uint8Array(), signature.subarray(1), signature.subarray(0, -1), unhex(`${vector.signature}00`)]) {
      assert.throws(() => key.verify(wrong, message), code("bad-signature"));
    }
    for (let at = 0; at < signature.length; at += 97) {
      const changed = signature.slice();
      changed[at] ^= 1;
      assert.throws(() => key.verify(changed, message), code("bad-signature"));
    }
  }
});

test("signatures by XMSS and XMSS^MT are judged as published", () => {
  let valid = 0;
  for (const vector of PUBLISHED.xmss) {
    const kind = vector.set.startsWith("XMSSMT") ? xmssmt : xmss;
    const [pk, message, signature] = [vector.pk, vector.message, vector.signature].map(unhex);
    const key = kind.verifyingKey(pk);
    assert.deepEqual([key.parameterSet, key.toBytes()], [vector.set, pk]);
    if (vector.valid) key.verify(signature, message);
    else assert.throws(() => key.verify(signature, message), code("bad-signature"));
    if (vector.valid) valid += 1;
    for (const wrong of [new Uint8Array(), signature.subarray(1), new Uint8Array(signature.length), unhex(`${vector.signature}00`)]) {
      assert.throws(() => key.verify(wrong, message), code("bad-signature"));
    }
    assert.throws(() => key.verify(signature, bytes("another")), code("bad-signature"));
    for (const cut of [0, 3, pk.length - 1]) assert.throws(() => kind.verifyingKey(pk.subarray(0, cut)), code("bad-length"));
    pk[3] = 0;
    assert.throws(() => kind.verifyingKey(pk), code("bad-key"));
  }
  assert.deepEqual([valid, PUBLISHED.xmss.length], [7, 9]);
});

test("signatures are hedged unless they are deterministic", () => {
  const key = slhdsa(FAST).generate();
  const sign = (options) => hex(key.sign(bytes("a"), options));
  assert.notEqual(sign(), sign());
  assert.equal(sign({ deterministic: true }), sign({ deterministic: true }));
});

test("wrong names, lengths, keys and arguments are refused", () => {
  for (const name of ["", "SLH-DSA-SHA2-128", "slh-dsa-sha2-128f", "SLH-DSA-SHA2-160s", "ML-DSA-65", undefined, null, 5]) {
    assert.throws(() => slhdsa(name), code("bad-form"), String(name));
  }
  const set = slhdsa(FAST);
  const key = set.generate();
  const signature = key.sign(bytes("a"));
  for (const length of [0, 47, 49]) assert.throws(() => set.fromSeed(new Uint8Array(length)), code("bad-length"));
  for (const length of [0, 63, 65]) assert.throws(() => set.fromBytes(new Uint8Array(length)), code("bad-length"));
  for (const length of [0, 31, 33]) assert.throws(() => set.verifyingKey(new Uint8Array(length)), code("bad-length"));
  const changed = key.exportBytes();
  changed[63] ^= 1;
  assert.throws(() => set.fromBytes(changed), code("bad-key"));
  for (const wrong of [new Uint8Array(), signature.subarray(1), new Uint8Array(signature.length)]) {
    assert.throws(() => key.verifyingKey.verify(wrong, bytes("a")), code("bad-signature"));
  }
  const context = new Uint8Array(256);
  for (const work of [(it) => key.sign(bytes("a"), it), (it) => key.verifyingKey.verify(signature, bytes("a"), it)]) {
    assert.throws(() => work({ context }), code("bad-length"));
    assert.throws(() => work({ ctx: context }), code("bad-form"));
    assert.throws(() => work({ context: "a" }), code("bad-form"));
  }
  assert.throws(() => key.sign(bytes("a"), { deterministic: 1 }), code("bad-form"));
  assert.throws(() => key.sign({ digest: new Uint8Array(32), prehash: "SHA-256" }), code("bad-form"));
  assert.throws(() => key.sign({ digest: new Uint8Array(32) }), code("bad-form"));
  assert.throws(() => key.sign({ digest: new Uint8Array(31), prehash: "SHA2-256" }), code("bad-length"));
  for (const like of ["hi", [1], new Uint16Array(2), null, undefined, { length: 2 }]) {
    const works = [
      () => key.sign(like), () => key.verifyingKey.verify(signature, like), () => key.verifyingKey.verify(like, bytes("a")), () => set.fromSeed(like),
      () => set.fromBytes(like), () => set.verifyingKey(like), () => lms.verifyingKey(like), () => hss.verifyingKey(like), () => xmss.verifyingKey(like), () => xmssmt.verifyingKey(like),
    ];
    for (const work of works) assert.throws(work, code("bad-form"), `${work} ${inspect(like)}`);
  }
  for (const [kind, good, place] of [[lms, unhex(PUBLISHED.lms[0].pk), 3], [hss, unhex(PUBLISHED.hss[0].pk), 7]]) {
    for (const cut of [0, 3, good.length - 1]) assert.throws(() => kind.verifyingKey(good.subarray(0, cut)), code("bad-length"));
    good[place] ^= 0x40;
    assert.throws(() => kind.verifyingKey(good), code("bad-key"));
  }
  for (const levels of [0, 9]) assert.throws(() => hss.verifyingKey(unhex(`0000000${levels}${PUBLISHED.lms[0].pk}`)), code("bad-key"));
});

test("what is made by a function is not made by `new`, and is not cloned", () => {
  for (const Class of [SigningKey, VerifyingKey, LmsVerifyingKey, HssVerifyingKey, XmssVerifyingKey]) {
    for (const given of [[], [{}], [slhdsa(FAST), {}]]) assert.throws(() => new Class(...given), code("usage"), Class.name);
  }
  const key = slhdsa(FAST).generate();
  for (const value of [key, key.verifyingKey, lms.verifyingKey(unhex(PUBLISHED.lms[0].pk))]) assert.throws(() => structuredClone(value), TypeError);
});

test("a wiped key does nothing, and its secret is nowhere in the module's memory", async () => {
  const { default: start } = await import("../dist/wasm/hash.js");
  const { memory } = await start();
  const key = slhdsa(FAST).fromSeed(crypto.getRandomValues(new Uint8Array(48)));
  const secret = key.exportBytes().subarray(0, 32);
  const find = () => Buffer.from(memory.buffer).indexOf(Buffer.from(secret));
  assert.notEqual(find(), -1, "the search finds a secret that is there");
  for (const shown of [inspect(key, { depth: 9, showHidden: true }), JSON.stringify(key), String(key)]) assert.ok(!shown.includes(hex(secret)));
  key.sign(bytes("something"));
  slhdsa(FAST).fromBytes(key.exportBytes()).wipe();
  key[Symbol.dispose]();
  key.wipe();
  assert.throws(() => key.sign(bytes("something")), code("wiped"));
  assert.throws(() => key.exportBytes(), code("wiped"));
  assert.equal(find(), -1);
});
