// sealed.json: docs/spec/hpke-sealed.md.

import assert from 'node:assert/strict'
import { resolverOf } from './credentials.mjs'
import { hex, parseTime } from './reading.mjs'
import { open } from './sealed.mjs'

const resolvers = new Map()

export function check(vector, byId) {
  const whole = { ...byId.get(vector.of), ...vector }
  const all = hex(whole.envelope)
  if (vector.flip !== undefined) all[vector.flip] ^= 1
  const envelope = all.subarray(0, vector.keep ?? all.length)
  const cards = whole.sender_cards ?? byId.get(whole.sender_cards_of).sender_cards
  if (!resolvers.has(cards)) resolvers.set(cards, resolverOf([cards]))
  const resolve = resolvers.get(cards)
  const { suite, recipient: did, now } = whole
  const agent = { suite, seed: hex(whole.recipient_seed), index: Number(whole.recipient_index), did }
  const opened = new Set()
  if (vector.opened_before) open(envelope, agent, resolve, parseTime(now), opened)
  const found = open(envelope, agent, resolve, parseTime(now), opened)
  assert.deepEqual(Object.keys(found).sort(), Object.keys(vector.expect).sort())
  for (const [name, expected] of Object.entries(vector.expect)) {
    assert.equal(found[name], name === 'expires' ? parseTime(expected) : expected, name)
  }
}
