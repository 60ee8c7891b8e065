// session.json: docs/spec/session.md, everything that needs no TLS.

import assert from 'node:assert/strict'
import { Keeper, verifyLog } from './cards.mjs'
import { parseDid } from './did.mjs'
import { Refused, need, utf8, within } from './reading.mjs'

const SPKI = {
  'ML-DSA-65': '308207b2300b0609608648016503040312038207a100',
  'ML-DSA-87': '30820a32300b060960864801650304031303820a2100',
}
const MOST = new Map([[1, 4194304], [2, 512], [3, 0], [4, 512]])
const logs = new Map()

export function check(vector, byId) {
  const logOf = name => log(byId.get(name).log)
  if (vector.kind === 'card-log') {
    const newest = log(vector.log).at(-1)
    assert.deepEqual([newest.did, newest.hash], [vector.did, vector.hash])
  } else if (vector.kind === 'key') {
    assert.equal(spkiOf(logOf(vector.of).at(-1).document.methods.get(vector.method)), vector.spki)
  } else {
    const stream = Buffer.concat(vector.said.map(one => part(one, byId)))
    const known = vector.known === undefined ? undefined : logOf(vector.known)
    const found = hear(stream, { ...vector, spki: byId.get(vector.key).spki, known })
    assert.deepEqual(found, [vector.peer, vector.method, vector.messages])
  }
}

function log(lines) {
  if (!logs.has(lines)) logs.set(lines, verifyLog(lines))
  return logs.get(lines)
}

function part({ hex, text, log: name, from, to }, byId) {
  if (hex !== undefined) return Buffer.from(hex, 'hex')
  if (text !== undefined) return utf8(text)
  const lines = byId.get(name).log
  return utf8(from === undefined ? lines : lines.replace(from, () => to))
}

/** The DID and the method of the other side, and the length of its messages. */
function hear(stream, side) {
  const first = message(stream)
  need(first.kind !== 4, 'refused-by-peer')
  need(first.kind === 1 || first.kind === 2, 'bad-message')
  const newest = first.kind === 1 ? ofCards(first.body, side) : ofHash(first.body, side)
  const method = judge(newest, side)
  const answer = message(first.rest)
  need(answer.kind !== 4, 'refused-by-peer')
  need(answer.kind === 3, 'bad-message')
  return [newest.did, method, stream.length - answer.rest.length]
}

/** A type, a body, and what follows. */
function message(stream) {
  need(stream.length > 0, 'closed-early')
  const kind = stream[0]
  need(MOST.has(kind), 'bad-message')
  need(stream.length >= 5, 'closed-early')
  const length = stream.readUInt32BE(1)
  need(length <= MOST.get(kind), kind === 1 ? 'too-large' : 'bad-message')
  need(stream.length >= 5 + length, 'closed-early')
  const body = stream.subarray(5, 5 + length)
  need(kind !== 4 || /^[a-z0-9-]+$/.test(body.toString('latin1')), 'bad-message')
  return { kind, body, rest: stream.subarray(5 + length) }
}

function decoded(body) {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
  } catch {
    throw new Refused('bad-message')
  }
}

function ofCards(body, side) {
  const lines = body.toString('utf8')
  const [first] = verifyLog(lines.split('\n').find(line => line !== '') ?? '')
  isExpected(first.did, side)
  const found = verifyLog(lines)
  need(methodOf(found.at(-1), side), 'other-key')
  const keeper = new Keeper()
  if (side.known?.at(-1).did === first.did) keeper.add(side.known)
  keeper.add(found)
  return found.at(-1)
}

function ofHash(body, side) {
  const text = decoded(body)
  const at = text.indexOf('\n')
  need(at >= 0, 'bad-message')
  const did = parseDid(text.slice(0, at))
  isExpected(did, side)
  const newest = side.known?.at(-1)
  const isKnown = newest?.did === did && newest.hash === text.slice(at + 1)
  need(isKnown && methodOf(newest, side), 'unknown-cards')
  return newest
}

const isExpected = (did, { expected = did }) => need(did === expected, 'other-peer')

const spkiOf = ({ key }) => (SPKI[key?.algorithm] ?? '?') + (key?.bytes.toString('hex') ?? '')

/** The URL of the identity key that was shown. */
const methodOf = (card, { spki }) =>
  [...card.document.methods.values()].find(it => it.url.startsWith(`${card.did}#identity-`) && spkiOf(it) === spki)?.url

function judge(card, side) {
  const url = methodOf(card, side)
  within(side.now, card.validFrom, card.validUntil)
  try {
    card.document.keyFor(url, 'JsonWebKey', 'authentication', side.now)
  } catch (error) {
    // That a key was revoked says more than that it has no purpose any more.
    if (error.code === 'wrong-purpose') card.document.keyOfRole(url, 'identity', side.now)
    throw error
  }
  need(side.admits ?? true, 'not-admitted')
  return url
}
