import { readFile } from "node:fs/promises";

/** The module beside this file. */
export function readPrimitives(): Promise<BufferSource> {
  return readFile(new URL("./wasm/gambeson.wasm", import.meta.url)) as Promise<Uint8Array<ArrayBuffer>>;
}

/** The module beside this file. */
export function readIdentity(): Promise<BufferSource> {
  return readFile(new URL("./wasm/identity.wasm", import.meta.url)) as Promise<Uint8Array<ArrayBuffer>>;
}

/** The module beside this file. */
export function readWhole(): Promise<BufferSource> {
  return readFile(new URL("./wasm/whole.wasm", import.meta.url)) as Promise<Uint8Array<ArrayBuffer>>;
}

/** The module beside this file. */
export function readHash(): Promise<BufferSource> {
  return readFile(new URL("./wasm/hash.wasm", import.meta.url)) as Promise<Uint8Array<ArrayBuffer>>;
}
