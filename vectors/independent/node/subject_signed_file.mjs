// signed-file.json: docs/spec/signed-file.md.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { resolverOf } from './credentials.mjs'
import { Jws } from './jws.mjs'
import { blake3Hash } from './keys.mjs'
import { hex, isText, need, parseObject, parseTime } from './reading.mjs'

const MOST = 16384
const resolvers = new Map()

/** Who signed it, and when. */
function verify(token, file, resolve, now) {
  const jws = new Jws(token, MOST)
  jws.expectType('gambeson-file+jws')
  const claims = parseObject(jws.payload, MOST)
  need(Object.keys(claims).sort().join() === 'hash,iat,size,v', 'bad-form')
  need([claims.v, claims.size, claims.iat].every(number => Number.isInteger(number) && number >= 0), 'bad-form')
  need(isText(claims.hash) && /^(b3:[0-9a-f]{64}|sha384:[0-9a-f]{96})$/.test(claims.hash) && claims.v === 1, 'bad-form')
  const { did } = jws.keyId()
  const key = resolve(did, now).keyFor(jws.header.kid, 'JsonWebKey', 'assertionMethod', now)
  jws.verify(key)
  need(claims.iat <= now + 60, 'not-yet-valid')
  const kind = claims.hash.split(':')[0]
  const digest = kind === 'b3' ? blake3Hash(file) : createHash('sha384').update(file).digest()
  need(claims.hash === `${kind}:${digest.toString('hex')}` && claims.size === file.length, 'bad-digest')
  return [jws.header.kid, claims.iat]
}

export function check(vector, byId) {
  const whole = { ...byId.get(vector.of), ...vector }
  if (!resolvers.has(whole.cards)) resolvers.set(whole.cards, resolverOf([whole.cards]))
  const token = whole.token + 'A'.repeat(whole.pad ?? 0)
  const found = verify(token, hex(whole.file), resolvers.get(whole.cards), parseTime(whole.now))
  assert.deepEqual(found, [whole.signer, parseTime(whole.issued)])
}
