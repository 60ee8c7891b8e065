/**
 * Signed HTTP (RFC 9421 with ML-DSA-65): a `fetch` that signs, and what a server needs to verify and to sign what it answers.
 *
 * ```ts
 * const fetch = signedFetch(agent);
 * await fetch("https://bank.example/pay", { method: "POST", body: JSON.stringify({ amount: 5 }) });
 * ```
 */
import type { Agent, HttpRequest, HttpSignOptions } from "./agent.js";
import { joined } from "./border.js";
import type { HttpVerifyOptions, VerifiedMessage, Verifier } from "./verifier.js";

/**
 * A `fetch` that signs method, address, content type and body of each request. It follows no redirect, because the address is
 * signed, unless `init.redirect` says so.
 */
export function signedFetch(agent: Agent, options: HttpSignOptions & { fetch?: typeof fetch } = {}): typeof fetch {
  const { fetch: send = fetch, ...terms } = options;
  return async (input, init) => {
    const request = new Request(input, { redirect: "error", ...init });
    const message = await readRequest(request);
    const headers = added(request.headers, agent.signRequest(message, terms));
    return send(new Request(request, { headers, ...(message.body === undefined ? {} : { body: message.body as BodyInit }) }));
  };
}

/** Verifies a request, as servers with `Request` have it. The body is read from a copy. */
export async function verifyRequest(verifier: Verifier, request: Request, options: HttpVerifyOptions = {}): Promise<VerifiedMessage> {
  return verifier.request(await readRequest(request), options);
}

/** Signs a response, status, content type and body, together with the request that it answers. */
export async function signResponse(agent: Agent, response: Response, request: Request, options: HttpSignOptions = {}): Promise<Response> {
  const body = await bodyOf(response);
  const { status, statusText, headers } = response;
  const message = { status, headers, ...(body === undefined ? {} : { body }), request: headOf(request) };
  return new Response((body ?? null) as BodyInit | null, { status, statusText, headers: added(headers, agent.signResponse(message, options)) });
}

/** Verifies a response to this request. Its body is read from a copy. */
export async function verifyResponse(
  verifier: Verifier,
  response: Response,
  request: Request,
  options: HttpVerifyOptions = {},
): Promise<VerifiedMessage> {
  const body = await bodyOf(response);
  const { status, headers } = response;
  const message = { status, headers, ...(body === undefined ? {} : { body }), request: headOf(request) };
  return verifier.response(message, options);
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
  const headers: [string, string][] = [];
  for (let i = 0; i + 1 < incoming.rawHeaders.length; i += 2) {
    headers.push([incoming.rawHeaders[i] as string, incoming.rawHeaders[i + 1] as string]);
  }
  return { method: incoming.method ?? "GET", url: origin + (incoming.url ?? "/"), headers, body: joined(chunks) };
}

async function readRequest(request: Request): Promise<HttpRequest> {
  return { ...headOf(request), body: await bodyOf(request) };
}

/** A request without its body, which may have been read: what a response signs of it is its head. */
function headOf(request: Request): HttpRequest {
  return { method: request.method, url: request.url.replace(/#.*$/s, ""), headers: request.headers };
}

async function bodyOf(message: Request | Response): Promise<Uint8Array | undefined> {
  return message.body === null ? undefined : new Uint8Array(await message.clone().arrayBuffer());
}

function added(headers: Headers, fields: [string, string][]): Headers {
  const all = new Headers(headers);
  for (const [name, value] of fields) all.append(name, value);
  return all;
}
