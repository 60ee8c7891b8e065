// card-log.json: docs/spec/did.md.

import assert from 'node:assert/strict'
import * as keys from './keys.mjs'
import { CONTEXT, Keeper, ROLES, recover, verifyLog } from './cards.mjs'
import { Refused, hex, parseTime } from './reading.mjs'

export function check(vector, byId) {
  if (vector.result === 'reject') refuse(vector, byId)
  else good(vector)
}

const linesOf = vector => vector.log.trimEnd().split('\n')
const joined = lines => lines.map(line => `${line}\n`).join('')

function refuse(vector, byId) {
  const source = linesOf(byId.get(vector.of))
  const lines = vector.lines.map(number => source[number])
  for (const [line, from, to] of vector.edits) {
    assert(lines[line].includes(from))
    lines[line] = lines[line].replace(from, () => to)
  }
  if (vector.pad !== undefined) lines[0] += ' '.repeat(vector.pad - Buffer.byteLength(lines[0]))
  const cards = verifyLog(joined(lines))
  const keeper = new Keeper()
  if (vector.known !== undefined) keeper.add(verifyLog(joined(vector.known.map(number => source[number]))))
  if (vector.other !== undefined) keeper.add(verifyLog(byId.get(vector.other).log))
  keeper.add(cards)
  if (vector.seed !== undefined) recover(hex(vector.seed), cards)
}

function good(vector) {
  const seed = hex(vector.seed)
  const cards = verifyLog(vector.log)
  const newest = cards.at(-1)
  assert.deepEqual([newest.did, newest.suite], [vector.did, vector.suite])
  assert.deepEqual(cards.map(card => card.hash), vector.hashes)
  assert.deepEqual(recover(seed, cards), vector.indexes)
  for (const card of cards) {
    const [present, next] = [0, 1].map(more => keys.derive(card.suite, seed, 'Did', card.version - 1 + more))
    const name = keys.algorithmOf(card.suite, 'Did')
    assert(card.next.equals(keys.multihash(card.suite, keys.publicKey(name, next))))
    assert(card.signature.equals(keys.sign(name, present, card.canonical, CONTEXT)), 'the signature is made again')
    relationships(card)
  }
  const keeper = new Keeper()
  keeper.add(cards)
  for (const one of vector.cases) assert.equal(verdict(one, keeper, newest), one.reason ?? 'ok', JSON.stringify(one))
}

/** The first eight methods are the present keys, in the order of the roles and with their relationships. */
function relationships({ document }) {
  const methods = document.json.verificationMethod.slice(0, ROLES.size)
  for (const [at, [role, [, form, expected]]] of [...ROLES].entries()) {
    const { id, type } = methods[at]
    assert(id.includes(`#${role}-`) && type === form)
    const named = [...document.relationships].filter(([, urls]) => urls.has(id)).map(([name]) => name)
    assert.deepEqual(named.sort(), expected.toSorted())
  }
}

function verdict(one, keeper, { did, document }) {
  try {
    if (one.resolve !== undefined) keeper.resolve(did, parseTime(one.resolve))
    else if (one.agreement !== undefined) assert.equal(document.agreementKey(one.agreement, parseTime(one.at)).url, one.key)
    else if (one.role !== undefined) document.keyOfRole(one.key, one.role, parseTime(one.at))
    else document.keyFor(one.key, one.form, one.relationship, parseTime(one.at))
    return 'ok'
  } catch (error) {
    if (error instanceof Refused) return error.code
    throw error
  }
}
