// json.json: docs/spec/jose.md, JSON and times.

import assert from 'node:assert/strict'
import { canonical, hex, parseJson, parseObject, parseTime, utf8, writeTime } from './reading.mjs'

export function check(vector) {
  if (vector.kind === 'time') {
    const seconds = parseTime(vector.text)
    assert.deepEqual([seconds, writeTime(seconds)], [vector.seconds, vector.written])
    return
  }
  const bytes = vector.hex === undefined ? utf8(vector.text) : hex(vector.hex)
  const value = (vector.object ? parseObject : parseJson)(bytes, vector.max ?? 4096)
  assert.equal(canonical(value), vector.canonical)
  assert.deepEqual(parseJson(utf8(vector.canonical), 4096), value)
}
