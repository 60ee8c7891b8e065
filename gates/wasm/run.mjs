// Runs a program of tests that was compiled to WebAssembly: node run.mjs FILE [ARGUMENT…]
import { readFileSync } from "node:fs";
import { WASI } from "node:wasi";

const [file, ...rest] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args: ["tests", ...rest], preopens: { "/": "/" }, returnOnExit: true });
// An old C library for WASI lacks what threads need; the tests start none.
const env = new Proxy({}, { get: (_, name) => () => { throw new Error(`${String(name)} is not there`); } });
const module = new WebAssembly.Module(readFileSync(file));
process.exitCode = wasi.start(new WebAssembly.Instance(module, { ...wasi.getImportObject(), env }));
