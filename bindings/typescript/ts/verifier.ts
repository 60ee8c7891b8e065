import {
  amountOf,
  HTTP,
  messageOf,
  type Agent,
  type Amount,
  type Capability,
  type Crossing,
  type Evidence,
  type HttpOptions,
  type HttpRequest,
  type HttpResponse,
  type Json,
} from "./agent.js";
import { Living, textOf } from "./border.js";
import type { CardLog } from "./cards.js";
import { included, type Included } from "./forms.js";
import { wasm } from "./identity.js";
import { known, type Names } from "./known.js";
import type { StatusPurpose } from "./status.js";
import { isTime, seconds, type Time } from "./time.js";
import { written } from "./written.js";

/** What the functions of DID Core 1.0, §7, return. */
export interface Resolution {
  /** `contentType` of a representation, or `error`: `invalidDid`, `invalidDidUrl`, `notFound`, `representationNotSupported`. */
  metadata: Json;
  /** The document, the key or the service. */
  content: Json | null;
  /** Of a document: `versionId`, and `created` or `updated`, as far as they are known. */
  contentMetadata: Json;
  /** Why there is no content, in a code of this package. */
  reason: string | null;
}

/** Who signed. */
export interface Signed {
  /** The URL of the key. */
  signer: string;
  /** The DID of the agent whose it is. */
  agent: string;
}

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


/** An SD-JWT whose issuer, and whose holder if one was asked for, were checked. */
export interface VerifiedSdJwt {
  issuer: string;
  /** The URL of the issuer's key. */
  signer: string;
  /** The URL of the key that the token is bound to. */
  holder: string | null;
  /** What was disclosed, and what everybody may see. */
  claims: Json;
}

/** An action whose signature was checked. */
export interface SignedAction extends Signed {
  /** What was signed. */
  action: string;
  /** The name of the action, by which approvals and receipts speak of it, in the default suite. */
  digest: string;
  method: string;
  /** The tool. */
  name: string;
  arguments: Json;
  /** The delegation that came with it, which was not looked at yet. */
  chain: string[];
}

/** A tool call that was signed by an agent that may make it. */
export interface VerifiedCall extends SignedAction {
  /** In whose name. */
  root: string;
  /** Who delegated to whom, from the root to the agent. */
  path: string[];
  /** What permits it; `null` if the root calls itself. */
  capability: Capability | null;
  approvers: string[];
}

/** A server's word on what it answered to an action. */
export interface VerifiedReceipt extends Signed {
  /** The name of the action. */
  action: string;
  /** When it answered, in seconds since 1970. */
  issued: number;
}

/** An HTTP message whose signature was checked. */
export interface VerifiedMessage extends Signed {
  /** What was signed. */
  components: string[];
  /** The name of the signature in the message. */
  label: string;
  /** The bytes that were signed, as a text. */
  base: string;
  tag: string | null;
}

/** A file whose signature was checked. */
export interface VerifiedFile extends Signed {
  /** `b3:` or `sha384:`, and the hash in hexadecimal digits. */
  hash: string;
  /** Length of the file in bytes. */
  size: number;
  /** When it was signed, as the signer says, in seconds since 1970. */
  issued: number;
}

/** How an action is verified. */
export interface CallOptions {
  /** The name of this server, which the call must be for. */
  audience: string;
  /** What the call costs: so much, or a function that is asked when the signature holds. What it throws is thrown. */
  cost?: Amount | (() => Amount | undefined);
  /** For how many seconds an action may be good; two minutes by default. */
  lifetime?: number;
  /** Lets pass a delegation with a status that cannot be looked up. */
  statusIfKnown?: boolean;
  now?: Time;
}

/** How an HTTP message is verified. */
export interface HttpVerifyOptions extends HttpOptions {
  /** Components that must be signed besides the usual ones. */
  required?: string[];
  /** The DID that must have signed; it chooses among several signatures, as `tag` does. */
  signer?: string;
  /** How many seconds old a signature may be; two minutes by default. */
  maxAge?: number;
}

/** What was opened. */
export interface Opened {
  sender: string;
  signer: string;
  /** The name of the message, in hexadecimal digits. */
  id: string;
  mediaType: string;
  expires: number;
  payload: Uint8Array;
}

/** How much a verifier remembers. */
export interface VerifierOptions {
  /** How many nonces, and how many grants; 100,000 by default, about 150 bytes each. */
  capacity?: number;
  /** How many nonces of each signer, so that none takes all the room; all by default. */
  perSigner?: number;
  /** How many grants below each root, so that no delegate takes all the room by handing on ever more; all by default. */
  perRoot?: number;
  /** What remembers nonces in the place of the verifier. */
  memory?: ReplayMemory;
}

/** A memory of what may be used once, that outlives the page or the process. */
export interface ReplayMemory {
  /** Stores the id, 32 bytes, until then, and returns whether it is new. Times are seconds since 1970. */
  remember(id: Uint8Array, until: number, now: number): boolean;
}

/** When a credential is verified, and what becomes of a status that cannot be looked up. */
export interface StatusOptions {
  /** Lets pass what has a status that cannot be looked up. */
  statusIfKnown?: boolean;
  now?: Time;
}

/** What a holder was asked for with a presentation. */
export interface PresentationRequest extends StatusOptions {
  audience: string;
  /** Must be taken back once. */
  nonce: string;
  /** How many seconds ago it was made at most; five minutes by default. */
  maxAge?: number;
  /** Whoever has it may show it: subjects of credentials need not be the holder. */
  bearer?: boolean;
}

const OPTIONS: Names<VerifierOptions> = { capacity: true, perSigner: true, perRoot: true, memory: true };
const STATUS: Names<StatusOptions> = { statusIfKnown: true, now: true };
const PRESENTATION: Names<PresentationRequest> = { ...STATUS, audience: true, nonce: true, maxAge: true, bearer: true };
const SD_JWT = { audience: true, nonce: true, maxAge: true, bearer: true, now: true } as const;
const SIGNER: Names<Omit<CallOptions, "cost">> = { ...STATUS, audience: true, lifetime: true };
const CALL: Names<CallOptions> = { ...SIGNER, cost: true };
/** @internal */
export const HTTP_VERIFY: Names<HttpVerifyOptions> = { ...HTTP, required: true, signer: true, maxAge: true };

/**
 * Verifies what agents sign, offline: it knows cards and status lists, trusts whom it was told to, and remembers what may be used
 * once. Every method throws a `GambesonError` whose `code` says why something is refused.
 */
export class Verifier extends Living {
  /**
   * Knows and trusts nobody. Remembers at most `capacity` nonces, `perSigner` of them of each signer, and as many grants, `perRoot` of them
   * below each root, and refuses when they are all in use. Where several processes answer, they share a `memory` of nonces, which says
   * itself how many it takes of each signer.
   * @throws GambesonError `bad-form`
   */
  constructor(options: VerifierOptions = {}) {
    const { memory, ...most } = known(options, "new Verifier", OPTIONS);
    super(wasm().Handle.verifier(written(most), memory && asked(memory)));
  }

  /** Verifies the identity cards of an agent and keeps them: its DID. @throws GambesonError `not-bound`, `broken-chain`, `stale-card`, … */
  addCards(cards: string | CardLog): string {
    return this.ask<string>("addCards", { cards: String(cards) }).said;
  }

  /**
   * Keeps the document of a `did:web` that was fetched from `parseDid(did).address`: over HTTPS, without a redirect to another host. How
   * long it is to be believed is the caller's to say.
   * @throws GambesonError `not-bound`, `bad-did`, `bad-form`, …
   */
  addWebDocument(did: string, body: string | Uint8Array): void {
    this.ask("addWebDocument", { did }, typeof body === "string" ? new TextEncoder().encode(body) : body);
  }

  /** Verifies a status list of an issuer whose card is known, and keeps it. @throws GambesonError `stale-status`, `wrong-issuer`, … */
  addStatusList(credential: string, now?: Time): void {
    this.ask("addStatusList", { list: credential, now: seconds(now) });
  }

  /** What a status list that is known says, which this issuer has at this URL: the numbers whose bits are set. @throws GambesonError `unknown-status` */
  statusList(issuer: string, url: string, purpose: StatusPurpose = "revocation", now?: Time): { entries: number; set: number[] } {
    return this.ask<{ entries: number; set: number[] }>("statusList", { issuer, url, purpose, now: seconds(now) }).said;
  }

  /** The URLs of status lists that should be fetched again. */
  statusDue(now?: Time): string[] {
    return this.ask<string[]>("statusDue", { now: seconds(now) }).said;
  }

  /** Trusts an agent for a resource, such as this server's own name: it may do anything there, and delegate it. */
  trust(root: string, resource: string): void {
    this.ask("trust", { root, resource });
  }

  /** Asks one of `approvers` for an approval of each action that this covers, such as `tools/call/wire`. */
  requireApproval(action: string, approvers: string[]): void {
    this.ask("requireApproval", { action, approvers });
  }

  /** The DID document of an agent. @throws GambesonError `unknown-did`, `expired`, … */
  resolve(did: string, now?: Time): Json {
    return this.ask<Json>("resolve", { did, now: seconds(now) }).said;
  }

  /** `resolve` of DID Core 1.0, §7.1: what it returns says what was wrong. */
  resolveDid(did: string, now?: Time): Resolution {
    return this.ask<Resolution>("resolution", { function: "resolve", url: did, now: seconds(now) }).said;
  }

  /** `resolveRepresentation` (§7.1): the document in a media type, `application/did+ld+json` or `application/did+json`. */
  resolveRepresentation(did: string, accept?: string, now?: Time): Resolution {
    return this.ask<Resolution>("resolution", { function: "resolveRepresentation", url: did, accept, now: seconds(now) }).said;
  }

  /** `dereference` (§7.2): the document of a DID, or the key or service in it that a DID URL names. */
  dereference(url: string, accept?: string, now?: Time): Resolution {
    return this.ask<Resolution>("resolution", { function: "dereference", url, accept, now: seconds(now) }).said;
  }

  /** Returns if a signature by `Agent.sign` holds. @throws GambesonError `bad-signature`, … */
  verify(signature: Uint8Array, message: Uint8Array, context: Uint8Array, keyUrl: string, now?: Time): void {
    this.ask("verify", { keyUrl, now: seconds(now) }, [signature, message, context]);
  }

  /**
   * Verifies a credential: `vc+jwt`, or JSON with a Data Integrity proof. A status that cannot be looked up is refused, unless
   * `statusIfKnown`.
   */
  credential(credential: string, options: StatusOptions = {}): VerifiedCredential {
    return this.ask<VerifiedCredential>("credential", { ...known(options, "credential", STATUS), credential, now: seconds(options.now) }).said;
  }

  /**
   * Verifies a presentation that was asked for with a nonce, which must be taken back once; at most `maxAge` seconds ago, five minutes by
   * default. Unless it is a `bearer`'s, every subject of a credential is the holder.
   */
  presentation(presentation: string, request: PresentationRequest): VerifiedPresentation {
    const input = { ...known(request, "presentation", PRESENTATION), presentation, now: seconds(request.now) };
    return this.ask<VerifiedPresentation>("presentation", input).said;
  }

  /**
   * Verifies an SD-JWT VC as it was shown, by the holder that it names: the holder must have signed for `audience` and `nonce`, at most
   * `maxAge` seconds ago, five minutes by default. One that names no holder is anybody's who has it, and needs neither. With `bearer`, so
   * is one that does.
   * @throws GambesonError `bad-form` for one that is its holder's, where nothing was asked of them
   */
  sdJwt(
    presented: string,
    request: (
      | { audience: string; nonce: string; maxAge?: number; bearer?: false }
      | { audience?: never; nonce?: never; bearer?: boolean }
    ) & { now?: Time } = {},
  ): VerifiedSdJwt {
    return this.ask<VerifiedSdJwt>("sdJwt", { ...known(request, "sdJwt", SD_JWT), presented, now: seconds(request.now) }).said;
  }

  /** Verifies the Data Integrity proof of a JSON document: who signed it, and the document without the proof. */
  document(document: string | object, now?: Time): Signed & { document: Json } {
    return this.ask<Signed & { document: Json }>("document", { document: textOf(document), now: seconds(now) }).said;
  }

  /** Verifies a chain of delegation, from the root. Whether the root is trusted is asked by `toolCall`. */
  delegation(chain: string[], options: Time | StatusOptions = {}): VerifiedDelegation {
    const { statusIfKnown = false, now } = isTime(options) ? { now: options } : known(options, "delegation", STATUS);
    return this.ask<VerifiedDelegation>("delegation", { chain, statusIfKnown, now: seconds(now) }).said;
  }

  /** Verifies an action by its signature, `Agent.signAction`, decides by the evidence whether its signer may do it, and counts it. */
  action(action: string, token: string, options: CallOptions & { evidence?: Evidence }): VerifiedCall {
    const { evidence, cost, ...rest } = known(options, "action", { ...CALL, evidence: true });
    // Who calls hands over the evidence: nothing else of it is the server's question.
    const { chain, approvals } = evidence ?? {};
    const input = { chain, approvals, ...rest, action, token, now: seconds(options.now) };
    return this.askPriced<VerifiedCall>("action", input, priceOf(cost)).said;
  }

  /** Verifies who signed an action, and does not ask whether they may. */
  actionSigner(action: string, token: string, options: Omit<CallOptions, "cost">): SignedAction {
    return this.ask<SignedAction>("action", { ...known(options, "actionSigner", SIGNER), action, token, now: seconds(options.now) }).said;
  }

  /** Verifies the proof of an MCP request, decides whether its signer may do it, and counts it. */
  toolCall(method: string, params: Json, options: CallOptions): VerifiedCall {
    const { cost, ...rest } = known(options, "toolCall", CALL);
    const input = { ...rest, method, params: written(params), now: seconds(options.now) };
    return this.askPriced<VerifiedCall>("toolCall", input, priceOf(cost)).said;
  }

  /** Verifies who signed an MCP request, and does not ask whether they may. */
  toolCallSigner(method: string, params: Json, options: Omit<CallOptions, "cost">): SignedAction {
    return this.ask<SignedAction>("toolCall", { ...known(options, "toolCallSigner", SIGNER), method, params: written(params), now: seconds(options.now) }).said;
  }

  /** Verifies the receipt of a server's answer to an action. */
  receipt(result: object, action: string, server: string, now?: Time): VerifiedReceipt {
    return this.ask<VerifiedReceipt>("receipt", { result: written(result), action, server, now: seconds(now) }).said;
  }

  /** Verifies a signed HTTP request, and that it comes for the first time. */
  request(request: HttpRequest, options: HttpVerifyOptions = {}): VerifiedMessage {
    return this.#http(messageOf(request), options);
  }

  /** Verifies a signed HTTP response, and that it comes for the first time. */
  response(response: HttpResponse, options: HttpVerifyOptions = {}): VerifiedMessage {
    return this.#http(messageOf(response), options);
  }

  #http({ message, bodies }: Crossing, options: HttpVerifyOptions): VerifiedMessage {
    return this.ask<VerifiedMessage>("http", { ...known(options, "HTTP options", HTTP_VERIFY), message, now: seconds(options.now) }, bodies).said;
  }

  /**
   * Verifies an A2A agent card: who signed it, and the members that were signed. A card does not tell which DID may speak for the agent:
   * name the one that is expected, or look at the signer.
   */
  agentCard(card: string | object, options: { signer?: string; now?: Time } = {}): Signed & { card: Json } {
    const input = { ...known(options, "agentCard", { signer: true, now: true }), card: textOf(card), now: seconds(options.now) };
    return this.ask<Signed & { card: Json }>("agentCard", input).said;
  }

  /** Verifies the signature of a file, `Agent.signFile`. @throws GambesonError `bad-digest` for another file, `bad-signature`, … */
  file(signature: string, file: Uint8Array, now?: Time): VerifiedFile {
    return this.ask<VerifiedFile>("file", { signature, now: seconds(now) }, file).said;
  }

  /** Verifies, offline, that an entry is in the log `origin` of `signer`, the URL of a key of the role `log`. @throws GambesonError `not-included`, … */
  logProof(proof: string, entry: Uint8Array, options: { origin: string; signer: string; now?: Time }): Signed & Included {
    type Said = Signed & Omit<Included, "index" | "size"> & { index: string; size: string };
    return included(this.ask<Said>("logProof", { ...known(options, "logProof", { origin: true, signer: true, now: true }), proof, now: seconds(options.now) }, entry).said);
  }

  /** Opens what was sealed to `agent`, once, and verifies who sealed it. */
  open(agent: Agent, sealed: Uint8Array, now?: Time): Opened {
    const { said, bytes } = this.askWith<Omit<Opened, "payload">>(agent, "open", { now: seconds(now) }, sealed);
    return { ...said, payload: bytes };
  }

  /** @internal */
  sealTo(agent: Agent, options: object, payload: Uint8Array): Uint8Array {
    return this.askWith(agent, "seal", options, payload).bytes;
  }
}

/** What a call costs, as it is asked. */
const priceOf = (cost: CallOptions["cost"]) => (): Amount | undefined => {
  const amount = typeof cost === "function" ? cost() : cost;
  return amount && amountOf(amount, "the cost");
};

/** A memory as the module asks it: 1 for new, 0 for known, and 2 where no answer came, which refuses too. */
function asked(memory: ReplayMemory): { remember(id: Uint8Array, until: number, now: number): number } {
  return {
    remember(id, until, now) {
      try {
        const answer: unknown = memory.remember(id, until, now);
        return typeof answer === "boolean" ? Number(answer) : 2;
      } catch {
        return 2;
      }
    },
  };
}
