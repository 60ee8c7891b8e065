// Every vector of every file, held against the package as it is published: what holds, and what is refused for which reason. Left to
// `derived.test.mjs` is what the package must not have, and one kind cannot exist here, which `LEFT_OUT` says.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import {
  Agent, CardLog, GambesonError, StatusList, Verifier, canonicalize, checkCredential, checkDidDocument, checkObject, checkPresentation, init, joinObjects,
  objectId, parseDid, parseDidUrl, parseTime, publicKey, readAction, verifyConsistency, verifyDocumentWithKey, verifyInclusion, verifyJws, verifyLogProof,
} from "gambeson/agent";
import { DERIVED, FILES, hex, judge, read, unhex } from "./judge.mjs";

await init("whole");
const PROOF = "io.github.gambeson-pq/proof";
const utf8 = (text) => new TextEncoder().encode(text);

/** Kinds that cannot be judged in this language, and why. */
const LEFT_OUT = {
  recovery: { shares: "SSKR shares are of a crate that needs a C compiler, which WebAssembly does not have here (feature `shares`)" },
};

/** What is judged below: subject and kinds with how many hold and how many are refused. */
const EXPECTED = {
  a2a: { "card-log": [3, 0], card: [10, 37] },
  action: { cards: [4, 0], action: [8, 59], mcp: [5, 16], receipt: [2, 8] },
  backup: { backup: [10, 65] },
  "card-log": { "card-log": [8, 76] },
  "data-integrity": { "card-log": [2, 0], credential: [7, 29], signature: [1, 0] },
  delegation: { cards: [5, 0], token: [108, 0], authorize: [44, 192] },
  did: {
    did: [6, 23], "did-url": [7, 13], relative: [11, 7], document: [36, 89], text: [2, 5], representation: [5, 7], signed: [3, 5], resolution: [19, 27],
  },
  httpsig: { cards: [2, 0], http: [57, 155] },
  json: { json: [12, 53], time: [8, 32] },
  jws: { jws: [6, 59], jwk: [3, 23], multikey: [0, 8] },
  log: { inclusion: [10, 8], consistency: [12, 9], proof: [2, 22] },
  memory: { object: [3, 6], manifest: [3, 15] },
  recovery: { words: [7, 9], keystore: [2, 24], age: [1, 4] },
  "sd-jwt": { "card-log": [3, 0], presented: [16, 58] },
  sealed: { sealed: [10, 57] },
  "signed-file": { "signed-file": [6, 42] },
  state: { state: [8, 24] },
  status: { "card-log": [2, 0], list: [3, 13], credential: [12, 23] },
  vc: { credential: [64, 112], presentation: [15, 29], secured: [8, 13], "secured-presentation": [9, 19] },
  "vc-jwt": { "card-log": [3, 0], credential: [10, 48], presentation: [15, 44] },
};

test("every vector of every file is judged, here or beside, or cannot exist here", () => {
  assert.equal(Object.values(FILES).reduce((sum, one) => sum + one, 0), 2425);
  // Sessions are not in the package.
  const files = readdirSync(new URL("../../../vectors", import.meta.url)).filter((name) => name.endsWith(".json") && name !== "session.json");
  assert.deepEqual(files.sort(), Object.keys(FILES).map((name) => `${name}.json`).sort());
  let left = 0;
  for (const [name, count] of Object.entries(FILES)) {
    const kinds = read(name).map(({ kind = name }) => kind);
    const judged = Object.values(EXPECTED[name] ?? {}).flat().reduce((sum, one) => sum + one, 0);
    const beside = kinds.filter((kind) => DERIVED[name]?.includes(kind)).length;
    const out = kinds.filter((kind) => LEFT_OUT[name]?.[kind] !== undefined).length;
    assert.equal(judged + beside + out, count, name);
    left += out;
  }
  assert.equal(left, 8);
});

const cards = (vectors, options) => {
  const verifier = new Verifier(options);
  for (const { kind, log, result } of vectors) if (["cards", "card-log"].includes(kind) && result !== "reject") verifier.addCards(log);
  return verifier;
};
/** The cards of a file. */
const known = ({ log, did }) => {
  const found = new Verifier().addCards(log);
  return did === undefined ? {} : { did: found };
};

judge("a2a", EXPECTED.a2a, {
  "card-log": known,
  card({ card, expected, now }, all) {
    const { signer, card: signed } = cards(all).agentCard(card, { ...(expected === undefined ? {} : { signer: expected }), now });
    return { signer, canonical: new TextDecoder().decode(canonicalize(signed)) };
  },
});

const actions = {
  cards: known,
  action({ payload, token, audience, maxLifetime: lifetime, capacity, repeat, now }, all) {
    const verifier = cards(all, { capacity });
    const options = { audience, lifetime, now };
    if (repeat) verifier.actionSigner(payload, token, options);
    const { signer, digest, action } = verifier.actionSigner(payload, token, options);
    assert.equal(readAction(action).digest, digest);
    return { signer, digest };
  },
  mcp({ method, params, audience, maxLifetime: lifetime, repeat, now }, all) {
    const verifier = cards(all);
    const options = { audience, lifetime, now };
    if (repeat) verifier.toolCallSigner(method, params, options);
    const { signer, digest } = verifier.toolCallSigner(method, params, options);
    return { signer, digest };
  },
  receipt({ response, payload, server, now }, all) {
    const { signer, action: digest } = cards(all).receipt(response, payload, server, now);
    return { signer, digest };
  },
};
judge("action", EXPECTED.action, actions);

let questions = 0;
judge("card-log", EXPECTED["card-log"], {
  "card-log"(vector, all) {
    if (vector.of !== undefined) return changed(vector, all.find(({ id }) => id === vector.of), all);
    const log = CardLog.verify(vector.log);
    const agent = Agent.fromSeed(unhex(vector.seed), { suite: vector.suite, cards: log });
    for (const one of vector.cases) {
      questions += 1;
      const ask = () => answer(log, one);
      if (one.result === "ok") ask();
      else assert.throws(ask, { code: one.reason }, `${vector.id}: ${JSON.stringify(one)}`);
    }
    const indexes = Object.fromEntries(Object.keys(vector.indexes).map((role) => [role, String(agent.index(role))]));
    assert.deepEqual([agent.did, agent.suite], [vector.did, vector.suite]);
    return { did: log.did, hashes: log.hashes, indexes };
  },
});
test("card-log.json: what is asked of the newest card", () => assert.equal(questions, 148));

/** What a log answers to one question. */
function answer(log, { resolve, agreement, key, role, relationship, form, at }) {
  if (resolve !== undefined) {
    const verifier = new Verifier();
    verifier.addCards(log);
    assert.deepEqual(verifier.resolve(log.did, new Date(resolve)), log.document);
  } else if (agreement !== undefined) assert.equal(log.agreementKey(agreement, new Date(at)).url, key);
  else if (role !== undefined) log.keyOfRole(key, role, new Date(at));
  else log.key(key, { relationship, multikey: form === "Multikey", now: new Date(at) });
}

/** Makes the log that must be refused from a good one, and shows it. */
function changed(vector, of, all) {
  const good = of.log.trimEnd().split("\n");
  const text = (lines) => lines.map((line) => `${line}\n`).join("");
  const lines = vector.lines.map((number) => good[number]);
  for (const [number, from, to] of vector.edits) {
    assert.ok(lines[number].includes(from), vector.id);
    lines[number] = lines[number].replace(from, () => to);
  }
  if (vector.pad !== undefined) lines[0] = lines[0].padEnd(vector.pad);
  const verifier = new Verifier();
  if (vector.known !== undefined) verifier.addCards(text(vector.known.map((number) => good[number])));
  if (vector.other !== undefined) verifier.addCards(all.find(({ id }) => id === vector.other).log);
  verifier.addCards(text(lines));
  if (vector.seed !== undefined) Agent.fromSeed(unhex(vector.seed), { cards: text(lines) });
}

judge("data-integrity", EXPECTED["data-integrity"], {
  "card-log": known,
  credential({ document, now }, all) {
    const { signer } = cards(all).credential(JSON.stringify(document), { now });
    return { signer };
  },
  signature: ({ document, multikey }) => void verifyDocumentWithKey(document, { multikey }),
});

/** The agent of a seed of one byte, repeated. */
function rootOf(did) {
  for (let byte = 0; byte < 256; byte += 1) {
    const agent = Agent.fromSeed(new Uint8Array(32).fill(byte));
    if (agent.did === did) return agent;
  }
  throw new Error(`no seed for ${did}`);
}
let root;
const used = new Set();
judge("delegation", EXPECTED.delegation, {
  cards: known,
  token: ({ token }) => assert.match(token, /^[\w-]+\.[\w-]+\.[\w-]+$/),
  authorize(vector, all) {
    const named = (id) => all.find((one) => one.id === id);
    // Each vector asks the policy and what was counted, and not whether one action came twice.
    const verifier = cards(all, { capacity: vector.capacity ?? 100, memory: { remember: () => true } });
    for (const { resource, did } of vector.roots) verifier.trust(did, resource);
    for (const { action, approvers } of vector.approvalRules ?? []) verifier.requireApproval(action, approvers);
    for (const [url, numbers] of Object.entries(vector.status)) {
      const list = new StatusList();
      for (const number of numbers) list.set(number);
      root ??= rootOf(named("agent-root").did);
      verifier.addStatusList(list.issue(root, url, { from: vector.now, validFor: 3600 }), vector.now);
    }
    const tokens = (ids) => ids.map((id) => (used.add(id), named(id).token));
    const decide = ({ payload, token, chain, approvals, cost, now }) =>
      verifier.action(payload, token, {
        audience: JSON.parse(payload).aud, lifetime: 3600, now, cost, evidence: { chain: tokens(chain), approvals: tokens(approvals) },
      });
    for (const id of vector.before ?? []) decide(named(id));
    const decided = decide(vector);
    return { signer: decided.signer, root: decided.root, path: decided.path, approvers: decided.approvers };
  },
});
test("delegation.json: every token is part of a decision", () => {
  const tokens = read("delegation").filter(({ kind }) => kind === "token");
  assert.deepEqual(tokens.filter(({ id }) => !used.has(id)).map(({ id }) => id), []);
});

judge("did", EXPECTED.did, {
  did({ input }) {
    const { method, id } = parseDid(input);
    assert.equal(`did:${method}:${id}`, input);
  },
  "did-url": ({ input }) => assert.equal(wholeUrl(parseDidUrl(input)), input),
  relative: ({ input: { did, reference } }) => ({ url: wholeUrl(parseDidUrl(reference, did)) }),
  document: ({ input }) => checkDidDocument(input),
  text: ({ input }) => checkDidDocument(input),
  representation: ({ input }) => checkDidDocument(input.text, input.mediaType),
  signed({ input: { document, url, message, context, signature } }) {
    const verifier = new Verifier();
    verifier.addWebDocument(document.id, JSON.stringify(document));
    verifier.verify(new Uint8Array(Buffer.from(signature, "base64url")), utf8(message), utf8(context), url, 0);
  },
  resolution({ id, input: { function: name, url, accept, document, log, now = 0 }, returned, reason }) {
    const verifier = new Verifier();
    if (log !== undefined) verifier.addCards(log);
    // Here somebody else fetches: what must not be believed is refused when it is added, and is unknown then.
    let refused = null;
    try {
      if (url.startsWith("did:web:example.com")) verifier.addWebDocument("did:web:example.com", JSON.stringify(document));
    } catch (error) {
      refused = error.code;
      assert.equal(refused, reason, id);
    }
    const found = {
      resolve: () => verifier.resolveDid(url, now),
      resolveRepresentation: () => verifier.resolveRepresentation(url, accept, now),
      dereference: () => verifier.dereference(url, accept, now),
    }[name]();
    assert.deepEqual(found, { ...returned, reason: refused === null ? (reason ?? null) : "unknown-did" }, id);
    if (reason !== undefined) throw new GambesonError(reason, "as the metadata says");
  },
});

function wholeUrl({ did, path, query, fragment }) {
  return did + path + (query && `?${query}`) + (fragment && `#${fragment}`);
}

judge("httpsig", EXPECTED.httpsig, {
  cards: known,
  http({ message, tag, from: signer, relationship, required, maxAge, capacity, repeat, now }, all) {
    const verifier = cards(all, { capacity });
    const described = ({ method, target, status, fields, body, request }) => ({
      ...(status === undefined ? { method, url: target } : { status }),
      headers: fields ?? [],
      ...(body === undefined ? {} : { body: utf8(body) }),
      ...(request === undefined ? {} : { request: described(request) }),
    });
    const options = { now, capability: relationship === "capabilityInvocation", tag, signer, required, maxAge };
    const verify = () => (message.status === undefined ? verifier.request(described(message), options) : verifier.response(described(message), options));
    if (repeat) verify();
    const { signer: key, label, base, components } = verify();
    assert.deepEqual(components, base.split("\n").slice(0, -1).map((line) => line.split(": ")[0]));
    return { signer: key, label, base };
  },
});

judge("json", EXPECTED.json, {
  json: ({ text, hex: digits, object, max }) => ({
    canonical: new TextDecoder().decode(canonicalize(digits === undefined ? text : unhex(digits), { object, maxLength: max ?? 4096 })),
  }),
  time({ text }) {
    const { seconds, text: written } = parseTime(text);
    return { seconds, written };
  },
});

judge("jws", EXPECTED.jws, {
  jws({ token, key, jwk, payload, detached, typ, kid, max }, all) {
    const found = verifyJws(token, { jwk: key === undefined ? jwk : all.find(({ id }) => id === key).jwk }, {
      ...(detached ? { payload: utf8(payload) } : {}), typ, keyUrl: kid, maxLength: max ?? 64 << 10,
    });
    return { header: found.header, payload: new TextDecoder().decode(found.payload) };
  },
  jwk(vector) {
    const { alg, jwk, multikey, did, bytes } = publicKey({ jwk: vector.jwk });
    assert.deepEqual(publicKey({ alg, bytes }), publicKey({ multikey }));
    assert.equal(new Verifier().resolve(did).id, `did:key:${multikey}`);
    return { alg, jwk, multikey };
  },
  multikey: ({ multikey }) => void publicKey({ multikey }),
});

const pathOf = ({ path }) => path.map(unhex);
judge("log", EXPECTED.log, {
  inclusion(vector) {
    const { leaf, index, size, root } = vector;
    verifyInclusion(unhex(leaf), { index: BigInt(index), size: BigInt(size), root: unhex(root) }, pathOf(vector));
  },
  consistency(vector) {
    const head = (name) => ({ size: BigInt(vector[`${name}_size`]), root: unhex(vector[`${name}_root`]) });
    verifyConsistency(head("old"), head("new"), pathOf(vector));
  },
  proof(vector, all) {
    const whole = { ...all.find(({ id }) => id === vector.of), ...vector };
    const [from, to] = vector.edit ?? ["", ""];
    assert.ok(whole.proof.includes(from), vector.id);
    const proof = whole.proof.replace(from, () => to) + (vector.append ?? "");
    // A verifier key: the name, its hash, and a type before the key.
    const [origin, , base64] = whole.key.split("+").length === 3 ? whole.key.split("+") : split(whole.key);
    const key = publicKey({ alg: "ML-DSA-44", bytes: new Uint8Array(Buffer.from(base64, "base64").subarray(1)) });
    const found = verifyLogProof(proof, unhex(whole.entry), { origin, key: { jwk: key.jwk }, now: new Date(whole.now) });
    const { index, size, root, signed } = vector.expect;
    assert.deepEqual(found, { index: BigInt(index), size: BigInt(size), root, signed: Date.parse(signed) / 1000 });
  },
});

/** The parts of a verifier key, whose Base64 may have a plus as well. */
function split(key) {
  const [origin, id, ...rest] = key.split("+");
  return [origin, id, rest.join("+")];
}

/** The bytes of a vector with the changes that it asks for. */
const cut = (bytes, { keep, flip }) => {
  const changed = bytes.slice(0, keep ?? bytes.length);
  if (flip !== undefined) changed[flip] ^= 1;
  return changed;
};
const same = (agent, { seed, suite = "default" }) => assert.equal(agent.did, Agent.fromSeed(unhex(seed), { suite }).did);
judge("recovery", EXPECTED.recovery, {
  words: ({ words, expect }) => same(Agent.fromWords(words), expect),
  keystore(vector, all) {
    const whole = { ...all.find(({ id }) => id === vector.of), ...vector };
    const agent = Agent.fromProtected(cut(unhex(whole.file), vector), whole.passphrase);
    assert.equal(agent.suite, vector.expect.suite);
    same(agent, vector.expect);
  },
  age(vector, all) {
    const whole = { ...all.find(({ id }) => id === vector.of), ...vector };
    const options = whole.max_work_factor === undefined ? {} : { maxWorkFactor: whole.max_work_factor };
    same(Agent.fromAgeFile(cut(utf8(whole.file), vector), whole.passphrase, options), vector.expect);
  },
});

/** A vector with what it takes from the one that it changes, and the bytes of a member with those changes. */
const made = (vector, all, name) => {
  const whole = { ...all.find(({ id }) => id === vector.of), ...vector };
  return { ...whole, bytes: new Uint8Array([...cut(unhex(whole[name]), vector), ...unhex(vector.append ?? "")]) };
};
const rfc3339 = (seconds) => new Date(seconds * 1000).toISOString().replace(".000Z", "Z");

judge("backup", EXPECTED.backup, {
  backup(vector, all) {
    const { seed, suite, did, since, bytes } = made(vector, all, "file");
    const agent = Agent.fromSeed(unhex(seed), { suite });
    assert.equal(agent.did, did, vector.id);
    const found = agent.restore(bytes, { since });
    const credentials = Object.entries(found.credentials).map(([name, credential]) => [name, hex(utf8(credential))]);
    const objects = [...found.objects].map(([id, object]) => [id, hex(object)]);
    const state = Object.entries(found.state).map(([name, piece]) => [name, hex(piece)]);
    const [made_, cards] = [rfc3339(found.made), found.cards === undefined ? null : String(found.cards)];
    return { expect: { made: made_, cards, credentials: Object.fromEntries(credentials), objects: Object.fromEntries(objects), state: Object.fromEntries(state) } };
  },
});

judge("state", EXPECTED.state, {
  state(vector, all) {
    const { seed, suite, label, bytes } = made(vector, all, "sealed");
    return { state: hex(Agent.fromSeed(unhex(seed), { suite }).openState(label, bytes)) };
  },
});

judge("signed-file", EXPECTED["signed-file"], {
  "signed-file"(vector, all) {
    const { cards, token, pad = 0, now, bytes } = made(vector, all, "file");
    const verifier = new Verifier();
    verifier.addCards(cards);
    const { signer, issued, hash, size } = verifier.file(token + "A".repeat(pad), bytes, new Date(now));
    assert.equal(size, bytes.length);
    assert.equal(hash, hash.startsWith("b3:") ? objectId(bytes) : `sha384:${createHash("sha384").update(bytes).digest("hex")}`);
    return { signer, issued: rfc3339(issued) };
  },
});

const contents = ({ hex: digits, byte, length }) => (digits === undefined ? new Uint8Array(length).fill(byte) : unhex(digits));
judge("memory", EXPECTED.memory, {
  object: ({ name, object }) => checkObject(name, contents(object)),
  manifest({ manifest, objects, most }) {
    const named = objectId(utf8(manifest));
    return { whole: objectId(joinObjects(named, [utf8(manifest), ...objects.map(contents)], most)) };
  },
});

judge("sd-jwt", EXPECTED["sd-jwt"], {
  "card-log": known,
  presented({ token, binding, audience, nonce, maxAge, now }, all) {
    const { signer, claims } = cards(all).sdJwt(token, binding === "required" ? { audience, nonce, maxAge, now } : { bearer: true, now });
    return { signer, claims };
  },
});

judge("sealed", EXPECTED.sealed, {
  sealed(vector, all) {
    const named = (id) => all.find((one) => one.id === id);
    // What is cut and flipped, and whose cards they are, is said of another vector.
    const whole = { ...named(vector.of), ...vector };
    const agent = Agent.fromSeed(unhex(whole.recipient_seed), { suite: whole.suite });
    assert.equal(agent.did, whole.recipient);
    let own = agent.card({ from: 0, validFor: 1 });
    for (let times = Number(whole.recipient_index); times > 0; times -= 1) own = agent.rotate(own, { roles: ["sealed"], from: 0, validFor: 1 });
    const verifier = new Verifier();
    verifier.addCards(whole.sender_cards ?? named(whole.sender_cards_of).sender_cards);
    const envelope = cut(unhex(whole.envelope), vector);
    const now = new Date(vector.now);
    if (vector.opened_before) verifier.open(agent, envelope, now);
    const opened = verifier.open(agent, envelope, now);
    const told = {
      sender: opened.sender, signer: opened.signer, message_id: opened.id, media_type: opened.mediaType, payload: hex(opened.payload),
      expires: new Date(opened.expires * 1000).toISOString().replace(".000Z", "Z"),
    };
    for (const [name, value] of Object.entries(vector.expect)) assert.deepEqual(told[name], value, `${vector.id}: ${name}`);
  },
});

judge("status", EXPECTED.status, {
  "card-log": known,
  list({ token, url, entries, purpose, set, now }, all) {
    const verifier = cards(all);
    verifier.addStatusList(token, now);
    if (url !== undefined) return verifier.statusList(JSON.parse(Buffer.from(token.split(".")[1], "base64url")).issuer, url, purpose, now);
  },
  credential({ token, status, now }, all) {
    const verifier = cards(all);
    // Nobody can be told not to look; who knows no list and lets pass what is not known does not either.
    if (status !== "ignored") {
      for (const list of all.filter(({ kind, result }) => kind === "list" && result !== "reject")) verifier.addStatusList(list.token, list.now);
    }
    verifier.credential(token, { now, statusIfKnown: status !== "required" });
  },
});

judge("vc", EXPECTED.vc, {
  credential: ({ input }) => checkCredential(input),
  presentation: ({ input }) => checkPresentation(input),
  secured({ input, now }) {
    const { claims } = new Verifier().credential(input, { now });
    assert.ok(!("proof" in claims));
  },
  "secured-presentation": ({ input, audience, nonce, now }) => void new Verifier().presentation(input, { audience, nonce, now }),
});

judge("vc-jwt", EXPECTED["vc-jwt"], {
  "card-log": known,
  credential({ token, now }, all) {
    const { signer, claims: payload } = cards(all).credential(token, { now });
    return { signer, payload };
  },
  presentation({ token, audience, nonce, maxAge, binding, now }, all) {
    const { signer, credentials } = cards(all).presentation(token, { audience, nonce, maxAge, bearer: binding === "bearer", now });
    return { signer, credentials: credentials.length };
  },
});

test("kdf.json: the public keys and DIDs of seeds, without a derived key", () => {
  const compared = { keys: 0, dids: 0 };
  const roles = { Identity: "identity", Signing: "signing", Did: "did", Backup: "backup", Sealed: "sealed", Encapsulation: "encapsulation", DataIntegrity: "data-integrity", Log: "log" };
  for (const { kind, index, purpose, seed, suite, public_key_blake3: hash, did, id } of read("kdf")) {
    if (kind !== "key" || index !== "0" || !(purpose in roles)) continue;
    const agent = Agent.fromSeed(unhex(seed), { suite });
    assert.equal(objectId(agent.publicKey(roles[purpose])), `b3:${hash}`, id);
    compared.keys += 1;
    if (did === undefined) continue;
    assert.equal(agent.did, did, id);
    compared.dids += 1;
  }
  assert.deepEqual(compared, { keys: 32, dids: 4 });
});
