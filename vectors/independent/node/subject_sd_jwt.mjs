// sd-jwt.json: docs/spec/credentials.md, SD-JWT VC.

import assert from 'node:assert/strict'
import { same } from './reading.mjs'
import { verify } from './sd_jwt.mjs'
import { resolver } from './subject_vc_jwt.mjs'

export function check(vector, byId) {
  if (vector.kind === 'presented') {
    const { claims, signer } = verify(vector.token, resolver(byId), vector.now, vector)
    assert(same(claims, vector.claims))
    assert.equal(signer, vector.signer)
  } else {
    assert.equal(vector.kind, 'card-log')
  }
}
