// log.json: docs/spec/log.md.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { files, leaf, root, verifyConsistency, verifyInclusion, verifyProof } from './log.mjs'
import { hex, parseTime, utf8 } from './reading.mjs'

const readers = {
  tree,
  inclusion: vector => {
    verifyInclusion(hex(vector.leaf), BigInt(vector.index), BigInt(vector.size), vector.path.map(hex), hex(vector.root))
  },
  consistency: ({ old_size, old_root, new_size, new_root, path }) => {
    verifyConsistency(BigInt(old_size), hex(old_root), BigInt(new_size), hex(new_root), path.map(hex))
  },
  proof,
}

export const check = (vector, byId) => readers[vector.kind](vector, { ...byId.get(vector.of), ...vector })

function proof({ edit, append = '', expect }, whole) {
  let text = whole.proof
  if (edit) {
    assert(text.includes(edit[0]))
    text = text.replace(edit[0], () => edit[1])
  }
  const found = verifyProof(text + append, hex(whole.entry), whole.key, parseTime(whole.now))
  const { index, size, root: tree, signed } = expect
  assert.deepEqual([String(found.index), String(found.size), found.tree.toString('hex')], [index, size, tree])
  assert.equal(found.time, parseTime(signed))
}

function tree({ size, origin, seed, now, expect }) {
  const entries = Array.from({ length: Number(size) }, (_, at) => utf8(`entry ${at}`.repeat(at % 5)))
  assert.equal(root(entries.map(leaf)).toString('hex'), expect.root)
  const large = name => entries.length > 1000 && /^tile\/(?:0|entries)\//.test(name)
  const found = [...files(entries, origin, hex(seed), parseTime(now))]
    .filter(([name]) => !large(name))
    .map(([name, bytes]) => [name, createHash('sha256').update(bytes).digest('hex')])
  assert.deepEqual(Object.fromEntries(found), Object.fromEntries(expect.files.map(({ name, sha256 }) => [name, sha256])))
}
