// What the wrapped transports of MCP do with answers and calls that no honest peer sends, without a process between.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, GambesonError, Verifier, init } from "gambeson/agent";
import { REFUSED, callOf, signCalls, verifyCalls } from "gambeson/mcp";

await init();
const audience = "did:web:bank.example";
const [agent, bank] = [1, 2].map((byte) => Agent.fromSeed(new Uint8Array(32).fill(byte)));
const verifier = () => {
  const made = new Verifier();
  [agent, bank].forEach((it) => made.addCards(it.card()));
  made.trust(agent.did, audience);
  return made;
};

/** A transport in memory. */
function wire() {
  return {
    sent: [],
    errors: [],
    async start() {},
    async close() {},
    async send(message) { this.sent.push(structuredClone(message)); },
  };
}
async function client() {
  const inner = wire();
  const outer = signCalls(inner, { agent, audience, receipts: { verifier: verifier(), server: bank.did } });
  const [got, errors] = [[], []];
  outer.onmessage = (message) => got.push(message);
  outer.onerror = (error) => errors.push(error.code);
  await outer.start();
  return { inner, outer, got, errors };
}
const call = (id, params = { name: "pay", arguments: { amount: 5 } }) => ({ jsonrpc: "2.0", id, method: "tools/call", params });
const unsigned = { content: [{ type: "text", text: "paid" }] };

test("an answer is held against its receipt however its id is written", async () => {
  for (const id of ["1", "01", " 1", "1e0", 1]) {
    const { inner, outer, got } = await client();
    await outer.send(call(1));
    inner.onmessage({ jsonrpc: "2.0", id, result: unsigned });
    assert.deepEqual([got.length, got[0].error?.code, got[0].error?.data.reason], [1, REFUSED, "unsecured"], String(id));
  }
});

test("an answer to nothing that was asked does not arrive, a second one neither", async () => {
  const { inner, outer, got, errors } = await client();
  await outer.send({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  inner.onmessage({ jsonrpc: "2.0", id: 1, result: { tools: [] } });
  assert.equal(got.length, 1);
  for (const message of [{ id: 1, result: unsigned }, { id: 7, result: unsigned }, { id: "x", method: "tools/call", result: unsigned }]) {
    inner.onmessage({ jsonrpc: "2.0", ...message });
  }
  assert.deepEqual([got.length, errors], [1, ["wrong-audience", "wrong-audience", "wrong-audience"]]);
  // What is no answer passes.
  inner.onmessage({ jsonrpc: "2.0", method: "notifications/progress", params: {} });
  assert.equal(got.length, 2);
});

test("a call that was given up is forgotten", async () => {
  const { inner, outer, got, errors } = await client();
  await outer.send(call(1));
  await outer.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  inner.onmessage({ jsonrpc: "2.0", id: 1, result: unsigned });
  assert.deepEqual([got, errors], [[], ["wrong-audience"]]);
});

test("a handler that throws is not given the answer twice", async () => {
  const { inner, outer } = await client();
  await outer.send({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  await outer.send(call(2));
  const { receipts, action } = { receipts: bank, action: verifier().toolCall("tools/call", inner.sent[1].params, { audience }).action };
  let times = 0;
  outer.onmessage = () => { times += 1; throw new Error("mine"); };
  assert.throws(() => inner.onmessage({ jsonrpc: "2.0", id: 2, result: receipts.acknowledge(action, unsigned) }), /mine/);
  assert.equal(times, 1);
});

/** A server, and what a signed call makes it do. */
async function server(options = {}) {
  const inner = wire();
  const outer = verifyCalls(inner, { verifier: verifier(), audience, receipts: bank, ...options });
  const [got, errors] = [[], []];
  outer.onmessage = (message, extra) => got.push([message, extra]);
  outer.onerror = (error) => errors.push(error);
  await outer.start();
  const signed = async (...how) => {
    const line = wire();
    await signCalls(line, { agent, audience }).send(call(...how));
    return line.sent[0];
  };
  return { inner, outer, got, errors, signed };
}
const reasons = (inner) => inner.sent.map(({ error }) => [error?.code, error?.data.reason]);

test("an answer is acknowledged, and not to a call that was given up", async () => {
  const { inner, outer, got, signed } = await server();
  inner.onmessage(await signed(1));
  inner.onmessage(await signed(2));
  assert.equal(callOf(got[0][1]).agent, agent.did);
  inner.onmessage({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  await outer.send({ jsonrpc: "2.0", id: 1, result: unsigned });
  await outer.send({ jsonrpc: "2.0", id: 2, result: unsigned });
  assert.deepEqual(inner.sent.map(({ result }) => Object.keys(result)), [["content"], ["_meta", "content"]]);
});

test("a request of an id that waits for its answer is refused", async () => {
  const { inner, outer, got, signed } = await server();
  const listed = (id) => ({ jsonrpc: "2.0", id, method: "tools/list" });
  inner.onmessage(await signed(1));
  inner.onmessage(listed("2"));
  // Neither a call nor what needs no signature takes an id that is in use, however it is written.
  for (const message of [await signed(1), await signed("1"), listed(1), listed("01"), await signed(2), listed("2")]) inner.onmessage(message);
  assert.deepEqual([got.length, reasons(inner)], [2, Array(6).fill([REFUSED, "bad-form"])]);
  inner.sent.length = 0;
  await outer.send({ jsonrpc: "2.0", id: 1, result: unsigned });
  await outer.send({ jsonrpc: "2.0", id: "2", result: unsigned });
  assert.deepEqual(inner.sent.map(({ result }) => Object.keys(result)), [["_meta", "content"], ["content"]]);
  // Answered, they are free again; what the server itself asks has ids of its own.
  await outer.send({ jsonrpc: "2.0", id: 1, method: "sampling/createMessage" });
  inner.onmessage({ jsonrpc: "2.0", id: 1, result: {} });
  inner.onmessage(listed(1));
  inner.onmessage(await signed(2));
  assert.deepEqual([got.length, inner.sent.length], [5, 3]);
});

test("what a call costs is asked once its signature holds, and what that throws refuses it", async () => {
  const asked = [];
  const cost = (method, { arguments: { amount } }) => {
    asked.push(amount.toFixed(0));
    return { amount, unit: "EUR" };
  };
  const { inner, got, errors, signed } = await server({ cost });
  inner.onmessage(call(1, null));
  inner.onmessage(call(1, { name: "pay" }));
  inner.onmessage(call(1, { name: "pay", arguments: { amount: "5" } }));
  assert.deepEqual([asked, got, errors], [[], [], []]);
  inner.onmessage(await signed(1, { name: "pay", arguments: { amount: "5" } }));
  assert.deepEqual([got, errors.length, errors[0] instanceof TypeError], [[], 1, true]);
  inner.onmessage(await signed(1));
  assert.deepEqual([asked, got.length], [["5"], 1]);
  assert.deepEqual(reasons(inner), [[REFUSED, "bad-form"], [REFUSED, "unsecured"], [REFUSED, "unsecured"], [REFUSED, "failed"]]);
});

test("what a handler throws is its own, and the call is not refused by it", async () => {
  const { inner, outer, signed } = await server();
  outer.onmessage = () => { throw new GambesonError("mine", "mine"); };
  const message = await signed(1);
  assert.throws(() => inner.onmessage(message), { code: "mine" });
  assert.deepEqual(inner.sent, []);
});

test("a number that JSON does not have is refused, and not taken for another value", async () => {
  const { inner, got, signed } = await server();
  const message = await signed(1, { name: "pay", arguments: { amount: null } });
  // `null` was signed; the handler would get Infinity.
  const changed = JSON.parse(JSON.stringify(message).replace('"amount":null', '"amount":1e999'));
  assert.equal(changed.params.arguments.amount, Infinity);
  inner.onmessage(changed);
  assert.deepEqual([got, reasons(inner)], [[], [[REFUSED, "bad-json"]]]);
  for (const bad of [NaN, Infinity, -Infinity]) {
    assert.throws(() => agent.action("tools/call", { name: "pay", arguments: { bad } }, { audience }), { code: "bad-json" });
  }
  assert.throws(() => agent.action("tools/call", undefined, { audience }), { code: "bad-json" });
});
