// action.json: docs/spec/action.md and docs/spec/mcp.md.

import assert from 'node:assert/strict'
import { Action, Memory, nameByHash, verify, verifyCall, verifyReceipt } from './actions.mjs'
import { utf8 } from './reading.mjs'
import { resolver } from './subject_vc_jwt.mjs'

export function check(vector, byId) {
  const resolve = resolver(byId)
  if (vector.kind === 'cards') {
    assert(resolve(vector.did, 1795330800).id === vector.did)
    return
  }
  const memory = new Memory(vector.capacity ?? 100)
  if (vector.repeat) once(vector, resolve, memory)
  const { digest, signer } = once(vector, resolve, memory)
  assert.deepEqual([digest, signer], [vector.digest, vector.signer])
}

function once(vector, resolve, memory) {
  const { kind, now, audience, maxLifetime: lifetime = 120 } = vector
  if (kind === 'receipt') {
    return verifyReceipt(vector.response, new Action(utf8(vector.payload)), vector.server, resolve, now)
  }
  const expected = { audience, lifetime, resolve, now, memory }
  const { action, signer } =
    kind === 'mcp'
      ? verifyCall(vector.method, vector.params, expected)
      : verify(utf8(vector.payload), vector.token, expected)
  return { digest: nameByHash(action.signed), signer }
}
