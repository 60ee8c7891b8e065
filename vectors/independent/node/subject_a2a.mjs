// a2a.json: docs/spec/a2a.md.

import assert from 'node:assert/strict'
import { verify } from './a2a.mjs'
import { utf8 } from './reading.mjs'
import { resolver } from './subject_vc_jwt.mjs'

export function check(vector, byId) {
  if (vector.kind === 'card') {
    const { payload, signer } = verify(utf8(vector.card), vector.expected, resolver(byId), vector.now)
    assert.deepEqual([payload, signer], [vector.canonical, vector.signer])
  } else {
    assert.equal(vector.kind, 'card-log')
  }
}
