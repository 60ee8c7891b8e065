// backup.json: docs/spec/backup.md.

import assert from 'node:assert/strict'
import { openBackup } from './backup.mjs'
import { verifyLog } from './cards.mjs'
import { hex, need, parseTime } from './reading.mjs'
import { changed } from './subject_state.mjs'

export function check(vector, byId) {
  const whole = { ...byId.get(vector.of), ...vector }
  const found = openBackup(whole.suite, hex(whole.seed), whole.did, changed(whole, 'file'))
  if (whole.since !== undefined) {
    const newest = found.cards === null ? 0 : verifyLog(found.cards).length
    need(newest >= whole.since, 'stale-card')
  }
  assert.deepEqual(found, { ...whole.expect, made: parseTime(whole.expect.made) })
}
