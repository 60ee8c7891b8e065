// Signed requests over loopback HTTP: the `fetch` wrapper against a server of Node.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { Agent, GambesonError, Verifier, init } from "gambeson/agent";
import { readIncoming, signResponse, signedFetch, verifyRequest, verifyResponse } from "gambeson/http";

await init();
const agent = Agent.fromSeed(new Uint8Array(32).fill(1));
const stranger = Agent.fromSeed(new Uint8Array(32).fill(2));
const verifier = new Verifier();
verifier.addCards(agent.card());
let origin;
const server = createServer(async (incoming, answer) => {
  try {
    const { signer } = verifier.request(await readIncoming(incoming, origin));
    answer.end(signer);
  } catch (error) {
    answer.writeHead(error instanceof GambesonError ? 401 : 500).end(error.code ?? String(error));
  }
});
before(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${server.address().port}`;
});
after(() => server.close());
const text = async (response) => [response.status, await (await response).text()];
const post = (send, body = '{"amount":5}') =>
  send(`${origin}/pay?id=7`, { method: "POST", body, headers: { "content-type": "application/json" } });

test("a signed request passes, with and without a body", async () => {
  const send = signedFetch(agent);
  assert.deepEqual(await text(await post(send)), [200, `${agent.did}#identity-0`]);
  assert.deepEqual(await text(await send(`${origin}/balance#part`)), [200, `${agent.did}#identity-0`]);
});

/** Sends what was signed with a change. */
const changed = (change) => signedFetch(agent, { fetch: async (request) => fetch(await change(request)) });
const replace = async (request, { url = request.url, body, headers = request.headers } = {}) =>
  new Request(url, { method: request.method, headers, body: body ?? (await request.arrayBuffer()) });

test("what was not signed so is refused, with a reason", async () => {
  assert.deepEqual(await text(await post(fetch)), [401, "unsecured"]);
  assert.deepEqual(await text(await post(signedFetch(stranger))), [401, "unknown-did"]);
  assert.deepEqual(await text(await post(changed((it) => replace(it, { body: '{"amount":6}' })))), [401, "wrong-digest"]);
  assert.deepEqual(await text(await post(changed((it) => replace(it, { url: `${origin}/pay?id=8` })))), [401, "bad-signature"]);
  const retyped = changed((it) => {
    it.headers.set("content-type", "text/plain");
    return it;
  });
  assert.deepEqual(await text(await post(retyped)), [401, "bad-signature"]);
  const old = signedFetch(agent, { now: Date.now() / 1000 - 300 });
  assert.deepEqual(await text(await post(old)), [401, "expired"]);
  const capable = signedFetch(agent, { capability: true });
  assert.deepEqual(await text(await post(capable)), [401, "wrong-purpose"]);
  let first;
  const twice = changed(async (it) => {
    first ??= { headers: it.headers, body: await it.arrayBuffer() };
    return replace(it, first);
  });
  assert.equal((await post(twice)).status, 200);
  assert.deepEqual(await text(await post(twice)), [401, "replayed"]);
});

/** What `signedFetch` would have sent. */
async function sent(url, init) {
  let request;
  await signedFetch(agent, { fetch: async (it) => { request = it; return new Response(); } })(url, init);
  return request;
}

test("a Request is verified as servers of fetch have it", async () => {
  const request = await sent("https://bank.example/a?b=c", { method: "POST", body: "x" });
  assert.equal((await verifyRequest(verifier, request, "https://bank.example/")).signer, `${agent.did}#identity-0`);
  assert.equal(await request.text(), "x");
  assert.equal((await verifyRequest(verifier, await sent("https://bank.example/"), "https://bank.example")).signer, `${agent.did}#identity-0`);
});

test("the address is the server's, whatever Host says", async () => {
  // Signed for another server, and sent to us with that server's name.
  const request = await sent("https://other.example/a", { method: "POST", body: "x" });
  await assert.rejects(verifyRequest(verifier, request, "https://bank.example"), { code: "bad-signature" });
  for (const url of [".evil.example/pay", ":8443/pay", "@evil.example/", "http://evil.example/", "*", undefined]) {
    const incoming = { method: "GET", url, rawHeaders: [], async *[Symbol.asyncIterator]() {} };
    await assert.rejects(readIncoming(incoming, "https://bank.example"), { code: "bad-form" });
  }
});

test("a body that is too long is refused, and the connection answers", async () => {
  const long = "x".repeat((1 << 20) + 1);
  assert.deepEqual(await text(await post(signedFetch(agent), long)), [401, "too-large"]);
  assert.equal((await post(signedFetch(agent), long.slice(1))).status, 200);
  const request = await sent("https://bank.example/", { method: "POST", body: "four" });
  await assert.rejects(verifyRequest(verifier, request.clone(), "https://bank.example", { maxBody: 3 }), { code: "too-large" });
  await verifyRequest(verifier, request, "https://bank.example", { maxBody: 4 });
});

test("no redirect is followed unless it was asked for", async () => {
  for (const [init, expected] of [[undefined, "error"], [{ redirect: undefined }, "error"], [{ redirect: "follow" }, "follow"]]) {
    assert.equal((await sent("https://bank.example/", init)).redirect, expected);
  }
});

test("a body is signed where requests do not show one", async (t) => {
  const shown = Object.getOwnPropertyDescriptor(Request.prototype, "body");
  t.after(() => Object.defineProperty(Request.prototype, "body", shown));
  Object.defineProperty(Request.prototype, "body", { get: () => undefined, configurable: true });
  const request = await sent("https://bank.example/", { method: "POST", body: "x" });
  assert.match(request.headers.get("signature-input"), /"content-digest"/);
});

test("a response is signed with the request that it answers", async () => {
  const request = new Request("https://bank.example/balance?id=7#part");
  const plain = () => new Response('{"balance":5}', { status: 201, headers: { "content-type": "application/json" } });
  const answer = await signResponse(agent, plain(), request);
  const changed = async (body, status = 201, to = request) => {
    const response = new Response(body, { status, headers: answer.headers });
    return verifyResponse(verifier, response, to);
  };
  assert.equal(answer.status, 201);
  await assert.rejects(changed('{"balance":6}'), { code: "wrong-digest" });
  await assert.rejects(changed('{"balance":5}', 200), { code: "bad-signature" });
  await assert.rejects(changed('{"balance":5}', 201, new Request("https://bank.example/other")), { code: "bad-signature" });
  await assert.rejects(verifyResponse(verifier, plain(), request), { code: "unsecured" });
  const { signer, agent: did, components } = await verifyResponse(verifier, answer, request);
  assert.deepEqual([signer, did], [`${agent.did}#identity-0`, agent.did]);
  assert.ok(components.includes('"@status"') && components.includes('"@method";req'));
  assert.equal(await answer.text(), '{"balance":5}');
  await assert.rejects(verifyResponse(verifier, await signResponse(agent, plain(), request), request, { required: ["date"] }), { code: "uncovered" });
});

test("what is required is so besides the usual components", () => {
  const known = new Verifier({ capacity: 1 });
  known.addCards(agent.card());
  const request = { method: "GET", url: "https://bank.example/", headers: [["date", "Sun, 22 Nov 2026 12:00:00 GMT"]] };
  const verify = (components, required = ["date"]) =>
    known.request({ ...request, headers: [...request.headers, ...agent.signRequest(request, { components })] }, { required });
  // That it has the date does not say to whom it goes.
  assert.throws(() => verify(["date"]), { code: "uncovered" });
  assert.throws(() => verify(["@method", "@target-uri"]), { code: "uncovered" });
  assert.throws(() => verify(["@method", "@target-uri", "date"], ["@nothing"]), { code: "bad-form" });
  // What was refused took no room.
  assert.deepEqual(verify(["@method", "@target-uri", "date"]).components, ['"@method"', '"@target-uri"', '"date"']);
  assert.throws(() => verify(["@method", "@target-uri", "date"]), { code: "cache-full" });
});

test("a response to a request whose body has another digest is refused", async () => {
  const asked = (body, headers) => new Request("https://bank.example/pay", { method: "POST", body, headers });
  const { headers } = await sent("https://bank.example/pay", { method: "POST", body: "5" });
  const answer = await signResponse(agent, new Response("done"), asked("5", headers));
  const { components } = await verifyResponse(verifier, answer.clone(), asked("5", headers));
  assert.ok(['"signature";req', '"content-digest";req'].every((name) => components.includes(name)));
  const again = () => signResponse(agent, new Response("done"), asked("5", headers));
  await assert.rejects(verifyResponse(verifier, await again(), asked("6", headers)), { code: "wrong-digest" });
  // A body that was sent is not at hand.
  const used = asked("6", headers);
  await used.text();
  await verifyResponse(verifier, await again(), used);
  const response = { status: 200, headers: [], request: { method: "POST", url: "https://bank.example/pay", headers: [["content-length", "2"]], body: Buffer.from("5") } };
  assert.throws(() => verifier.response({ ...response, headers: agent.signResponse({ ...response, request: { ...response.request, headers: [] } }) }), { code: "bad-form" });
  assert.throws(() => agent.signResponse(response), { code: "bad-form" });
});

test("a response is about the request as it was signed, at the server's own address", async () => {
  const request = await sent("https://bank.example/pay", { method: "POST", body: "5" });
  // The server has the request as Node's adapters make it of `Host`.
  const seen = new Request("http://10.0.0.1/pay", { method: "POST", body: "5", headers: request.headers });
  const answer = () => new Response("done");
  const signed = await signResponse(agent, answer(), seen, { origin: "https://bank.example" });
  const { components } = await verifyResponse(verifier, signed.clone(), request);
  assert.ok(components.includes('"signature";req'));
  const other = await sent("https://bank.example/pay", { method: "POST", body: "5" });
  await assert.rejects(verifyResponse(verifier, signed.clone(), other), { code: "bad-signature" });
  await assert.rejects(verifyResponse(verifier, signed.clone(), request, { maxBody: 3 }), { code: "too-large" });
  await assert.rejects(verifyResponse(verifier, await signResponse(agent, answer(), seen), request), { code: "bad-signature" });
});
