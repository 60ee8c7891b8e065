import type { Agent, Amount, Capability, HttpOptions, HttpRequest, Json } from "./agent.js";
import { Held } from "./held.js";
import { wasm } from "./identity.js";
import { seconds, type Time } from "./time.js";
import { written } from "./written.js";
import type { VerifierHandle } from "./wasm/identity.js";

/** A credential whose signature, time, signer and status were checked. */
export interface VerifiedCredential {
  issuer: string;
  /** The URL of the key. */
  signer: string;
  /** The whole credential. */
  claims: Json;
}

/** A presentation whose holder and credentials were checked. */
export interface VerifiedPresentation {
  holder: string;
  signer: string;
  credentials: VerifiedCredential[];
}

/** One link of a delegation. Times are seconds since 1970. */
export interface VerifiedLink {
  issuer: string;
  delegate: string;
  from: number;
  until: number;
  capabilities: Capability[];
  maxDepth: number;
  maxCalls: number | null;
  budget: Amount | null;
}

/** A delegation whose every link was checked. */
export interface VerifiedDelegation {
  links: VerifiedLink[];
  signer: string;
}

/** A tool call that was signed by an agent that may make it. */
export interface VerifiedCall {
  /** The DID of the agent that calls. */
  agent: string;
  /** The URL of its key. */
  signer: string;
  /** What was signed. */
  action: string;
  /** The tool. */
  name: string;
  arguments: Json;
  /** In whose name. */
  root: string;
  /** Who delegated to whom, from the root to the agent. */
  path: string[];
  /** What permits it; `null` if the root calls itself. */
  capability: Capability | null;
  approvers: string[];
}

/** How a tool call is verified. */
export interface CallOptions {
  /** The name of this server, which the call must be for. */
  audience: string;
  /** What the call costs: so much, or a function that is asked when the signature holds. What it throws is thrown. */
  cost?: Amount | (() => Amount | undefined);
  /** For how many seconds an action may be good; two minutes by default. */
  lifetime?: number;
  now?: Time;
}

/** What was opened. */
export interface Opened {
  sender: string;
  signer: string;
  mediaType: string;
  expires: number;
  payload: Uint8Array;
}

/**
 * Verifies what agents sign, offline: it knows cards and status lists, trusts whom it was told to, and remembers what may be used
 * once. Every method throws a `GambesonError` whose `code` says why something is refused.
 */
export class Verifier extends Held<VerifierHandle> {
  /** Knows and trusts nobody. Remembers at most `capacity` nonces, and refuses when they are all in use. */
  constructor(options: { capacity?: number } = {}) {
    super(new (wasm().VerifierHandle)(options.capacity ?? 100_000));
  }

  /** Verifies the identity cards of an agent and keeps them: its DID. @throws GambesonError `not-bound`, `broken-chain`, `stale-card`, … */
  addCards(cards: string): string {
    return this.secret.addCards(cards);
  }

  /** Verifies a status list of an issuer whose card is known, and keeps it. */
  addStatusList(credential: string, now?: Time): void {
    this.secret.addStatusList(credential, seconds(now));
  }

  /** Trusts an agent for a resource, such as this server's own name: it may do anything there, and delegate it. */
  trust(root: string, resource: string): void {
    this.secret.trust(resource, root);
  }

  /** Asks one of `approvers` for an approval of each action that this covers, such as `tools/call/wire`. */
  requireApproval(action: string, approvers: string[]): void {
    this.secret.requireApproval(action, approvers);
  }

  /** The DID document of an agent. @throws GambesonError `unknown-did`, `expired`, … */
  resolve(did: string, now?: Time): Json {
    return JSON.parse(this.secret.resolve(did, seconds(now))) as Json;
  }

  /** Returns if a signature by `Agent.sign` holds. @throws GambesonError `bad-signature`, … */
  verify(signature: Uint8Array, message: Uint8Array, context: Uint8Array, keyUrl: string, now?: Time): void {
    this.secret.verify(keyUrl, signature, message, context, seconds(now));
  }

  /**
   * Verifies a credential: `vc+jwt`, or JSON with a Data Integrity proof. A status that cannot be looked up is refused, unless
   * `statusIfKnown`.
   */
  credential(credential: string, options: { statusIfKnown?: boolean; now?: Time } = {}): VerifiedCredential {
    const { statusIfKnown = false, now } = options;
    return JSON.parse(this.secret.credential(credential, statusIfKnown, seconds(now))) as VerifiedCredential;
  }

  /** Verifies a presentation that was asked for with a nonce, which must be taken back once. */
  presentation(
    presentation: string,
    request: { audience: string; nonce: string; maxAge?: number; bearer?: boolean; now?: Time },
  ): VerifiedPresentation {
    const { audience, nonce, maxAge = 120, bearer = false, now } = request;
    const text = this.secret.presentation(presentation, audience, nonce, maxAge, bearer, seconds(now));
    return JSON.parse(text) as VerifiedPresentation;
  }

  /** Verifies a chain of delegation, from the root. Whether the root is trusted is asked by `toolCall`. */
  delegation(chain: string[], now?: Time): VerifiedDelegation {
    return JSON.parse(this.secret.delegation(written({ chain }), seconds(now))) as VerifiedDelegation;
  }

  /** Verifies the proof of an MCP request, decides whether its signer may do it, and counts it. */
  toolCall(method: string, params: Json, options: CallOptions): VerifiedCall {
    const { audience, cost, lifetime, now } = options;
    const price = (): string | undefined => {
      const amount = typeof cost === "function" ? cost() : cost;
      return amount && written(amount);
    };
    return JSON.parse(
      this.secret.toolCall(method, written(params), audience, lifetime, price, true, seconds(now)),
    ) as VerifiedCall;
  }

  /** Verifies who signed an MCP request, and does not ask whether they may. */
  toolCallSigner(method: string, params: Json, options: Omit<CallOptions, "cost">): Pick<VerifiedCall, "agent" | "signer" | "action" | "name" | "arguments"> & { chain: string[] } {
    const { audience, lifetime, now } = options;
    const price = (): undefined => undefined;
    return JSON.parse(
      this.secret.toolCall(method, written(params), audience, lifetime, price, false, seconds(now)),
    ) as Pick<VerifiedCall, "agent" | "signer" | "action" | "name" | "arguments"> & { chain: string[] };
  }

  /** Verifies the receipt of a server's answer to an action: when it answered, in seconds since 1970. */
  receipt(result: object, action: string, server: string, now?: Time): number {
    return this.secret.receipt(written(result), action, server, seconds(now));
  }

  /** Verifies a signed HTTP request: the URL of the key that signed it. */
  request(request: HttpRequest, options: HttpOptions = {}): string {
    const fields = written([...request.headers]);
    const { capability = false, tag, now } = options;
    return this.secret.request(request.method, request.url, fields, request.body, capability, tag, seconds(now));
  }

  /** Verifies an A2A agent card, of this signer if one is expected: the URL of the key that signed it. */
  agentCard(card: object, options: { signer?: string; now?: Time } = {}): string {
    return this.secret.agentCard(written(card), options.signer, seconds(options.now));
  }

  /** Opens what was sealed to `agent`, once, and verifies who sealed it. */
  open(agent: Agent, sealed: Uint8Array, now?: Time): Opened {
    const opened = agent.opening((handle) => this.secret.open(handle, sealed, seconds(now)));
    const end = opened.indexOf(10);
    const head = JSON.parse(new TextDecoder().decode(opened.subarray(0, end))) as Omit<Opened, "payload">;
    const payload = opened.slice(end + 1);
    opened.fill(0);
    return { ...head, payload };
  }

  /** @internal */
  sealing<T>(work: (handle: VerifierHandle) => T): T {
    return work(this.secret);
  }
}
