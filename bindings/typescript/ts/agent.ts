import { GambesonError } from "./error.js";
import { Held } from "./held.js";
import { wasm } from "./identity.js";
import { seconds, type Time } from "./time.js";
import { written } from "./written.js";
import type { Verifier } from "./verifier.js";
import type { AgentHandle } from "./wasm/identity.js";

/** Any JSON object. */
export type Json = { [name: string]: unknown };

/** What a card says besides keys. */
export interface CardOptions {
  /** When the card begins to hold; now by default. */
  from?: Time;
  /** For how many seconds it holds; a year by default. */
  validFor?: number;
  /** Other identifiers of the same agent. */
  alsoKnownAs?: string[];
  /** Services (DID Core 1.0, §5.4). */
  services?: Json[];
}

/** A credential before it is signed: members of the VC Data Model 2.0, of which the issuer is filled in. */
export interface CredentialInput {
  /** Its own URL. */
  id?: string;
  /** Types besides `VerifiableCredential`. */
  type?: string[];
  /** Contexts besides the base one. */
  context?: unknown[];
  /** The claims; the subject's DID is `id`. */
  subject: Json;
  /** When it begins; now by default. */
  from?: Time;
  /** For how many seconds it holds; a day by default. */
  validFor?: number;
  /** An entry of a status list. */
  status?: Json;
}

/** A permission: `tools/call/pay` at `did:web:bank.example`, under conditions. */
export interface Capability {
  action: string;
  resource: string;
  caveats?: Json[];
}

/** So much of something, such as 500 of `EUR-cent`. */
export interface Amount {
  amount: number;
  unit: string;
}

/** What a link of a delegation grants. */
export interface DelegationInput {
  delegate: string;
  capabilities: Capability[];
  from?: Time;
  /** For how many seconds; an hour by default. */
  validFor?: number;
  /** How many links may follow; none by default. */
  maxDepth?: number;
  maxCalls?: number;
  budget?: Amount;
  /** The link before, of which this agent is the delegate. */
  parent?: string;
}

/** What comes with an action: a delegation, from the root, and approvals. */
export interface Evidence {
  chain?: string[];
  approvals?: string[];
}

/** A request to sign or verify. */
export interface HttpRequest {
  method: string;
  /** The whole address, as the server sees it. */
  url: string;
  headers: Iterable<[string, string]>;
  body?: Uint8Array | undefined;
}

/** How a request is signed. */
export interface HttpOptions {
  /** Signs with the key for capabilities, and not with the one that says who speaks. */
  capability?: boolean;
  /** What the signature is for. */
  tag?: string;
  now?: Time;
}

/**
 * An agent: everything that comes from one seed of 32 bytes. Neither the seed nor a private key can be taken out of it; keep the
 * seed where it came from, or the 24 words.
 */
export class Agent extends Held<AgentHandle> {
  /** `did:gambeson:…` */
  readonly did: string;
  /** The URL of the key that signs credentials, delegations and actions. */
  readonly keyUrl: string;

  private constructor(handle: AgentHandle) {
    super(handle);
    this.did = handle.did();
    this.keyUrl = handle.keyUrl();
  }

  /** A new agent, whose seed nobody ever sees. */
  static generate(): Agent {
    return new Agent(wasm().AgentHandle.generate());
  }

  /** The agent of a seed of 32 bytes. @throws GambesonError `bad-length` */
  static fromSeed(seed: Uint8Array): Agent {
    return new Agent(wasm().AgentHandle.fromSeed(seed));
  }

  /** The agent of 24 words (BIP-39), which hold its seed. @throws GambesonError `bad-words` */
  static fromWords(words: string): Agent {
    return new Agent(wasm().AgentHandle.fromWords(words));
  }

  /** 24 new words, to write down before the agent is made of them. */
  static newWords(): string {
    return wasm().newWords();
  }

  /** The agent with this number in the fleet: its seed comes from this one's and tells nothing about it. */
  child(index: bigint | number): Agent {
    if (index < 0 || index > 0xffff_ffff_ffff_ffffn) throw new GambesonError("bad-path", "an index is a number of 64 bits");
    return new Agent(this.secret.child(BigInt(index)));
  }

  /** The identity card, which binds the agent's keys to its DID: text to publish, for `Verifier.addCards`. */
  card(options: CardOptions = {}): string {
    const from = seconds(options.from);
    const { alsoKnownAs = [], services = [] } = options;
    return this.secret.card(from, from + (options.validFor ?? 31_536_000), written({ alsoKnownAs, services }));
  }

  /**
   * Signs bytes with the agent's signing key, in a context of 1 to 255 bytes that says what they are. The empty context belongs to
   * JOSE and HTTP, and those that begin with `gambeson ` to the formats of this package.
   *
   * @throws GambesonError `bad-context`, `context-too-long`
   */
  sign(message: Uint8Array, context: Uint8Array): Uint8Array {
    return this.secret.sign(message, context);
  }

  /** Issues a credential as `vc+jwt`. @throws GambesonError `bad-form`, `too-large` */
  issue(credential: CredentialInput): string {
    const { id, type = [], context, subject, status } = credential;
    const from = seconds(credential.from);
    return this.secret.issue(
      written({
        ...(id === undefined ? {} : { id }),
        ...(context === undefined ? {} : { "@context": context }),
        ...(status === undefined ? {} : { credentialStatus: status }),
        type,
        credentialSubject: subject,
        validFrom: rfc3339(from),
        validUntil: rfc3339(from + (credential.validFor ?? 86_400)),
      }),
    );
  }

  /** Shows credentials to one verifier, which asked with this nonce: `vp+jwt`. */
  present(credentials: string[], request: { audience: string; nonce: string; now?: Time }): string {
    return this.secret.present(written(credentials), request.audience, request.nonce, seconds(request.now));
  }

  /** Delegates: the first link of a chain, or one that narrows `parent`. @throws GambesonError `widened`, `too-deep`, `wrong-delegate` */
  delegate(grant: DelegationInput): string {
    const { parent, from, validFor = 3600, ...terms } = grant;
    const begin = seconds(from);
    return this.secret.delegate(written({ ...terms, from: begin, until: begin + validFor }), parent);
  }

  /** Approves exactly this action, the text of `Mcp.action`, of another agent. */
  approve(action: string, actor: string, now?: Time): string {
    return this.secret.approve(action, actor, seconds(now));
  }

  /**
   * What is to be signed of an MCP request, for one audience, now and once: canonical JSON. It lasts two minutes, or `lifetime`
   * seconds where somebody must approve it first.
   */
  action(
    method: string,
    params: Json,
    options: { audience: string; evidence?: Evidence; lifetime?: number; now?: Time },
  ): string {
    const { audience, evidence = {}, lifetime, now } = options;
    return this.secret.action(method, written(params), audience, written(evidence), lifetime, seconds(now));
  }

  /** Signs an action: the proof that goes into `params._meta`. */
  prove(action: string, evidence: Evidence = {}): Json {
    return JSON.parse(this.secret.prove(action, written(evidence))) as Json;
  }

  /** Signs what a server answers to an action: the result with a receipt in `_meta`. */
  acknowledge<T extends object>(action: string, result: T, now?: Time): T {
    return JSON.parse(this.secret.acknowledge(action, written(result), seconds(now))) as T;
  }

  /** Signs an HTTP request (RFC 9421): the fields to add. */
  signRequest(request: HttpRequest, options: HttpOptions = {}): [string, string][] {
    const fields = written([...request.headers]);
    const { capability = false, tag, now } = options;
    return JSON.parse(
      this.secret.signRequest(request.method, request.url, fields, request.body, capability, tag, seconds(now)),
    ) as [string, string][];
  }

  /** Signs an A2A agent card: the same with a signature more. */
  signAgentCard<T extends object>(card: T): T {
    return JSON.parse(this.secret.signAgentCard(written(card))) as T;
  }

  /** Signs a payload and seals it to an agent whose card `cards` has, for `validFor` seconds, a day by default. */
  seal(
    payload: Uint8Array,
    options: { to: string; cards: Verifier; mediaType?: string; validFor?: number; now?: Time },
  ): Uint8Array {
    const { to, cards, mediaType = "application/octet-stream", validFor = 86_400 } = options;
    const now = seconds(options.now);
    return cards.sealing((handle) => this.secret.seal(handle, to, mediaType, payload, now + validFor, now));
  }

  /** @internal */
  opening<T>(work: (handle: AgentHandle) => T): T {
    return work(this.secret);
  }
}

function rfc3339(time: number): string {
  return new Date(time * 1000).toISOString().replace(/\.\d+Z$/, "Z");
}
