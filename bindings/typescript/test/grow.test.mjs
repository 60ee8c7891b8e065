// `init` may be called again, and grows: what was made before goes on.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { Agent, GambesonError, StatusList, Verifier, init } from "gambeson/agent";

const bytes = new TextEncoder().encode("data");

test("before anything is loaded, everything says so", () => {
  assert.throws(() => Agent.generate(), { code: "not-initialized" });
});

test("a library loads the smaller module, and the page the whole one", async () => {
  await Promise.all([init(), init()]);
  const early = Agent.generate();
  const known = new Verifier();
  known.addCards(early.card());
  assert.throws(() => new StatusList(), { code: "not-loaded" });

  await Promise.all([init("whole"), init(), init("whole")]);
  assert.equal(new StatusList().isSet(5), false);
  const late = Agent.fromWords(Agent.newWords());
  late.restore(late.backup({}));

  // Objects made before are where they were.
  known.addCards(late.card());
  for (const agent of [early, late]) known.verify(agent.sign(bytes, bytes), bytes, bytes, agent.keyUrl);
  const newer = new Verifier();
  newer.addCards(early.card());
  newer.credential(early.issue({ subject: { a: 1 } }));
  assert.throws(() => early.backup({}), { code: "not-loaded" });
  // An object of the one module is no argument of the other, and says so.
  assert.throws(() => newer.open(early, new Uint8Array(5)), (error) => error instanceof GambesonError && error.code === "other-module");
  assert.throws(() => known.open(late, new Uint8Array(5)), (error) => error instanceof GambesonError && error.code === "other-module");
  early.wipe();
  assert.throws(() => early.card(), { code: "wiped" });
});

test("later calls do nothing, whatever they ask for", async () => {
  await init();
  await init("whole");
  await init(readFile(new URL("../dist/wasm/identity.wasm", import.meta.url)));
  new StatusList();
});
