// The page in a real browser, opened from the disk with the network off: good, expired, tampered and delegated inputs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Agent, StatusList, init, statusEntry } from "gambeson/agent";
import { browser, scratch } from "./browser.mjs";

// Status lists are issued by the whole module.
await init("whole");
const now = Math.floor(Date.now() / 1000);
const [alice, bank, teller, stranger] = [1, 2, 3, 4].map((byte) => Agent.fromSeed(new Uint8Array(32).fill(byte)));
const card = (name, agent) => ({ name: `${name}.jsonl`, text: agent.card({ from: now - 7200 }) });
const cards = [card("Alice", alice), card("Bank", bank), card("Teller", teller)];
const audience = "did:web:bank.example";
const capabilities = [{ action: "tools/call/*", resource: audience, caveats: [{ argument: "/amount", atMost: 100 }] }];
const first = alice.delegate({ delegate: bank.did, capabilities, maxDepth: 1, maxCalls: 5, from: now - 60 });
const narrow = [{ action: "tools/call/pay", resource: audience, caveats: [{ argument: "/amount", atMost: 10 }] }];
const second = bank.delegate({ delegate: teller.did, capabilities: narrow, maxCalls: 5, from: now - 60, parent: first });
function call(amount, when = now, chain = [first, second]) {
  const evidence = { chain };
  const params = { name: "pay", arguments: { amount, to: "Bob" } };
  const action = teller.action("tools/call", params, { audience, evidence, now: when });
  return { jsonrpc: "2.0", id: 1, method: "tools/call", params: { ...params, _meta: { "io.github.gambeson-pq/proof": teller.prove(action, evidence) } } };
}
const credential = (options = {}) => alice.issue({ type: ["Clearance"], subject: { id: teller.did, level: 3 }, from: now - 3600, validFor: 86_400, ...options });

let chromium;
let context;
const requests = [];
before(async () => {
  const folder = join(scratch, "site");
  execFileSync(process.execPath, [new URL("../site/build.mjs", import.meta.url).pathname, folder]);
  chromium = await browser();
  context = await chromium.newContext({ offline: true, viewport: { width: 1000, height: 1200 } });
  context.address = pathToFileURL(join(folder, "index.html")).href;
});
after(() => chromium?.close());

async function open(t) {
  const page = await context.newPage();
  t.after(() => page.close());
  const problems = [];
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(context.address);
  await page.locator("html[data-ready]").waitFor();
  return { page, problems };
}

const give = (page, files) =>
  page.locator("#files").setInputFiles(files.map(({ name, text }) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) })));

/** The verdict on the newest thing. */
async function newest(page, count) {
  await page.locator(`article:nth-of-type(${count})`).waitFor();
  const article = page.locator("article").first();
  return {
    title: await article.locator("h3").innerText(),
    holds: (await article.getAttribute("class")) === "holds",
    code: await article.getAttribute("data-code"),
    why: await article.locator(".why").innerText(),
    graph: await article.evaluate((it) => it.querySelector("svg")?.getAttribute("aria-label") ?? null),
    bad: await article.locator("ul.checks li.fails").count(),
    unchecked: await article.locator("ul.checks li.unchecked").count(),
  };
}

test("a good credential says who signed it", async (t) => {
  const { page, problems } = await open(t);
  await give(page, [...cards, { name: "clearance.jwt", text: credential() }]);
  const said = await newest(page, 4);
  assert.deepEqual([said.title, said.holds, said.why], ["Credential: Clearance", true, "Alice says this of Teller."]);
  assert.deepEqual([said.bad, said.unchecked], [0, 0]);
  assert.match(said.graph, /^Alice to Teller: says; holds\.$/);
  assert.equal(await page.locator("#summary").innerText(), "4 of 4 hold.");
  assert.equal(await page.locator("#known li").count(), 3);
  await page.screenshot({ path: join(scratch, "site", "good.png"), fullPage: true });
  assert.deepEqual(problems, []);
});

test("an expired one fails, and holds as of an earlier time", async (t) => {
  const { page } = await open(t);
  await give(page, [...cards, { name: "old.jwt", text: credential({ validFor: 600 }) }]);
  const said = await newest(page, 4);
  assert.deepEqual([said.holds, said.code, said.bad], [false, "expired", 1]);
  const earlier = new Date((now - 3300) * 1000 - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
  await page.locator("#moment").fill(earlier);
  await page.locator("article.holds").nth(3).waitFor();
  assert.equal((await newest(page, 4)).holds, true);
});

test("tampered ones fail: a credential, a card, and one whose signer nobody knows", async (t) => {
  const { page } = await open(t);
  const [header, payload, signature] = credential().split(".");
  const changed = Buffer.from(Buffer.from(payload, "base64url").toString().replace('"level":3', '"level":9')).toString("base64url");
  await give(page, [...cards, { name: "changed.jwt", text: [header, changed, signature].join(".") }]);
  const said = await newest(page, 4);
  // The signature fails; what the changed text says of its time was not checked.
  assert.deepEqual([said.holds, said.code, said.bad, said.unchecked], [false, "bad-signature", 1, 1]);
  const time = page.locator("article").first().locator("ul.checks li").nth(1);
  assert.equal(await time.getAttribute("aria-label"), "Not checked: In its time.");
  await page.screenshot({ path: join(scratch, "site", "tampered.png"), fullPage: true });

  await give(page, [{ name: "forged.jsonl", text: stranger.card().replace("#signing-0", "#signing-1") }]);
  assert.equal((await newest(page, 5)).holds, false);
  await page.locator("#text").fill(stranger.issue({ subject: { a: 1 } }));
  await page.getByRole("button", { name: "Verify" }).click();
  const unknown = await newest(page, 6);
  assert.deepEqual([unknown.code, unknown.bad, unknown.unchecked], ["unknown-did", 0, 2]);
  await page.locator("#text").fill("hello <img src=x onerror=alert(1)>");
  await page.getByRole("button", { name: "Verify" }).click();
  assert.deepEqual([(await newest(page, 7)).code, await page.locator("img").count()], ["bad-form", 0]);
});

test("a delegated tool call shows its chain, and why another fails", async (t) => {
  const { page, problems } = await open(t);
  await give(page, [...cards, { name: "call.json", text: JSON.stringify(call(5)) }]);
  const said = await newest(page, 4);
  assert.deepEqual([said.title, said.holds, said.bad], ["Signed tool call: pay", true, 0]);
  assert.equal(said.why, "Teller asked for exactly this, and may, in the name of Alice.");
  assert.match(said.graph, /^Alice to Bank: .*holds\. Bank to Teller: .*holds\. Teller to did:web:bank.example: .*holds\.$/);
  await page.screenshot({ path: join(scratch, "site", "delegated.png"), fullPage: true });

  await give(page, [{ name: "too-much.json", text: JSON.stringify(call(11)) }]);
  const refused = await newest(page, 5);
  assert.deepEqual([refused.holds, refused.code, refused.bad, refused.unchecked], [false, "not-permitted", 1, 0]);
  const forged = call(5);
  forged.params.arguments.to = "Eve";
  await give(page, [{ name: "forged.json", text: JSON.stringify(forged) }]);
  const eve = await newest(page, 6);
  assert.deepEqual([eve.code, eve.bad, eve.unchecked], ["bad-signature", 1, 1]);
  await give(page, [{ name: "chain.json", text: JSON.stringify([first, second]) }, { name: "broken.json", text: JSON.stringify([second]) }]);
  assert.deepEqual([(await newest(page, 8)).code, await page.locator("article").nth(1).getAttribute("class")], ["broken-chain", "holds"]);
  await page.screenshot({ path: join(scratch, "site", "failing.png"), fullPage: true });
  assert.deepEqual(problems, []);
});

const local = (time) => new Date((time - new Date(time * 1000).getTimezoneOffset() * 60) * 1000).toISOString().slice(0, 19);

test("a call is judged at the present, where a later revocation counts, unless a time was set", async (t) => {
  const { page, problems } = await open(t);
  const url = "https://alice.example/status/1";
  const status = [statusEntry(url, 7)];
  const granted = alice.delegate({ delegate: teller.did, capabilities, maxCalls: 5, from: now - 3600, validFor: 86_400, status });
  const signed = now - 1800;
  const params = { name: "pay", arguments: { amount: 5 } };
  const action = teller.action("tools/call", params, { audience, evidence: { chain: [granted] }, lifetime: 3600, now: signed });
  const proof = teller.prove(action, { chain: [granted] });
  const asked = JSON.stringify({ method: "tools/call", params: { ...params, _meta: { "io.github.gambeson-pq/proof": proof } } });
  const list = new StatusList();
  const listed = (from) => list.issue(alice, url, { from, validFor: 86_400 });
  const before = { name: "before.jwt", text: listed(now - 3000) };
  await give(page, [...cards, before, { name: "call.json", text: asked }]);
  const good = await newest(page, 5);
  assert.deepEqual([good.holds, good.bad, good.unchecked], [true, 0, 0]);
  const judged = page.locator("article").first().locator("dt", { hasText: "Judged at" }).locator("xpath=following-sibling::dd[1]");
  assert.match(await judged.innerText(), /^\d{4}-.*Z — now$/);
  // Revoked a minute ago, half an hour after the call was signed.
  list.set(7);
  await give(page, [{ name: "revoked.jwt", text: listed(now - 60) }, { name: "again.json", text: asked }]);
  const revoked = await newest(page, 7);
  assert.deepEqual([revoked.holds, revoked.code], [false, "revoked"]);
  assert.ok(revoked.bad >= 1);
  await page.locator("#moment").fill(local(now - 1700));
  await page.locator("article:first-child.holds").waitFor();
  assert.match(await judged.innerText(), /Z — the time set above$/);
  assert.deepEqual(problems, []);
});

test("a call that is over is signed, and over", async (t) => {
  const { page } = await open(t);
  const long = [alice.delegate({ delegate: teller.did, capabilities, maxCalls: 5, from: now - 3600, validFor: 86_400 })];
  await give(page, [...cards, { name: "old.json", text: JSON.stringify(call(5, now - 600, long)) }]);
  const said = await newest(page, 4);
  assert.deepEqual([said.holds, said.code, said.bad, said.unchecked], [false, "expired", 1, 1]);
  const checks = page.locator("article").first().locator("ul.checks li");
  assert.equal(await checks.nth(0).getAttribute("aria-label"), "Holds: Signed by Teller, argument for argument.");
  assert.equal(await checks.nth(1).getAttribute("aria-label"), "Fails: In its time.");
  const forged = call(5, now - 600, long);
  forged.params.arguments.to = "Eve";
  await give(page, [{ name: "forged.json", text: JSON.stringify(forged) }]);
  assert.equal((await newest(page, 5)).holds, false);
  assert.equal(await page.locator("article").first().locator("ul.checks li").first().getAttribute("class"), "fails");
  await page.locator("#moment").fill(local(now - 590));
  await page.locator("article.holds").nth(3).waitFor();
});

test("an expired credential with another signature is not shown as signed", async (t) => {
  const { page } = await open(t);
  const lapsed = agentThatLapsed();
  const good = lapsed.credential.split(".");
  const forged = [good[0], good[1], good[2].replace(/^.{8}/, "AAAAAAAA")].join(".");
  await give(page, [lapsed.card, { name: "forged.jwt", text: forged }]);
  const said = await newest(page, 2);
  assert.deepEqual([said.holds, said.code, said.bad, said.unchecked], [false, "expired", 1, 1]);
  // The same with its own signature: signed, and over.
  await give(page, [{ name: "lapsed.jwt", text: lapsed.credential }]);
  const true_ = await newest(page, 3);
  assert.deepEqual([true_.code, true_.bad], ["expired", 1]);
});

/** An agent whose card is over, and what it said before: whoever resolves it is told so before any signature is looked at. */
function agentThatLapsed() {
  const times = { from: now - 7200, validFor: 600 };
  return {
    card: { name: "Gone.jsonl", text: stranger.card(times) },
    credential: stranger.issue({ type: ["Clearance"], subject: { id: teller.did, level: 3 }, ...times }),
  };
}

test("a status is checked only where its list was given", async (t) => {
  const { page } = await open(t);
  const { vectors } = JSON.parse(readFileSync(new URL("../../../vectors/status.json", import.meta.url)));
  const vector = (id) => vectors.find((one) => one.id === id);
  const lists = ["list-revoked", "list-suspended"].map(vector);
  const [{ now: then }] = lists;
  const moment = new Date((then - new Date(then * 1000).getTimezoneOffset() * 60) * 1000).toISOString().slice(0, 19);
  await page.locator("#moment").fill(moment);
  const good = { name: "good.jwt", text: vector("neither-revoked-nor-suspended").token };
  await give(page, [{ name: "issuer.jsonl", text: vector("cards-issuer").log }, good]);
  const unlisted = await newest(page, 2);
  assert.deepEqual([unlisted.holds, unlisted.bad, unlisted.unchecked], [true, 0, 1]);
  await give(page, [...lists.map(({ id, token }) => ({ name: id, text: token })), good]);
  const listed = await newest(page, 5);
  assert.deepEqual([listed.holds, listed.bad, listed.unchecked], [true, 0, 0]);
  await give(page, [{ name: "revoked.jwt", text: vector("first-entry").token }]);
  const revoked = await newest(page, 6);
  assert.deepEqual([revoked.code, revoked.bad, revoked.unchecked], ["revoked", 1, 0]);
});

test("links behind one that fails are not checked", async (t) => {
  const { page } = await open(t);
  const [header, payload, signature] = first.split(".");
  const forged = [header, payload, signature.replace(/^.{8}/, "AAAAAAAA")].join(".");
  await give(page, [...cards, { name: "chain.json", text: JSON.stringify([forged, second]) }]);
  const said = await newest(page, 4);
  assert.deepEqual([said.holds, said.bad, said.unchecked], [false, 1, 1]);
  assert.match(said.graph, /^Alice to Bank: .*; fails\. Bank to Teller: .*; not checked\.$/);
});

test("one control chooses files, with the keyboard too", async (t) => {
  const { page } = await open(t);
  const visible = await page.locator("#drop").evaluate((drop) => {
    const shown = (it) => it.checkVisibility({ checkOpacity: true }) && it.getBoundingClientRect().width > 1;
    return [...drop.querySelectorAll("input, label, button, .link")].filter(shown).map((it) => it.localName);
  });
  assert.deepEqual(visible, ["label"]);
  // The browser handles requests in order: once the focus is confirmed, it intercepts the dialog.
  const chosen = page.waitForEvent("filechooser");
  await page.locator("#files").focus();
  assert.equal(await page.evaluate(() => document.activeElement.id), "files");
  await page.keyboard.press("Enter");
  await chosen;
});

test("what looks like a card and is none does not stop the page", async (t) => {
  const { page, problems } = await open(t);
  const odd = ['{"document":null}', '{"document":5}', '{"document":{"card":null,"verificationMethod":[]}}', '{"document":{"card":{},"verificationMethod":[null]}}', "null", '{"params":null}'];
  await give(page, odd.map((text, i) => ({ name: `odd-${i}.jsonl`, text })));
  assert.equal((await newest(page, odd.length)).holds, false);
  await give(page, [cards[0]]);
  assert.equal((await newest(page, odd.length + 1)).holds, true);
  assert.equal(await page.locator("#summary").innerText(), `1 of ${odd.length + 1} hold.`);
  assert.deepEqual(problems, []);
});

test("files can be dropped, everything can be forgotten, and nothing was fetched", async (t) => {
  const { page } = await open(t);
  const data = await page.evaluateHandle((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], "Alice.jsonl"));
    return data;
  }, cards[0].text);
  await page.dispatchEvent("#drop", "drop", { dataTransfer: data });
  assert.equal((await newest(page, 1)).holds, true);
  await page.getByRole("button", { name: "Forget everything" }).click();
  assert.deepEqual([await page.locator("article").count(), await page.locator("#known li").count()], [0, 0]);
  assert.deepEqual(new Set(requests), new Set([context.address]));
});
