// Members of arguments: one that nobody knows is refused, for it may be a limit that is misspelt; one that an object inherits counts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { GambesonError, init as initPrimitives, mldsa44 } from "gambeson";
import { Agent, AuditLog, CardLog, StatusList, Verifier, canonicalize, init, publicKey, statusEntry, verifyConsistency, verifyInclusion, verifyJws, verifyLogProof } from "gambeson/agent";
import { connect } from "gambeson/channel";
import { readIncoming, signResponse, signedFetch, verifyRequest, verifyResponse } from "gambeson/http";
import { signCalls, verifyCalls } from "gambeson/mcp";

await init("whole");
await initPrimitives();
const now = 1_795_330_800;
const bank = "did:web:bank.example";
const seed = new Uint8Array(32).fill(1);
const [owner, helper] = [Agent.fromSeed(seed), Agent.fromSeed(new Uint8Array(32).fill(2))];
const capabilities = [{ action: "tools/call/pay", resource: bank }];
const bytes = new Uint8Array([1, 2, 3]);
const verifier = new Verifier();
for (const agent of [owner, helper]) verifier.addCards(agent.card({ from: now }));
const chain = [owner.delegate({ delegate: helper.did, capabilities, from: now })];
const action = helper.action("tools/call", { name: "pay" }, { audience: bank, evidence: { chain }, now });
const log = AuditLog.create(owner, "agent.example/log", now);
log.append(owner, [bytes], now);
const list = new StatusList();
const issued = owner.issueSdJwt({ vct: "https://card.example", claims: { a: 1 }, from: now, holder: helper.keyUrlOf("identity") });
const request = { method: "GET", url: "https://bank.example/pay", headers: [] };
const transport = { start: async () => {}, send: async () => {}, close: async () => {} };
const words = Agent.newWords();
const key = { multikey: publicKey({ alg: "ML-DSA-65", bytes: owner.publicKey() }).multikey };
const web = () => new Request(request.url);
const SOCKET = class { close() {} };

/** What takes an object, and an object that it takes; where there is a third, the call itself is good with it. */
const TAKES = {
  "Agent.generate": [(it) => Agent.generate(it), { suite: "default" }],
  "Agent.fromSeed": [(it) => Agent.fromSeed(seed, it), { suite: "default" }],
  "Agent.fromWords": [(it) => Agent.fromWords(words, it), { suite: "default" }],
  "Agent.fromProtected": [(it) => Agent.fromProtected(bytes, "passphrase", it), {}, "refused"],
  "Agent.fromAgeFile": [(it) => Agent.fromAgeFile(bytes, "passphrase", it), { maxWorkFactor: 2 }, "refused"],
  "Agent.protectWords": [(it) => Agent.protectWords(words, "passphrase", it), { suite: "default" }],
  "Agent.card": [(it) => owner.card(it), { validFor: 60 }],
  "Agent.rotate": [(it) => Agent.fromSeed(seed).rotate(owner.card({ from: now }), it), { roles: ["signing"], from: now + 1 }],
  "Agent.issue": [(it) => owner.issue(it), { subject: { a: 1 }, validFor: 60 }],
  "Agent.present": [(it) => owner.present([], it), { audience: bank, nonce: "n-0S6_WzA2Mj", now }, "refused"],
  "Agent.issueSdJwt": [(it) => owner.issueSdJwt(it), { vct: "https://card.example", claims: { a: 1 } }],
  "Agent.presentSdJwt": [(it) => helper.presentSdJwt(issued, [], it), { audience: bank, nonce: "n-0S6_WzA2Mj", now }],
  "Agent.delegate": [(it) => owner.delegate(it), { delegate: helper.did, capabilities, maxCalls: 1 }],
  "Agent.delegate, budget": [(budget) => owner.delegate({ delegate: helper.did, capabilities, budget }), { amount: 5, unit: "EUR-cent" }],
  "Agent.delegate, capability": [(it) => owner.delegate({ delegate: helper.did, capabilities: [it] }), capabilities[0]],
  "Agent.delegate, caveat": [(it) => owner.delegate({ delegate: helper.did, capabilities: [{ ...capabilities[0], caveats: [it] }] }), { argument: "/amount", atMost: 1 }],
  "Agent.action": [(it) => helper.action("tools/call", { name: "pay" }, it), { audience: bank, lifetime: 60 }],
  "Agent.action, evidence": [(evidence) => helper.action("tools/call", { name: "pay" }, { audience: bank, evidence }), { chain }],
  "Agent.actionOf": [(it) => helper.actionOf(it, { audience: bank }), { method: "read", name: "x" }],
  "Agent.actionOf, options": [(it) => helper.actionOf({ method: "read" }, it), { audience: bank }],
  "Agent.prove": [(it) => helper.prove(action, it), { chain }],
  "Agent.signRequest": [(it) => owner.signRequest(it), request],
  "Agent.signRequest, options": [(it) => owner.signRequest(request, it), { tag: "a", capability: true }],
  "Agent.signResponse": [(it) => owner.signResponse(it), { status: 200, headers: [] }],
  "Agent.signResponse, request": [(request) => owner.signResponse({ status: 200, headers: [], request }), request],
  "Agent.signResponse, options": [(it) => owner.signResponse({ status: 200, headers: [] }, it), { tag: "a" }],
  "Agent.seal": [(it) => owner.seal(bytes, it), { to: helper.did, cards: verifier, now }],
  "Agent.backup": [(it) => owner.backup(it), { credentials: {} }],
  "Agent.backup, state": [(state) => owner.backup({ state }), { ledger: bytes }],
  "Agent.restore": [(it) => owner.restore(owner.backup({}), it), { since: 0 }],
  "AuditLog.files": [(it) => log.files(it), { changed: true }],
  "CardLog.key": [(it) => CardLog.verify(owner.card({ from: now })).key(owner.keyUrl, it), { relationship: "assertionMethod", now }],
  "StatusList.issue": [(it) => list.issue(owner, "https://issuer.example/status/1", it), { validFor: 60 }],
  "new Verifier": [(it) => new Verifier(it), { perSigner: 5 }],
  "Verifier.credential": [(it) => verifier.credential(owner.issue({ subject: { a: 1 }, from: now }), it), { now }],
  "Verifier.presentation": [(it) => verifier.presentation("a.b.c", it), { audience: bank, nonce: "n-0S6_WzA2Mj", now }, "refused"],
  "Verifier.sdJwt": [(it) => verifier.sdJwt(issued, it), { bearer: true, now }],
  "Verifier.delegation": [(it) => verifier.delegation(chain, it), { now }],
  "Verifier.action": [(it) => verifier.action(action, helper.signAction(action), it), { audience: bank, now, evidence: { chain } }, "refused"],
  "Verifier.action, cost": [(cost) => priced(cost), { amount: 5, unit: "EUR-cent" }],
  "Verifier.actionSigner": [(it) => new Verifier().actionSigner(action, helper.signAction(action), it), { audience: bank, now }, "refused"],
  "Verifier.toolCall": [(it) => verifier.toolCall("tools/call", { name: "pay" }, it), { audience: bank, now }, "refused"],
  "Verifier.toolCallSigner": [(it) => verifier.toolCallSigner("tools/call", { name: "pay" }, it), { audience: bank, now }, "refused"],
  "Verifier.request": [(it) => verifier.request(it), request, "refused"],
  "Verifier.request, options": [(it) => verifier.request(request, it), { required: ["date"], maxAge: 60 }, "refused"],
  "Verifier.response": [(it) => verifier.response(it), { status: 200, headers: [] }, "refused"],
  "Verifier.response, options": [(it) => verifier.response({ status: 200, headers: [] }, it), { signer: owner.did }, "refused"],
  "Verifier.agentCard": [(it) => verifier.agentCard(owner.signAgentCard({ name: "a" }), it), { signer: owner.did, now }],
  "Verifier.logProof": [(it) => verifier.logProof(log.prove(0), bytes, it), { origin: "agent.example/log", signer: owner.keyUrlOf("log"), now }],
  canonicalize: [(it) => canonicalize("{}", it), { maxLength: 5, object: true }],
  verifyJws: [(it) => verifyJws(owner.issue({ subject: { a: 1 } }), key, it), { typ: "vc+jwt" }],
  verifyLogProof: [(it) => verifyLogProof(log.prove(0), bytes, it), { origin: "agent.example/log", key, now }, "refused"],
  verifyInclusion: [(it) => verifyInclusion(log.checkpoint().root, it, []), { index: 0n, size: 1n, root: log.checkpoint().root }],
  verifyConsistency: [(it) => verifyConsistency(it, { size: 1n, root: log.checkpoint().root }, []), { size: 1n, root: log.checkpoint().root }],
  "publicKey, bytes": [(it) => publicKey(it), { alg: "ML-DSA-65", bytes: owner.publicKey() }],
  "SigningKey.sign": [(it) => mldsa44.generate().sign(bytes, it), { context: bytes }],
  "VerifyingKey.verify": [(it) => mldsa44.generate().verifyingKey.verify(bytes, bytes, it), { context: bytes }, "refused"],
  signedFetch: [(it) => signedFetch(owner, it), { tag: "a", fetch }],
  verifyRequest: [(it) => verifyRequest(verifier, web(), "https://bank.example", it), { maxBody: 5 }, "refused"],
  signResponse: [(it) => signResponse(owner, new Response(), web(), it), { origin: "https://bank.example" }],
  verifyResponse: [(it) => verifyResponse(verifier, new Response(), web(), it), { maxBody: 5 }, "refused"],
  readIncoming: [(it) => readIncoming({ url: "/pay", rawHeaders: [], async *[Symbol.asyncIterator]() {} }, "https://bank.example", it), { maxBody: 5 }],
  signCalls: [(it) => signCalls(transport, it), { agent: helper, audience: bank, evidence: { chain } }],
  "signCalls, receipts": [(receipts) => signCalls(transport, { agent: helper, audience: bank, receipts }), { verifier, server: bank }],
  verifyCalls: [(it) => verifyCalls(transport, it), { verifier, audience: bank, lifetime: 60 }],
  connect: [(it) => connect("ws://127.0.0.1:1/", it), { token: "a", WebSocket: SOCKET, signal: AbortSignal.abort(new GambesonError("aborted", "")) }, "refused"],
};

/** A call that a delegation with a budget pays for. */
function priced(cost) {
  const paid = [owner.delegate({ delegate: helper.did, capabilities, budget: { amount: 50, unit: "EUR-cent" }, from: now })];
  const known = new Verifier();
  for (const agent of [owner, helper]) known.addCards(agent.card({ from: now }));
  known.trust(owner.did, bank);
  const action = helper.action("tools/call", { name: "pay" }, { audience: bank, evidence: { chain: paid }, now });
  return known.action(action, helper.signAction(action), { audience: bank, evidence: { chain: paid }, cost, now });
}

/** The error of a call that may be a promise. */
async function failure(work) {
  try {
    await work();
  } catch (error) {
    return error;
  }
  return undefined;
}

for (const [name, [take, good, refused]] of Object.entries(TAKES)) {
  test(`${name}: a member that is not known is refused`, async () => {
    const first = await failure(() => take(good));
    if (refused === undefined) assert.equal(first, undefined, String(first));
    else assert.ok(!/unknown member/.test(first?.message), String(first));
    const misspelt = Object.keys(good)[0]?.toUpperCase() ?? "SUITE";
    for (const unknown of ["nosuchmember", ...(misspelt in good ? [] : [misspelt])]) {
      const error = await failure(() => take({ ...good, [unknown]: 1 }));
      assert.ok(error instanceof GambesonError, `${unknown}: ${String(error)}`);
      assert.equal(error.code, "bad-form", error.message);
      if (!/caveat/.test(name)) assert.match(error.message, new RegExp(`unknown member "${unknown}"`));
    }
    // Inherited members are members.
    const inherits = Object.create({ nosuchmember: 1 });
    if (!/caveat/.test(name)) assert.equal((await failure(() => take(Object.assign(inherits, good))))?.code, "bad-form");
    // A value that is not an object has none of the members.
    for (const wrong of [new Map(Object.entries(good)), [], "text"]) {
      if (/caveat|verifyRequest|Verifier.action, cost/.test(name)) continue;
      assert.equal((await failure(() => take(wrong)))?.code, "bad-form", String(wrong));
    }
  });
}

test("the misspelling of a limit is named with what is meant", () => {
  const grant = { delegate: helper.did, capabilities, maxcalls: 1 };
  assert.throws(() => owner.delegate(grant), { code: "bad-form", message: /unknown member "maxcalls".*"maxCalls"/ });
  assert.throws(() => owner.delegate({ ...grant, maxcalls: undefined }), { code: "bad-form" });
});

test("limits that an object inherits, or has by a getter, count", () => {
  class Grant {
    delegate = helper.did;
    capabilities = [new (class { action = "tools/call/pay"; resource = bank; get caveats() { return [{ argument: "/amount", atMost: 5 }]; } })()];
    from = now;
    get maxCalls() { return 1; }
    get budget() { return Object.create({ amount: 5, unit: "EUR-cent" }); }
  }
  for (const grant of [new Grant(), Object.create(new Grant())]) {
    const [link] = verifier.delegation([owner.delegate(grant)], now).links;
    assert.deepEqual([link.maxCalls, link.budget, link.capabilities[0].caveats], [1, { amount: 5, unit: "EUR-cent" }, [{ argument: "/amount", atMost: 5 }]]);
  }
});

test("a value that is none of those that there are is refused, and no other is taken for it", () => {
  assert.throws(() => owner.issue({ subject: { a: 1 }, form: "data_integrity" }), { code: "bad-form" });
  assert.throws(() => statusEntry("https://issuer.example/1", -1), { code: "bad-form" });
  assert.throws(() => statusEntry("https://issuer.example/1", 1, "revoked"), { code: "bad-form" });
  for (const methods of ["tools/call", new Set(["tools/call"])]) {
    assert.throws(() => signCalls(transport, { agent: helper, audience: bank, methods }), { code: "bad-form" });
    assert.throws(() => verifyCalls(transport, { verifier, audience: bank, methods }), { code: "bad-form" });
  }
});
