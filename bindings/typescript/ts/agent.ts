import { ask, type Bytes, cut, Living, valuesOf } from "./border.js";
import { bytesOf, bytesOfLength, tagOf } from "./bytes.js";
import { CardLog } from "./cards.js";
import { GambesonError, untrapped } from "./error.js";
import { wasm } from "./identity.js";
import { has, known, listOf, type Names } from "./known.js";
import { rfc3339, seconds, span, type Time } from "./time.js";
import type { Verifier } from "./verifier.js";
import type { Handle } from "./wasm/identity.js";
import { written } from "./written.js";

/** Any JSON object. */
export type Json = { [name: string]: unknown };

/** Which algorithms an agent uses: the default ones, or those that CNSA 2.0 names. */
export type Suite = "default" | "cnsa2";

/** What a key of an agent is for. */
export type Role = "identity" | "signing" | "did" | "backup" | "sealed" | "encapsulation" | "data-integrity" | "log";

/** Where an agent comes from besides its seed. */
export interface SeedOptions {
  /** `default` unless this says otherwise. */
  suite?: Suite;
  /** Its identity cards: the agent is as the newest of them has it. Without them it is as it began. */
  cards?: string | CardLog;
}

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

/** What the next card replaces. What the card says besides keys stays, unless it is given anew. */
export interface RotateOptions extends CardOptions {
  /** The roles that get new keys; the DID key is new in any case. */
  roles?: Role[];
  /** For how many seconds replaced keys stay good; none by default. */
  overlap?: number;
  /** Replaced keys are revoked at once. */
  compromised?: boolean;
}

/** A credential before it is signed: members of the VC Data Model 2.0, of which the issuer is filled in. */
export interface CredentialInput {
  /** Its own URL. */
  id?: string;
  /** Types besides `VerifiableCredential`. */
  type?: string[];
  /** Contexts besides the base one. */
  context?: unknown[];
  /** The claims; the subject's DID is `id`. Several subjects are a list. */
  subject: Json | Json[];
  /** When it begins; now by default. */
  from?: Time;
  /** For how many seconds it holds; a day by default. */
  validFor?: number;
  /** Where its status stands: `statusEntry(…)`. */
  status?: Json | Json[];
  /** Other members of the data model. */
  members?: Json;
  /** `vc+jwt` with ML-DSA-65 by default, or JSON with a proof inside (`mldsa44-jcs-2024`). */
  form?: "jwt" | "data-integrity";
}

/** An SD-JWT VC before it is signed. */
export interface SdJwtInput {
  /** The type, a URL. */
  vct: string;
  claims: Json;
  /** JSON Pointers of the claims that the holder may keep to itself. */
  disclosable?: string[];
  /** The URL of the key that the holder presents it with: `holder.keyUrlOf("identity")`. */
  holder?: string;
  /** So many digests that stand for nothing. */
  decoys?: number;
  from?: Time;
  /** For how many seconds it holds; a day by default. */
  validFor?: number;
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
  /** Where its status stands: `statusEntry(…)`. */
  status?: Json[];
  /** The link before, of which this agent is the delegate. */
  parent?: string;
}

/** What comes with an action: a delegation, from the root, and approvals. */
export interface Evidence {
  chain?: string[];
  approvals?: string[];
}

/** What is asked of somebody: a method, what it is applied to, and with what. */
export interface Call {
  /** Two segments, as in `tools/call`, or one where there is no name: what else there is no capability covers. */
  method: string;
  /** Such as the name of a tool; empty if the method needs none. */
  name?: string;
  arguments?: Json;
  params?: Json;
}

/** For whom an action is, and how long. */
export interface ActionOptions {
  audience: string;
  evidence?: Evidence;
  /** For how many seconds it is good; two minutes by default. */
  lifetime?: number;
  now?: Time;
}

/** A request to sign or verify. */
export interface HttpRequest {
  method: string;
  /** The whole address, as the server sees it. */
  url: string;
  headers: Iterable<[string, string]>;
  body?: Uint8Array | undefined;
}

/** A response to sign or verify. */
export interface HttpResponse {
  status: number;
  headers: Iterable<[string, string]>;
  body?: Uint8Array | undefined;
  /** What it answers, of which components with `req` are. */
  request?: HttpRequest;
}

/** How a message is signed. */
export interface HttpOptions {
  /** Signs with the key for capabilities, and not with the one that says who speaks. */
  capability?: boolean;
  /** What the signature is for. */
  tag?: string;
  now?: Time;
}

/** What of a message is signed, and for how long. */
export interface HttpSignOptions extends HttpOptions {
  /** Names of components (RFC 9421, §2) in the place of the usual ones. */
  components?: string[];
  /** Names of components besides the usual ones, such as `authorization`: those that the verifier asks for (`HttpVerifyOptions.required`). */
  required?: string[];
  /** The name among the signatures of the message; `gambeson` by default. */
  label?: string;
  /** For how many seconds it is good; two minutes by default. */
  lifetime?: number;
}

/** What an agent has besides its seed. */
export interface BackupInput {
  cards?: string | CardLog;
  /** Credentials by names. */
  credentials?: { [name: string]: string };
  /** Memory objects, or those of a backup that was restored. */
  objects?: Iterable<Uint8Array> | ReadonlyMap<string, Uint8Array>;
  /** What the agent must not forget, in whatever form it is kept. */
  state?: { [name in StateName]?: Uint8Array };
  now?: Time;
}

/** What an agent must not forget: what was used up of delegations, what was taken once, the status list. */
export type StateName = "ledger" | "seen" | "status-list";

/** To whom something is sealed, and for how long. */
export interface SealOptions {
  /** The DID of the agent that can open it. */
  to: string;
  /** Who knows its card. */
  cards: Verifier;
  /** `application/octet-stream` by default. */
  mediaType?: string;
  /** For how many seconds; a week by default. */
  validFor?: number;
  now?: Time;
}

/** What was in a backup. */
export interface Restored {
  /** When it was made, in seconds since 1970. */
  made: number;
  cards: CardLog | undefined;
  credentials: { [name: string]: string };
  /** Memory objects by their names, `objectId(…)`. */
  objects: Map<string, Uint8Array>;
  state: { [name in StateName]?: Uint8Array };
}

const SUITE: Names<Pick<SeedOptions, "suite">> = { suite: true };
const CARDS: Names<Pick<SeedOptions, "cards">> = { cards: true };
const AGE: Names<SeedOptions & { maxWorkFactor?: number }> = { ...SUITE, ...CARDS, maxWorkFactor: true };
const CARD: Names<CardOptions> = { from: true, validFor: true, alsoKnownAs: true, services: true };
const ROTATION: Names<RotateOptions> = { ...CARD, roles: true, overlap: true, compromised: true };
const CREDENTIAL: Names<CredentialInput> = {
  id: true, type: true, context: true, subject: true, from: true, validFor: true, status: true, members: true, form: true,
};
const QUESTION: Names<{ audience: string; nonce: string; now?: Time }> = { audience: true, nonce: true, now: true };
const SD_JWT: Names<SdJwtInput> = { vct: true, claims: true, disclosable: true, holder: true, decoys: true, from: true, validFor: true };
const CAPABILITY: Names<Capability> = { action: true, resource: true, caveats: true };
const AMOUNT: Names<Amount> = { amount: true, unit: true };
const DELEGATION: Names<DelegationInput> = {
  delegate: true, capabilities: true, from: true, validFor: true, maxDepth: true, maxCalls: true, budget: true, status: true, parent: true,
};
const EVIDENCE: Names<Evidence> = { chain: true, approvals: true };
const CALL: Names<Call> = { method: true, name: true, arguments: true, params: true };
const ACTION: Names<ActionOptions> = { audience: true, evidence: true, lifetime: true, now: true };
const REQUEST: Names<HttpRequest> = { method: true, url: true, headers: true, body: true };
const RESPONSE: Names<HttpResponse> = { status: true, headers: true, body: true, request: true };
/** @internal */
export const HTTP: Names<HttpOptions> = { capability: true, tag: true, now: true };
/** @internal */
export const HTTP_SIGN: Names<HttpSignOptions> = { ...HTTP, components: true, required: true, label: true, lifetime: true };
const SEAL: Names<SealOptions> = { to: true, cards: true, mediaType: true, validFor: true, now: true };
/** What was restored may be backed up again, whenever it was made. */
const BACKUP: Names<BackupInput & Pick<Restored, "made">> = { made: true, cards: true, credentials: true, objects: true, state: true, now: true };
const STATE: Names<{ [name in StateName]?: Uint8Array }> = { ledger: true, seen: true, "status-list": true };

/** A chain and approvals. */
const evidenceOf = (evidence: Evidence = {}): Evidence => known(evidence, "evidence", EVIDENCE);

/** So much of something. @internal */
export const amountOf = (amount: Amount, what: string): Amount => known(amount, what, AMOUNT);

/**
 * An agent: everything that comes from one seed of 32 bytes. Neither the seed nor a private key can be taken out of it; keep the
 * seed where it came from, or the 24 words.
 */
export class Agent extends Living {
  /** `did:gambeson:…` */
  readonly did: string;
  readonly suite: Suite;

  private constructor(handle: Handle) {
    super(handle);
    const { did, suite } = this.ask<{ did: string; suite: Suite }>("about").said;
    this.did = did;
    this.suite = suite;
  }

  /** In JSON it is who it is. */
  override toJSON(): { did: string; suite: Suite } {
    return { did: this.did, suite: this.suite };
  }

  static #made(from: string, options: SeedOptions & Json, bytes: Uint8Array = new Uint8Array()): Agent {
    const { cards, ...rest } = options;
    const input = { ...rest, ...(cards === undefined ? {} : { cards: String(cards) }) };
    return new Agent(untrapped(() => wasm().Handle.agent(from, written(input), bytesOf(bytes))));
  }

  /** A new agent, whose seed nobody ever sees. */
  static generate(options: Pick<SeedOptions, "suite"> = {}): Agent {
    return Agent.#made("generate", { ...known(options, "Agent.generate", SUITE) });
  }

  /** The agent of a seed of 32 bytes. @throws GambesonError `bad-length`, `wrong-seed` */
  static fromSeed(seed: Uint8Array, options: SeedOptions = {}): Agent {
    const bytes = bytesOfLength(seed, 32, "a seed");
    return Agent.#made("seed", { ...known(options, "Agent.fromSeed", { ...SUITE, ...CARDS }) }, bytes);
  }

  /** The agent of 24 words (BIP-39), which hold its seed. @throws GambesonError `bad-words`, `wrong-seed` */
  static fromWords(words: string, options: SeedOptions = {}): Agent {
    return Agent.#made("words", { ...known(options, "Agent.fromWords", { ...SUITE, ...CARDS }), words });
  }

  /**
   * The agent of a file that `protectWords` or the program made, in the file's suite. It takes as long as a guess of the passphrase shall
   * take: about a second, and much memory.
   * @throws GambesonError `wrong-passphrase`, `too-much-work`, `bad-form`, `wrong-seed`
   */
  static fromProtected(file: Uint8Array, passphrase: string, options: Pick<SeedOptions, "cards"> = {}): Agent {
    return Agent.#made("protected", { ...known(options, "Agent.fromProtected", CARDS), passphrase }, file);
  }

  /**
   * The agent of an age file under a passphrase with the 24 words in it. A file that asks for more work than `maxWorkFactor` is refused: 20
   * by default, which takes 1 GiB and is the most.
   * @throws GambesonError `wrong-passphrase`, `too-much-work`, `bad-form`, `bad-words`
   */
  static fromAgeFile(file: Uint8Array, passphrase: string, options: SeedOptions & { maxWorkFactor?: number } = {}): Agent {
    return Agent.#made("age", { ...known(options, "Agent.fromAgeFile", AGE), passphrase }, file);
  }

  /** 24 new words, to write down before the agent is made of them. */
  static newWords(): string {
    return ask<string>("words").said;
  }

  /** The seed of 24 words as a file under a passphrase, for the agent's own disk: Argon2id, or PBKDF2 in suite `cnsa2`. */
  static protectWords(words: string, passphrase: string, options: Pick<SeedOptions, "suite"> = {}): Uint8Array {
    return ask("protect", { ...known(options, "Agent.protectWords", SUITE), words, passphrase }).bytes;
  }

  /** The agent with this number in the fleet: its seed comes from this one's and tells nothing about it. */
  child(index: bigint | number): Agent {
    if (index < 0 || index > 0xffff_ffff_ffff_ffffn) throw new GambesonError("bad-path", "an index must be a number of 64 bits");
    return new Agent(this.derive("child", { index: String(index) }));
  }

  /** The URL of the key that signs credentials, delegations and actions. */
  get keyUrl(): string {
    return this.keyUrlOf("signing");
  }

  /** The URL of a role's present key, which signatures name. */
  keyUrlOf(role: Role): string {
    return this.ask<string>("keyUrl", { role }).said;
  }

  /** The bytes of a role's present public key. */
  publicKey(role: Role = "signing"): Uint8Array {
    return this.ask("publicKey", { role }).bytes;
  }

  /** How often a role's key was rotated. */
  index(role: Role): bigint {
    return BigInt(this.ask<string>("index", { role }).said);
  }

  /** Counts sessions, each of which has keys of its own that hedge randomness: a boot counter or a time. */
  beginSession(n: bigint | number): void {
    this.ask("beginSession", { n: String(n) });
  }

  /** The first identity card, which binds the agent's keys to its DID: text to publish, for `Verifier.addCards`. */
  card(options: CardOptions = {}): string {
    const { from, validFor = 31_536_000, ...rest } = known(options, "card", CARD);
    return this.ask<string>("card", { ...rest, ...span(from, validFor) }).said;
  }

  /** The cards with one more: new keys for `roles`, and a new DID key in any case. @throws GambesonError `wrong-seed`, `bad-form` */
  rotate(cards: string | CardLog, options: RotateOptions = {}): string {
    const { from, validFor = 31_536_000, ...rest } = known(options, "rotate", ROTATION);
    return this.ask<string>("rotate", { ...rest, cards: String(cards), ...span(from, validFor) }).said;
  }

  /**
   * Signs bytes with the agent's signing key, in a context of 1 to 255 bytes that says what they are. The empty context belongs to
   * JOSE and HTTP, and those that begin with `gambeson ` to the formats of this package.
   *
   * @throws GambesonError `bad-context`, `context-too-long`
   */
  sign(message: Uint8Array, context: Uint8Array): Uint8Array {
    return this.ask("sign", {}, [message, context]).bytes;
  }

  /** Issues a credential. @throws GambesonError `bad-form`, `too-large` */
  issue(credential: CredentialInput): string {
    const { id, type, context, subject, status, members, form = "jwt", validFor = 86_400, ...rest } = known(credential, "issue", CREDENTIAL);
    if (form !== "jwt" && form !== "data-integrity") throw new GambesonError("bad-form", `issue: form must be "jwt" or "data-integrity", not ${String(form)}`);
    const { from, until } = span(rest.from, validFor);
    const given = Object.entries({ id, type, "@context": context, credentialStatus: status }).filter(([, value]) => value !== undefined);
    const text = written({
      ...members,
      ...Object.fromEntries(given),
      credentialSubject: subject,
      validFrom: rfc3339(from),
      validUntil: rfc3339(until),
    });
    return this.ask<string>("issue", { credential: text, proof: form === "data-integrity", now: from }).said;
  }

  /** Shows credentials to one verifier, which asked with this nonce: `vp+jwt`. */
  present(credentials: string[], request: { audience: string; nonce: string; now?: Time }): string {
    return this.ask<string>("present", { ...known(request, "present", QUESTION), credentials, now: seconds(request.now) }).said;
  }

  /** Issues an SD-JWT VC, of which its holder shows as much as it likes. @throws GambesonError `bad-form`, `too-large` */
  issueSdJwt(credential: SdJwtInput): string {
    const { claims, from, validFor = 86_400, ...rest } = known(credential, "issueSdJwt", SD_JWT);
    return this.ask<string>("issueSdJwt", { ...rest, claims: written(claims), ...span(from, validFor) }).said;
  }

  /** Shows an SD-JWT that is bound to this agent to one verifier, with the claims of these pointers. @throws GambesonError `bad-form` */
  presentSdJwt(issued: string, disclosed: string[], request: { audience: string; nonce: string; now?: Time }): string {
    return this.ask<string>("presentSdJwt", { ...known(request, "presentSdJwt", QUESTION), issued, disclosed, now: seconds(request.now) }).said;
  }

  /** Adds a Data Integrity proof (`mldsa44-jcs-2024`) to a JSON document. */
  signDocument<T extends object>(document: T, now?: Time): T & { proof: Json } {
    return this.ask<T & { proof: Json }>("signDocument", { document: written(document), now: seconds(now) }).said;
  }

  /** Delegates: the first link of a chain, or one that narrows `parent`. @throws GambesonError `widened`, `too-deep`, `wrong-delegate` */
  delegate(grant: DelegationInput): string {
    const { from, validFor = 3600, budget, capabilities, ...terms } = known(grant, "delegate", DELEGATION);
    const limits = {
      capabilities: listOf(capabilities, "capabilities").map((it) => known(it, "a capability", CAPABILITY)),
      budget: budget && amountOf(budget, "the budget"),
    };
    return this.ask<string>("delegate", { ...terms, ...limits, ...span(from, validFor) }).said;
  }

  /** Approves exactly this action, the text of `action`, of another agent. */
  approve(action: string, actor: string, now?: Time): string {
    return this.ask<string>("approve", { action, actor, now: seconds(now) }).said;
  }

  /**
   * What is to be signed of an MCP request, for one audience, now and once: canonical JSON. It lasts two minutes, or `lifetime`
   * seconds where somebody must approve it first.
   */
  action(method: string, params: Json, options: ActionOptions): string {
    return this.#action({ method, params: written(params) }, options);
  }

  /** As `action`, of a call that is not of MCP. */
  actionOf(call: Call, options: ActionOptions): string {
    const { method, name = "", arguments: given = {}, params = {} } = known(call, "actionOf", CALL);
    const input = { method, name, arguments: written(given), params: written(params) };
    return this.#action(input, options);
  }

  #action(call: Json, options: ActionOptions): string {
    const { audience, evidence, lifetime, now } = known(options, "action", ACTION);
    return this.ask<string>("action", { ...call, audience, lifetime, chain: evidenceOf(evidence).chain, now: seconds(now) }).said;
  }

  /** Signs an action: a detached JWS, for `Verifier.action`. */
  signAction(action: string): string {
    return this.ask<string>("signAction", { action }).said;
  }

  /** Signs an action of MCP: the proof that goes into `params._meta`. */
  prove(action: string, evidence: Evidence = {}): Json {
    const { chain, approvals } = evidenceOf(evidence);
    return this.ask<Json>("prove", { chain, approvals, action }).said;
  }

  /** Signs what a server answers to an action: the result with a receipt in `_meta`. */
  acknowledge<T extends object>(action: string, result: T, now?: Time): T {
    return this.ask<T>("acknowledge", { action, result: written(result), now: seconds(now) }).said;
  }

  /** Signs an HTTP request (RFC 9421): the fields to add. */
  signRequest(request: HttpRequest, options: HttpSignOptions = {}): [string, string][] {
    return this.#signHttp(messageOf(request), options);
  }

  /** Signs an HTTP response (RFC 9421), and with it which request it answers: the fields to add. */
  signResponse(response: HttpResponse, options: HttpSignOptions = {}): [string, string][] {
    return this.#signHttp(messageOf(response), options);
  }

  #signHttp({ message, bodies }: Crossing, options: HttpSignOptions): [string, string][] {
    const terms = known(options, "HTTP options", HTTP_SIGN);
    return this.ask<[string, string][]>("signHttp", { ...terms, message, now: seconds(terms.now) }, bodies).said;
  }

  /** Signs an A2A agent card: the same with a signature more. */
  signAgentCard<T extends object>(card: T): T {
    return this.ask<T>("signAgentCard", { card: written(card) }).said;
  }

  /** Signs a payload and seals it to an agent whose card `cards` has, for `validFor` seconds, a week by default. */
  seal(payload: Uint8Array, options: SealOptions): Uint8Array {
    const { cards, to, mediaType = "application/octet-stream", validFor = 604_800, now } = known(options, "seal", SEAL);
    const { from, until } = span(now, validFor);
    return cards.sealTo(this, { to, mediaType, until, now: from }, payload);
  }

  /** Seals cards, credentials, memory objects and state to this agent's backup key: its seed alone opens them again. */
  backup(contents: BackupInput): Uint8Array {
    const { cards, credentials = {}, objects = [], state = {}, now } = known(contents, "backup", BACKUP);
    const lines = cards === undefined ? undefined : String(cards);
    // A map would be taken for an object that is empty.
    if (tagOf(credentials) !== "Object") throw new GambesonError("bad-form", "backup: credentials must be strings by name in a plain object");
    const kept = Object.entries(known(state, "the state of a backup", STATE));
    const pieces = [...valuesOf(objects), ...kept.map(([, bytes]) => bytes)];
    return this.ask("backup", { cards: lines, credentials, state: kept.map(([name]) => name), now: seconds(now) }, pieces).bytes;
  }

  /**
   * Opens a backup of this agent. Whoever keeps it may give an older one: `since` refuses those whose cards are fewer than these.
   * @throws GambesonError `cannot-open`, `bad-archive`, `stale-card`, …
   */
  restore(backup: Uint8Array, options: { since?: number } = {}): Restored {
    type Pieces = [string, number][];
    type Said = { made: number; cards: string | null; credentials: { [name: string]: string }; objects: Pieces; state: Pieces };
    const { said, bytes } = this.ask<Said>("restore", known(options, "restore", { since: true }), backup);
    const named = [...said.objects, ...said.state];
    const pieces = cut(bytes, named.map(([, length]) => length));
    const all = named.map(([name], i): [string, Uint8Array] => [name, pieces[i] as Uint8Array]);
    return {
      ...said,
      cards: said.cards === null ? undefined : CardLog.verify(said.cards),
      objects: new Map(all.slice(0, said.objects.length)),
      state: Object.fromEntries(all.slice(said.objects.length)),
    };
  }

  /** Seals state that lies on a disk of others, such as what a verifier counted; `label` tells one from another. */
  sealState(label: string, state: Uint8Array): Uint8Array {
    return this.ask("sealState", { label }, state).bytes;
  }

  /** Opens state that this agent sealed. That it is the newest nobody can tell. @throws GambesonError `cannot-open`, `bad-form` */
  openState(label: string, sealed: Uint8Array): Uint8Array {
    return this.ask("openState", { label }, sealed).bytes;
  }

  /** Signs a file, as its hash: a text to keep beside it, for `Verifier.file`. */
  signFile(file: Uint8Array, now?: Time): string {
    return this.ask<string>("signFile", { now: seconds(now) }, file).said;
  }
}

/** A message as it crosses: its bodies go beside it. @internal */
export interface Crossing {
  message: object;
  bodies: Bytes;
}

/** @internal */
export function messageOf(message: HttpRequest | HttpResponse): Crossing {
  const response = has(message, "status");
  const { headers, body, ...rest } = response ? known(message, "a response", RESPONSE) : known(message, "a request", REQUEST);
  const request = response && message.request ? messageOf(message.request) : undefined;
  return {
    message: { ...rest, fields: fieldsOf(headers), body: body !== undefined, request: request?.message },
    bodies: [...(body === undefined ? [] : [body]), ...((request?.bodies ?? []) as Uint8Array[])],
  };
}

/** Pairs of names and values, of which nothing else is known yet. */
function fieldsOf(headers: Iterable<[string, string]>): [string, string][] {
  if (typeof headers === "string" || typeof headers?.[Symbol.iterator] !== "function") {
    throw new GambesonError("bad-form", "headers must be Headers or a list of names and values");
  }
  return [...headers];
}
