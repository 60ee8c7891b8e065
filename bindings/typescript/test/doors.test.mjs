// What an agent keeps, rotates, discloses and logs, in both suites; each refusal by its code.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Agent, AuditLog, CardLog, GambesonError, StatusList, Verifier, canonicalize, checkObject, cutObjects, init, joinObjects,
  objectId, parseDid, publicKey, readAction,
  sdJwtDisclosable, sdJwtDisclose, statusEntry, verifyConsistency, verifyJws, verifyLogProof,
} from "gambeson/agent";

await init("whole");
const bytes = (text) => new TextEncoder().encode(text);
const now = 1_795_330_800;
const seed = (byte) => new Uint8Array(32).fill(byte);
const agents = (...seeds) => seeds.map((byte) => Agent.fromSeed(seed(byte)));
const verifier = (...known) => {
  const verifier = new Verifier();
  known.forEach((agent) => verifier.addCards(agent.card({ from: now })));
  return verifier;
};

test("keys are rotated, and the agent is found again from its seed and its cards", () => {
  const [agent, stranger] = agents(1, 2);
  const first = agent.card({ from: now, alsoKnownAs: ["did:web:agent.example"] });
  const before = agent.sign(bytes("old"), bytes("example"));
  const [oldUrl, oldKey] = [agent.keyUrl, agent.publicKey()];
  const cards = agent.rotate(first, { roles: ["signing"], from: now + 10, overlap: 60 });
  assert.deepEqual([agent.index("signing"), agent.index("identity"), agent.index("did")], [1n, 0n, 1n]);
  assert.notDeepEqual(agent.publicKey(), oldKey);
  assert.equal(agent.keyUrl, `${agent.did}#signing-1`);
  assert.throws(() => agent.rotate(first), { code: "wrong-seed" });
  assert.throws(() => stranger.rotate(cards), { code: "wrong-seed" });
  assert.throws(() => agent.rotate(cards, { roles: ["none"] }), { code: "bad-form" });

  const log = CardLog.verify(cards);
  assert.deepEqual([log.length, log.did, log.document.alsoKnownAs], [2, agent.did, ["did:web:agent.example"]]);
  assert.deepEqual([String(log), log.newest, log.validity[0]], [cards, cards.trimEnd().split("\n")[1], now + 10]);
  assert.equal(String(CardLog.verify(first).append(log.newest)), cards);
  assert.throws(() => CardLog.verify(first).append(CardLog.verify(first).newest), { code: "broken-chain" });
  assert.deepEqual(log.key(agent.keyUrl, { relationship: "assertionMethod", now: now + 10 }), agent.publicKey());

  const known = new Verifier();
  known.addCards(log);
  assert.throws(() => known.addCards(first), { code: "stale-card" });
  known.verify(before, bytes("old"), bytes("example"), oldUrl, now + 70);
  assert.throws(() => known.verify(before, bytes("old"), bytes("example"), oldUrl, now + 71), { code: "expired" });
  const again = Agent.fromSeed(seed(1), { cards });
  assert.deepEqual([again.index("signing"), again.publicKey()], [1n, agent.publicKey()]);
  known.verify(again.sign(bytes("new"), bytes("example")), bytes("new"), bytes("example"), agent.keyUrl, now + 10);
  assert.throws(() => Agent.fromSeed(seed(2), { cards }), { code: "wrong-seed" });
  known.addCards(agent.rotate(cards, { roles: ["signing"], from: now + 20, compromised: true }));
  const revoked = again.sign(bytes("new"), bytes("example"));
  assert.throws(() => known.verify(revoked, bytes("new"), bytes("example"), `${agent.did}#signing-1`, now + 20), { code: "key-revoked" });
});

test("suite cnsa2 has keys of its own, and does all that the default one does", () => {
  const [agent, other] = [1, 2].map((byte) => Agent.fromSeed(seed(byte), { suite: "cnsa2" }));
  assert.deepEqual([agent.suite, parseDid(agent.did).suite, agent.publicKey().length], ["cnsa2", "cnsa2", 2592]);
  assert.notEqual(agent.did, Agent.fromSeed(seed(1)).did);
  assert.equal(agent.child(1).suite, "cnsa2");
  assert.throws(() => Agent.generate({ suite: "suite-b" }), { code: "bad-form" });
  agent.beginSession(7);
  const known = verifier(agent, other);
  known.credential(agent.issue({ subject: { id: other.did }, from: now }), { now });
  const sealed = agent.seal(bytes("x"), { to: other.did, cards: known, now });
  assert.deepEqual(known.open(other, sealed, now).payload, bytes("x"));
});

test("a context says what is signed", () => {
  const [agent] = agents(1);
  for (const [context, code] of [["", "bad-context"], ["gambeson card v1", "bad-context"], ["x".repeat(256), "context-too-long"]]) {
    assert.throws(() => agent.sign(bytes("m"), bytes(context)), { code });
    assert.throws(() => new Verifier().verify(bytes("s"), bytes("m"), bytes(context), agent.keyUrl), { code });
  }
});

test("the holder of an SD-JWT shows what it likes", () => {
  const [issuer, holder, thief] = agents(1, 2, 3);
  const known = verifier(issuer, holder, thief);
  const issued = issuer.issueSdJwt({
    vct: "https://issuer.example/member", claims: { name: "Ada", age: 36, address: { city: "London", zip: "1" } },
    disclosable: ["/name", "/address/zip"], holder: holder.keyUrlOf("identity"), decoys: 2, from: now,
  });
  assert.deepEqual(sdJwtDisclosable(issued).sort(), ["/address/zip", "/name"]);
  const request = { audience: "https://door.example", nonce: "n-0S6_WzA2Mj", now };
  const shown = holder.presentSdJwt(issued, ["/name"], request);
  const { claims, issuer: by, holder: bound } = known.sdJwt(shown, request);
  assert.deepEqual([claims.name, claims.age, claims.address, by, bound], ["Ada", 36, { city: "London" }, issuer.did, holder.keyUrlOf("identity")]);
  assert.throws(() => known.sdJwt(shown, { ...request, nonce: "n-other-nonce" }), { code: "wrong-nonce" });
  known.sdJwt(shown, { ...request, now: now + 300 });
  assert.throws(() => known.sdJwt(shown, { ...request, now: now + 301 }), { code: "expired" });
  // What is a holder's is not taken from whoever has it, unless that is said.
  const bare = sdJwtDisclose(issued, ["/name"]);
  const { audience, nonce } = request;
  for (const asked of [{}, { audience }, { nonce }, { ...request, bearer: true }, { audience, bearer: true }]) {
    assert.throws(() => known.sdJwt(bare, { now, ...asked }), { code: "bad-form" }, JSON.stringify(asked));
  }
  assert.equal(known.sdJwt(bare, { now, bearer: true }).holder, holder.keyUrlOf("identity"));
  assert.throws(() => known.sdJwt(thief.presentSdJwt(issued, [], request), request), { code: "wrong-holder" });
  assert.throws(() => holder.presentSdJwt(issued, ["/age"], request), { code: "bad-form" });
  const open = issuer.issueSdJwt({ vct: "https://issuer.example/member", claims: { name: "Ada" }, disclosable: ["/name"], from: now });
  assert.equal(known.sdJwt(sdJwtDisclose(open, []), { now }).claims.name, undefined);
  assert.equal(known.sdJwt(sdJwtDisclose(open, ["/name"]), { now }).claims.name, "Ada");
});

test("a status list is issued, and what it names is refused", () => {
  const [issuer, holder] = agents(1, 2);
  const known = verifier(issuer, holder);
  const url = "https://issuer.example/status/1";
  const list = new StatusList();
  assert.equal(list.length, 131_072);
  assert.throws(() => list.set(131_072), { code: "out-of-range" });
  assert.throws(() => new StatusList("revocation", 8), { code: "out-of-range" });
  const [good, bad] = [7, 8].map((index) => issuer.issue({ subject: { id: holder.did }, status: statusEntry(url, index), from: now }));
  known.addStatusList(list.issue(issuer, url, { from: now, ttl: 60 }), now);
  known.credential(bad, { now });
  list.set(8);
  assert.deepEqual([list.isSet(7), list.isSet(8)], [false, true]);
  assert.throws(() => list.set(8, false), { code: "irreversible" });
  known.addStatusList(list.issue(issuer, url, { from: now + 1, ttl: 60 }), now + 1);
  known.credential(good, { now: now + 1 });
  assert.throws(() => known.credential(bad, { now: now + 1 }), { code: "revoked" });
  assert.deepEqual(known.statusList(issuer.did, url, "revocation", now + 1), { entries: 131_072, set: [8] });
  assert.throws(() => known.statusList(issuer.did, url, "suspension", now + 1), { code: "unknown-status" });
  assert.throws(() => known.statusList(holder.did, url, "revocation", now + 1), { code: "unknown-status" });
  assert.deepEqual([known.statusDue(now + 60), known.statusDue(now + 61)], [[], [url]]);
  const suspended = new StatusList("suspension");
  suspended.set(1);
  suspended.set(1, false);
  assert.equal(suspended.isSet(1), false);
  assert.match(suspended.encode(), /^u/);
  const grant = issuer.delegate({ delegate: holder.did, capabilities: [{ action: "a", resource: "did:web:b.example" }], status: [statusEntry(url, 8)], from: now });
  assert.throws(() => known.delegation([grant], now + 1), { code: "revoked" });
});

test("credentials and documents carry their proof inside", () => {
  const [issuer] = agents(1);
  const known = verifier(issuer);
  const credential = issuer.issue({ subject: [{ a: 1 }, { b: 2 }], members: { name: "Two" }, form: "data-integrity", from: now });
  assert.equal(JSON.parse(credential).proof.cryptosuite, "mldsa44-jcs-2024");
  assert.equal(known.credential(credential, { now }).claims.name, "Two");
  assert.throws(() => known.credential(credential.replace("Two", "Too"), { now }), { code: "bad-signature" });
  const signed = issuer.signDocument({ "@context": ["https://www.w3.org/ns/credentials/v2"], hello: "world" }, now);
  const { document, agent } = known.document(signed, now);
  assert.deepEqual([document.hello, agent], ["world", issuer.did]);
  assert.throws(() => known.document({ ...signed, hello: "moon" }, now), { code: "bad-signature" });
  assert.throws(() => issuer.issue({ type: [1], subject: {} }), { code: "bad-form" });
});

test("an action that is not of MCP is signed and decided", () => {
  const [root, agent] = agents(1, 2);
  const audience = "did:web:bank.example";
  const grant = root.delegate({ delegate: agent.did, capabilities: [{ action: "money/pay/bob", resource: audience }], maxCalls: 1, from: now });
  const options = { audience, evidence: { chain: [grant] }, now };
  const call = { method: "money/pay", name: "bob", arguments: { amount: 5 } };
  const known = verifier(root, agent);
  known.trust(root.did, audience);
  const action = agent.actionOf(call, options);
  const found = known.action(action, agent.signAction(action), options);
  assert.deepEqual([found.agent, found.root, found.method, found.name, found.digest], [agent.did, root.did, "money/pay", "bob", readAction(action).digest]);
  const second = agent.actionOf(call, options);
  assert.throws(() => known.action(second, agent.signAction(second), options), { code: "over-count" });
  assert.throws(() => known.action(second, agent.signAction(action), options), { code: "bad-signature" });
  assert.notEqual(readAction(action, "cnsa2").digest, readAction(action).digest);
});

test("a memory that several processes share refuses what one of them saw", () => {
  const [agent] = agents(1);
  const stored = new Set();
  const memory = {
    remember(id, until, at) {
      assert.deepEqual([id.length, at], [32, now]);
      assert.ok(until >= now);
      return stored.size < stored.add(Buffer.from(id).toString("hex")).size;
    },
  };
  const options = { audience: "did:web:a.example", now };
  const action = agent.actionOf({ method: "m" }, options);
  const token = agent.signAction(action);
  const with_ = (memory) => {
    const verifier = new Verifier({ memory });
    verifier.addCards(agent.card({ from: now }));
    return () => verifier.actionSigner(action, token, options);
  };
  assert.equal(with_(memory)().agent, agent.did);
  assert.throws(with_(memory), { code: "replayed" });
  for (const broken of [() => { throw new Error("down"); }, () => Promise.resolve(true), () => 1]) {
    assert.throws(with_({ remember: broken }), { code: "cache-full" });
  }
});

test("a log proves, offline, what was written, and that nothing was changed", () => {
  const [agent, other] = agents(1, 2);
  const known = verifier(agent, other);
  const origin = `${agent.did}/audit`;
  const log = AuditLog.create(agent, origin, now);
  assert.deepEqual([...log.files({ changed: true }).keys()], ["checkpoint"]);
  assert.equal(log.append(agent, ["a", "b", "c"].map(bytes), now), 0n);
  const old = log.checkpoint();
  assert.equal(log.append(agent, ["d", "e"].map(bytes), now + 1), 3n);
  assert.deepEqual([...log.files({ changed: true }).keys()], ["tile/0/000.p/3", "tile/0/000.p/5", "tile/entries/000.p/3", "tile/entries/000.p/5", "checkpoint"]);
  assert.equal([...log.files().keys()].at(-1), "checkpoint");
  assert.equal(log.files({ changed: true }).size, 0);
  verifyConsistency(old, log.checkpoint(), log.proveConsistency(old.size));
  assert.throws(() => verifyConsistency({ ...old, size: 2n }, log.checkpoint(), log.proveConsistency(old.size)), { code: "inconsistent" });
  const proof = log.prove(3);
  const asked = { origin, signer: agent.keyUrlOf("log"), now: now + 1 };
  const shown = known.logProof(proof, bytes("d"), asked);
  assert.deepEqual([shown.index, shown.size, shown.agent, shown.signed], [3n, 5n, agent.did, now + 1]);
  assert.throws(() => known.logProof(proof, bytes("x"), asked), { code: "not-included" });
  assert.throws(() => known.logProof(proof, bytes("d"), { ...asked, signer: other.keyUrlOf("log") }), { code: "bad-signature" });
  assert.throws(() => known.logProof(proof, bytes("d"), { ...asked, signer: agent.keyUrl }), { code: "wrong-purpose" });
  assert.throws(() => log.prove(5), { code: "not-in-log" });
  const files = log.files();
  const again = AuditLog.open(agent, origin, files, now + 1);
  again.audit();
  assert.deepEqual([again.size, again.entry(4)], [5n, bytes("e")]);
  assert.equal(again.append(agent, [bytes("f")], now + 2), 5n);
  assert.throws(() => again.append(other, [bytes("g")], now + 2), { code: "bad-key" });
  assert.throws(() => again.append(agent, [], now + 2), { code: "bad-form" });
  const tile = "tile/0/000.p/5";
  files.set(tile, files.get(tile).map((byte) => byte ^ 1));
  assert.throws(() => AuditLog.open(agent, origin, files, now + 1), { code: "damaged-log" });
  assert.throws(() => AuditLog.open(agent, origin, [], now), { code: "not-in-log" });
});

test("a backup is opened by the seed alone", () => {
  for (const suite of ["default", "cnsa2"]) {
    const [agent, other] = [1, 2].map((byte) => Agent.fromSeed(seed(byte), { suite }));
    const cards = agent.card({ from: now });
    const object = bytes("the user prefers short answers");
    const file = agent.backup({ cards, credentials: { "member.jwt": "e.y.J" }, objects: [object, bytes("x")], now });
    const restored = Agent.fromSeed(seed(1), { suite }).restore(file);
    assert.deepEqual([restored.made, String(restored.cards), restored.credentials], [now, cards, { "member.jwt": "e.y.J" }]);
    assert.deepEqual(restored.objects.get(objectId(object)), object);
    assert.equal(restored.objects.size, 2);
    assert.throws(() => other.restore(file), { code: "cannot-open" });
    assert.equal(agent.restore(agent.backup({ now })).cards, undefined);
    assert.equal(agent.restore(file, { since: 1 }).made, now);
    assert.throws(() => agent.restore(file, { since: 2 }), { code: "stale-card" });
    const state = { ledger: bytes("1 call"), "status-list": new Uint8Array() };
    const whole = agent.restore(agent.backup({ objects: [object], state, now }));
    assert.deepEqual([whole.state, [...whole.objects.values()]], [state, [object]]);
    assert.throws(() => agent.backup({ state: { log: bytes("x") }, now }), { code: "bad-form" });
    // What was restored goes into the next one as it is.
    assert.deepEqual(agent.restore(agent.backup({ ...restored, now })).objects, restored.objects);
    const wrong = [{ credentials: [] }, { credentials: "a" }, { credentials: new Map() }, { state: new Map([["ledger", object]]) }, { objects: object }, { objects: [[1, 2]] }];
    for (const contents of wrong) assert.throws(() => agent.backup({ ...contents, now }), { code: "bad-form" }, Object.keys(contents)[0]);
  }
});

test("state is opened by the agent that sealed it, under the same label", () => {
  for (const suite of ["default", "cnsa2"]) {
    const [agent, other] = [1, 2].map((byte) => Agent.fromSeed(seed(byte), { suite }));
    const sealed = agent.sealState("ledger", bytes("3 calls"));
    assert.notDeepEqual(agent.sealState("ledger", bytes("3 calls")), sealed);
    assert.deepEqual(agent.openState("ledger", sealed), bytes("3 calls"));
    assert.deepEqual(agent.openState("empty", agent.sealState("empty", new Uint8Array())), new Uint8Array());
    assert.throws(() => agent.openState("replay", sealed), { code: "cannot-open" });
    assert.throws(() => other.openState("ledger", sealed), { code: "cannot-open" });
  }
});

test("a file is signed, and no other passes for it", () => {
  for (const [suite, form] of [["default", "b3:"], ["cnsa2", "sha384:"]]) {
    const agent = Agent.fromSeed(seed(1), { suite });
    const known = verifier(agent);
    const signature = agent.signFile(bytes("report"), now);
    const { signer, agent: did, hash, size, issued } = known.file(signature, bytes("report"), now);
    assert.deepEqual([signer, did, size, issued, hash.startsWith(form)], [agent.keyUrl, agent.did, 6, now, true]);
    assert.throws(() => known.file(signature, bytes("repors"), now), { code: "bad-digest" });
    assert.throws(() => new Verifier().file(signature, bytes("report"), now), { code: "unknown-did" });
  }
});

test("what is larger than a memory object is cut, and joined again", () => {
  const large = new Uint8Array((2 << 20) + 5).map((_, i) => i >> 20);
  const { id, objects } = cutObjects(large);
  // Two of 1 MiB, the rest, and what says which.
  assert.equal(objects.size, 4);
  for (const [name, object] of objects) checkObject(name, object);
  assert.deepEqual(joinObjects(id, objects.values(), large.length), large);
  assert.deepEqual(joinObjects(id, objects, large.length), large);
  assert.throws(() => joinObjects(id, objects.values(), large.length - 1), { code: "too-large" });
  objects.delete(objectId(large.subarray(2 << 20)));
  assert.throws(() => joinObjects(id, objects.values(), large.length), { code: "wrong-hash" });
  assert.throws(() => checkObject(id, bytes("x")), { code: "wrong-hash" });
});

test("a seed is kept in words, and in a file under a passphrase", () => {
  const words = Agent.newWords();
  assert.equal(words.split(" ").length, 24);
  assert.equal(Agent.fromWords(words).did, Agent.fromWords(words).did);
  assert.throws(() => Agent.fromWords(words.replace(/\w+$/, "zebrra")), { code: "bad-words" });
  // The vectors open such files of both suites, and refuse what is wrong, at a lower cost.
  const file = Agent.protectWords(words, "correct horse");
  assert.equal(Agent.fromProtected(file, "correct horse").did, Agent.fromWords(words).did);
  assert.throws(() => Agent.protectWords(words, ""), { code: "bad-form" });
  for (const maxWorkFactor of [0, 21, 300, "a lot"]) {
    assert.throws(() => Agent.fromAgeFile(new Uint8Array(), "correct horse", { maxWorkFactor }), { code: "bad-form", message: /work factor|integer/ });
  }
});

test("a did:web is known by what was fetched", () => {
  const [agent] = agents(1);
  const did = "did:web:bank.example:tellers";
  assert.equal(parseDid(did).address, "https://bank.example/tellers/did.json");
  const document = { ...CardLog.verify(agent.card({ from: now })).document, id: did };
  const text = JSON.stringify(document).replaceAll(agent.did, did);
  const known = new Verifier();
  assert.throws(() => known.addWebDocument("did:web:other.example", text), { code: "not-bound" });
  assert.throws(() => known.addWebDocument(agent.did, text), { code: "bad-did" });
  assert.throws(() => known.resolve(did, now), { code: "unknown-did" });
  known.addWebDocument(did, text);
  assert.equal(known.resolve(did, now).id, did);
});

test("JSON, keys and JWS are read below everything else", () => {
  const [agent] = agents(1);
  assert.deepEqual(canonicalize({ b: 1, a: [1.0, "é"] }), bytes('{"a":[1,"é"],"b":1}'));
  assert.throws(() => canonicalize('{"a":1,"a":2}'), { code: "bad-json" });
  const key = publicKey({ alg: "ML-DSA-65", bytes: agent.publicKey() });
  assert.equal(key.did, `did:key:${key.multikey}`);
  const credential = agent.issue({ subject: { a: 1 }, from: now });
  const { header, keyUrl, payload } = verifyJws(credential, { multikey: key.multikey }, { typ: "vc+jwt", keyUrl: true });
  assert.deepEqual([header.alg, keyUrl, JSON.parse(new TextDecoder().decode(payload)).issuer], ["ML-DSA-65", agent.keyUrl, agent.did]);
  assert.throws(() => verifyJws(credential, { jwk: key.jwk }, { typ: "vp+jwt" }), { code: "bad-type" });
  assert.throws(() => publicKey({ alg: "ML-DSA-65", bytes: new Uint8Array(3) }), GambesonError);
  // The bytes that are verified are never the key, and a key brings nothing else along.
  const log = AuditLog.create(agent, "a.example/log", now);
  log.append(agent, [agent.publicKey("log")], now);
  const asked = { origin: "a.example/log", now };
  assert.throws(() => verifyLogProof(log.prove(0), agent.publicKey("log"), { ...asked, key: { alg: "ML-DSA-44" } }), { code: "bad-form" });
  const { multikey } = publicKey({ alg: "ML-DSA-44", bytes: agent.publicKey("log") });
  assert.equal(verifyLogProof(log.prove(0), agent.publicKey("log"), { ...asked, key: { multikey } }).index, 0n);
  assert.throws(() => verifyLogProof(log.prove(0), agent.publicKey("log"), { ...asked, origin: "b.example", key: { multikey, origin: asked.origin } }), GambesonError);
});

test("the module that most load says what only the whole one can do", async () => {
  const script = `
    import assert from "node:assert/strict";
    import { Agent, AuditLog, StatusList, Verifier, cutObjects, init, sdJwtDisclosable } from "gambeson/agent";
    await init();
    const agent = Agent.generate();
    const work = [
      () => agent.backup({}), () => agent.issueSdJwt({ vct: "a", claims: {} }), () => AuditLog.create(agent, "a"), () => new StatusList(),
      () => Agent.newWords(), () => Agent.fromWords("a"), () => Agent.protectWords("a", "b"), () => Agent.fromProtected(new Uint8Array(), "b"), () => Agent.fromAgeFile(new Uint8Array(), "b"),
      () => new Verifier().sdJwt("a"), () => new Verifier().logProof("a", new Uint8Array(), { origin: "a", signer: agent.keyUrl }),
      () => sdJwtDisclosable("a"), () => agent.sealState("a", new Uint8Array()), () => agent.signFile(new Uint8Array()),
      () => new Verifier().file("a", new Uint8Array()), () => cutObjects(new Uint8Array()), () => new Verifier().dereference("a"),
    ];
    for (const one of work) assert.throws(one, { code: "not-loaded" }, String(one));
    // Objects made before go on as they are, and new objects can do more.
    await init("whole");
    await init();
    assert.throws(() => agent.backup({}), { code: "not-loaded" });
    Agent.generate().backup({});
    console.log(work.length);`;
  assert.equal(await run(script), "17\n");
});

test("the whole module is known by what it is, and read once", async () => {
  const script = `
    import assert from "node:assert/strict";
    import fs from "node:fs/promises";
    import { syncBuiltinESMExports } from "node:module";
    const read = fs.readFile;
    let times = 0;
    fs.readFile = (file, ...how) => { times += String(file).endsWith(".wasm"); return read(file, ...how); };
    syncBuiltinESMExports();
    const { Agent, init } = await import("gambeson/agent");
    await init(GIVEN);
    await init("whole");
    await init("whole");
    await init();
    Agent.newWords();
    console.log(times);`;
  const whole = JSON.stringify(new URL("../dist/wasm/whole.wasm", import.meta.url));
  assert.equal(await run(script.replace("GIVEN", `read(new URL(${whole}))`)), "0\n");
  assert.equal(await run(script.replace("GIVEN", '"whole"')), "1\n");
});

/** What a program of its own prints. */
async function run(script) {
  const { execFileSync } = await import("node:child_process");
  const cwd = new URL("..", import.meta.url);
  return execFileSync(process.execPath, ["--input-type=module", "--eval", script], { cwd, encoding: "utf8" });
}
