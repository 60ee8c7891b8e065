// data-integrity.json: docs/spec/credentials.md, proofs inside.

import assert from 'node:assert/strict'
import { Status, ourProof, verifyEmbedded, verifySignature } from './credentials.mjs'
import { fromMultikey } from './keys.mjs'
import { has } from './reading.mjs'
import { resolver } from './subject_vc_jwt.mjs'

export function check(vector, byId) {
  const { kind, document } = vector
  if (kind === 'credential') {
    const found = verifyEmbedded(document, resolver(byId), vector.now, new Status('required'))
    assert.equal(found.signer, vector.signer)
    assert(!has(found.json, 'proof'))
  } else if (kind === 'signature') {
    verifySignature(document, ourProof(document), fromMultikey(vector.multikey))
  } else {
    assert.equal(kind, 'card-log')
    resolver(byId)
  }
}
