// The package in a real browser, as it lies in `dist`.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { browser } from "./browser.mjs";

const TYPES = { js: "text/javascript", wasm: "application/wasm", html: "text/html" };
const PAGE = `<!doctype html><script type="importmap">{"imports": {
  "#module": "/module.web.js", "gambeson": "/index.js", "gambeson/agent": "/agents.js", "gambeson/http": "/http.js"
}}</script>`;
let server;
let chromium;
let page;
before(async () => {
  server = createServer(async ({ url }, answer) => {
    const body = url === "/" ? PAGE : await readFile(new URL(`../dist${url}`, import.meta.url)).catch(() => undefined);
    const type = url === "/" ? "text/html" : TYPES[url.split(".").at(-1)];
    answer.writeHead(body === undefined ? 404 : 200, { "content-type": type ?? "text/plain" }).end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  chromium = await browser();
  page = await chromium.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
});
after(async () => {
  await chromium?.close();
  server?.close();
});

test("the primitives work in Chromium", async () => {
  const said = await page.evaluate(async () => {
    const { GambesonError, init, mldsa65, mlkem768, xwing } = await import("gambeson");
    await init();
    const secrets = [mlkem768, xwing].map((kem) => {
      const key = kem.generate();
      const { ciphertext, sharedSecret } = key.encapsulationKey.encapsulate();
      return String(key.decapsulate(ciphertext)) === String(sharedSecret);
    });
    const key = mldsa65.generate();
    const message = new TextEncoder().encode("hello");
    const signature = key.sign(message);
    key.verifyingKey.verify(signature, message);
    signature[0] ^= 1;
    let code;
    try {
      key.verifyingKey.verify(signature, message);
    } catch (error) {
      code = error instanceof GambesonError && error.code;
    }
    return { secrets, code };
  });
  assert.deepEqual(said, { secrets: [true, true], code: "bad-signature" });
});

test("agents work in Chromium, and sign what `fetch` sends", async () => {
  const said = await page.evaluate(async () => {
    const { Agent, Verifier, init } = await import("gambeson/agent");
    const { signedFetch, verifyRequest } = await import("gambeson/http");
    await init();
    const agent = Agent.generate();
    const verifier = new Verifier();
    verifier.addCards(agent.card());
    const { issuer } = verifier.credential(agent.issue({ subject: { a: 1 } }));
    let sent;
    const send = signedFetch(agent, { fetch: async (request) => ((sent = request), new Response()) });
    await send("/pay", { method: "POST", body: "5" });
    return [issuer === agent.did, (await verifyRequest(verifier, sent, location.origin)).agent === agent.did];
  });
  assert.deepEqual(said, [true, true]);
});

test("the whole module works in Chromium", async (t) => {
  const another = await chromium.newPage();
  t.after(() => another.close());
  await another.goto(page.url());
  const said = await another.evaluate(async () => {
    const { Agent, StatusList, init } = await import("gambeson/agent");
    await init("whole");
    const agent = Agent.fromWords(Agent.newWords(), { suite: "cnsa2" });
    const list = new StatusList("suspension");
    list.set(5);
    const { objects } = agent.restore(agent.backup({ objects: [new Uint8Array([7])] }));
    return [list.isSet(5), agent.suite, [...objects.values()].map(String)];
  });
  assert.deepEqual(said, [true, "cnsa2", ["7"]]);
});
