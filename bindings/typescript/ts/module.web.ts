/** The module beside this file. */
export function readModule(): Promise<Response> {
  return fetch(new URL("./wasm/gambeson.wasm", import.meta.url));
}
