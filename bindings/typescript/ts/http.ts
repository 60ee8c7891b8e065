/**
 * Signed HTTP (RFC 9421 with ML-DSA-65): a `fetch` that signs, and what a server needs to verify and to sign what it answers.
 *
 * ```ts
 * const fetch = signedFetch(agent);
 * await fetch("https://bank.example/pay", { method: "POST", body: JSON.stringify({ amount: 5 }) });
 * ```
 */
import { HTTP_SIGN, type Agent, type HttpRequest, type HttpSignOptions } from "./agent.js";
import { joined } from "./border.js";
import { GambesonError } from "./error.js";
import { known } from "./known.js";
import { HTTP_VERIFY, type HttpVerifyOptions, type VerifiedMessage, type Verifier } from "./verifier.js";

/**
 * A `fetch` that signs method, address, content type and body of each request. It follows no redirect, because the address is
 * signed, unless `init.redirect` says so.
 */
export function signedFetch(agent: Agent, options: HttpSignOptions & { fetch?: typeof fetch } = {}): typeof fetch {
  const { fetch: send = fetch, ...terms } = known(options, "signedFetch", { ...HTTP_SIGN, fetch: true });
  return async (input, init) => {
    const request = new Request(input, { ...init, redirect: init?.redirect ?? "error" });
    const body = await bodyOf(request);
    const message = { ...headOf(request), ...(body === undefined ? {} : { body }) };
    const headers = added(request.headers, agent.signRequest(message, terms));
    return send(new Request(request, { headers, ...(body === undefined ? {} : { body: body as BodyInit }) }));
  };
}

/** How much of a message is read. */
export interface ReadOptions {
  /** The longest body in bytes; 1 MiB by default. One that is longer is refused with `too-large`. */
  maxBody?: number;
}

/**
 * Verifies a request, as servers with `Request` have it. The body is read from a copy. `origin` is how clients address this server, such
 * as `https://bank.example`: what stands in `request.url` comes from the `Host` field, which whoever sends it chooses.
 *
 * @throws GambesonError `too-large`, or what is wrong with the signature
 */
export async function verifyRequest(
  verifier: Verifier,
  request: Request,
  origin: string,
  options: HttpVerifyOptions & ReadOptions = {},
): Promise<VerifiedMessage> {
  const { maxBody, ...terms } = known(options, "verifyRequest", { ...HTTP_VERIFY, maxBody: true });
  // The origin first: without one, the address would be what the request itself says.
  const head = headOf(request, originOf(origin));
  const body = await read(request.clone().body?.getReader(), maxBody);
  return verifier.request({ ...head, body }, terms);
}

/**
 * Signs a response, status, content type and body, together with the request that it answers: its address at `origin`, where that is
 * given, and its signature.
 */
export async function signResponse(
  agent: Agent,
  response: Response,
  request: Request,
  options: HttpSignOptions & { origin?: string } = {},
): Promise<Response> {
  const { origin, ...terms } = known(options, "signResponse", { ...HTTP_SIGN, origin: true });
  const body = await bodyOf(response);
  const { status, statusText, headers } = response;
  const message = { status, headers, ...(body === undefined ? {} : { body }), request: headOf(request, origin) };
  return new Response((body ?? null) as BodyInit | null, { status, statusText, headers: added(headers, agent.signResponse(message, terms)) });
}

/**
 * Verifies a response to this request. Its body is read from a copy; so is that of the request, if it was not sent or read yet, and compared with
 * its `content-digest`.
 *
 * @throws GambesonError `too-large`, or what is wrong with the signature or the request
 */
export async function verifyResponse(
  verifier: Verifier,
  response: Response,
  request: Request,
  options: HttpVerifyOptions & ReadOptions = {},
): Promise<VerifiedMessage> {
  const { maxBody, ...terms } = known(options, "verifyResponse", { ...HTTP_VERIFY, maxBody: true });
  const body = await read(response.clone().body?.getReader(), maxBody);
  const { status, headers } = response;
  const asked = { ...headOf(request), body: request.bodyUsed ? undefined : await bodyOf(request) };
  return verifier.response({ status, headers, body, request: asked }, terms);
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
  const { maxBody } = known(options, "readIncoming", { maxBody: true });
  const address = originOf(origin);
  const target = incoming.url ?? "";
  // Another target would go on where the origin ends: `.evil.example/pay`, `:8443/pay`.
  if (!target.startsWith("/")) throw new GambesonError("bad-form", "the target of a request must be a path");
  const chunks = incoming[Symbol.asyncIterator]();
  const body = await read({ read: () => chunks.next() }, maxBody);
  const headers: [string, string][] = [];
  for (let i = 0; i + 1 < incoming.rawHeaders.length; i += 2) {
    headers.push([incoming.rawHeaders[i] as string, incoming.rawHeaders[i + 1] as string]);
  }
  return { method: incoming.method ?? "GET", url: address + target, headers, body };
}

/** Reads to the end, and leaves what is too long where it is: the connection is still good for an answer. */
async function read(
  reader: { read(): Promise<{ done?: boolean | undefined; value?: Uint8Array | undefined }> } | undefined,
  maxBody = 1 << 20,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    chunks.push(part.value as Uint8Array);
    length += chunks.at(-1)?.length ?? 0;
    if (length > maxBody) throw new GambesonError("too-large", `the body has more than ${maxBody} bytes`);
  }
  return joined(chunks);
}

/**
 * A request without its body, which may have been read: what a response signs of it is its head. Its address is at `origin`, or where
 * it says.
 */
function headOf({ method, url, headers }: Request, origin?: string): HttpRequest {
  const address = url.replace(/#.*$/s, "");
  // As it was written: an empty query is one.
  const target = address.slice(new URL(url).origin.length);
  return { method, url: origin === undefined ? address : originOf(origin) + target, headers };
}

/** What is to be signed as the body, if there is one. The bytes are asked, for not every browser has `body` of a request. */
async function bodyOf(message: Request | Response): Promise<Uint8Array | undefined> {
  const bytes = new Uint8Array(await message.clone().arrayBuffer());
  return bytes.length === 0 ? undefined : bytes;
}

/** Scheme and authority of a server. @throws GambesonError `bad-form` for anything else */
function originOf(origin: string): string {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || /[?#@]/.test(origin)) {
    throw new GambesonError("bad-form", `an origin must be a scheme and an authority, such as https://bank.example, not ${origin}`);
  }
  return url.origin;
}

function added(headers: Headers, fields: [string, string][]): Headers {
  const all = new Headers(headers);
  for (const [name, value] of fields) all.append(name, value);
  return all;
}
