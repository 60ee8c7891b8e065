// vc-jwt.json: docs/spec/credentials.md; good tokens are given to npm `jose` too.

import assert from 'node:assert/strict'
import { importJWK, jwtVerify } from 'jose'
import { Status, resolverOf, verifyCredential, verifyPresentation } from './credentials.mjs'
import { parseUrl } from './did.mjs'
import { same } from './reading.mjs'

const resolvers = new WeakMap()

/** The documents of the logs of cards in a file. */
export function resolver(byId) {
  if (!resolvers.has(byId)) {
    const logs = [...byId.values()].filter(vector => ['card-log', 'cards'].includes(vector.kind)).map(vector => vector.log)
    resolvers.set(byId, resolverOf(logs))
  }
  return resolvers.get(byId)
}

export async function check(vector, byId) {
  const resolve = resolver(byId)
  if (vector.kind === 'credential') {
    const found = verifyCredential(vector.token, resolve, vector.now, new Status('required'))
    assert.equal(found.signer, vector.signer)
    assert(same(found.json, vector.payload))
    await peer(vector, 'vc+jwt', 'assertionMethod', resolve)
  } else if (vector.kind === 'presentation') {
    const found = verifyPresentation(vector.token, resolve, vector.now, vector, new Status('required'))
    assert.deepEqual([found.signer, found.credentials.length], [vector.signer, vector.credentials])
    if (!vector.token.trimStart().startsWith('{')) await peer(vector, 'vp+jwt', 'authentication', resolve)
  } else {
    assert.equal(vector.kind, 'card-log')
  }
}

/** The same token with `jose`: signature, type, audience and times. */
async function peer({ token, signer, now, audience }, typ, relationship, resolve) {
  const key = resolve(parseUrl(signer).did, now).keyFor(signer, 'JsonWebKey', relationship, now)
  const options = { typ, audience, algorithms: ['ML-DSA-65', 'ML-DSA-87'], currentDate: new Date(now * 1000), clockTolerance: 60 }
  const { protectedHeader } = await jwtVerify(token, await importJWK(key.jwk(), key.algorithm), options)
  assert.equal(protectedHeader.kid, signer)
}
