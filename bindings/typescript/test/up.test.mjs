// The gateway of `gambeson slim up --websocket` as its users start it: a stock node of SLIM, the delivery service, and agents that hold
// their keys there. One agent's program is this one, the other's a page in Chromium.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { connect } from "../dist/channel.js";
import { browser, scratch } from "./browser.mjs";
import { pages } from "./pages.mjs";

const PROGRAM = process.env.GAMBESON_PROGRAM;
const soon = () => ({ signal: AbortSignal.timeout(60_000) });

/** `slim up` with two agents: its gateway's address, their DIDs and tokens, and how to end it. */
async function up(folder, origin) {
  const options = { cwd: folder, env: { ...process.env, GAMBESON_PASSPHRASE: "correct horse" } };
  for (const home of ["alice", "bob"]) execFileSync(PROGRAM, ["agent", "init", "--channels", "--home", home], { ...options, stdio: "ignore" });
  const where = ["--listen", "127.0.0.1:0", "--data", ".", "--engine", "memory"];
  const whose = ["--websocket", "--agent", "alice", "--agent", "bob", "--origin", origin];
  const child = spawn(PROGRAM, ["slim", "up", "--json", ...where, ...whose], { ...options, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const said = [];
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(JSON.parse(line));
    if (said.at(-1).join) break;
  }
  const agents = said.filter(({ type }) => type === "gateway").map(({ url, did, tokenFile }) => ({ url, did, token: readFileSync(join(folder, tokenFile), "utf8") }));
  return {
    agents,
    node: said.find(({ pid }) => pid),
    async end() {
      child.kill("SIGTERM");
      return (await ended)[0];
    },
  };
}

test("agents of slim up talk over a stock node, one from Node and one from Chromium", async (t) => {
  assert.ok(PROGRAM, "GAMBESON_PROGRAM is not set: cargo xtask typescript builds the program and sets it");
  const folder = mkdtempSync(join(scratch, "up-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const served = await pages();
  t.after(() => served.close());
  const running = await up(folder, served.origin);
  t.after(() => running.end());
  assert.match(running.node.version, /^\d+\.\d+\.\d+$/, "a stock node, which says its version");
  const [hers, his] = running.agents;

  const alice = await connect(hers.url, { token: hers.token, ...soon() });
  t.after(() => alice.close());
  assert.equal(alice.did, hers.did);
  const channel = await alice.create(soon());
  // Bob's key packages go to the delivery service beside what is done here.
  const until = soon();
  while (true) {
    try {
      await channel.invite([his.did], until);
      break;
    } catch (error) {
      if (until.signal.aborted) throw error;
      await pause(50);
    }
  }

  const chromium = await browser();
  t.after(() => chromium.close());
  const page = await chromium.newPage();
  await page.goto(served.origin);
  await page.evaluate(
    async ({ url, token, id }) => {
      const { connect } = await import("gambeson/channel");
      const signal = AbortSignal.timeout(60_000);
      const agent = await connect(url, { token, signal });
      window.channel = await agent.join(id, { signal });
      await window.channel.send("from Chromium", { signal });
    },
    { ...his, id: channel.id },
  );
  for await (const event of channel.events(soon())) {
    if (event.kind !== "message") continue;
    assert.deepEqual([event.from, event.text], [his.did, "from Chromium"]);
    break;
  }
  await channel.send("from Node", soon());
  const heard = await page.evaluate(async (from) => {
    for await (const event of window.channel.events({ signal: AbortSignal.timeout(60_000) })) {
      if (event.kind === "message" && event.from === from) return event.text;
    }
  }, hers.did);
  assert.equal(heard, "from Node");
  assert.equal((await channel.members(soon())).length, 2);
  alice.close();
  assert.equal(await running.end(), 0, "slim up ends well");
});
