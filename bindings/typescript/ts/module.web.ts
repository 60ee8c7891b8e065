/** The module beside this file. */
export function readPrimitives(): Promise<Response> {
  return fetch(new URL("./wasm/gambeson.wasm", import.meta.url));
}

/** The module beside this file. */
export function readIdentity(): Promise<Response> {
  return fetch(new URL("./wasm/identity.wasm", import.meta.url));
}

/** The module beside this file. */
export function readWhole(): Promise<Response> {
  return fetch(new URL("./wasm/whole.wasm", import.meta.url));
}

/** The module beside this file. */
export function readHash(): Promise<Response> {
  return fetch(new URL("./wasm/hash.wasm", import.meta.url));
}
