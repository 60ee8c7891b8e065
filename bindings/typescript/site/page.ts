// The page: takes texts, finds out what they are, and says who signed them and why they hold or fail.
import { GambesonError, Verifier, init, type Json } from "../dist/agents.js";
import { graph, type Edge, type State } from "./graph.js";

const PROOF = "io.github.gambeson-pq/proof";

/** What was given, in the order it came. */
interface Given {
  name: string;
  text: string;
}

/** One check: a sentence, and its outcome. */
interface Check {
  said: string;
  state: State;
}

/** The verdict on one text. */
interface Verdict {
  kind: string;
  holds: boolean;
  /** One sentence. */
  why: string;
  code?: string;
  checks: Check[];
  facts: [string, string][];
  edges: Edge[];
  /** What it says, whoever said it. */
  content: unknown;
}

const given: Given[] = [];
/** Names that people may know: cards were given in files. */
const names = new Map<string, string>();
const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

function make<K extends keyof HTMLElementTagNameMap>(tag: K, text = "", className = ""): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** JSON, or nothing. */
function json(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

/** The header and the payload of a compact JWS, unverified. */
function parts(token: string): { header: Json; payload: Json } | undefined {
  const [header, payload, signature, more] = token.trim().split(".");
  if (!header || !payload || !signature || more !== undefined) return undefined;
  const read = (part: string): Json | undefined => {
    try {
      const binary = atob(part.replace(/-/g, "+").replace(/_/g, "/"));
      return json(new TextDecoder().decode(Uint8Array.from(binary, (c) => c.charCodeAt(0))));
    } catch {
      return undefined;
    }
  };
  const both = { header: read(header), payload: read(payload) };
  return both.header && both.payload ? { header: both.header, payload: both.payload } : undefined;
}

const types = (credential: Json): unknown[] => [credential["type"]].flat();
const first = (value: unknown): Json => ([value].flat()[0] ?? {}) as Json;
const didOf = (url: unknown): string => String(url ?? "nobody").replace(/#.*$/s, "");
const date = (seconds: unknown): string =>
  typeof seconds === "number" ? new Date(seconds * 1000).toISOString().replace(".000Z", "Z") : String(seconds ?? "—");

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null;

/** The DID documents of a log of cards, one in each line. */
function documents(text: string): Json[] {
  return text.trim().split("\n").map((line) => json(line)?.["document"]).filter(isObject);
}

function isCards(text: string): boolean {
  const [document] = documents(text);
  return document !== undefined && isObject(document["card"]) && Array.isArray(document["verificationMethod"]);
}

/** The chain of a delegation: a JSON list of tokens, tokens line by line, or one. */
function chainOf(text: string): string[] | undefined {
  const value = json(text);
  const list = Array.isArray(value) ? (value as unknown[]).map(String) : text.trim().split(/\s+/);
  const links = list.map((token) => parts(token)?.payload);
  return links.every((link) => link !== undefined && types(link).includes("AgentDelegationCredential")) ? list : undefined;
}

/** A verifier that knows the cards and, where asked, the status lists that were given, and nothing else. */
function verifierOf(now: number, lists = true): Verifier {
  const verifier = new Verifier({ capacity: 1000 });
  for (const { name, text } of given) {
    try {
      if (!isCards(text)) continue;
      const did = verifier.addCards(text);
      if (!name.startsWith("pasted")) names.set(did, name.replace(/\.\w+$/, ""));
    } catch {
      // Its own verdict says why.
    }
  }
  for (const { text } of lists ? given : []) {
    try {
      if (!types(parts(text)?.payload ?? {}).includes("BitstringStatusListCredential")) continue;
      verifier.addStatusList(text.trim(), now);
    } catch {
      // As above.
    }
  }
  return verifier;
}

/** Runs a check. Returns the error if it fails. */
function attempt(check: () => void): GambesonError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof GambesonError) return error;
    throw error;
  }
}

const state = (error: GambesonError | undefined): State => (error === undefined ? "holds" : "fails");

/** The state of a check that comes after another: not checked unless that one holds. */
const after = (before: State, error: GambesonError | undefined): State => (before === "holds" ? state(error) : "unchecked");

const outcome = (error: GambesonError | undefined, good: string): Pick<Verdict, "holds" | "why" | "code"> =>
  error ? { holds: false, why: `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`, code: error.code } : { holds: true, why: good };

function judgeCards(text: string, now: number): Verdict {
  const card = documents(text).at(-1) ?? {};
  const did = String(card["id"]);
  const verifier = new Verifier();
  const unbound = attempt(() => verifier.addCards(text));
  const error = unbound ?? attempt(() => verifier.resolve(did, now));
  const said = card["card"] as Json;
  const methods = (card["verificationMethod"] as Json[]).map((method) => String(method["id"]).replace(did, ""));
  return {
    kind: "Identity card",
    ...outcome(error, `${short(did)} is bound to these ${methods.length} keys, and says so itself.`),
    checks: [
      { said: "The card is signed by the key that its DID is the hash of.", state: state(unbound) },
      { said: "It is in its time.", state: after(state(unbound), error) },
    ],
    facts: [["DID", did], ["Version", String(said["version"])], ["Valid", `${String(said["validFrom"])} to ${String(said["validUntil"])}`], ["Keys", methods.join(", ")]],
    edges: [],
    content: card,
  };
}

function judgeCredential(text: string, now: number, verifier: Verifier): Verdict {
  const token = parts(text);
  const credential = token?.payload ?? json(text) ?? {};
  const issuer = String(first(credential["issuer"])["id"] ?? credential["issuer"]);
  const subject = String(first(credential["credentialSubject"])["id"] ?? "somebody");
  const list = types(credential).includes("BitstringStatusListCredential");
  const check = (verifier: Verifier, now: number, statusIfKnown = true): GambesonError | undefined =>
    attempt(() => {
      if (list) verifier.addStatusList(text.trim(), now);
      else verifier.credential(text.trim(), { statusIfKnown, now });
    });
  const error = check(verifier, now);
  // The verifier stops at the first fault, which may be the time or the status. So the signature is checked at each time at which the
  // rest may hold, without status lists.
  const [from, until] = [credential["validFrom"], credential["validUntil"]].map((time) => Date.parse(String(time)) / 1000);
  const times = [now, from, Number(until) - 1].filter((time) => Number(time) >= 0) as number[];
  const faults = times.map((time) => check(verifierOf(time, false), time));
  const known = !faults.some((fault) => fault?.code === "unknown-did");
  const signed: State = error === undefined || faults.includes(undefined) ? "holds" : known ? "fails" : "unchecked";
  const overdue = error?.code === "expired" || error?.code === "not-yet-valid" ? error : undefined;
  const checks: Check[] = [
    { said: `Signed by ${short(issuer)}, whose card is ${known ? "" : "not "}known here.`, state: signed },
    { said: "In its time.", state: after(signed, overdue) },
  ];
  if (credential["credentialStatus"] !== undefined) {
    const revoked = error?.code === "revoked" || error?.code === "suspended" ? error : undefined;
    const looked = error !== undefined ? revoked !== undefined : check(verifierOf(now), now, false) === undefined;
    checks.push({ said: "Not revoked, by the status lists given here.", state: looked ? after(signed, revoked) : "unchecked" });
  }
  return {
    kind: list ? "Status list" : `Credential: ${types(credential).filter((type) => type !== "VerifiableCredential").join(", ") || "plain"}`,
    ...outcome(error, `${short(issuer)} says this of ${short(subject)}.`),
    checks,
    facts: [["Issuer", issuer], ["Subject", subject], ["Valid", `${date(credential["validFrom"])} to ${date(credential["validUntil"])}`], ["Key", String(token?.header["kid"] ?? first(credential["proof"])["verificationMethod"] ?? "—")]],
    edges: [{ from: issuer, to: subject, said: ["says"], state: signed === "unchecked" ? signed : state(error) }],
    content: credential,
  };
}

/** What a capability permits, in a line. */
function permits(capability: Json): string {
  const caveats = (capability["caveats"] as Json[] | undefined) ?? [];
  const tests = caveats.map((caveat) => {
    const test = Object.keys(caveat).find((name) => name !== "argument") ?? "";
    const words: Record<string, string> = { atMost: "≤", atLeast: "≥", oneOf: "in", prefix: "begins", approval: "approved by" };
    return `${String(caveat["argument"] ?? "")} ${words[test] ?? test} ${JSON.stringify(caveat[test])}`.trim();
  });
  return [String(capability["action"]), ...tests].join(", ");
}

/** Each link, and the error of the first that fails; those behind it are not checked. */
function chainEdges(chain: string[], now: number, verifier: Verifier): { edges: Edge[]; error: GambesonError | undefined } {
  let error: GambesonError | undefined;
  const edges = chain.map((token, i): Edge => {
    const link = parts(token)?.payload ?? {};
    const subject = first(link["credentialSubject"]);
    const before = state(error);
    error ??= attempt(() => verifier.delegation(chain.slice(0, i + 1), now));
    const granted = (subject["delegation"] ?? subject) as Json;
    const said = ((granted["capabilities"] as Json[] | undefined) ?? []).map(permits);
    if (granted["maxCalls"] !== undefined) said.push(`at most ${String(granted["maxCalls"])} calls`);
    said.push(`until ${date(link["validUntil"])}`);
    return {
      from: String(first(link["issuer"])["id"] ?? link["issuer"]),
      to: String(subject["id"]),
      said,
      state: after(before, error),
    };
  });
  return { edges, error };
}

function judgeDelegation(chain: string[], now: number, verifier: Verifier): Verdict {
  const { edges, error } = chainEdges(chain, now, verifier);
  const [root, last] = [edges[0], edges.at(-1)];
  return {
    kind: `Delegation of ${chain.length} ${chain.length === 1 ? "link" : "links"}`,
    ...outcome(error, `${short(last?.to)} may act in the name of ${short(root?.from)}, within what is drawn.`),
    checks: edges.map(({ from, to, state }, i) => ({ said: `Link ${i + 1}: ${short(from)} to ${short(to)}, signed, in its time, and no wider than the one before.`, state })),
    facts: [["In the name of", String(root?.from)], ["Delegate", String(last?.to)]],
    edges,
    content: chain.map((token) => parts(token)?.payload),
  };
}

function judgeCall(request: Json, verifier: Verifier, now: number): Verdict {
  const params = request["params"] as Json;
  const method = String(request["method"]);
  const proof = (params["_meta"] as Json)[PROOF] as Json;
  const [audience, signed] = [String(proof["aud"]), Number(proof["iat"])];
  const chain = (proof["chain"] as string[] | undefined) ?? [];
  const kid = parts(String(proof["jws"]).replace("..", ".e30."))?.header["kid"];
  const agent = didOf(kid);
  const { edges } = chainEdges(chain, now, verifier);
  const root = edges[0]?.from ?? agent;
  // Verifiers of their own: one that has seen a call remembers its nonce.
  const signerAt = (time: number): GambesonError | undefined =>
    attempt(() => verifierOf(time).toolCallSigner(method, params, { audience, lifetime: 86_400, now: time }));
  const refused = signerAt(now);
  // The verifier stops at the first fault, which may be the time. So the signature is checked at the time that the call names, too.
  const signature = refused && Number.isSafeInteger(signed) ? signerAt(signed) : refused;
  const signedState: State = signature?.code === "unknown-did" ? "unchecked" : state(signature);
  const overdue = refused?.code === "expired" || refused?.code === "not-yet-valid" ? refused : undefined;
  const deciding = verifierOf(now);
  const trusted = refused ?? attempt(() => deciding.trust(root, audience));
  const error = trusted ?? attempt(() => deciding.toolCall(method, params, { audience, lifetime: 86_400, now }));
  const tool = String(params["name"] ?? params["uri"] ?? method);
  const chainState: State = edges.every(({ state }) => state === "holds") ? "holds" : "fails";
  const permitted = after(refused === undefined ? chainState : "fails", error);
  return {
    kind: `Signed tool call: ${tool}`,
    ...outcome(error, `${short(agent)} asked for exactly this, and ${root === agent ? "acts in its own name" : `may, in the name of ${short(root)}`}.`),
    checks: [
      { said: `Signed by ${short(agent)}, argument for argument.`, state: signedState },
      ...(signedState === "holds" ? [{ said: "In its time.", state: state(overdue) }] : []),
      ...edges.map(({ from, to, state }) => ({ said: `${short(from)} delegated to ${short(to)}.`, state })),
      { said: "What was granted permits this call.", state: permitted },
    ],
    facts: [
      ["Agent", agent],
      ["In the name of", `${root} — if the server trusts it`],
      ["For", audience],
      ["Signed", date(signed)],
      ["Good until", date(proof["exp"])],
    ],
    edges: [...edges, { from: agent, to: audience, said: [`${method} ${tool}`, JSON.stringify(params["arguments"] ?? {})], state: state(error) }],
    content: request,
  };
}

/** The verdict on one text. */
function judge(text: string, now: number): Verdict {
  const verifier = verifierOf(now);
  if (isCards(text)) return judgeCards(text, now);
  const value = json(text);
  const meta = ((value?.["params"] as Json | undefined)?.["_meta"] ?? {}) as Json;
  if (value && typeof meta[PROOF] === "object" && meta[PROOF] !== null) return judgeCall(value, verifier, now);
  const chain = chainOf(text);
  if (chain) return judgeDelegation(chain, now, verifier);
  if (parts(text) ?? value?.["proof"]) return judgeCredential(text, now, verifier);
  return {
    kind: "Unknown",
    holds: false,
    code: "bad-form",
    why: "This is no identity card, credential, delegation or signed tool call.",
    checks: [],
    facts: [],
    edges: [],
    content: text.slice(0, 200),
  };
}

/** A name for people: that of the file with the card, or the end of the DID. */
function short(did: unknown): string {
  const text = String(did);
  const known = names.get(text);
  if (known) return known;
  return text.startsWith("did:gambeson:") ? `…${text.slice(-8)}` : text;
}

function show({ name }: Given, verdict: Verdict): HTMLElement {
  const article = make("article", "", verdict.holds ? "holds" : "fails");
  article.dataset["code"] = verdict.code ?? "";
  article.append(make("h3", verdict.kind), make("span", name, "source"), make("br"));
  article.append(make("span", verdict.holds ? "Holds" : `Fails: ${verdict.code ?? ""}`, "verdict"), make("p", verdict.why, "why"));
  if (verdict.checks.length > 0) {
    const list = make("ul", "", "checks");
    const words: Record<State, string> = { holds: "Holds", fails: "Fails", unchecked: "Not checked" };
    for (const { said, state } of verdict.checks) {
      const item = make("li", state === "unchecked" ? `${said} Not checked.` : said, state);
      // The sign before it is drawn by the style sheet, and a screen reader does not read it.
      item.setAttribute("aria-label", `${words[state]}: ${said}`);
      list.append(item);
    }
    article.append(list);
  }
  if (verdict.edges.length > 0) article.append(graph(verdict.edges, short));
  const facts = make("dl");
  for (const [term, said] of verdict.facts) facts.append(make("dt", term), make("dd", said));
  const details = make("details");
  details.append(make("summary", "What it says"), make("pre", JSON.stringify(verdict.content, null, 2)));
  article.append(facts, details);
  return article;
}

function refresh(): void {
  const chosen = element<HTMLInputElement>("moment").value;
  const now = Math.floor((chosen ? new Date(chosen).getTime() : Date.now()) / 1000);
  const moment: [string, string] = ["Judged at", `${date(now)} — ${chosen ? "the time set above" : "now"}`];
  const verdicts = given.map((one) => {
    try {
      const verdict = judge(one.text, now);
      return { ...verdict, facts: [...verdict.facts, moment] };
    } catch (error) {
      return { kind: "Unreadable", holds: false, code: "bad-form", why: String(error), checks: [], facts: [], edges: [], content: "" };
    }
  });
  element("results").replaceChildren(...given.map((one, i) => show(one, verdicts[i] as Verdict)).reverse());
  const holding = verdicts.filter(({ holds }) => holds).length;
  element("summary").textContent = given.length === 0 ? "Nothing to verify yet." : `${holding} of ${given.length} hold.`;
  const verifier = verifierOf(now);
  const dids = [...new Set(given.filter(({ text }) => isCards(text)).map(({ text }) => String(documents(text)[0]?.["id"])))];
  const known = dids.filter((did) => attempt(() => verifier.resolve(did, now)) === undefined);
  element("known").replaceChildren(...known.map((did) => {
    const item = make("li", `${names.get(did) ?? "unnamed"}: `);
    item.append(make("code", did));
    return item;
  }));
}

function take(name: string, text: string): void {
  if (text.trim() !== "") given.push({ name, text });
}

async function takeFiles(files: Iterable<File>): Promise<void> {
  // Nothing that can be verified is longer than this.
  for (const file of files) take(file.name, file.size > 4 << 20 ? "too long" : await file.text());
  refresh();
}

/** Starts the page, with the module's bytes. */
export async function start(module: Uint8Array<ArrayBuffer>): Promise<void> {
  await init(module);
  const drop = element("drop");
  for (const event of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(event, (dragged) => {
      dragged.preventDefault();
      drop.classList.toggle("over", event === "dragover");
    });
  }
  document.addEventListener("drop", (event) => void takeFiles(event.dataTransfer?.files ?? []));
  const files = element<HTMLInputElement>("files");
  files.addEventListener("change", () => void takeFiles([...(files.files ?? [])]).then(() => (files.value = "")));
  const text = element<HTMLTextAreaElement>("text");
  element("give").addEventListener("submit", (event) => {
    event.preventDefault();
    take(`pasted text ${given.length + 1}`, text.value);
    text.value = "";
    refresh();
  });
  element("clear").addEventListener("click", () => {
    given.length = 0;
    names.clear();
    refresh();
  });
  element("moment").addEventListener("change", refresh);
  document.documentElement.dataset["ready"] = "true";
}
