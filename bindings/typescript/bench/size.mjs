// What a page that uses everything loads, compressed as servers do: prints the parts, and last the sum in bytes.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const { outputFiles } = await build({
  entryPoints: [new URL("../dist/index.js", import.meta.url).pathname],
  bundle: true,
  minify: true,
  format: "esm",
  platform: "browser",
  write: false,
});
const sizes = {
  "gambeson.wasm": readFileSync(new URL("../dist/wasm/gambeson.wasm", import.meta.url)),
  "JavaScript": outputFiles[0].contents,
};
let sum = 0;
for (const [name, bytes] of Object.entries(sizes)) {
  const compressed = gzipSync(bytes, { level: 9 }).length;
  sum += compressed;
  console.log(`${name}: ${bytes.length} bytes, ${compressed} compressed`);
}
console.log(sum);
