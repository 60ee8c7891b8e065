// What a page loads, compressed as servers do: for each entry its WebAssembly and its JavaScript in one file. Prints a line each:
// name and bytes.
//
// node bench/size.mjs [--check]: with --check it fails unless primitives and identity together are as small as promised.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { over, PROMISED } from "./promises.mjs";

const at = (path) => new URL(path, import.meta.url).pathname;
const AGENTS = ["agents", "http", "mcp"].map((name) => `export * from "${at(`../dist/${name}.js`)}";`);
const HASH = [`export * from "${at("../dist/hash-based.js")}";`];
const ENTRIES = { gambeson: [`export * from "${at("../dist/index.js")}";`], hash: HASH, identity: AGENTS, whole: AGENTS };

/** For each entry its name, its bytes, and those of them that are WebAssembly. */
export async function sizes() {
  const found = [];
  for (const [name, lines] of Object.entries(ENTRIES)) {
    const { outputFiles } = await build({
      stdin: { contents: lines.join("\n"), resolveDir: at("..") },
      bundle: true,
      minify: true,
      format: "esm",
      platform: "browser",
      write: false,
    });
    const compressed = (bytes) => gzipSync(bytes, { level: 9 }).length;
    const module = compressed(readFileSync(at(`../dist/wasm/${name}.wasm`)));
    found.push({ name, module, size: module + compressed(outputFiles[0].contents) });
  }
  return found;
}

if (process.argv[1] === at("size.mjs")) {
  const loaded = await sizes();
  for (const { name, size } of loaded) console.log(name, size);
  if (process.argv.includes("--check")) {
    const more = over(loaded);
    // Red until it is kept: the reason, and what would be left out, stand in decision 15.
    console.log(more <= 0 ? "as small as promised" : `missed: primitives and identity: ${more} bytes above the promised ${PROMISED}: see decision 15`);
    process.exitCode = more <= 0 ? 0 : 1;
  }
}
