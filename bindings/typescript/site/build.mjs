// Makes the page: one file with everything in it, which can be kept on a disk and opened without a network. node build.mjs FOLDER
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const folder = process.argv[2];
const at = (path) => new URL(path, import.meta.url).pathname;
const { outputFiles } = await build({
  stdin: {
    contents: `
      import { start } from "./page.ts";
      import module from "../dist/wasm/identity.wasm";
      start(module).catch((error) => { document.getElementById("summary").textContent = "This browser cannot run it: " + error; });`,
    resolveDir: at("."),
  },
  bundle: true,
  minify: true,
  format: "iife",
  platform: "browser",
  target: "es2022",
  loader: { ".wasm": "binary" },
  // The module is given; what would fetch it is never called.
  define: { "import.meta.url": '"file:///"' },
  write: false,
});
// A script in a page ends where its text says so.
const script = outputFiles[0].text.replaceAll("</script", "<\\/script");
const style = readFileSync(at("style.css"), "utf8");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy = `default-src 'none'; script-src ${hash(script)} 'wasm-unsafe-eval'; style-src ${hash(style)}; form-action 'none'; base-uri 'none'`;
const page = readFileSync(at("index.html"), "utf8")
  .replace("<!-- style -->", () => `<meta http-equiv="Content-Security-Policy" content="${policy}" />\n    <style>${style}</style>`)
  .replace("<!-- script -->", () => `<script>${script}</script>`);
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "index.html"), page);
console.log(`${join(folder, "index.html")}: ${page.length} characters`);
