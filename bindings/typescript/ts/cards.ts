import type { Json, Role, Suite } from "./agent.js";
import { ask } from "./border.js";
import { notMade, uncloneable } from "./held.js";
import { known, type Names } from "./known.js";
import { seconds, type Time } from "./time.js";

/** What a key may be used for (DID Core 1.0, §5.3). */
export type Relationship = "authentication" | "assertionMethod" | "keyAgreement" | "capabilityInvocation" | "capabilityDelegation";

/** What a key of a card is wanted for. */
export interface KeyUse {
  relationship: Relationship;
  /** In the form of Data Integrity. */
  multikey?: boolean;
  now?: Time;
}

const KEY_USE: Names<KeyUse> = { relationship: true, multikey: true, now: true };

interface About {
  did: string;
  hashes: string[];
  document: Json;
  from: number;
  until: number;
  newest: string;
}

/** All the identity cards of a DID, oldest first, verified. A value: `append` gives a new one. */
export class CardLog {
  readonly did: string;
  /** The hash of each card; peers that know that of the newest need not be sent it. */
  readonly hashes: readonly string[];
  /** The DID document of the newest card. */
  readonly document: Json;
  /** When the newest card begins and ends, in seconds since 1970. */
  readonly validity: readonly [number, number];
  /** The newest card alone: canonical JSON of one line. */
  readonly newest: string;

  private constructor(
    private readonly lines: string,
    about: About,
  ) {
    if (typeof lines !== "string" || about === undefined) throw notMade("CardLog");
    uncloneable(this);
    this.did = about.did;
    this.hashes = about.hashes;
    this.document = about.document;
    this.validity = [about.from, about.until];
    this.newest = about.newest;
  }

  /** Reads a log, one card a line, and verifies every card of it. @throws GambesonError `not-bound`, `broken-chain`, `bad-signature`, … */
  static verify(lines: string): CardLog {
    return new CardLog(lines, ask<About>("cards", { cards: lines }).said);
  }

  /** The log with one more card, which is verified. */
  append(card: string): CardLog {
    return CardLog.verify(`${this.lines.replace(/\n?$/, "\n")}${card}\n`);
  }

  /** How many cards there are. */
  get length(): number {
    return this.hashes.length;
  }

  /** The bytes of a key of the newest card that signs, if it is good for that at this time; `multikey` for the form of Data Integrity. */
  key(keyUrl: string, use: KeyUse): Uint8Array {
    return ask("cardKey", { cards: this.lines, keyUrl, ...known(use, "key", KEY_USE), now: seconds(use.now) }).bytes;
  }

  /** The bytes of a key that no relationship names: that of a log. */
  keyOfRole(keyUrl: string, role: Role, now?: Time): Uint8Array {
    return ask("cardKey", { cards: this.lines, keyUrl, role, now: seconds(now) }).bytes;
  }

  /** The key to which others seal by this algorithm, the `alg` of its JWK. */
  agreementKey(algorithm: string, now?: Time): { url: string; bytes: Uint8Array } {
    const { said: url, bytes } = ask<string>("cardKey", { cards: this.lines, agreement: algorithm, now: seconds(now) });
    return { url, bytes };
  }

  /** In JSON it is the text of the file. */
  toJSON(): string {
    return this.lines;
  }

  /** The file: one card a line. */
  toString(): string {
    return this.lines;
  }
}

/** A DID in its parts. */
export interface ParsedDid {
  method: string;
  /** What follows `did:method:`. */
  id: string;
  /** Of a `did:gambeson`; the default one for others. */
  suite: Suite;
  /** Where the document of a `did:web` is. */
  address: string | null;
}

/** Reads a DID of a method that is known here, or of the syntax of DID Core 1.0, §3.1. @throws GambesonError `bad-did` */
export function parseDid(did: string): ParsedDid {
  return ask<ParsedDid>("did", { did }).said;
}

/** A DID URL in its parts (DID Core 1.0, §3.2); a part that is missing is empty. */
export interface ParsedDidUrl {
  did: string;
  path: string;
  query: string;
  fragment: string;
}

/** Reads a DID URL; with `base`, a DID, a reference in its document is resolved first (§3.2.2). @throws GambesonError `bad-did` */
export function parseDidUrl(url: string, base?: string): ParsedDidUrl {
  return ask<ParsedDidUrl>("didUrl", { url, base }).said;
}
