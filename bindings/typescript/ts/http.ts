/**
 * Signed HTTP requests (RFC 9421 with ML-DSA-65): a `fetch` that signs, and what a server needs to verify.
 *
 * ```ts
 * const fetch = signedFetch(agent);
 * await fetch("https://bank.example/pay", { method: "POST", body: JSON.stringify({ amount: 5 }) });
 * ```
 */
import type { Agent, HttpOptions, HttpRequest } from "./agent.js";
import type { Verifier } from "./verifier.js";

/**
 * A `fetch` that signs method, address, content type and body of each request. It follows no redirect, because the address is
 * signed, unless `init.redirect` says so.
 */
export function signedFetch(agent: Agent, options: HttpOptions & { fetch?: typeof fetch } = {}): typeof fetch {
  const send = options.fetch ?? fetch;
  return async (input, init) => {
    const request = new Request(input, { redirect: "error", ...init });
    const body = request.body === null ? undefined : new Uint8Array(await request.clone().arrayBuffer());
    const url = withoutFragment(request.url);
    const signed = agent.signRequest({ method: request.method, url, headers: request.headers, body }, options);
    const headers = new Headers(request.headers);
    for (const [name, value] of signed) headers.append(name, value);
    return send(new Request(request, { headers, ...(body === undefined ? {} : { body }) }));
  };
}

/** Verifies a request, as servers with `Request` have it: the URL of the key that signed. The body is read from a copy. */
export async function verifyRequest(verifier: Verifier, request: Request, options: HttpOptions = {}): Promise<string> {
  const body = request.body === null ? undefined : new Uint8Array(await request.clone().arrayBuffer());
  const url = withoutFragment(request.url);
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
 */
export async function readIncoming(incoming: Incoming, origin: string): Promise<HttpRequest & { body: Uint8Array }> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const body = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  const headers: [string, string][] = [];
  for (let i = 0; i + 1 < incoming.rawHeaders.length; i += 2) {
    headers.push([incoming.rawHeaders[i] as string, incoming.rawHeaders[i + 1] as string]);
  }
  return { method: incoming.method ?? "GET", url: origin + (incoming.url ?? "/"), headers, body };
}

function withoutFragment(url: string): string {
  return url.replace(/#.*$/s, "");
}
