import type { Json, Suite } from "./agent.js";
import { ask, cut, textOf, valuesOf } from "./border.js";
import { bytesOf, isBytes } from "./bytes.js";
import { GambesonError } from "./error.js";
import { has, known, type Names } from "./known.js";
import type { PublicJwk } from "./jwk.js";
import { seconds, type Time } from "./time.js";
import { written } from "./written.js";

/** The longest JSON and JWS that are read, unless the caller says otherwise, in bytes. */
const MAX_LENGTH = 1 << 20;

/** The canonical form of JSON (RFC 8785, JCS), which signatures cover. A text of JSON that has no single meaning is refused (RFC 7493). */
export function canonicalize(json: string | Uint8Array | object, options: { maxLength?: number; object?: boolean } = {}): Uint8Array {
  const { maxLength = MAX_LENGTH, object = false } = known(options, "canonicalize", { maxLength: true, object: true });
  const text = isBytes(json) ? json : new TextEncoder().encode(textOf(json));
  return ask("canonicalize", { maxLength, object }, text).bytes;
}

/** A public key of ML-DSA: a JWK (RFC 9964), or an object with one or with a Multikey. */
export type KeyInput = { jwk: Json } | { multikey: string } | PublicJwk;

/** A public key of ML-DSA in its forms. */
export interface PublicKey {
  /** `ML-DSA-44`, `ML-DSA-65` or `ML-DSA-87`. */
  alg: string;
  jwk: Json;
  multikey: string;
  /** Its `did:key`. */
  did: string;
  bytes: Uint8Array;
}

/** A key that was read may be read again. */
const PUBLIC_KEY: Names<PublicKey> = { alg: true, jwk: true, multikey: true, did: true, bytes: true };

/** The key alone: whatever else its object has, which may come from anybody, is no part of the question. */
const keyOf = (key: KeyInput) => {
  if (has(key, "jwk")) return { jwk: written(key.jwk) };
  if (has(key, "multikey")) return { multikey: key.multikey };
  if (has(key, "kty")) return { jwk: written(key) };
  throw new GambesonError("bad-form", "a key must be a JWK, { jwk } or { multikey }");
};

interface Raw {
  alg: string;
  bytes: Uint8Array;
}

/** Lengths of keys (FIPS 204, §4). */
const LENGTHS: { readonly [alg: string]: number } = { "ML-DSA-44": 1312, "ML-DSA-65": 1952, "ML-DSA-87": 2592 };

/** The bytes, if they are as many, or nobody knows how many there must be. @throws GambesonError `bad-length` */
function ofLength(bytes: Uint8Array, length: number = bytesOf(bytes).length): Uint8Array {
  if (bytesOf(bytes).length === length) return bytes;
  throw new GambesonError("bad-length", `${bytes.length} bytes, where ${length} are needed`);
}

/** Hashes of a tree. */
const hashes = (...all: Uint8Array[]): Uint8Array[] => all.map((hash) => ofLength(hash, 32));

/** Reads a public key, or bytes of the algorithm that is named. @throws GambesonError `bad-key`, `bad-length` of bytes, `bad-form`, `bad-algorithm` */
export function publicKey(key: KeyInput | Raw): PublicKey {
  const { said, bytes } =
    has(key, "bytes")
      ? ask<Omit<PublicKey, "bytes">>("publicKey", { alg: known<Raw>(key, "publicKey", PUBLIC_KEY).alg }, ofLength(key.bytes, LENGTHS[key.alg]))
      : ask<Omit<PublicKey, "bytes">>("publicKey", keyOf(key));
  return { ...said, bytes };
}

/** How a JWS is verified. */
export interface JwsOptions {
  /** What a detached one is about. */
  payload?: Uint8Array;
  /** The type that it must have. */
  typ?: string;
  /** Asks for a `kid` that is the absolute URL of a key. */
  keyUrl?: boolean;
  maxLength?: number;
}

const JWS: Names<JwsOptions> = { payload: true, typ: true, keyUrl: true, maxLength: true };

/** A JWS whose signature holds. Nothing of time or signer was checked. */
export interface VerifiedJws {
  header: Json;
  keyUrl: string | null;
  payload: Uint8Array;
}

/** Verifies a compact JWS with ML-DSA (RFC 9964) by a public key. @throws GambesonError `bad-signature`, `bad-type`, … */
export function verifyJws(token: string, key: KeyInput, options: JwsOptions = {}): VerifiedJws {
  const { payload, maxLength = MAX_LENGTH, ...rest } = known(options, "verifyJws", JWS);
  const input = { token, ...keyOf(key), ...rest, maxLength };
  const { said, bytes } = ask<Omit<VerifiedJws, "payload">>("jws", input, payload === undefined ? [] : [payload]);
  return { ...said, payload: bytes };
}

/** Returns if the JSON is a DID document (DID Core 1.0), in the representation of `mediaType` if one is given, else throws; nothing of it is thereby true. */
export function checkDidDocument(document: string | object, mediaType?: string): void {
  ask("checkDidDocument", { json: textOf(document), mediaType });
}

/** Returns if the JSON has the form of a credential (VC Data Model 2.0), else throws; nothing of it is thereby true. */
export function checkCredential(credential: string | object): void {
  ask("checkCredential", { json: textOf(credential) });
}

/** Returns if the JSON has the form of a presentation (VC Data Model 2.0), else throws; nothing of it is thereby true. */
export function checkPresentation(presentation: string | object): void {
  ask("checkPresentation", { json: textOf(presentation) });
}

/** Verifies the Data Integrity proof of a document by a key that is known otherwise: the document without the proof. */
export function verifyDocumentWithKey(document: string | object, key: KeyInput): Json {
  return ask<Json>("documentWithKey", { document: textOf(document), ...keyOf(key) }).said;
}

/** The name of a memory object, by which others refer to it: `b3:` and the hash of its bytes. */
export function objectId(bytes: Uint8Array): string {
  return ask<string>("objectId", {}, bytes).said;
}

/** Returns if the bytes are the memory object of this name, else throws. @throws GambesonError `wrong-hash`, `too-large`, `bad-form` */
export function checkObject(id: string, bytes: Uint8Array): void {
  ask("checkObject", { id }, bytes);
}

/** Cuts what is longer than 1 MiB into memory objects by their names; `id` is that of the one that says which, in their order. */
export function cutObjects(bytes: Uint8Array): { id: string; objects: Map<string, Uint8Array> } {
  const { said, bytes: all } = ask<{ id: string; objects: [string, number][] }>("cutObjects", {}, bytes);
  const objects = cut(all, said.objects.map(([, length]) => length));
  return { id: said.id, objects: new Map(said.objects.map(([name], i) => [name, objects[i] as Uint8Array])) };
}

/** What `cutObjects` cut, of at most so many bytes. @throws GambesonError `wrong-hash` if an object is missing, `too-large`, `bad-form`, … */
export function joinObjects(id: string, objects: Iterable<Uint8Array> | ReadonlyMap<string, Uint8Array>, maxLength: number): Uint8Array {
  return ask("joinObjects", { id, maxLength }, valuesOf(objects)).bytes;
}

/** What an action says. It is not verified, and says nothing of its signer. */
export interface ReadAction {
  method: string;
  name: string;
  arguments: Json;
  params: Json;
  audience: string;
  issued: number;
  expires: number;
  nonce: string;
  delegation: string | null;
  /** The name of the action, by which approvals and receipts speak of it: its hash. */
  digest: string;
}

/** Reads an action. The digest is that of the suite. @throws GambesonError `bad-form`, `bad-json`, `too-large` */
export function readAction(action: string, suite: Suite = "default"): ReadAction {
  return ask<ReadAction>("action", { action, suite }).said;
}

/** JSON Pointers of what the holder of an SD-JWT can disclose, or keep to itself. */
export function sdJwtDisclosable(issued: string): string[] {
  return ask<string[]>("disclosable", { issued }).said;
}

/** An SD-JWT with the claims of these pointers, for whoever asks; nobody signs it. @throws GambesonError `bad-form` */
export function sdJwtDisclose(issued: string, disclosed: string[]): string {
  return ask<string>("disclose", { issued, disclosed }).said;
}

/** An entry whose place in a signed log was shown. */
export interface Included {
  index: bigint;
  /** How many entries the log had. */
  size: bigint;
  /** Its root, in hexadecimal digits. */
  root: string;
  /** When it was signed, in seconds since 1970. */
  signed: number;
}

/** An answer about a log, whose numbers can be larger than JavaScript counts exactly. @internal */
export const included = <T extends { index: string; size: string }>(said: T) => ({
  ...said,
  index: BigInt(said.index),
  size: BigInt(said.size),
});

/** Verifies, offline, that an entry is in the log `origin` of this key (c2sp.org/tlog-proof). @throws GambesonError `not-included`, `bad-signature`, … */
export function verifyLogProof(proof: string, entry: Uint8Array, options: { origin: string; key: KeyInput; now?: Time }): Included {
  const { origin, key, now } = known(options, "verifyLogProof", { origin: true, key: true, now: true });
  const input = { proof, origin, ...keyOf(key), now: seconds(now) };
  return included(ask<Omit<Included, "index" | "size"> & { index: string; size: string }>("logProof", input, entry).said);
}

/** Returns if the tree of this size and root has the leaf, a hash, at the index (RFC 9162, §2.1.3.2). @throws GambesonError `not-included` */
export function verifyInclusion(leaf: Uint8Array, at: { index: bigint; size: bigint; root: Uint8Array }, path: readonly Uint8Array[]): void {
  const { index, size, root } = known(at, "verifyInclusion", { index: true, size: true, root: true });
  ask("inclusion", { index: String(index), size: String(size) }, hashes(leaf, root, ...path));
}

/** The state of a log: how many entries, and the root of their tree. */
export interface TreeHead {
  size: bigint;
  root: Uint8Array;
}

/** A checkpoint is one too. */
const HEAD: Names<TreeHead & { note?: string }> = { size: true, root: true, note: true };

/** Returns if the newer tree begins with all entries of the older one (RFC 9162, §2.1.4.2). @throws GambesonError `inconsistent` */
export function verifyConsistency(older: TreeHead, newer: TreeHead, path: readonly Uint8Array[]): void {
  const [before, after] = [older, newer].map((it) => known(it, "verifyConsistency", HEAD)) as [TreeHead, TreeHead];
  ask("consistency", { oldSize: String(before.size), newSize: String(after.size) }, hashes(before.root, after.root, ...path));
}
