// Signed tool calls over real stdio, with the official SDK on both sides.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Agent, Verifier, init } from "gambeson/agent";
import { PROOF, REFUSED, signCalls } from "gambeson/mcp";

await init();
const audience = "did:web:bank.example";
const [root, agent, stranger, bank] = [1, 2, 3, 4].map((byte) => Agent.fromSeed(new Uint8Array(32).fill(byte)));
const capabilities = [{ action: "tools/call/pay", resource: audience, caveats: [{ argument: "/amount", atMost: 10 }] }];
const grant = (extra = {}) => [root.delegate({ delegate: agent.did, capabilities, ...extra })];
const configuration = { cards: [root, agent, bank].map((it) => it.card()), root: root.did, audience, seed: 4 };

/** A client whose transport may be changed on the way. */
async function connect(t, options, change = (message) => message) {
  const server = fileURLToPath(new URL("mcp-server.mjs", import.meta.url));
  const stdio = new StdioClientTransport({ command: process.execPath, args: [server, JSON.stringify(configuration)] });
  const { send } = stdio;
  stdio.send = (message) => send.call(stdio, message.method === "tools/call" ? change(structuredClone(message)) : message);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(options ? signCalls(stdio, { audience, ...options }) : stdio);
  t.after(() => client.close());
  return (amount = 5) => client.callTool({ name: "pay", arguments: { amount } });
}
const refused = (reason) => (error) => {
  assert.deepEqual([error.code, error.data?.reason], [REFUSED, reason], error.message);
  return true;
};

test("a signed call within its delegation passes, and its answer has a receipt", async (t) => {
  const verifier = new Verifier();
  verifier.addCards(bank.card());
  const pay = await connect(t, { agent, evidence: { chain: grant() }, receipts: { verifier, server: bank.did } });
  const { content } = await pay();
  assert.equal(content[0].text, `${agent.did} paid 5`);
  assert.equal((await pay(6)).content[0].text, `${agent.did} paid 6`);
});

const evidence = { chain: grant() };
let captured;
const bad = {
  "unsecured, without a proof": [undefined, undefined, "unsecured"],
  "bad-signature, changed on the way": [{ agent, evidence }, (it) => { it.params.arguments.amount = 6; return it; }, "bad-signature"],
  "not-permitted, beyond what was granted": [{ agent, evidence }, undefined, "not-permitted", 11],
  "wrong-audience, for another server": [{ agent, evidence, audience: "did:web:other.example" }, undefined, "wrong-audience"],
  "unknown-did, by an agent whom nobody knows": [{ agent: stranger }, undefined, "unknown-did"],
  "untrusted-root, in one's own name": [{ agent }, undefined, "untrusted-root"],
  "wrong-delegate, with another's grant": [{ agent: root, evidence }, undefined, "wrong-delegate"],
  "expired, under a grant that has ended": [{ agent, evidence: { chain: grant({ from: Date.now() / 1000 - 7200, validFor: 60 }) } }, undefined, "expired"],
  "bad-form, with a proof of another form": [{ agent, evidence }, (it) => { it.params._meta[PROOF].more = 1; return it; }, "bad-form"],
};
for (const [name, [options, change, reason, amount]] of Object.entries(bad)) {
  test(`a call is refused: ${name}`, async (t) => {
    const pay = await connect(t, options, change);
    await assert.rejects(pay(amount), refused(reason));
  });
}

test("a call is refused: replayed, sent a second time", async (t) => {
  const pay = await connect(t, { agent, evidence }, (message) => {
    captured ??= message.params;
    return { ...message, params: captured };
  });
  await pay();
  await assert.rejects(pay(), refused("replayed"));
});

test("an answer without the server's receipt is refused", async (t) => {
  const verifier = new Verifier();
  verifier.addCards(root.card());
  const pay = await connect(t, { agent, evidence: { chain: grant() }, receipts: { verifier, server: root.did } });
  await assert.rejects(pay(), refused("wrong-audience"));
});
