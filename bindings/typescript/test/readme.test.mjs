// A fresh machine: the packed tarball is installed into an empty folder, and the README's examples run as printed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

const package_ = new URL("..", import.meta.url).pathname;
const examples = [...readFileSync(join(package_, "README.md"), "utf8").matchAll(/```js\n(.*?)```\n\n```text\n(.*?)```/gs)];
const install = readFileSync(join(package_, "README.md"), "utf8").match(/```sh\n(.*?)```/s)[1].trim();
let folder;
let filename;
const run = (program, arguments_, cwd = folder) => execFileSync(program, arguments_, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
before(() => {
  folder = mkdtempSync(join(tmpdir(), "gambeson-"));
  [{ filename }] = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", folder], package_));
  mkdirSync(join(folder, "app"));
  folder = join(folder, "app");
  writeFileSync(join(folder, "package.json"), '{ "private": true }');
  // The README's own command, in the folder where the tarball lies.
  copyFileSync(join(folder, "..", filename), join(folder, filename));
  run("sh", ["-c", `${install} --offline --no-audit --no-fund`]);
});
after(() => rmSync(join(folder, ".."), { recursive: true, force: true }));

test("the README installs what was packed", () => assert.equal(install, `npm install ./${filename}`));

test("there are two examples", () => assert.equal(examples.length, 2));

for (const [i, [, code, output]] of examples.entries()) {
  test(`example ${i + 1} of the README runs as printed`, () => {
    writeFileSync(join(folder, "example.mjs"), code);
    assert.equal(run(process.execPath, ["example.mjs"]), output);
  });
}

test("the minute of the front page runs", () => {
  const front = readFileSync(join(package_, "../../README.md"), "utf8");
  const [, minute] = front.match(/\n## A minute for a JavaScript developer\n(.*?)\n## /s);
  const [, code] = minute.match(/```js\n(.*?)```/s);
  writeFileSync(join(folder, "minute.mjs"), `${code}console.log(String(again) === String(sharedSecret), again.length);`);
  assert.equal(run(process.execPath, ["minute.mjs"]), "true 32\n");
  assert.ok(minute.includes(`npm install target/typescript/${filename}`));
});

test("the package has no dependencies, and holds what it says and nothing else", () => {
  const installed = JSON.parse(readFileSync(join(folder, "node_modules/gambeson/package.json"), "utf8"));
  assert.equal(installed.dependencies, undefined);
  const files = run("find", [join(folder, "node_modules/gambeson"), "-type", "f"]).trim().split("\n");
  const kinds = new Set(files.map((file) => file.match(/LICENSE|NOTICES|\w+$/)[0]));
  assert.deepEqual([...kinds].sort(), ["LICENSE", "NOTICES", "js", "json", "md", "ts", "wasm"]);
  for (const file of files) {
    assert.ok(!readFileSync(file, "latin1").includes("/root/"), `${file} names a folder of the machine that built it`);
  }
});

test("TypeScript finds the types", () => {
  writeFileSync(
    join(folder, "types.mts"),
    `import { mlkem768, type Encapsulation } from "gambeson";
     import { Agent, AuditLog, CardLog, Verifier, init, type VerifiedMessage } from "gambeson/agent";
     import { slhdsa, type ParameterSet } from "gambeson/hash";
     import { signedFetch } from "gambeson/http";
     import { signCalls, type Transport } from "gambeson/mcp";
     export const made: Encapsulation = mlkem768.generate().encapsulationKey.encapsulate();
     export const named = (set: ParameterSet): Uint8Array => slhdsa(set).generate().sign({ digest: new Uint8Array(64), prehash: "SHA2-512" });
     // @ts-expect-error: there is no such parameter set
     slhdsa("SLH-DSA-SHA2-160s");
     export const send: typeof fetch = signedFetch(Agent.generate());
     export const signed = (it: Transport): Transport => signCalls(it, { agent: Agent.generate(), audience: "a" });
     export const started: Promise<void> = init("whole");
     export const log = (agent: Agent): bigint => AuditLog.create(agent, "a").append(agent, [new Uint8Array(1)]);
     export const cards: CardLog = CardLog.verify(Agent.generate({ suite: "cnsa2" }).card());
     export const answered: VerifiedMessage = new Verifier().response({ status: 200, headers: new Headers() }, { required: ["date"] });
     // @ts-expect-error: there is no such suite
     Agent.generate({ suite: "b" });
     // @ts-expect-error: a verifier is no agent
     signedFetch(new Verifier());`,
  );
  run(process.execPath, [join(package_, "node_modules/typescript/bin/tsc"), "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom,dom.iterable,esnext.disposable", "types.mts"]);
});
