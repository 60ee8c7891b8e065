// Signed HTTP: what a server asks for a client can sign, addresses as they were written, and refusals that say the address.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, GambesonError, Verifier, init } from "gambeson/agent";
import { signedFetch, signResponse, verifyRequest, verifyResponse } from "gambeson/http";

await init();
const agent = Agent.generate();
const known = () => {
  const verifier = new Verifier();
  verifier.addCards(agent.card());
  return verifier;
};
const origin = "https://bank.example";

/** What a server makes of a request. */
async function ask(url, signing = {}, asked = {}, at = origin) {
  let sent;
  await signedFetch(agent, { ...signing, fetch: async (request) => ((sent = request), new Response()) })(url, {
    method: "POST", body: "5", headers: { authorization: "Bearer x", "content-type": "text/plain" },
  });
  return verifyRequest(known(), sent, at, asked);
}
const code = (expected) => (error) => {
  assert.ok(error instanceof GambesonError, String(error));
  assert.equal(error.code, expected, error.message);
  return true;
};

test("a client signs what a server requires, besides the usual components", async () => {
  const { components } = await ask(`${origin}/pay`, { required: ["authorization", "content-type"] }, { required: ["authorization"] });
  assert.deepEqual(components, ["\"@method\"", "\"@target-uri\"", "\"content-type\"", "\"content-digest\"", "\"authorization\""]);
  await ask(`${origin}/pay`, { capability: true, required: ["authorization"], tag: "pay" }, { capability: true, required: ["authorization"], tag: "pay" });
  await assert.rejects(ask(`${origin}/pay`, {}, { required: ["authorization"] }), code("uncovered"));
  await assert.rejects(ask(`${origin}/pay`, { required: ["x-missing"] }), code("bad-form"));
});

test("addresses are compared as they were written, without a fragment, whatever the letters of the host", async () => {
  for (const [url, at] of [
    [`${origin}/pay?`, origin], [`${origin}/pay#part`, origin], [`${origin}/pay?#part`, origin], ["https://BANK.example:443/pay", "HTTPS://Bank.Example:443/"], [origin, `${origin}/`],
    [`${origin}?a=b`, origin], ["http://[::1]:8443/p%C3%A4y?a=%20b", "http://[::1]:8443"],
  ]) {
    await ask(url, {}, {}, at);
  }
});

test("a refusal says which address this is", async () => {
  await assert.rejects(ask(`${origin}/pay?id=7`, {}, {}, "https://other.example"), (error) => code("bad-signature")(error) && error.message.includes("POST https://other.example/pay?id=7"));
  const response = await signResponse(agent, new Response("5"), new Request(`${origin}/pay`));
  const asked = new Request(`${origin}/other`);
  await assert.rejects(verifyResponse(known(), response, asked), (error) => code("bad-signature")(error) && error.message.includes(`GET ${origin}/other`));
});
