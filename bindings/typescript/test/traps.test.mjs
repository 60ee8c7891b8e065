// Small traps: constructors, clones, JSON, values of other types, and messages of any size.
import assert from "node:assert/strict";
import { test } from "node:test";
import { GambesonError, DecapsulationKey, EncapsulationKey, SigningKey, VerifyingKey, init, mldsa44, mldsa65, mlkem768, sha3_256, shake128, shake256 } from "gambeson";
import { Agent, AuditLog, CardLog, StatusList, Verifier, canonicalize, init as initAgents } from "gambeson/agent";
import { readIncoming, signedFetch, verifyRequest } from "gambeson/http";

await init();
await initAgents("whole");
const code = (...expected) => (error) => {
  assert.ok(error instanceof GambesonError, String(error));
  assert.ok(expected.includes(error.code), `${error.code}: ${error.message}`);
  return true;
};
const bytes = (text) => new TextEncoder().encode(text);
const agent = Agent.generate();

test("what is made by a function is not made by `new`", () => {
  for (const Class of [Agent, AuditLog, CardLog, SigningKey, VerifyingKey, DecapsulationKey, EncapsulationKey]) {
    for (const given of [[], [{}], [mldsa44, {}]]) {
      assert.throws(() => new Class(...given), (error) => code("usage")(error) && !/wiped/.test(error.message), Class.name);
    }
  }
});

/** One of each class that has something that no copy would have. */
const held = {
  agent,
  "signing key": mldsa44.generate(),
  "verifying key": mldsa44.generate().verifyingKey,
  "decapsulation key": mlkem768.generate(),
  "encapsulation key": mlkem768.generate().encapsulationKey,
  verifier: new Verifier(),
  "status list": new StatusList(),
  log: AuditLog.create(agent, "agent.example/log"),
  cards: CardLog.verify(agent.card()),
};

for (const [name, value] of Object.entries(held)) {
  test(`a ${name} is not cloned into a dead object, and its JSON is short`, () => {
    for (const cloned of [value, { inside: [value] }]) {
      assert.throws(() => structuredClone(cloned), (error) => error instanceof TypeError && /clone/.test(error.message));
    }
    const json = JSON.stringify({ value });
    assert.ok(json.length < 30_000 && !/"\d+":/.test(json), json.slice(0, 200));
  });
}

test("the JSON of a public key is its JWK, and that of a private key has no secret", () => {
  const key = mldsa65.generate();
  assert.deepEqual(JSON.parse(JSON.stringify(key.verifyingKey)), key.verifyingKey.toJwk());
  assert.deepEqual(mldsa65.verifyingKey(JSON.parse(JSON.stringify(key.verifyingKey))).toBytes(), key.verifyingKey.toBytes());
  const { priv } = key.exportPrivateJwk();
  assert.ok(!JSON.stringify(key).includes(priv));
  assert.deepEqual(JSON.parse(JSON.stringify(agent)), { did: agent.did, suite: "default" });
});

async function* parts(message, size) {
  for (let at = 0; at < message.length; at += size) yield message.subarray(at, at + size);
}

test("a message comes whole, in parts or as μ, and its signature is the same kind", async () => {
  const key = mldsa65.generate();
  const context = bytes("letters v1");
  for (const length of [0, 1, 5000, (1 << 20) + 7, 3 << 20]) {
    const message = new Uint8Array(length).map((_, i) => i * 7);
    const stream = () => new Blob([message]).stream();
    const mu = key.verifyingKey.mu(message, { context });
    assert.equal(mu.length, 64);
    assert.deepEqual(await key.verifyingKey.mu(parts(message, 777), { context }), mu);
    for (const signature of [
      key.sign(message, { context }), key.sign({ mu }), await key.sign(stream(), { context }),
      await key.sign(parts(message, 100_000), { context }),
    ]) {
      key.verifyingKey.verify(signature, message, { context });
      key.verifyingKey.verify(signature, { mu });
      await key.verifyingKey.verify(signature, stream(), { context });
      assert.throws(() => key.verifyingKey.verify(signature, message), code("bad-signature"));
      await assert.rejects(key.verifyingKey.verify(signature, stream()), code("bad-signature"));
      await assert.rejects(key.verifyingKey.verify(signature, parts(new Uint8Array(length + 1), 1 << 16), { context }), code("bad-signature"));
    }
  }
  for (const mu of [new Uint8Array(63), new Uint8Array(65)]) {
    assert.throws(() => key.sign({ mu }), code("bad-length"));
    assert.throws(() => key.verifyingKey.verify(new Uint8Array(3309), { mu }), code("bad-length"));
  }
  for (const wrong of [{ mu: "x" }, { mu: new Uint8Array(64), other: 1 }, {}, [1, 2], [new Uint16Array(2)]]) {
    assert.throws(() => key.sign(wrong), code("bad-form"), JSON.stringify(wrong));
  }
  await assert.rejects(key.sign(parts({ length: 1, subarray: () => "x" }, 1)), code("bad-form"));
  // μ has its context in it already.
  assert.throws(() => key.sign({ mu: new Uint8Array(64) }, { context }), code("bad-form"));
  key.wipe();
  assert.throws(() => key.sign(bytes("a")), code("wiped"));
  await assert.rejects(key.sign(parts(bytes("a"), 1)), code("wiped"));
});

test("a message of 2.2 GB is signed and verified, and what cannot be carried is refused, without a trap", { timeout: 300_000 }, () => {
  const key = mldsa44.generate();
  // Zeros, which take no memory where they are not written to.
  const large = new Uint8Array(2_200_000_000);
  const refused = [
    () => key.verifyingKey.verify(large, bytes("a")), () => sha3_256(large), () => shake128(large, 8), () => mldsa44.fromSeed(large), () => mlkem768.fromSeed(large),
    () => mlkem768.encapsulationKey(large), () => held["decapsulation key"].decapsulate(large), () => mldsa44.verifyingKey(large),
    () => key.sign(bytes("a"), { context: large }), () => key.sign({ mu: large }), () => agent.sign(large, bytes("a")), () => agent.sign(bytes("a"), large),
    () => agent.signFile(large), () => agent.seal(large, { to: agent.did, cards: held.verifier }), () => Agent.fromSeed(large), () => agent.restore(large),
    () => held.log.append(agent, [large]), () => canonicalize(large), () => agent.signRequest({ method: "POST", url: "https://a.example/", headers: [], body: large }),
  ];
  for (const work of refused) assert.throws(work, code("too-large", "bad-length", "bad-signature", "context-too-long"), String(work));
  const signature = key.sign(large);
  key.verifyingKey.verify(signature, large);
  assert.throws(() => key.verifyingKey.verify(signature, large.subarray(1)), code("bad-signature"));
  // The module goes on.
  key.verifyingKey.verify(key.sign(bytes("a")), bytes("a"));
  agent.sign(bytes("a"), bytes("b"));
});

test("numbers beyond what is there are refused, without a trap", () => {
  for (const length of [-1, 1.5, NaN, Infinity, 2 ** 31, 2 ** 32, 2 ** 53, "8", undefined]) {
    for (const shake of [shake128, shake256]) assert.throws(() => shake(bytes("a"), length), code("bad-length"), String(length));
  }
  assert.equal(shake128(bytes("a"), 0).length, 0);
  for (const number of [-1, 1.5, NaN, Infinity, 2 ** 53, 2 ** 64, "x", null]) {
    for (const work of [
      () => new Verifier({ capacity: number }).addCards("{"), () => new StatusList("revocation", number), () => held["status list"].set(number), () => held.log.entry(number), () => held.log.prove(number),
      () => agent.child(number), () => agent.beginSession(number), () => agent.delegate({ delegate: agent.did, capabilities: [{ action: "a/b", resource: "did:web:a.example" }], maxCalls: number ?? -1 }),
      () => agent.card({ validFor: number ?? -1 }), () => canonicalize("{}", { maxLength: number ?? -1 }),
    ]) {
      try {
        work();
      } catch (error) {
        assert.ok(error instanceof GambesonError, `${work} ${String(number)}: ${String(error)}`);
      }
    }
  }
});

test("times of other types are refused as such", () => {
  for (const now of ["2026-11-22", null, {}, [], true, NaN, new Date("never"), { getTime: () => 5 }, 5n]) {
    assert.throws(() => agent.card({ from: now }), code("bad-time"), String(now));
    assert.throws(() => new Verifier().resolve(agent.did, now), code("bad-time"), String(now));
    assert.throws(() => agent.signDocument({ a: 1 }, now), code("bad-time"), String(now));
  }
});

test("values that JSON does not have, lists that are none, and addresses that are none are errors of this package", async () => {
  const circular = {};
  circular.self = circular;
  let deep = [];
  for (let i = 0; i < 100_000; i++) deep = [deep];
  for (const value of [circular, { a: 5n }, { a: deep }, { a: () => {}, toJSON: () => undefined }]) {
    assert.throws(() => agent.signDocument(value), code("bad-json"));
    assert.throws(() => agent.issue({ subject: value }), code("bad-json", "bad-form"));
  }
  const request = { method: "GET", url: "https://bank.example/pay" };
  for (const headers of [undefined, null, 5, { a: "b" }]) assert.throws(() => agent.signRequest({ ...request, headers }), code("bad-form"));
  for (const capabilities of [undefined, null, "x", {}]) assert.throws(() => agent.delegate({ delegate: agent.did, capabilities }), code("bad-form"));
  for (const origin of ["bank.example", "https://bank.example/app", "", undefined, "ftp://bank.example", "https://bank.example?a"]) {
    await assert.rejects(verifyRequest(new Verifier(), new Request(request.url), origin ?? ""), code("bad-form"));
    await assert.rejects(readIncoming({ url: "/", rawHeaders: [] }, origin), code("bad-form"));
  }
  await assert.rejects(signedFetch(agent, { fetch: async () => new Response() })("nowhere"), TypeError);
});
