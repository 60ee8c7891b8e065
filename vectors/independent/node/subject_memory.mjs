// memory.json: docs/spec/memory.md.

import assert from 'node:assert/strict'
import { blake3Hash } from './keys.mjs'
import { canonical, hex, isText, need, parseObject, utf8 } from './reading.mjs'

const [OBJECT, CHUNKS] = [2 ** 20, 8192]

const contents = value => (value.hex === undefined ? Buffer.alloc(value.length, value.byte) : hex(value.hex))
export const nameOf = bytes => `b3:${blake3Hash(bytes).toString('hex')}`
export const isName = value => isText(value) && /^b3:[0-9a-f]{64}$/.test(value)

function load(text, objects, most) {
  const { size, chunks } = parseObject(text, OBJECT)
  need(Number.isInteger(size) && size >= 0 && Array.isArray(chunks), 'bad-form')
  need(chunks.length === Math.ceil(size / OBJECT) && chunks.length <= CHUNKS && chunks.every(isName), 'bad-form')
  need(utf8(canonical({ chunks, size, type: 'gambeson-memory-manifest-v1' })).equals(text), 'bad-form')
  need(size <= most, 'too-large')
  return Buffer.concat(
    chunks.map((name, at) => {
      const object = objects.get(name)
      need(object, 'wrong-hash')
      need(object.length === Math.min(size - at * OBJECT, OBJECT), 'bad-form')
      return object
    }),
  )
}

export function check(vector) {
  if (vector.kind === 'object') {
    need(isName(vector.name), 'bad-form')
    const bytes = contents(vector.object)
    need(bytes.length <= OBJECT, 'too-large')
    need(nameOf(bytes) === vector.name, 'wrong-hash')
    return
  }
  const objects = new Map(vector.objects.map(contents).map(bytes => [nameOf(bytes), bytes]))
  assert.equal(nameOf(load(utf8(vector.manifest), objects, vector.most)), vector.whole)
}
