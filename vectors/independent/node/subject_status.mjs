// status.json: docs/spec/credentials.md, status lists.

import assert from 'node:assert/strict'
import { Status, StatusList, verifyCredential } from './credentials.mjs'
import { resolver } from './subject_vc_jwt.mjs'

const known = new WeakMap()

/** The good lists of a file. */
function lists(byId) {
  if (!known.has(byId)) {
    const good = [...byId.values()].filter(vector => vector.kind === 'list' && vector.result === undefined)
    known.set(byId, good.map(({ token, now }) => new StatusList(token, resolver(byId), now)))
  }
  return known.get(byId)
}

export function check(vector, byId) {
  if (vector.kind === 'list') {
    const found = new StatusList(vector.token, resolver(byId), vector.now)
    const set = Array.from({ length: found.entries }, (_, at) => at).filter(at => found.isSet(BigInt(at)))
    assert.deepEqual([found.url, found.purposes, found.entries, set], [vector.url, [vector.purpose], vector.entries, vector.set])
  } else if (vector.kind === 'credential') {
    verifyCredential(vector.token, resolver(byId), vector.now, new Status(vector.status, lists(byId)))
  } else {
    assert.equal(vector.kind, 'card-log')
  }
}
