// state.json: docs/spec/state.md.

import assert from 'node:assert/strict'
import { createDecipheriv, createHmac } from 'node:crypto'
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { blake3 } from '@noble/hashes/blake3.js'
import { derive, expandSha384 } from './keys.mjs'
import { Refused, hex, need, utf8 } from './reading.mjs'

const SUITES = { default: 1, cnsa2: 2 }

function openState(suite, seed, label, sealed) {
  const magic = Buffer.concat([utf8('gambeson state\x01'), Buffer.of(SUITES[suite])])
  need(sealed.length >= 64 && sealed.subarray(0, 16).equals(magic), 'bad-form')
  const [header, body] = [sealed.subarray(0, 48), sealed.subarray(48)]
  const key = derive(suite, seed, 'State', 0)
  try {
    if (suite === 'default') {
      const piece = blake3(Buffer.concat([header, utf8(label)]), { key })
      return Buffer.from(xchacha20poly1305(piece, new Uint8Array(24), header).decrypt(body))
    }
    const extracted = createHmac('sha384', header).update(key).digest()
    const decipher = createDecipheriv('aes-256-gcm', expandSha384(extracted, utf8(label), 32), Buffer.alloc(12)).setAAD(header)
    decipher.setAuthTag(body.subarray(-16))
    return Buffer.concat([decipher.update(body.subarray(0, -16)), decipher.final()])
  } catch {
    throw new Refused('cannot-open')
  }
}

/** The bytes of a vector with the changes that it asks for. */
export function changed(whole, name) {
  const bytes = hex(whole[name])
  if (whole.flip !== undefined) bytes[whole.flip] ^= 1
  return Buffer.concat([bytes.subarray(0, whole.keep ?? bytes.length), hex(whole.append ?? '')])
}

export function check(vector, byId) {
  const whole = { ...byId.get(vector.of), ...vector }
  assert.equal(openState(whole.suite, hex(whole.seed), whole.label, changed(whole, 'sealed')).toString('hex'), whole.state)
}
