// docs/spec/hpke-sealed.md.

import { createDecipheriv, createHash, createHmac } from 'node:crypto'
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { x25519 } from '@noble/curves/ed25519.js'
import { ml_kem768, ml_kem1024 } from '@noble/post-quantum/ml-kem.js'
import { parseDid, parseUrl } from './did.mjs'
import { derive, xWing } from './keys.mjs'
import { Refused, need, utf8 } from './reading.mjs'

const LABEL = utf8('gambeson sealed v1')
const [MAX_PAYLOAD, MAX_ENVELOPE, MAX_SECONDS] = [2 ** 24, 18939904, 2592000]
const SUITES = {
  default: { byte: 1, ids: [0x647a, 0x0001, 0xffff], enc: 1120, hash: 'sha256', size: 32, algorithm: 'ML-DSA-65' },
  cnsa2: { byte: 2, ids: [0x0042, 0x0002, 0x0002], enc: 1568, hash: 'sha384', size: 48, algorithm: 'ML-DSA-87' },
}

const hmac = (hash, key, ...parts) => createHmac(hash, key).update(Buffer.concat(parts)).digest()
const two = number => Buffer.of(number >> 8, number & 255)
const VERSION = utf8('HPKE-v1')

/** The recipient's context of HPKE in base mode (RFC 9180, §5.1). */
export class Context {
  constructor({ ids, hash, size }, shared, info) {
    const id = Buffer.concat([utf8('HPKE'), ...ids.map(two)])
    const none = Buffer.alloc(0)
    const extract = (salt, label, material) => hmac(hash, salt.length ? salt : Buffer.alloc(size), VERSION, id, utf8(label), material)
    this.expand = (key, label, info, length) => {
      const all = Buffer.concat([two(length), VERSION, id, utf8(label), info])
      let [out, block] = [none, none]
      for (let round = 1; out.length < length; round++) {
        block = hmac(hash, key, block, all, Buffer.of(round))
        out = Buffer.concat([out, block])
      }
      return out.subarray(0, length)
    }
    const context = Buffer.concat([Buffer.of(0), extract(none, 'psk_id_hash', none), extract(none, 'info_hash', info)])
    const secret = extract(shared, 'secret', none)
    this.exporter = this.expand(secret, 'exp', context, size)
    this.key = this.expand(secret, 'key', context, 32)
    this.nonce = this.expand(secret, 'base_nonce', context, 12)
  }

  export(label, length) {
    return this.expand(this.exporter, 'sec', label, length)
  }
}

export function decapsulate(suite, seed, enc) {
  if (suite === 'cnsa2') return Buffer.from(ml_kem1024.decapsulate(enc, ml_kem1024.keygen(seed).secretKey))
  const keys = xWing(seed)
  const share = enc.subarray(1088)
  const first = ml_kem768.decapsulate(enc.subarray(0, 1088), keys.mlKem.secretKey)
  const second = x25519.getSharedSecret(keys.x25519, share)
  const whole = Buffer.concat([first, second, share, x25519.getPublicKey(keys.x25519), utf8('\\.//^\\')])
  return createHash('sha3-256').update(whole).digest()
}

/** The plaintext under the key with this index, `undefined` if it does not open. */
function unseal(suite, seed, index, did, enc, aad, ciphertext) {
  try {
    const shared = decapsulate(suite, derive(suite, seed, 'Sealed', index), enc)
    const context = new Context(SUITES[suite], shared, Buffer.concat([LABEL, Buffer.of(0), utf8(`${did}#sealed-${index}`)]))
    if (suite === 'default') {
      return Buffer.from(xchacha20poly1305(context.export(LABEL, 32), new Uint8Array(24), aad).decrypt(ciphertext))
    }
    const decipher = createDecipheriv('aes-256-gcm', context.key, context.nonce).setAAD(aad)
    decipher.setAuthTag(ciphertext.subarray(-16))
    return Buffer.concat([decipher.update(ciphertext.subarray(0, -16)), decipher.final()])
  } catch {
    return undefined
  }
}

/** What is left to read. */
export class Fields {
  at = 0

  constructor(bytes) {
    this.bytes = bytes
  }

  take(length) {
    need(this.at + length <= this.bytes.length, 'bad-form')
    this.at += length
    return this.bytes.subarray(this.at - length, this.at)
  }

  number(length) {
    return Number(`0x${this.take(length).toString('hex')}`)
  }

  text() {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.take(this.number(2)))
    } catch {
      throw new Refused('bad-form')
    }
  }
}

function padded(length) {
  if (length < 2) return length
  const exponent = Math.floor(Math.log2(length))
  const size = exponent > 0 ? Math.floor(Math.log2(exponent)) + 1 : 0
  const step = 2 ** Math.max(exponent - size, 0)
  return Math.ceil(length / step) * step
}

/** Who, what and when. `opened` remembers what was opened. */
export function open(envelope, { suite, seed, index, did }, resolve, now, opened) {
  need(envelope.length <= MAX_ENVELOPE, 'too-large')
  need(envelope.subarray(0, 16).toString('latin1') === 'gambeson sealed\x01' && envelope.length > 16, 'bad-form')
  const { byte, enc, algorithm } = SUITES[suite]
  need(envelope[16] === byte, 'bad-algorithm')
  const start = 17 + enc
  need(envelope.length >= start + 16, 'bad-form')
  let plaintext
  for (let at = index; at >= 0 && plaintext === undefined; at--) {
    plaintext = unseal(suite, seed, at, did, envelope.subarray(17, start), envelope.subarray(0, start), envelope.subarray(start))
  }
  need(plaintext !== undefined, 'cannot-open')

  const fields = new Fields(plaintext)
  const kind = fields.text()
  need(kind.startsWith('gambeson-sealed+'), 'bad-form')
  const media = kind.slice('gambeson-sealed+'.length)
  const [signer, recipient] = [fields.text(), fields.text()]
  const id = fields.take(16).toString('hex')
  const expires = fields.number(8)
  const payload = fields.take(fields.number(4))
  const signed = plaintext.subarray(0, fields.at)
  const signature = fields.take(fields.number(2))
  const { did: sender } = parseUrl(signer)
  parseDid(recipient)
  need(media.length <= 127 && /^[ -~]+\/[ -~]+$/.test(media) && payload.length <= MAX_PAYLOAD, 'bad-form')
  need(plaintext.length === padded(fields.at) && plaintext.subarray(fields.at).every(one => one === 0), 'bad-form')
  need(recipient === did, 'other-recipient')
  need(now <= expires, 'expired')
  need(expires - now <= MAX_SECONDS, 'bad-time')
  const key = resolve(sender, now).keyFor(signer, 'JsonWebKey', 'assertionMethod', now)
  need(key.algorithm === algorithm, 'bad-algorithm')
  key.verify(signed, signature, LABEL)
  need(!opened.has(`${sender} ${id}`), 'replayed')
  opened.add(`${sender} ${id}`)
  return { signer, media_type: media, message_id: id, expires, payload: payload.toString('hex') }
}
