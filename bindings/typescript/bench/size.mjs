// What a page loads, compressed as servers do: for each entry its WebAssembly and its JavaScript in one file. Prints a line each:
// name and bytes.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const at = (path) => new URL(path, import.meta.url).pathname;
const ENTRIES = {
  gambeson: [`export * from "${at("../dist/index.js")}";`],
  identity: ["agents", "http", "mcp"].map((name) => `export * from "${at(`../dist/${name}.js`)}";`),
};
for (const [name, lines] of Object.entries(ENTRIES)) {
  const { outputFiles } = await build({
    stdin: { contents: lines.join("\n"), resolveDir: at("..") },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    write: false,
  });
  const parts = [readFileSync(at(`../dist/wasm/${name}.wasm`)), outputFiles[0].contents];
  console.log(name, parts.reduce((sum, bytes) => sum + gzipSync(bytes, { level: 9 }).length, 0));
}
