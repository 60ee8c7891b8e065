// The life of agents through the package: cards, credentials, delegation, actions, sealed payloads, and every refusal by its code.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { Agent, GambesonError, Verifier, init } from "gambeson/agent";

await init();
const code = (expected) => (error) => {
  assert.ok(error instanceof GambesonError, String(error));
  assert.equal(error.code, expected, error.message);
  return true;
};
const bytes = (text) => new TextEncoder().encode(text);
const now = 1_795_330_800;
const bank = "did:web:bank.example";
const agents = (...seeds) => seeds.map((byte) => Agent.fromSeed(new Uint8Array(32).fill(byte)));
const verifier = (...known) => {
  const verifier = new Verifier();
  known.forEach((agent) => verifier.addCards(agent.card({ from: now })));
  return verifier;
};

test("a seed has one DID, and no agent shows its seed", () => {
  const [one, same, other] = agents(1, 1, 2);
  assert.equal(one.did, same.did);
  assert.notEqual(one.did, other.did);
  assert.match(one.did, /^did:gambeson:uHi[\w-]{44}$/);
  assert.notEqual(one.child(0).did, one.child(1).did);
  assert.throws(() => one.child(-1), code("bad-path"));
  assert.throws(() => Agent.fromSeed(new Uint8Array(31)), code("bad-length"));
  for (const shown of [inspect(one, { depth: 9, showHidden: true }), JSON.stringify(one)]) assert.ok(!shown.includes("AQEB"));
  assert.equal(Object.keys(Agent.prototype).length + Object.getOwnPropertyNames(Agent.prototype).filter((name) => /seed|secret|private/i.test(name)).length, 0);
  assert.throws(() => structuredClone(one) && structuredClone(one).sign(bytes("a"), bytes("b")), TypeError);
  one.wipe();
  assert.throws(() => one.card(), code("wiped"));
});

test("a card binds the keys to the DID; changed, expired and unknown ones are refused", () => {
  const [agent] = agents(1);
  const known = new Verifier();
  const card = agent.card({ from: now, validFor: 60, alsoKnownAs: ["did:web:agent.example"] });
  assert.throws(() => known.resolve(agent.did, now), code("unknown-did"));
  assert.throws(() => known.addCards(card.replace("agent.example", "egent.example")), code("bad-signature"));
  assert.throws(() => known.addCards("{"), code("bad-json"));
  assert.equal(known.addCards(card), agent.did);
  assert.equal(known.resolve(agent.did, now).id, agent.did);
  assert.throws(() => known.resolve(agent.did, now + 61), code("expired"));
  assert.throws(() => known.resolve(agent.did, now - 1), code("not-yet-valid"));
  assert.throws(() => known.resolve("did:nothing", now), code("bad-did"));
  assert.throws(() => known.resolve(agent.did, new Date("never")), code("bad-time"));
  assert.throws(() => agent.card({ from: -1 }), code("bad-time"));
});

test("bytes are signed in a context", () => {
  const [agent] = agents(1);
  const known = verifier(agent);
  const signature = agent.sign(bytes("hello"), bytes("example"));
  known.verify(signature, bytes("hello"), bytes("example"), agent.keyUrl, now);
  assert.throws(() => known.verify(signature, bytes("hullo"), bytes("example"), agent.keyUrl, now), code("bad-signature"));
  assert.throws(() => known.verify(signature, bytes("hello"), bytes("other"), agent.keyUrl, now), code("bad-signature"));
  assert.throws(() => known.verify(signature, bytes("hello"), bytes("example"), `${agent.did}#identity-0`, now), code("wrong-purpose"));
});

test("a credential is issued, shown and verified; what is wrong with others is said", () => {
  const [issuer, holder, stranger] = agents(1, 2, 3);
  const known = verifier(issuer, holder);
  const credential = issuer.issue({ type: ["Clearance"], subject: { id: holder.did, level: 3 }, from: now, validFor: 3600 });
  const verified = known.credential(credential, { now });
  assert.deepEqual([verified.issuer, verified.signer, verified.claims.credentialSubject.level], [issuer.did, issuer.keyUrl, 3]);
  assert.throws(() => known.credential(credential, { now: now + 3601 }), code("expired"));
  assert.throws(() => known.credential(credential, { now: now - 3600 }), code("not-yet-valid"));
  assert.throws(() => known.credential(`${credential.slice(0, -6)}AAAAAA`, { now }), code("bad-signature"));
  assert.throws(() => known.credential(stranger.issue({ subject: { a: 1 }, from: now }), { now }), code("unknown-did"));
  assert.throws(() => known.credential("a.b.c", { now }), code("bad-encoding"));
  const status = { type: "BitstringStatusListEntry", statusPurpose: "revocation", statusListIndex: "7", statusListCredential: "https://issuer.example/status/1" };
  const revocable = issuer.issue({ subject: { id: holder.did }, from: now, status });
  assert.throws(() => known.credential(revocable, { now }), code("unknown-status"));
  known.credential(revocable, { now, statusIfKnown: true });

  const request = { audience: "https://door.example", nonce: "n-0S6_WzA2Mj", now };
  const shown = holder.present([credential], request);
  const presented = known.presentation(shown, request);
  assert.deepEqual([presented.holder, presented.credentials[0].issuer], [holder.did, issuer.did]);
  assert.throws(() => known.presentation(shown, { ...request, nonce: "n-other-nonce" }), code("wrong-nonce"));
  assert.throws(() => known.presentation(shown, { ...request, audience: "https://other.example" }), code("wrong-audience"));
  assert.throws(() => known.presentation(issuer.present([credential], request), request), code("wrong-holder"));
});

test("a delegation narrows, and a tool call is held against it", () => {
  const [root, middle, leaf] = agents(1, 2, 3);
  const known = verifier(root, middle, leaf);
  const capabilities = [{ action: "tools/call/*", resource: bank, caveats: [{ argument: "/amount", atMost: 100 }] }];
  const first = root.delegate({ delegate: middle.did, capabilities, maxDepth: 1, maxCalls: 2, from: now });
  const narrow = [{ action: "tools/call/pay", resource: bank, caveats: [{ argument: "/amount", atMost: 10 }] }];
  const second = middle.delegate({ delegate: leaf.did, capabilities: narrow, maxCalls: 2, from: now, parent: first });
  const wide = { delegate: leaf.did, capabilities, maxCalls: 3, from: now, parent: first };
  assert.throws(() => middle.delegate(wide), code("widened"));
  assert.throws(() => leaf.delegate({ ...wide, maxCalls: 1 }), code("wrong-delegate"));
  assert.throws(() => leaf.delegate({ delegate: root.did, capabilities: narrow, maxCalls: 1, from: now, parent: second }), code("too-deep"));

  const { links } = known.delegation([first, second], now);
  assert.deepEqual(links.map(({ issuer, delegate }) => [issuer, delegate]), [[root.did, middle.did], [middle.did, leaf.did]]);
  assert.throws(() => known.delegation([second], now), code("broken-chain"));
  assert.throws(() => known.delegation([first, second], now + 3601), code("expired"));

  const evidence = { chain: [first, second] };
  const call = (agent, amount, { chain = evidence, audience = bank, name = "pay" } = {}) => {
    const params = { name, arguments: { amount } };
    const action = agent.action("tools/call", params, { audience, evidence: chain, now });
    return { ...params, _meta: { "io.github.gambeson-pq/proof": agent.prove(action, chain) } };
  };
  const good = call(leaf, 5);
  const verify = (params) => known.toolCall("tools/call", params, { audience: bank, now });
  assert.throws(() => verify(good), code("untrusted-root"));
  known.trust(root.did, bank);
  // What was refused was not remembered: it may come again.
  const verified = verify(good);
  assert.deepEqual([verified.agent, verified.root, verified.path], [leaf.did, root.did, [root.did, middle.did, leaf.did]]);
  assert.deepEqual([verified.name, verified.arguments], ["pay", { amount: 5 }]);
  assert.throws(() => verify(good), code("replayed"));
  assert.throws(() => verify(call(leaf, 11)), code("not-permitted"));
  assert.throws(() => verify(call(leaf, 5, { name: "wire" })), code("not-permitted"));
  assert.throws(() => verify(call(leaf, 5, { audience: "did:web:other.example" })), code("wrong-audience"));
  assert.throws(() => verify(call(middle, 5)), code("wrong-delegate"));
  assert.throws(() => verify({ ...call(leaf, 5), arguments: { amount: 6 } }), code("bad-signature"));
  assert.throws(() => verify({ name: "pay", arguments: {} }), code("unsecured"));
  assert.throws(() => known.toolCall("tools/call", call(leaf, 5), { audience: bank, now: now + 121 }), code("expired"));
  verify(call(leaf, 6));
  assert.throws(() => verify(call(leaf, 7)), code("over-count"));
  verify(call(root, 1_000, { chain: {} }));
});

test("who calls hands over evidence, and no part of the server's question", () => {
  const [root, agent] = agents(1, 2);
  const known = verifier(root, agent);
  known.trust(root.did, bank);
  const grant = root.delegate({ delegate: agent.did, capabilities: [{ action: "money/pay", resource: bank }], from: now });
  const other = "did:web:other.example";
  const call = (audience, lifetime) => {
    const action = agent.actionOf({ method: "money/pay" }, { audience, lifetime, evidence: { chain: [grant] }, now });
    return [action, agent.signAction(action)];
  };
  const mine = { chain: [grant], audience: other, lifetime: 86_400, statusIfKnown: true, cost: { amount: 0, unit: "EUR" } };
  const asked = (evidence) => ({ audience: bank, now, evidence });
  assert.throws(() => known.action(...call(other), asked(mine)), code("wrong-audience"));
  assert.throws(() => known.action(...call(bank, 3600), asked(mine)), code("long-lived"));
  assert.equal(known.action(...call(bank), asked(mine)).agent, agent.did);
  const listed = root.delegate({
    delegate: agent.did, capabilities: [{ action: "money/pay", resource: bank }], from: now,
    status: [{ type: "BitstringStatusListEntry", statusPurpose: "revocation", statusListIndex: "7", statusListCredential: "https://a.example/1" }],
  });
  const action = agent.actionOf({ method: "money/pay" }, { audience: bank, evidence: { chain: [listed] }, now });
  assert.throws(() => known.action(action, agent.signAction(action), asked({ chain: [listed], statusIfKnown: true })), code("unknown-status"));
});

test("a verifier has room for so many of each signer, and below each root", () => {
  const [root, other] = agents(1, 2);
  const made = (options) => {
    const known = new Verifier(options);
    for (const agent of [root, other]) known.addCards(agent.card({ from: now }));
    known.trust(root.did, bank);
    return known;
  };
  const perSigner = made({ perSigner: 1 });
  const ask = (known, agent) => {
    const action = agent.actionOf({ method: "m" }, { audience: bank, now });
    return known.actionSigner(action, agent.signAction(action), { audience: bank, now });
  };
  ask(perSigner, root);
  assert.throws(() => ask(perSigner, root), code("cache-full"));
  assert.equal(ask(perSigner, other).agent, other.did);

  const perRoot = made({ perRoot: 1 });
  const use = () => {
    const chain = [root.delegate({ delegate: other.did, capabilities: [{ action: "money/pay", resource: bank }], maxCalls: 5, from: now })];
    const action = other.actionOf({ method: "money/pay" }, { audience: bank, evidence: { chain }, now });
    return perRoot.action(action, other.signAction(action), { audience: bank, now, evidence: { chain } });
  };
  use();
  assert.throws(use, code("cache-full"));
  for (const wrong of [{ capacity: -1 }, { capacity: "many" }, { perRoot: 1.5 }, { perSigner: 1, memory: { remember: () => true } }]) {
    assert.throws(() => new Verifier(wrong), code("bad-form"));
  }
});

test("a flag is true or false", () => {
  const [issuer] = agents(1);
  const known = verifier(issuer);
  const credential = issuer.issue({ subject: { a: 1 }, from: now });
  for (const statusIfKnown of [1, "true", "false", {}]) assert.throws(() => known.credential(credential, { now, statusIfKnown }), code("bad-form"));
  const issuing = { subject: { a: 1 }, from: now, status: undefined, id: undefined, type: undefined, members: { id: "urn:a:1", type: ["Two"] } };
  const { claims } = known.credential(issuer.issue(issuing), { now });
  assert.deepEqual([claims.id, claims.type], ["urn:a:1", ["VerifiableCredential", "Two"]]);
});

test("what is like bytes is not signed as none", async () => {
  const { runInNewContext } = await import("node:vm");
  const [agent] = agents(1);
  const known = verifier(agent);
  const foreign = runInNewContext("new Uint8Array([104, 105])");
  assert.ok(!(foreign instanceof Uint8Array));
  known.verify(agent.sign(foreign, bytes("example")), bytes("hi"), bytes("example"), agent.keyUrl, now);
  const sealed = agent.seal(foreign, { to: agent.did, cards: known, now });
  assert.equal(Buffer.from(known.open(agent, sealed, now).payload).toString(), "hi");
  for (const like of [[104, 105], new Map([["a", bytes("hi")]]), new Uint16Array(2), bytes("hi").buffer, "hi", null, { length: 2 }, new DataView(new ArrayBuffer(2)), [bytes("hi")]]) {
    assert.throws(() => agent.sign(like, bytes("example")), code("bad-form"), inspect(like));
    assert.throws(() => agent.sign(bytes("hi"), like), code("bad-form"), inspect(like));
    if (!Array.isArray(like) || typeof like[0] === "number") {
      assert.throws(() => agent.seal(like, { to: agent.did, cards: known, now }), code("bad-form"), inspect(like));
    }
  }
  assert.throws(() => Agent.fromSeed(Array(32).fill("a")), code("bad-form"));
});

test("who may do nothing fills no memory, and what is permitted is so once", () => {
  const [root, stranger] = agents(1, 2);
  const known = new Verifier({ capacity: 1 });
  for (const agent of [root, stranger]) known.addCards(agent.card({ from: now }));
  known.trust(root.did, bank);
  const options = { audience: bank, now };
  const call = (agent) => {
    const params = { name: "pay", arguments: {} };
    return { ...params, _meta: { "io.github.gambeson-pq/proof": agent.prove(agent.action("tools/call", params, options)) } };
  };
  for (let times = 0; times < 3; times += 1) {
    assert.throws(() => known.toolCall("tools/call", call(stranger), options), code("untrusted-root"));
  }
  const good = call(root);
  known.toolCall("tools/call", good, options);
  assert.throws(() => known.toolCall("tools/call", good, options), code("replayed"));
  assert.throws(() => known.toolCall("tools/call", call(root), options), code("cache-full"));
});

test("an approval is of one exact action", () => {
  const [root, boss] = agents(1, 2);
  const known = verifier(root, boss);
  known.trust(root.did, bank);
  known.requireApproval("tools/call/wire", [boss.did]);
  const params = { name: "wire", arguments: { amount: 5 } };
  const options = { audience: bank, now, lifetime: 3600 };
  const action = root.action("tools/call", params, options);
  const proof = (evidence) => ({ ...params, _meta: { "io.github.gambeson-pq/proof": root.prove(action, evidence) } });
  assert.throws(() => known.toolCall("tools/call", proof({}), options), code("not-approved"));
  const again = root.action("tools/call", params, options);
  const approvals = [boss.approve(again, root.did, now)];
  const good = { ...params, _meta: { "io.github.gambeson-pq/proof": root.prove(again, { approvals }) } };
  assert.deepEqual(known.toolCall("tools/call", good, options).approvers, [boss.did]);
});

test("a sealed payload is opened once, by its recipient", () => {
  const [sender, recipient, other] = agents(1, 2, 3);
  const known = verifier(sender, recipient);
  const sealed = sender.seal(bytes("plans"), { to: recipient.did, cards: known, mediaType: "text/plain", validFor: 60, now });
  assert.throws(() => known.open(other, sealed, now), code("cannot-open"));
  const changed = sealed.slice();
  changed[changed.length - 1] ^= 1;
  assert.throws(() => known.open(recipient, changed, now), code("cannot-open"));
  assert.throws(() => known.open(recipient, sealed, now + 61), code("expired"));
  const opened = known.open(recipient, sealed, now);
  assert.deepEqual([opened.sender, opened.mediaType, Buffer.from(opened.payload).toString()], [sender.did, "text/plain", "plans"]);
  assert.throws(() => known.open(recipient, sealed, now), code("replayed"));
  assert.throws(() => sender.seal(bytes("x"), { to: other.did, cards: known, now }), code("unknown-did"));
});

test("an A2A agent card is signed and verified", () => {
  const [agent, other] = agents(1, 2);
  const known = verifier(agent);
  const card = { name: "Teller", description: "Pays", version: "1.0.0", capabilities: {}, skills: [], defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"], supportedInterfaces: [{ url: "https://bank.example/a2a", protocolBinding: "JSONRPC", protocolVersion: "1.0" }] };
  const signed = agent.signAgentCard(card);
  const found = known.agentCard(signed, { now });
  assert.deepEqual([found.signer, found.agent, found.card.name], [agent.keyUrl, agent.did, "Teller"]);
  assert.throws(() => known.agentCard(signed, { now, signer: other.did }), code("wrong-issuer"));
  assert.throws(() => known.agentCard({ ...signed, name: "Taller" }, { now }), code("bad-signature"));
  assert.throws(() => known.agentCard(card, { now }), code("unsecured"));
});

/** Whether this Node's Web Crypto has ML-DSA, on which npm's jose stands. */
const [major, minor] = process.versions.node.split(".").map(Number);
const hasMlDsa = major > 24 || (major === 24 && minor >= 7);

test(hasMlDsa ? "npm's jose verifies a credential" : "the key of a credential has the form that npm's jose reads", async () => {
  const { compactVerify, importJWK } = await import("jose");
  const [issuer] = agents(1);
  const method = verifier(issuer).resolve(issuer.did, now).verificationMethod.find(({ id }) => id === issuer.keyUrl);
  assert.deepEqual(Object.keys(method.publicKeyJwk).sort(), ["alg", "kty", "pub"]);
  if (!hasMlDsa) return;
  const key = await importJWK(method.publicKeyJwk, "ML-DSA-65");
  const credential = issuer.issue({ subject: { a: 1 }, from: now });
  const { protectedHeader } = await compactVerify(credential, key, { algorithms: ["ML-DSA-65"] });
  assert.equal(protectedHeader.typ, "vc+jwt");
  const [header, payload, signature] = credential.split(".");
  const changed = [header, payload, signature.replace(/^./, (first) => (first === "A" ? "B" : "A"))].join(".");
  await assert.rejects(compactVerify(changed, key, { algorithms: ["ML-DSA-65"] }), { code: "ERR_JWS_SIGNATURE_VERIFICATION_FAILED" });
});

test("no context of another format is signed or verified, or any token could be made of it", () => {
  const [agent] = agents(1);
  const known = verifier(agent);
  for (const [context, reason] of [["", "bad-context"], ["gambeson sealed v1", "bad-context"], ["x".repeat(256), "context-too-long"]]) {
    assert.throws(() => agent.sign(bytes("m"), bytes(context)), code(reason));
    assert.throws(() => known.verify(new Uint8Array(3309), bytes("m"), bytes(context), agent.keyUrl, now), code(reason));
  }
  // A token, whose signature is in the empty context, is no signature of bytes.
  const [header, payload, signature] = agent.issue({ subject: { a: 1 }, from: now }).split(".");
  const parts = [Buffer.from(signature, "base64url"), bytes(`${header}.${payload}`), bytes(""), agent.keyUrl, now];
  assert.throws(() => known.verify(...parts), code("bad-context"));
  known.verify(agent.sign(bytes("m"), bytes("gambeson")), bytes("m"), bytes("gambeson"), agent.keyUrl, now);
});
