// jws.json: docs/spec/jose.md, keys and JWS; good tokens are given to npm `jose` too, and made again.

import assert from 'node:assert/strict'
import { compactVerify, flattenedVerify, importJWK } from 'jose'
import * as keys from './keys.mjs'
import { Jws } from './jws.mjs'
import { canonical, encode, hex, same, utf8 } from './reading.mjs'

export async function check(vector, byId) {
  const payload = vector.detached ? utf8(vector.payload) : undefined
  if (vector.kind === 'jwk') {
    agree(keys.fromJwk(vector.jwk), vector)
  } else if (vector.kind === 'multikey') {
    agree(keys.fromMultikey(vector.multikey), vector)
  } else if (vector.key !== undefined) {
    const jws = new Jws(vector.token, vector.max ?? 8192, payload)
    if (vector.typ !== undefined) jws.expectType(vector.typ)
    if (vector.kid) jws.keyId()
    jws.verify(keys.fromJwk(byId.get(vector.key).jwk))
  } else {
    await good(vector, payload)
  }
}

function agree(key, vector) {
  assert.equal(key.algorithm, vector.alg)
  assert.deepEqual(key.jwk(), vector.jwk)
  assert.equal(key.multikey(), vector.multikey)
  assert(keys.fromMultikey(vector.multikey).equals(keys.fromJwk(vector.jwk)))
}

async function good(vector, detached) {
  const jws = new Jws(vector.token, 32768, detached)
  const key = keys.fromJwk(vector.jwk)
  jws.verify(key)
  assert.equal(jws.payload.toString(), vector.payload)
  assert(same(jws.header, vector.header))
  assert.equal(vector.typ === undefined, jws.header.typ === undefined)
  if (vector.typ !== undefined) jws.expectType(vector.typ)

  const seed = keys.derive(vector.suite, hex(vector.seed), vector.purpose, vector.index)
  assert(keys.publicKey(key.algorithm, seed).equals(key.bytes))
  const header = encode(utf8(canonical(vector.header)))
  const input = `${header}.${encode(utf8(vector.payload))}`
  const signature = encode(keys.sign(key.algorithm, seed, utf8(input)))
  assert.equal(vector.token, detached ? `${header}..${signature}` : `${input}.${signature}`)

  const peer = await importJWK(vector.jwk, vector.jwk.alg)
  const [, , theirs] = vector.token.split('.')
  const verified = detached
    ? await flattenedVerify({ protected: header, payload: encode(detached), signature: theirs }, peer)
    : await compactVerify(vector.token, peer)
  assert.equal(Buffer.from(verified.payload).toString(), vector.payload)
}
