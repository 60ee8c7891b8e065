// The vectors that ask for what nobody may have: derived keys, and logs whose signatures are made without randomness. They are held
// against a second module of the same code, with a feature that the published one lacks.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Agent, AuditLog, GambesonError, init } from "gambeson/agent";
import * as glue from "../dist/wasm/identity.js";
import { scratch } from "./browser.mjs";
import { DERIVED, hex, judge, unhex } from "./judge.mjs";

await init(readFileSync(join(scratch, "vectors/identity_bg.wasm")));
const EXPECTED = { kdf: { key: [184, 0], path: [5, 29] }, log: { tree: [14, 0] } };

test("what is judged here is what is left to it", () => {
  assert.deepEqual(Object.fromEntries(Object.entries(EXPECTED).map(([name, kinds]) => [name, Object.keys(kinds)])), DERIVED);
});

/** Asks the module, as the package does. */
function ask(verb, input, bytes = new Uint8Array()) {
  const answer = Buffer.from(glue.call(verb, JSON.stringify(input), bytes));
  const end = answer.indexOf("\n");
  return end < 0 ? [JSON.parse(answer), Buffer.of()] : [JSON.parse(answer.subarray(0, end)), answer.subarray(end + 1)];
}

judge("kdf", EXPECTED.kdf, {
  key({ seed, suite, purpose, index, context }) {
    const [{ length, ...said }, key] = ask("derived", { suite, purpose, index }, unhex(seed));
    // A fleet's agents are those of the seeds that are derived.
    if (purpose === "Child") {
      assert.equal(Agent.fromSeed(unhex(seed), { suite }).child(BigInt(index)).did, Agent.fromSeed(new Uint8Array(key), { suite }).did);
    }
    assert.equal(said.context, context);
    return { length, key: hex(key) };
  },
  path: ({ path }) => ask("path", { path })[0],
});

judge("log", EXPECTED.log, {
  tree({ seed, size, origin, now, expect }) {
    const handle = glue.Handle.agent("deterministic", "{}", unhex(seed));
    const agent = { secret: handle, derive: (verb, input) => handle.derive(verb, JSON.stringify(input), new Uint8Array()) };
    const at = new Date(now);
    const log = AuditLog.create(agent, origin, at);
    const entry = (index) => new TextEncoder().encode(`entry ${index}`.repeat(index % 5));
    if (size !== "0") log.append(agent, Array.from({ length: Number(size) }, (_, index) => entry(index)), at);
    assert.deepEqual([String(log.size), hex(log.checkpoint().root)], [size, expect.root]);
    const files = log.files();
    for (const { name, sha256 } of expect.files) assert.equal(createHash("sha256").update(files.get(name)).digest("hex"), sha256, name);
    if (Number(size) <= 1000) assert.deepEqual([...files.keys()].sort(), expect.files.map(({ name }) => name).sort());
  },
});

for (const name of ["identity", "whole"]) {
  test(`the published module ${name} has none of it`, async () => {
    const published = await import(`../dist/wasm/identity.js?${name}`);
    await published.default({ module_or_path: readFileSync(new URL(`../dist/wasm/${name}.wasm`, import.meta.url)) });
    const refused = (work) => assert.throws(work, (error) => error instanceof GambesonError && error.code === "not-loaded");
    const seed = new Uint8Array(32);
    const question = { purpose: "Identity", index: "0" };
    assert.equal(ask("derived", question, seed)[1].length, 32);
    refused(() => published.call("derived", JSON.stringify(question), seed));
    refused(() => published.call("path", '{"path":"m/0\'"}', seed));
    refused(() => published.Handle.agent("deterministic", "{}", seed));
    // Two signatures of one agent differ, except where vectors are made.
    const sign = (module, from) => hex(module.Handle.agent(from, "{}", seed).call("sign", '{"pieces":[1,1]}', new Uint8Array([1, 2])));
    assert.notEqual(sign(published, "seed"), sign(published, "seed"));
    assert.notEqual(sign(glue, "seed"), sign(glue, "seed"));
    assert.equal(sign(glue, "deterministic"), sign(glue, "deterministic"));
  });
}
