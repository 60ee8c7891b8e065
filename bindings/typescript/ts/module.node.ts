import { readFile } from "node:fs/promises";

/** The module beside this file. */
export function readModule(): Promise<BufferSource> {
  return readFile(new URL("./wasm/gambeson.wasm", import.meta.url)) as Promise<Uint8Array<ArrayBuffer>>;
}
