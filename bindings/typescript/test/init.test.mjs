// A module that cannot be loaded says why, and may be tried again.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { GambesonError, init, mldsa44 } from "gambeson";
import { Agent, StatusList, init as initAgents } from "gambeson/agent";

const failed = (error) => {
  assert.ok(error instanceof GambesonError, String(error));
  assert.equal(error.code, "load-failed", error.message);
  assert.ok(error.cause !== undefined);
  return true;
};

test("a module that is none is refused, and the next call loads", async () => {
  for (const start of [init, initAgents]) {
    await assert.rejects(start(new Uint8Array(8)), WebAssembly.CompileError);
    for (const source of [() => new Response("not found", { status: 404 }), () => new Response("<!doctype html>", { headers: { "content-type": "text/html" } }), () => Promise.reject(new TypeError("fetch failed"))]) {
      await assert.rejects(start(source()), failed);
    }
  }
  await init();
  mldsa44.generate();
  await initAgents("whole", readFile(new URL("../dist/wasm/whole.wasm", import.meta.url)));
  Agent.generate();
  new StatusList();
});

test("the module of another entry is refused", async () => {
  await assert.rejects(initAgents("all"), { code: "bad-form" });
});
