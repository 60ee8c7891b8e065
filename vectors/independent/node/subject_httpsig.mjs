// httpsig.json: docs/spec/http-signatures.md.

import assert from 'node:assert/strict'
import { Memory } from './actions.mjs'
import { verify } from './signatures.mjs'
import { resolver } from './subject_vc_jwt.mjs'

export function check(vector, byId) {
  const resolve = resolver(byId)
  if (vector.kind === 'cards') {
    assert.equal(resolve(vector.did, 1795330800).id, vector.did)
    return
  }
  const memory = new Memory(vector.capacity ?? 100)
  if (vector.repeat) verify(vector.message, vector, resolve, vector.now, memory)
  const { label, base, parameters } = verify(vector.message, vector, resolve, vector.now, memory)
  assert.deepEqual([label, base, parameters.keyid], [vector.label, vector.base, vector.signer])
}
