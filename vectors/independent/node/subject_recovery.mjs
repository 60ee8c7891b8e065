// recovery.json: docs/spec/recovery.md.

import assert from 'node:assert/strict'
import { hex, utf8 } from './reading.mjs'
import { fromAge, fromKeystore, fromWords } from './recovery.mjs'
import { combine } from './shares.mjs'

const readers = {
  words: ({ words }) => ({ seed: fromWords(words) }),
  shares: ({ shares }) => ({ seed: combine(shares) }),
  age: (whole, vector) => ({ seed: fromAge(changed(utf8(whole.file), vector), whole.passphrase, whole.max_work_factor) }),
  keystore: (whole, vector) => fromKeystore(changed(hex(whole.file), vector), whole.passphrase),
}

function changed(file, { flip, keep }) {
  if (flip !== undefined) file[flip] ^= 1
  return file.subarray(0, keep ?? file.length)
}

export function check(vector, byId) {
  const { seed, suite } = readers[vector.kind]({ ...byId.get(vector.of), ...vector }, vector)
  assert.equal(seed.toString('hex'), vector.expect.seed)
  assert.equal(suite, vector.expect.suite)
}
