// delegation.json: docs/spec/delegation.md.

import assert from 'node:assert/strict'
import { Memory, verify } from './actions.mjs'
import { Ledger, Pattern, authorize } from './delegation.mjs'
import { parseUrl } from './did.mjs'
import { need, utf8 } from './reading.mjs'
import { resolver } from './subject_vc_jwt.mjs'

export function check(vector, byId) {
  if (vector.kind === 'cards') {
    assert.equal(resolver(byId)(vector.did, 1795330800).id, vector.did)
  } else if (vector.kind === 'token') {
    assert.equal(vector.token.split('.').length, 3)
    const uses = ({ chain = [], approvals = [] }) => [...chain, ...approvals].includes(vector.id)
    assert([...byId.values()].some(uses), 'somebody uses it')
  } else {
    const ledger = new Ledger(vector.capacity ?? 100)
    for (const earlier of vector.before ?? []) decide(byId.get(earlier), byId, ledger)
    const { signer, root, path, approvers } = vector
    assert.deepEqual(decide(vector, byId, ledger), { signer, root, path, approvers })
  }
}

function decide(vector, byId, ledger) {
  const { now } = vector
  const resolve = resolver(byId)
  const expected = { audience: 'did:web:bank.example', lifetime: 3600, resolve, now, memory: new Memory(1) }
  const { action, signer } = verify(utf8(vector.payload), vector.token, expected)
  const status = entry => {
    const revoked = vector.status[entry.statusListCredential]
    need(revoked !== undefined, 'unknown-status')
    need(!revoked.map(String).includes(entry.statusListIndex), 'revoked')
  }
  const [chain, approvals] = [vector.chain, vector.approvals].map(ids => ids.map(id => byId.get(id).token))
  const roots = vector.roots.map(({ did, resource }) => ({ did, resource: new Pattern(resource) }))
  const rules = (vector.approvalRules ?? []).map(({ action, approvers }) => ({ pattern: new Pattern(action), approvers }))
  const actor = parseUrl(signer).did
  return {
    signer,
    ...authorize({ action, actor, chain, approvals, roots, rules, cost: vector.cost, resolve, status, ledger, now }),
  }
}
