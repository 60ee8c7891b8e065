/**
 * Signed HTTP requests (RFC 9421 with ML-DSA-65): a `fetch` that signs, and what a server needs to verify.
 *
 * ```ts
 * const fetch = signedFetch(agent);
 * await fetch("https://bank.example/pay", { method: "POST", body: JSON.stringify({ amount: 5 }) });
 * ```
 */
import type { Agent, HttpOptions, HttpRequest } from "./agent.js";
import { GambesonError } from "./error.js";
import type { Verifier } from "./verifier.js";

/**
 * A `fetch` that signs method, address, content type and body of each request. It follows no redirect, because the address is
 * signed, unless `init.redirect` says so.
 */
export function signedFetch(agent: Agent, options: HttpOptions & { fetch?: typeof fetch } = {}): typeof fetch {
  const send = options.fetch ?? fetch;
  return async (input, init) => {
    const request = new Request(input, { ...init, redirect: init?.redirect ?? "error" });
    // The bytes are asked, for not every browser has `request.body`.
    const bytes = new Uint8Array(await request.clone().arrayBuffer());
    const body = bytes.length === 0 ? undefined : bytes;
    const url = withoutFragment(request.url);
    const signed = agent.signRequest({ method: request.method, url, headers: request.headers, body }, options);
    const headers = new Headers(request.headers);
    for (const [name, value] of signed) headers.append(name, value);
    return send(new Request(request, { headers, ...(body === undefined ? {} : { body }) }));
  };
}

/** How much of a request is read. */
export interface ReadOptions {
  /** The longest body in bytes; 1 MiB by default. One that is longer is refused with `too-large`. */
  maxBody?: number;
}

/**
 * Verifies a request, as servers with `Request` have it: the URL of the key that signed. The body is read from a copy. `origin` is
 * how clients address this server, such as `https://bank.example`: what stands in `request.url` comes from the `Host` field, which
 * whoever sends it chooses.
 */
export async function verifyRequest(
  verifier: Verifier,
  request: Request,
  origin: string,
  options: HttpOptions & ReadOptions = {},
): Promise<string> {
  const { pathname, search } = new URL(request.url);
  const url = new URL(origin).origin + pathname + search;
  const body = await read(request.clone().body?.getReader(), options.maxBody);
  return verifier.request({ method: request.method, url, headers: request.headers, body }, options);
}

/** What Node's `http` gives of a request. */
export interface Incoming extends AsyncIterable<Uint8Array> {
  method?: string | undefined;
  url?: string | undefined;
  rawHeaders: string[];
}

/**
 * A request of Node's `http` for `Verifier.request`: reads the body. `origin` is how clients address this server, such as
 * `https://bank.example`; a header does not tell, for whoever sends it chooses it.
 *
 * @throws GambesonError `bad-form` for a target that is no path, `too-large`
 */
export async function readIncoming(
  incoming: Incoming,
  origin: string,
  options: ReadOptions = {},
): Promise<HttpRequest & { body: Uint8Array }> {
  const target = incoming.url ?? "";
  // Another target would go on where the origin ends: `.evil.example/pay`, `:8443/pay`.
  if (!target.startsWith("/")) throw new GambesonError("bad-form", "the target of a request is a path");
  const chunks = incoming[Symbol.asyncIterator]();
  const body = await read({ read: () => chunks.next() }, options.maxBody);
  const headers: [string, string][] = [];
  for (let i = 0; i + 1 < incoming.rawHeaders.length; i += 2) {
    headers.push([incoming.rawHeaders[i] as string, incoming.rawHeaders[i + 1] as string]);
  }
  return { method: incoming.method ?? "GET", url: new URL(origin).origin + target, headers, body };
}

/** Reads to the end, and leaves what is too long where it is: the connection is still good for an answer. */
async function read(
  reader: { read(): Promise<{ done?: boolean | undefined; value?: Uint8Array | undefined }> } | undefined,
  maxBody = 1 << 20,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    chunks.push(part.value as Uint8Array);
    length += chunks.at(-1)?.length ?? 0;
    if (length > maxBody) throw new GambesonError("too-large", `a body of more than ${maxBody} bytes`);
  }
  const body = new Uint8Array(length);
  chunks.reduce((at, chunk) => (body.set(chunk, at), at + chunk.length), 0);
  return body;
}

function withoutFragment(url: string): string {
  return url.replace(/#.*$/s, "");
}
