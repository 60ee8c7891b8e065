// The package behind bundlers, in Chromium, under a Content-Security-Policy: what the README says of them.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import * as esbuild from "esbuild";
import * as vite from "vite";
import { browser } from "./browser.mjs";

const TYPES = { js: "text/javascript", wasm: "application/wasm", html: "text/html" };
const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

/** What a page does: a library loads the smaller module, and the page the whole one. */
const PAGE = `
import { GambesonError, init, mldsa44 } from "gambeson";
import { Agent, StatusList, init as initAgents } from "gambeson/agent";

export async function run(primitives, agents, whole) {
  try {
    await init(primitives?.());
    mldsa44.generate();
    await initAgents(agents?.());
    const early = Agent.generate();
    await initAgents("whole", whole?.());
    new StatusList();
    return early.did.startsWith("did:gambeson:") && Agent.fromWords(Agent.newWords()).suite;
  } catch (error) {
    return error instanceof GambesonError ? error.code + ": " + error.message : String(error);
  }
}
`;
const MAIN = { plain: `import { run } from "./page.js"; globalThis.done = run();` };
MAIN.vite = MAIN.plain;
// As the README has it.
MAIN.esbuild = `
import { run } from "./page.js";
import primitives from "gambeson/gambeson.wasm";
import agents from "gambeson/identity.wasm";
import whole from "gambeson/whole.wasm";
globalThis.done = run(() => fetch(primitives), () => fetch(agents), () => fetch(whole));
`;

let folder;
let chromium;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "gambeson-bundlers-"));
  mkdirSync(join(folder, "node_modules"));
  // As it is packed: `dist` and the package's own description of it.
  symlinkSync(new URL("..", import.meta.url).pathname, join(folder, "node_modules/gambeson"));
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  writeFileSync(join(folder, "page.js"), PAGE);
  for (const [name, text] of Object.entries(MAIN)) writeFileSync(join(folder, `${name}.js`), text);
  chromium = await browser();
});
after(async () => {
  await chromium?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What the page answers that a folder has, under a policy. */
async function answer(t, root, script, policy = POLICY) {
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    let body = path === "/" ? `<!doctype html><script type="module" src="${script}"></script>` : undefined;
    try {
      body ??= readFileSync(join(root, path));
    } catch {}
    const type = path === "/" ? "text/html" : TYPES[path.split(".").at(-1)];
    response.writeHead(body === undefined ? 404 : 200, { "content-type": type ?? "text/plain", "content-security-policy": policy }).end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return opened(t, `http://127.0.0.1:${server.address().port}/`);
}

async function opened(t, url) {
  const page = await chromium.newPage();
  t.after(() => page.close());
  await page.goto(url);
  await page.waitForFunction(() => globalThis.done !== undefined);
  return page.evaluate(() => globalThis.done);
}

const packed = (main, outdir) => ({
  entryPoints: [join(folder, main)], outdir, bundle: true, format: "esm", splitting: true, minify: true, platform: "browser", logLevel: "silent",
  absWorkingDir: folder, preserveSymlinks: true,
});

test("esbuild: a module is a file that is imported, as the README says", async (t) => {
  assert.match(readme, /esbuild [^\n]*--loader:\.wasm=file/);
  assert.match(readme, /import \w+ from "gambeson\/gambeson\.wasm"/);
  const out = join(folder, "esbuild");
  await esbuild.build({ ...packed("esbuild.js", out), loader: { ".wasm": "file" }, publicPath: "/" });
  assert.equal(readdirSync(out).filter((name) => name.endsWith(".wasm")).length, 3);
  assert.equal(await answer(t, out, "/esbuild.js"), "default");
});

test("esbuild: where the module was not copied, the error says what to do", async (t) => {
  const out = join(folder, "esbuild-plain");
  await esbuild.build(packed("plain.js", out));
  assert.match(await answer(t, out, "/plain.js"), /^load-failed: .*init\(fetch\(url\)\)/);
});

test("vite: the modules are found without a word", async (t) => {
  const out = join(folder, "vite");
  writeFileSync(join(folder, "index.html"), '<!doctype html><script type="module" src="/vite.js"></script>');
  await vite.build({
    root: folder, logLevel: "silent", configFile: false, resolve: { preserveSymlinks: true },
    build: { outDir: out, assetsInlineLimit: 0, modulePreload: false },
  });
  const assets = readdirSync(join(out, "assets"));
  assert.equal(assets.filter((name) => name.endsWith(".wasm")).length, 4);
  const script = assets.find((name) => /^index-.*\.js$/.test(name));
  assert.equal(await answer(t, out, `/assets/${script}`), "default");
});

test("vite's own server: the package is not bundled before, as the README says", async (t) => {
  assert.match(readme, /optimizeDeps: \{ exclude: \["gambeson"\] \}/);
  const server = await vite.createServer({
    root: folder, logLevel: "silent", configFile: false, resolve: { preserveSymlinks: true }, cacheDir: join(folder, "cache"),
    server: { port: 0, host: "127.0.0.1", hmr: false, watch: null, fs: { strict: false } }, optimizeDeps: { exclude: ["gambeson"] },
  });
  t.after(() => server.close());
  await server.listen();
  assert.equal(await opened(t, `http://127.0.0.1:${server.httpServer.address().port}/`), "default");
});

test("a policy that forbids WebAssembly is named by the error, and by the README", async (t) => {
  assert.match(readme, /'wasm-unsafe-eval'/);
  const out = join(folder, "forbidden");
  await esbuild.build({ ...packed("esbuild.js", out), loader: { ".wasm": "file" }, publicPath: "/" });
  assert.match(await answer(t, out, "/esbuild.js", "default-src 'self'; script-src 'self'"), /^load-failed: .*'wasm-unsafe-eval'/);
  assert.equal(await answer(t, out, "/esbuild.js", "script-src 'self' 'unsafe-eval'"), "default");
});
