// The files of vectors that Rust wrote, held against the package, refusals by their codes. What the package has no door for
// (responses of HTTP, derivations, other forms of actions) is counted as left out, so that nothing is passed over in silence.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Agent, GambesonError, Verifier, init } from "gambeson/agent";

await init();
const PROOF = "io.github.gambeson-pq/proof";
const read = (name) => {
  const file = JSON.parse(readFileSync(new URL(`../../../vectors/${name}.json`, import.meta.url), "utf8"));
  assert.equal(file.vectors.length, file.count);
  return file.vectors;
};
const cards = (vectors, options) => {
  const verifier = new Verifier(options);
  for (const { kind, log, result } of vectors) if (["cards", "card-log"].includes(kind) && result !== "reject") verifier.addCards(log);
  return verifier;
};

/** Runs every vector of these kinds; `run` returns what is compared with the vector, or `undefined` for one that is left out. */
function judge(name, kinds, expected, run) {
  test(`${name}.json: ${kinds.join(", ")}`, () => {
    const vectors = read(name);
    const counts = { accepted: 0, refused: 0, leftOut: 0 };
    for (const vector of vectors.filter(({ kind }) => kinds.includes(kind ?? "cards"))) {
      const refused = vector.result === "reject";
      try {
        const said = run(vector, vectors);
        if (said === undefined) {
          counts.leftOut += 1;
          continue;
        }
        assert.ok(!refused, `${vector.id} was accepted`);
        for (const [name, value] of Object.entries(said)) assert.deepEqual(value, vector[name], `${vector.id}: ${name}`);
        counts.accepted += 1;
      } catch (error) {
        if (!(error instanceof GambesonError)) throw error;
        assert.equal(refused ? error.code : `${error.code}: ${error.message}`, vector.reason, vector.id);
        counts.refused += 1;
      }
    }
    assert.deepEqual(counts, expected);
  });
}

judge("vc-jwt", ["credential"], { accepted: 9, refused: 39, leftOut: 0 }, ({ token, now }, all) => {
  const { signer } = cards(all).credential(token, { now });
  return { signer };
});

judge("vc-jwt", ["presentation"], { accepted: 8, refused: 38, leftOut: 0 }, ({ token, audience, nonce, maxAge, binding, now }, all) => {
  const request = { audience, nonce, maxAge, bearer: binding === "bearer", now };
  const { signer, credentials } = cards(all).presentation(token, request);
  return { signer, credentials: credentials.length };
});

judge("data-integrity", ["credential"], { accepted: 7, refused: 29, leftOut: 0 }, ({ document, text, now }, all) => {
  cards(all).credential(text ?? JSON.stringify(document), { now });
  return {};
});

judge("status", ["list"], { accepted: 3, refused: 13, leftOut: 0 }, ({ token, now }, all) => {
  cards(all).addStatusList(token, now);
  return {};
});

judge("status", ["credential"], { accepted: 10, refused: 21, leftOut: 1 }, ({ token, status, now }, all) => {
  if (!["required", "if-known"].includes(status)) return undefined;
  const verifier = cards(all);
  for (const list of all.filter(({ kind, result }) => kind === "list" && result !== "reject")) verifier.addStatusList(list.token, list.now);
  verifier.credential(token, { now, statusIfKnown: status === "if-known" });
  return {};
});

judge("action", ["mcp"], { accepted: 5, refused: 16, leftOut: 0 }, ({ method, params, audience, maxLifetime, repeat, now }, all) => {
  const verifier = cards(all);
  const options = { audience, now, ...(maxLifetime === undefined ? {} : { lifetime: maxLifetime }) };
  if (repeat) verifier.toolCallSigner(method, params, options);
  return { signer: verifier.toolCallSigner(method, params, options).signer };
});

judge("action", ["receipt"], { accepted: 2, refused: 8, leftOut: 0 }, ({ response, payload, server, now }, all) => {
  cards(all).receipt(response, payload, server, now);
  return {};
});

/** The MCP request whose action has this payload. */
function request({ payload, token, chain = [], approvals = [] }, all) {
  const { method, name, arguments: given, params = {}, ...stated } = JSON.parse(payload);
  const tokenOf = (id) => all.find((vector) => vector.id === id)?.token ?? id;
  const proof = { ...stated, jws: token };
  if (chain.length > 0) proof.chain = chain.map(tokenOf);
  if (approvals.length > 0) proof.approvals = approvals.map(tokenOf);
  const named = method === "resources/read" ? "uri" : "name";
  return [method, { ...params, [named]: name, arguments: given, _meta: { [PROOF]: proof } }];
}

judge("delegation", ["authorize"], { accepted: 16, refused: 115, leftOut: 4 }, (vector, all) => {
  // Status by table instead of lists, and rooms of chosen size, are not the package's; and one action a second time is refused
  // before anybody asks what it may do.
  const again = (vector.before ?? []).some((id) => all.find((one) => one.id === id).payload === vector.payload);
  if (Object.keys(vector.status).length > 0 || vector.capacity !== undefined || again) return undefined;
  const verifier = cards(all);
  for (const { resource, did } of vector.roots) verifier.trust(did, resource);
  for (const { action, approvers } of vector.approvalRules ?? []) verifier.requireApproval(action, approvers);
  const call = (vector) => {
    const { aud: audience, iat, exp } = JSON.parse(vector.payload);
    const cost = vector.cost === undefined ? {} : { cost: vector.cost };
    return verifier.toolCall(...request(vector, all), { audience, lifetime: exp - iat, now: vector.now, ...cost });
  };
  for (const id of vector.before ?? []) call(all.find((one) => one.id === id));
  const { signer, root, path, approvers } = call(vector);
  return { signer, root, path, approvers };
});

judge("httpsig", ["http"], { accepted: 8, refused: 75, leftOut: 18 }, ({ message, tag, relationship, required, maxAge, capacity, repeat, now }, all) => {
  if (message.status !== undefined || required !== undefined || maxAge !== undefined) return undefined;
  const verifier = cards(all, { capacity });
  const { method, target: url, fields: headers, body } = message;
  const options = { now, capability: relationship === "capabilityInvocation", ...(tag === undefined ? {} : { tag }) };
  const request = { method, url, headers, ...(body === undefined ? {} : { body: new TextEncoder().encode(body) }) };
  if (repeat) verifier.request(request, options);
  return { signer: verifier.request(request, options) };
});

judge("sealed", ["cards"], { accepted: 4, refused: 29, leftOut: 34 }, (vector, all) => {
  const named = (id) => all.find((one) => one.id === id);
  // What is cut and flipped, and whose cards they are, is said of another vector.
  const base = vector.of === undefined ? vector : named(vector.of);
  // The package's agents are of the default suite, and before any rotation.
  if (base.suite !== "default" || base.recipient_index !== "0") return undefined;
  const agent = Agent.fromSeed(Buffer.from(base.recipient_seed, "hex"));
  assert.equal(agent.did, base.recipient);
  const verifier = new Verifier();
  verifier.addCards(base.sender_cards ?? named(base.sender_cards_of).sender_cards);
  let envelope = new Uint8Array(Buffer.from(vector.envelope ?? base.envelope, "hex"));
  if (vector.keep !== undefined) envelope = envelope.slice(0, vector.keep);
  if (vector.flip !== undefined) envelope[vector.flip] ^= 1;
  const now = new Date(vector.now);
  if (vector.opened_before) verifier.open(agent, envelope, now);
  const { payload } = verifier.open(agent, envelope, now);
  assert.equal(Buffer.from(payload).toString("hex"), base.expect.payload, vector.id);
  return {};
});

judge("recovery", ["words"], { accepted: 7, refused: 9, leftOut: 0 }, ({ words, expect }) => {
  const { did } = Agent.fromWords(words);
  if (expect) assert.equal(did, Agent.fromSeed(Buffer.from(expect.seed, "hex")).did);
  return {};
});

test("card-log.json: the logs", () => {
  let resolved = 0;
  for (const { log, did, cases } of read("card-log").filter(({ cases }) => cases)) {
    const verifier = new Verifier();
    assert.equal(verifier.addCards(log), did);
    for (const { resolve, result, reason } of cases.filter(({ resolve }) => resolve)) {
      const at = new Date(resolve);
      if (result === "ok") assert.equal(verifier.resolve(did, at).id, did);
      else assert.throws(() => verifier.resolve(did, at), { code: reason ?? result });
      resolved += 1;
    }
  }
  assert.equal(resolved, 32);
});
