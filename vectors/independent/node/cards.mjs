// docs/spec/did.md: identity cards, their log, who keeps it, recovery.

import * as keys from './keys.mjs'
import { Document, splitUrl, suiteOf } from './did.mjs'
import {
  canonical, decode, encode, fromMultibase, isObject, isText, multibase, need, parseObject, parseTime, same, text, utf8, within,
} from './reading.mjs'

const MAX_CARD = 65536
export const CONTEXT = utf8('gambeson card v1')

/** Purpose, form and relationships of each role, in the order of cards. */
export const ROLES = new Map([
  ['identity', ['Identity', 'JsonWebKey', ['authentication']]],
  ['signing', ['Signing', 'JsonWebKey', ['assertionMethod', 'capabilityInvocation', 'capabilityDelegation']]],
  ['did', ['Did', 'JsonWebKey', []]],
  ['backup', ['Backup', 'JsonWebKey', ['keyAgreement']]],
  ['sealed', ['Sealed', 'JsonWebKey', ['keyAgreement']]],
  ['encapsulation', ['Encapsulation', 'JsonWebKey', ['keyAgreement']]],
  ['data-integrity', ['DataIntegrity', 'Multikey', ['assertionMethod']]],
  ['log', ['Log', 'JsonWebKey', []]],
])
const AGREEMENT = {
  default: { backup: 'age-mlkem768x25519', sealed: 'gambeson-sealed-v1', encapsulation: 'ML-KEM-768' },
  cnsa2: { backup: 'gambeson-backup-cnsa2-v1', sealed: 'gambeson-sealed-cnsa2-v1', encapsulation: 'ML-KEM-1024' },
}

/** A card that follows from the one before it (`undefined` for the first). */
export class Card {
  constructor(line, previous) {
    const card = parseObject(line, MAX_CARD)
    need(Object.keys(card).sort().join() === 'document,signature', 'bad-form')
    need(isObject(card.document) && isText(card.signature), 'bad-form')
    this.signature = decode(card.signature, 8192)
    this.document = new Document(card.document)
    this.did = this.document.id
    this.suite = suiteOf(this.did)
    this.read(card.document.card)
    this.canonical = utf8(canonical(card.document))
    this.hash = multibase(keys.multihash(this.suite, this.canonical))
    this.follow(previous)
  }

  read(member) {
    need(isObject(member), 'bad-form')
    this.version = member.version
    need(Number.isInteger(this.version) && this.version > 0, 'bad-form')
    this.validFrom = parseTime(text(member, 'validFrom'))
    this.validUntil = parseTime(text(member, 'validUntil'))
    need(this.validFrom <= this.validUntil, 'bad-form')
    this.next = fromMultibase(text(member, 'next'), 64)
    const empty = keys.multihash(this.suite, Buffer.alloc(0))
    need(this.next.length === empty.length && this.next.readUInt16BE() === empty.readUInt16BE(), 'bad-form')
    this.previous = member.previous ?? null
  }

  follow(previous) {
    const key = this.document.keyOfRole(`${this.did}#did-${this.version - 1}`, 'did', this.validFrom)
    const fits = key.algorithm === keys.algorithmOf(this.suite, 'Did')
    const hashed = keys.multihash(this.suite, key.bytes)
    if (previous === undefined) {
      need(this.version === 1 && this.previous === null, 'broken-chain')
      need(fits && this.did === `did:gambeson:${multibase(hashed)}`, 'not-bound')
    } else {
      need(this.did === previous.did && this.version === previous.version + 1, 'broken-chain')
      need(this.previous === previous.hash && this.validFrom >= previous.validFrom, 'broken-chain')
      need(fits && hashed.equals(previous.next), 'broken-chain')
    }
    key.verify(this.canonical, this.signature, CONTEXT)
  }
}

/** Every card of a log, oldest first. */
export function verifyLog(lines) {
  const cards = []
  for (const line of lines.split('\n').filter(line => line !== '')) {
    need(cards.length < 1024, 'too-large')
    cards.push(new Card(utf8(line), cards.at(-1)))
  }
  need(cards.length > 0, 'bad-form')
  return cards
}

/** Keeps the longest log of each DID. */
export class Keeper {
  #logs = new Map()

  add(cards) {
    const known = this.#logs.get(cards[0].did) ?? []
    need(known.every((card, at) => at >= cards.length || card.hash === cards[at].hash), 'broken-chain')
    need(known.length <= cards.length, 'stale-card')
    this.#logs.set(cards[0].did, cards)
  }

  resolve(did, now) {
    need(this.#logs.has(did), 'unknown-did')
    const newest = this.#logs.get(did).at(-1)
    within(now, newest.validFrom, newest.validUntil)
    return newest.document
  }
}

/** The verification method of a key from the seed. */
export function methodOf(did, seed, role, index) {
  const [purpose, form] = ROLES.get(role)
  const suite = suiteOf(did)
  const name = keys.algorithmOf(suite, purpose)
  const bytes = keys.publicKey(name, keys.derive(suite, seed, purpose, index))
  const method = { id: `${did}#${role}-${index}`, controller: did, type: form }
  return form === 'Multikey'
    ? { ...method, publicKeyMultibase: new keys.VerifyingKey(name, bytes).multikey() }
    : { ...method, publicKeyJwk: { kty: 'AKP', alg: AGREEMENT[suite][role] ?? name, pub: encode(bytes) } }
}

/** The index of each role, if the seed gives the keys of the newest card. */
export function recover(seed, cards) {
  const newest = cards.at(-1)
  const first = keys.publicKey(keys.algorithmOf(newest.suite, 'Did'), keys.derive(newest.suite, seed, 'Did', 0))
  need(newest.did === `did:gambeson:${multibase(keys.multihash(newest.suite, first))}`, 'wrong-seed')
  const indexes = Object.fromEntries([...ROLES.keys()].map(role => [role, '0']))
  for (const { url, expires, revoked } of newest.document.methods.values()) {
    const match = /^(.*)-(0|[1-9][0-9]*)$/.exec(splitUrl(url).fragment)
    if (match && ROLES.has(match[1]) && expires === undefined && revoked === undefined) indexes[match[1]] = match[2]
  }
  indexes.did = String(newest.version - 1)
  for (const role of ROLES.keys()) {
    const ours = methodOf(newest.did, seed, role, indexes[role])
    need(newest.document.json.verificationMethod.some(theirs => same(ours, theirs)), 'wrong-seed')
  }
  return indexes
}
