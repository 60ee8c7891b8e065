/**
 * Signed tool calls for the official MCP SDK (`@modelcontextprotocol/sdk`): a transport is wrapped, and nothing else changes.
 *
 * ```ts
 * await client.connect(signCalls(transport, { agent, audience: "did:web:bank.example" }));
 * await server.connect(verifyCalls(transport, { verifier, audience: "did:web:bank.example" }));
 * ```
 */
import type { Agent, Amount, Evidence, Json } from "./agent.js";
import { GambesonError } from "./error.js";
import { known, knownIf, listOf, type Names } from "./known.js";
import type { VerifiedCall, Verifier } from "./verifier.js";

/** The key of a proof in `params._meta`. */
export const PROOF = "io.github.gambeson-pq/proof";
/** The key of a receipt in `result._meta`. */
export const RECEIPT = "io.github.gambeson-pq/receipt";
/** The code of the JSON-RPC error that refuses a call (Invalid Request); `data.reason` says why. */
export const REFUSED = -32600;
/** The methods that act, which are signed and must be (docs/spec/mcp.md). */
export const ACTING: readonly string[] = ["tools/call", "resources/read", "resources/subscribe", "prompts/get"];

/** What both sides need of the SDK's transports. */
export interface Transport {
  start(): Promise<void>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  send(message: any, options?: any): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  onmessage?: ((message: any, extra?: any) => void) | undefined;
  sessionId?: string | undefined;
  setProtocolVersion?: ((version: string) => void) | undefined;
}

interface Message {
  id?: string | number;
  method?: string;
  params?: Json;
  result?: Json;
  error?: unknown;
}

/** What is written for an id: the SDK takes `"1"` as an answer to `1`, so both are one here. */
function keyOf(id: unknown): unknown {
  const number = Number(id);
  return Number.isNaN(number) ? id : number;
}

/** The request that a message gives up, if it does so. */
function cancelled({ method, params }: Message): unknown {
  return method === "notifications/cancelled" ? keyOf(params?.["requestId"]) : undefined;
}

/** A transport that passes everything on. */
abstract class Wrapped implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  onmessage?: ((message: any, extra?: any) => void) | undefined;

  constructor(protected readonly inner: Transport) {}

  get sessionId(): string | undefined {
    return this.inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion?.(version);
  }

  start(): Promise<void> {
    this.inner.onclose = () => this.onclose?.();
    this.inner.onerror = (error) => this.onerror?.(error);
    this.inner.onmessage = (message, extra) => this.receive(message as Message, extra);
    return this.inner.start();
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  abstract send(message: Message, options?: unknown): Promise<void>;
  protected abstract receive(message: Message, extra: unknown): void;
}

/** How a client signs. */
export interface SignOptions {
  agent: Agent;
  /** The name of the server, which its verifier expects. */
  audience: string;
  /** A delegation to the agent, and approvals of a call. */
  evidence?: Evidence | ((method: string, params: Json) => Evidence);
  /** Which methods are signed; `ACTING` by default. */
  methods?: readonly string[];
  /** Asks for receipts of this server: answers without a good one are refused. The verifier knows its card. */
  receipts?: { verifier: Verifier; server: string };
}

const SIGN: Names<SignOptions> = { agent: true, audience: true, evidence: true, methods: true, receipts: true };

/** Signs the calls that go through a client's transport. */
export function signCalls(transport: Transport, options: SignOptions): Transport {
  const receipts = knownIf(options.receipts, "receipts", { verifier: true, server: true });
  listOf(options.methods ?? ACTING, "methods");
  return new Signing(transport, { ...known(options, "signCalls", SIGN), ...(receipts && { receipts }) });
}

class Signing extends Wrapped {
  /** Who asks for receipts: what was asked and not answered yet; the action, where it was signed. */
  readonly #open = new Map<unknown, string | undefined>();

  constructor(
    inner: Transport,
    private readonly options: SignOptions,
  ) {
    super(inner);
  }

  async send(message: Message, options?: unknown): Promise<void> {
    this.#open.delete(cancelled(message));
    const { method, id, params = {} } = message;
    if (method === undefined || id === undefined) return this.inner.send(message, options);
    const { agent, audience, methods = ACTING } = this.options;
    let [action, sent]: [string | undefined, Message] = [undefined, message];
    if (methods.includes(method)) {
      const given = this.options.evidence ?? {};
      const evidence = typeof given === "function" ? given(method, params) : given;
      action = agent.action(method, params, { audience, evidence });
      const meta = { ...(params["_meta"] as Json | undefined), [PROOF]: agent.prove(action, evidence) };
      sent = { ...message, params: { ...params, _meta: meta } };
    }
    if (this.options.receipts) this.#open.set(keyOf(id), action);
    try {
      await this.inner.send(sent, options);
    } catch (error) {
      this.#open.delete(keyOf(id));
      throw error;
    }
  }

  protected receive(message: Message, extra: unknown): void {
    const { receipts } = this.options;
    if (!receipts || (message.result === undefined && message.error === undefined)) {
      this.onmessage?.(message, extra);
      return;
    }
    const key = keyOf(message.id);
    const [known, action] = [this.#open.has(key), this.#open.get(key)];
    this.#open.delete(key);
    let passed: object = message;
    // A refusal has no receipt: it promises nothing.
    if (message.result !== undefined) {
      if (!known) {
        this.onerror?.(new GambesonError("wrong-audience", "an answer to nothing that was asked"));
        return;
      }
      try {
        if (action !== undefined) receipts.verifier.receipt(message.result, action, receipts.server);
      } catch (error) {
        passed = refusal(message.id as string | number, error);
      }
    }
    this.onmessage?.(passed, extra);
  }
}

/** How a server verifies. */
export interface VerifyOptions {
  verifier: Verifier;
  /** The name of this server. */
  audience: string;
  /** Which methods must be signed; `ACTING` by default. */
  methods?: readonly string[];
  /** What a call costs: asked when its signature holds. A call of which it throws is refused with `failed`. */
  cost?: (method: string, params: Json) => Amount | undefined;
  /** For how many seconds an action may be good; two minutes by default. */
  lifetime?: number;
  /** Signs receipts. */
  receipts?: Agent;
  /** Told of each call that was refused. */
  onrefused?: (error: GambesonError, method: string) => void;
}

const VERIFY: Names<VerifyOptions> = {
  verifier: true, audience: true, methods: true, cost: true, lifetime: true, receipts: true, onrefused: true,
};

/**
 * Refuses the calls that come through a server's transport without a proof that holds, before the server sees them. Handlers find
 * the `VerifiedCall` by `callOf(extra)`.
 */
export function verifyCalls(transport: Transport, options: VerifyOptions): Transport {
  listOf(options.methods ?? ACTING, "methods");
  return new Verifying(transport, known(options, "verifyCalls", VERIFY));
}

class Verifying extends Wrapped {
  /** Who signs receipts: what was asked and not answered yet; the action, where it was signed. */
  readonly #open = new Map<unknown, string | undefined>();

  constructor(
    inner: Transport,
    private readonly options: VerifyOptions,
  ) {
    super(inner);
  }

  send(message: Message, options?: unknown): Promise<void> {
    const { receipts } = this.options;
    if (!receipts || message.method !== undefined) return this.inner.send(message, options);
    const key = keyOf(message.id);
    const action = this.#open.get(key);
    this.#open.delete(key);
    if (action === undefined || message.result === undefined) return this.inner.send(message, options);
    return this.inner.send({ ...message, result: receipts.acknowledge(action, message.result) }, options);
  }

  protected receive(message: Message, extra: unknown): void {
    this.#open.delete(cancelled(message));
    const { method, id, params = {} } = message;
    const { verifier, audience, methods = ACTING, cost, lifetime, onrefused, receipts } = this.options;
    const key = keyOf(id);
    // The answer to one would carry the receipt of the other.
    const twice = this.#open.has(key);
    if (method === undefined || (!twice && !methods.includes(method))) {
      if (receipts && method !== undefined && id !== undefined) this.#open.set(key, undefined);
      this.onmessage?.(message, extra);
      return;
    }
    let call: VerifiedCall;
    try {
      if (twice) throw new GambesonError("bad-form", "a request with this id is pending");
      // Without an id nobody waits for an answer, and nothing may act in silence.
      if (id === undefined) throw new GambesonError("bad-form", "a call that acts must have an id");
      call = verifier.toolCall(method, params, {
        audience,
        ...(cost === undefined ? {} : { cost: () => cost(method, params) }),
        ...(lifetime === undefined ? {} : { lifetime }),
      });
    } catch (error) {
      // What `cost` threw is the server's to know, and no answer to who called.
      if (!(error instanceof GambesonError)) this.onerror?.(error as Error);
      const why = error instanceof GambesonError ? error : new GambesonError("failed", "the call could not be judged");
      onrefused?.(why, method);
      if (id === undefined) return;
      this.inner.send(refusal(id, why)).catch((failure: unknown) => this.onerror?.(failure as Error));
      return;
    }
    if (receipts) this.#open.set(key, call.action);
    // What the transport itself says of who calls, such as a token of OAuth, stays.
    const said = (extra as { authInfo?: { extra?: object } } | undefined)?.authInfo;
    const authInfo = { token: call.signer, clientId: call.agent, scopes: [], ...said, extra: { ...said?.extra, call } };
    this.onmessage?.(message, { ...(extra as object | undefined), authInfo });
  }
}

function refusal(id: string | number, error: unknown): object {
  const reason = error instanceof GambesonError ? error.code : "failed";
  const message = error instanceof Error ? error.message : String(error);
  return { jsonrpc: "2.0", id, error: { code: REFUSED, message: `${reason}: ${message}`, data: { reason } } };
}

/** The verified call that a handler answers, from its second argument. */
export function callOf(extra: { authInfo?: { extra?: Record<string, unknown> | undefined } | undefined }): VerifiedCall | undefined {
  return extra.authInfo?.extra?.["call"] as VerifiedCall | undefined;
}
