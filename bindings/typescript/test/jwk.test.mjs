// Keys as JWK (RFC 9964), public and private, and wrong lengths of bytes: one code each.
import assert from "node:assert/strict";
import { test } from "node:test";
import { GambesonError, init, mldsa44, mldsa65, mldsa87, mlkem768, xwing } from "gambeson";
import { Agent, init as initAgents, publicKey, verifyConsistency, verifyDocumentWithKey, verifyInclusion, verifyJws } from "gambeson/agent";

await init();
await initAgents("whole");
const code = (expected) => (error) => {
  assert.ok(error instanceof GambesonError, String(error));
  assert.equal(error.code, expected, error.message);
  return true;
};
const encoded = (bytes) => Buffer.from(bytes).toString("base64url");
const bytes = new Uint8Array([1, 2, 3]);

for (const set of [mldsa44, mldsa65, mldsa87]) {
  test(`${set.name}: a private key is written by a name that says so, and read if its halves fit`, () => {
    const key = set.generate();
    const jwk = key.exportPrivateJwk();
    assert.deepEqual(jwk, { kty: "AKP", alg: set.name, pub: encoded(key.verifyingKey.toBytes()), priv: encoded(key.exportSeed()) });
    const again = set.fromPrivateJwk({ ...jwk, kid: "a", use: "sig", key_ops: ["sign"] });
    assert.deepEqual(again.exportSeed(), key.exportSeed());
    key.verifyingKey.verify(again.sign(bytes), bytes);
    const open = key.verifyingKey.toJwk();
    assert.deepEqual(open, { kty: "AKP", alg: set.name, pub: jwk.pub });
    assert.deepEqual(set.verifyingKey(open).toBytes(), key.verifyingKey.toBytes());
    assert.deepEqual(publicKey(open).bytes, key.verifyingKey.toBytes());
    key.wipe();
    assert.throws(() => key.exportPrivateJwk(), code("wiped"));
  });
}

test("what is no private key is refused, and its secret is in no message", () => {
  const [key, other] = [mldsa65.generate(), mldsa65.generate()];
  const good = key.exportPrivateJwk();
  const seed = key.exportSeed();
  const without = (name) => Object.fromEntries(Object.entries(good).filter(([it]) => it !== name));
  const bad = [
    ["bad-key", { ...good, pub: other.exportPrivateJwk().pub }],
    ["bad-key", { ...good, priv: other.exportPrivateJwk().priv }],
    ["bad-key", { ...good, kty: "OKP" }],
    ["bad-key", { ...good, priv: encoded(seed.subarray(1)) }],
    ["bad-key", { ...good, priv: encoded([...seed, 1]) }],
    ["bad-key", { ...good, pub: encoded(key.verifyingKey.toBytes().subarray(1)) }],
    ["bad-key", { ...good, use: "enc" }],
    ["bad-key", { ...good, key_ops: ["verify"] }],
    ["bad-key", key.verifyingKey.toJwk()],
    ["bad-algorithm", { ...good, alg: "ML-DSA-44" }],
    ["bad-algorithm", { ...good, alg: "EdDSA" }],
    ["bad-encoding", { ...good, priv: `${good.priv}=` }],
    ["bad-encoding", { ...good, priv: "*".repeat(43) }],
    ["bad-encoding", { ...good, priv: `${encoded(new Uint8Array(32)).slice(0, -1)}B` }],
    ["bad-form", without("pub")],
    ["bad-form", without("alg")],
    ["bad-form", { ...good, priv: 5 }],
    ["bad-form", []],
    ["bad-form", null],
    ["bad-form", JSON.stringify(good)],
  ];
  for (const [expected, jwk] of bad) {
    assert.throws(() => mldsa65.fromPrivateJwk(jwk), (error) => code(expected)(error) && !error.message.includes(good.priv), JSON.stringify(jwk));
  }
  assert.throws(() => mldsa65.verifyingKey(good), code("bad-key"));
  assert.throws(() => publicKey(good), code("bad-key"));
});

test("a public key is a JWK, or in an object that says so", () => {
  const agent = Agent.generate();
  const { jwk, multikey } = publicKey({ alg: "ML-DSA-65", bytes: agent.publicKey() });
  for (const key of [jwk, { jwk }, { multikey }]) {
    assert.deepEqual(publicKey(key).bytes, agent.publicKey());
    verifyJws(agent.issue({ subject: { a: 1 } }), key);
  }
  const { jwk: integrity } = publicKey({ alg: "ML-DSA-44", bytes: agent.publicKey("data-integrity") });
  verifyDocumentWithKey(agent.signDocument({ a: 1 }), integrity);
  for (const wrong of [{}, null, undefined, 5, "x", { kid: "a" }]) assert.throws(() => publicKey(wrong), code("bad-form"));
});

test("a wrong length has one code: of bytes, of a key in a JWK", () => {
  const { jwk } = publicKey({ alg: "ML-DSA-65", bytes: mldsa65.generate().verifyingKey.toBytes() });
  for (const length of [0, 1, 31, 33, 65, 1951, 1953, 3000, 100_000]) {
    const wrong = new Uint8Array(length);
    const takes = [
      () => publicKey({ alg: "ML-DSA-65", bytes: wrong }),
      () => mldsa65.verifyingKey(wrong),
      () => mldsa65.fromSeed(wrong),
      () => mlkem768.fromSeed(wrong),
      () => mlkem768.encapsulationKey(wrong),
      () => xwing.encapsulationKey(wrong),
      () => mlkem768.generate().decapsulate(wrong),
      () => Agent.fromSeed(wrong),
      () => verifyInclusion(wrong, { index: 0n, size: 1n, root: new Uint8Array(32) }, []),
      () => verifyConsistency({ size: 1n, root: wrong }, { size: 1n, root: new Uint8Array(32) }, []),
    ];
    for (const take of takes) assert.throws(take, code("bad-length"), String(take));
    if (length < 2000) assert.throws(() => publicKey({ ...jwk, pub: encoded(wrong) }), code("bad-key"));
  }
});
