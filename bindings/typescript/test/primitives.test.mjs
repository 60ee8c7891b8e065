// The primitives through the package: round trips, peers, errors, wiping. The algorithms' vectors are tested in Rust, and
// against `@noble/post-quantum` here.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import * as gambeson from "gambeson";
import { ml_dsa44, ml_dsa65, ml_dsa87 } from "@noble/post-quantum/ml-dsa.js";
import { ml_kem1024, ml_kem512, ml_kem768 } from "@noble/post-quantum/ml-kem.js";
import { ml_kem768_x25519 as XWing } from "@noble/post-quantum/hybrid.js";

const { init, mldsa44, mldsa65, mldsa87, mlkem1024, mlkem512, mlkem768, xwing } = gambeson;
const code = (expected) => (error) => error instanceof gambeson.GambesonError && error.code === expected;
const hex = (bytes) => Buffer.from(bytes).toString("hex");
const bytes = (text) => new TextEncoder().encode(text);

test("nothing works before init, and init may be called at any time", async () => {
  assert.throws(() => mlkem768.generate(), code("not-initialized"));
  await assert.rejects(init(new Uint8Array(3)), WebAssembly.CompileError);
  await Promise.all([init(), init()]);
  await init();
  mlkem768.generate().wipe();
});

for (const [kem, peer] of [[mlkem512, ml_kem512], [mlkem768, ml_kem768], [mlkem1024, ml_kem1024], [xwing, XWing]]) {
  test(`${kem.name}: both sides find one secret, and so does a peer with the same seed`, () => {
    const seed = new Uint8Array(kem.seedLength).map((_, i) => 3 * i);
    const dk = kem.fromSeed(seed);
    const theirs = peer.keygen(seed);
    assert.deepEqual(dk.encapsulationKey.toBytes(), new Uint8Array(theirs.publicKey));
    assert.equal(dk.encapsulationKey.toBytes().length, kem.encapsulationKeyLength);
    assert.deepEqual(dk.exportSeed(), seed);

    const { ciphertext, sharedSecret } = kem.encapsulationKey(dk.encapsulationKey.toBytes()).encapsulate();
    assert.deepEqual([ciphertext.length, sharedSecret.length], [kem.ciphertextLength, 32]);
    assert.deepEqual(dk.decapsulate(ciphertext), sharedSecret);
    assert.deepEqual(new Uint8Array(peer.decapsulate(ciphertext, theirs.secretKey)), sharedSecret);
    const { cipherText, sharedSecret: other } = peer.encapsulate(theirs.publicKey);
    assert.deepEqual(dk.decapsulate(cipherText), new Uint8Array(other));

    ciphertext[0] ^= 1;
    assert.notDeepEqual(dk.decapsulate(ciphertext), sharedSecret);
    assert.throws(() => dk.decapsulate(ciphertext.subarray(1)), code("bad-length"));
    assert.throws(() => kem.fromSeed(seed.subarray(1)), code("bad-length"));
    assert.throws(() => kem.encapsulationKey(new Uint8Array(3)), code("bad-length"));
    assert.throws(() => kem.encapsulationKey(new Uint8Array(kem.encapsulationKeyLength).fill(255)), code("bad-key"));
    assert.notDeepEqual(kem.generate().exportSeed(), kem.generate().exportSeed());
  });
}

for (const [dsa, peer] of [[mldsa44, ml_dsa44], [mldsa65, ml_dsa65], [mldsa87, ml_dsa87]]) {
  test(`${dsa.name}: signs as a peer with the same seed, and refuses what was changed`, () => {
    const seed = new Uint8Array(32).fill(7);
    const sk = dsa.fromSeed(seed);
    const theirs = peer.keygen(seed);
    const vk = dsa.verifyingKey(sk.verifyingKey.toBytes());
    assert.deepEqual(vk.toBytes(), new Uint8Array(theirs.publicKey));
    assert.equal(vk.toBytes().length, dsa.verifyingKeyLength);
    assert.deepEqual(sk.exportSeed(), seed);

    const [message, context] = [bytes("a message"), bytes("example")];
    vk.verify(new Uint8Array(peer.sign(message, theirs.secretKey, { context })), message, { context });
    assert.deepEqual(Reflect.ownKeys(Object.getPrototypeOf(sk)).filter((name) => /deterministic/i.test(String(name))), []);
    const signature = sk.sign(message, { context });
    assert.equal(signature.length, dsa.signatureLength);
    assert.notDeepEqual(signature, sk.sign(message, { context }));
    assert.ok(peer.verify(signature, message, theirs.publicKey, { context }));
    vk.verify(signature, message, { context });
    vk.verify(sk.sign(new Uint8Array()), new Uint8Array());

    assert.throws(() => vk.verify(signature, message), code("bad-signature"));
    assert.throws(() => vk.verify(signature, bytes("a massage"), { context }), code("bad-signature"));
    assert.throws(() => vk.verify(signature.subarray(1), message, { context }), code("bad-signature"));
    assert.throws(() => dsa.verifyingKey(new Uint8Array(5)).verify(signature, message), code("bad-length"));
    assert.throws(() => sk.sign(message, { context: new Uint8Array(256) }), code("bad-length"));
    assert.throws(() => dsa.fromSeed(new Uint8Array(31)), code("bad-length"));
  });
}

test("the hashes of FIPS 202 are those of node:crypto", async () => {
  const { createHash } = await import("node:crypto");
  for (const message of [new Uint8Array(), bytes("abc"), new Uint8Array(1000).fill(3)]) {
    for (const [name, hash] of [["sha3-256", gambeson.sha3_256], ["sha3-384", gambeson.sha3_384], ["sha3-512", gambeson.sha3_512]]) {
      assert.equal(hex(hash(message)), createHash(name).update(message).digest("hex"));
    }
    for (const [name, hash] of [["shake128", gambeson.shake128], ["shake256", gambeson.shake256]]) {
      assert.equal(hex(hash(message, 200)), createHash(name, { outputLength: 200 }).update(message).digest("hex"));
    }
  }
});

for (const kem of [mlkem512, mlkem768, mlkem1024, xwing]) {
  test(`${kem.name}: a held encapsulation key makes a new secret each time, also without its decapsulation key`, () => {
    const dk = kem.generate();
    const held = [dk.encapsulationKey, kem.encapsulationKey(dk.encapsulationKey.toBytes())];
    // The first is made from the bytes, the others by the expanded key.
    const all = held.flatMap((ek) => [1, 2, 3, 4].map(() => ek.encapsulate()));
    for (const { ciphertext, sharedSecret } of all) {
      assert.deepEqual([ciphertext.length, sharedSecret.length], [kem.ciphertextLength, 32]);
      assert.deepEqual(dk.decapsulate(ciphertext), sharedSecret);
    }
    assert.equal(new Set(all.map(({ sharedSecret }) => hex(sharedSecret))).size, all.length);

    const other = kem.fromSeed(dk.exportSeed());
    dk.wipe();
    const { ciphertext, sharedSecret } = dk.encapsulationKey.encapsulate();
    assert.deepEqual(other.decapsulate(ciphertext), sharedSecret);
    assert.deepEqual(dk.encapsulationKey.toBytes(), other.encapsulationKey.toBytes());
  });
}

test("a wiped key does nothing, and no key shows its secret", () => {
  for (const key of [mlkem768.generate(), xwing.generate(), mldsa65.generate()]) {
    const seed = hex(key.exportSeed());
    for (const shown of [inspect(key, { depth: 9, showHidden: true }), JSON.stringify(key), String(key)]) {
      assert.ok(!shown.includes(seed));
    }
    assert.deepEqual(Object.keys(key).filter((name) => /secret|seed/.test(name)), []);
    key[Symbol.dispose]();
    key.wipe();
    assert.throws(() => key.exportSeed(), code("wiped"));
  }
});

test("what was freed is overwritten: the seed of a wiped key is nowhere in the module's memory", async () => {
  const { default: start } = await import("../dist/wasm/gambeson.js");
  const { memory } = await start();
  const seed = crypto.getRandomValues(new Uint8Array(32));
  const find = () => Buffer.from(memory.buffer).indexOf(Buffer.from(seed));
  const key = mldsa65.fromSeed(seed);
  assert.notEqual(find(), -1, "the search finds a seed that is there");
  key.sign(bytes("something"));
  key.exportSeed();
  key.wipe();
  assert.equal(find(), -1);
});

test("no shared secret and no randomness of one stays in the module's memory", async (context) => {
  const { default: start } = await import("../dist/wasm/gambeson.js");
  const { memory } = await start();
  const find = (bytes) => Buffer.from(memory.buffer).indexOf(Buffer.from(bytes));
  const draw = crypto.getRandomValues.bind(crypto);
  for (const kem of [mlkem512, mlkem768, mlkem1024, xwing]) {
    const dk = kem.generate();
    const drawn = [];
    context.mock.method(crypto, "getRandomValues", (bytes) => (draw(bytes), drawn.push(bytes.slice()), bytes));
    for (let use = 1; use <= 3; use++) {
      const { ciphertext, sharedSecret } = dk.encapsulationKey.encapsulate();
      assert.equal(drawn.length, use);
      assert.equal(find(sharedSecret), -1, `${kem.name}: the secret of encapsulation ${use}`);
      assert.equal(find(drawn[use - 1]), -1, `${kem.name}: the randomness of encapsulation ${use}`);
      assert.deepEqual(dk.decapsulate(ciphertext), sharedSecret);
      assert.equal(find(sharedSecret), -1, `${kem.name}: the secret that was decapsulated`);
    }
    assert.notEqual(find(dk.encapsulationKey.toBytes().subarray(-32)), -1, "the search finds ρ of a held key");
    context.mock.restoreAll();
  }
});

test("what is only like bytes is refused, and not taken for none", () => {
  const key = mldsa44.generate();
  const like = ["hi", [104, 105], new Map(), new Uint16Array(2), new ArrayBuffer(2), null, { length: 2 }];
  for (const message of like) {
    const works = [
      () => key.sign(message), () => key.verifyingKey.verify(new Uint8Array(2420), message), () => key.verifyingKey.verify(message, bytes("a")),
      () => gambeson.sha3_256(message), () => gambeson.shake128(message, 8), () => mldsa44.fromSeed(message), () => mldsa44.verifyingKey(message),
      () => mlkem512.fromSeed(message), () => mlkem512.encapsulationKey(message), () => mlkem512.generate().decapsulate(message),
    ];
    for (const work of works) assert.throws(work, code("bad-form"), `${work} ${inspect(message)}`);
    if (message !== null) assert.throws(() => key.sign(bytes("a"), { context: message }), code("bad-form"));
  }
  key.verifyingKey.verify(key.sign(Buffer.from("a")), bytes("a"));
});
