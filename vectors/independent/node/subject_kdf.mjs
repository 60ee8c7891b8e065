// kdf.json: docs/spec/kdf.md.

import assert from 'node:assert/strict'
import * as keys from './keys.mjs'
import { hex, multibase, need } from './reading.mjs'

function parsePath(path) {
  const match = /^m\/([0-7])'(?:\/(0|[1-9][0-9]*)')?$/.exec(path)
  need(match && BigInt(match[2] ?? 0) < 2n ** 64n, 'bad-path')
  return [Number(match[1]), match[2] ?? '0']
}

export function check(vector) {
  if (vector.kind === 'path') {
    assert.deepEqual(parsePath(vector.path), [vector.role, vector.index])
    return
  }
  const { suite, purpose, index } = vector
  const role = keys.roleOf(purpose)
  assert.equal(vector.path, role === null ? null : `m/${role}'/${index}'`)
  assert.deepEqual([vector.context, vector.length], keys.context(suite, purpose))
  const key = keys.derive(suite, hex(vector.seed), purpose, index)
  assert.equal(vector.key, key.toString('hex'))
  assert.equal(key.length, vector.length)
  const name = keys.algorithmOf(suite, purpose)
  assert.equal(vector.algorithm, name)
  if (name === undefined) return
  const publicKey = keys.publicKey(name, key)
  assert.equal(vector.public_key_blake3, keys.blake3Hash(publicKey).toString('hex'))
  if (purpose === 'Did' && index === '0') {
    assert.equal(vector.did, `did:gambeson:${multibase(keys.multihash(suite, publicKey))}`)
  }
}
