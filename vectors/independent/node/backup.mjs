// docs/spec/backup.md.

import { createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import { chacha20poly1305 } from '@noble/ciphers/chacha.js'
import { blake3 } from '@noble/hashes/blake3.js'
import { parseDid } from './did.mjs'
import { derive } from './keys.mjs'
import { Refused, need, utf8 } from './reading.mjs'
import { Context, Fields as SealedFields, decapsulate } from './sealed.mjs'
import { isName, nameOf } from './subject_memory.mjs'

/** No vector has a greater index; an agent looks as far as 1023. */
const INDEXES = 16
const [MOST, ENTRIES, CREDENTIAL, OBJECT, STATE] = [2 ** 28, 65536, 2 ** 20, 2 ** 20, 2 ** 24]
const STATES = ['ledger', 'seen', 'status-list']

const HPKE = {
  default: { ids: [0x647a, 0x0001, 0x0003], hash: 'sha256', size: 32, info: utf8('age-encryption.org/mlkem768x25519') },
  cnsa2: { ids: [0x0042, 0x0002, 0x0002], hash: 'sha384', size: 48, info: utf8('gambeson backup cnsa2 v1') },
}

function* contexts(suite, seed, enc) {
  for (let index = 0; index < INDEXES; index++) {
    const shared = decapsulate(suite, derive(suite, seed, 'Backup', index), enc)
    yield new Context(HPKE[suite], shared, HPKE[suite].info)
  }
}

/** What opens, `undefined` if it does not. */
function tried(work) {
  try {
    return Buffer.from(work())
  } catch {
    return undefined
  }
}

const HEADER = /^age-encryption\.org\/v1\n-> mlkem768x25519 ([A-Za-z0-9+/]{1494})\n([A-Za-z0-9+/]{43})\n---/
const hkdf = (key, salt, info) => Buffer.from(hkdfSync('sha256', key, salt, info, 32))

/** The one recipient is tried with every key; then the header's MAC and the chunks. */
function fromAge(seed, file) {
  const header = HEADER.exec(file.toString('latin1'))
  need(header, 'bad-form')
  const [enc, body] = [Buffer.from(header[1], 'base64'), Buffer.from(header[2], 'base64')]
  for (const context of contexts('default', seed, enc)) {
    const key = tried(() => chacha20poly1305(context.key, context.nonce).decrypt(body))
    if (key === undefined) continue
    const after = file.subarray(header[0].length)
    const mac = /^ ([A-Za-z0-9+/]{43})\n/.exec(after.toString('latin1'))
    need(mac && after.length >= 45 + 16, 'bad-form')
    const expected = createHmac('sha256', hkdf(key, '', 'header')).update(header[0], 'latin1').digest()
    need(Buffer.from(mac[1], 'base64').equals(expected), 'cannot-open')
    const [nonce, data] = [after.subarray(45, 61), after.subarray(61)]
    return chunks(hkdf(key, nonce, 'payload'), data)
  }
  throw new Refused('cannot-open')
}

function chunks(key, data) {
  const parts = []
  for (let at = 0; at < data.length; at += 65552) {
    const nonce = Buffer.alloc(12)
    nonce.writeUInt32BE(at / 65552, 7)
    nonce[11] = at + 65552 >= data.length ? 1 : 0
    const part = tried(() => chacha20poly1305(key, nonce).decrypt(data.subarray(at, at + 65552)))
    need(part, 'cannot-open')
    parts.push(part)
  }
  return Buffer.concat(parts)
}

function decrypt(key, nonce, aad, sealed) {
  const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(aad)
  decipher.setAuthTag(sealed.subarray(-16))
  return Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
}

function fromCnsa2(seed, file) {
  need(file.length >= 16 + 1568 + 32 && file.subarray(0, 16).equals(utf8('gambeson b cnsa2')), 'bad-form')
  const [start, header] = [file.subarray(0, 16 + 1568), file.subarray(0, 16 + 1568 + 16)]
  for (const { key, nonce } of contexts('cnsa2', seed, start.subarray(16))) {
    if (tried(() => decrypt(key, nonce, start, header.subarray(-16))) === undefined) continue
    const second = Buffer.from(nonce)
    second[11] ^= 1
    const archive = tried(() => decrypt(key, second, header, file.subarray(header.length)))
    need(archive, 'cannot-open')
    return archive
  }
  throw new Refused('cannot-open')
}

function asArchive(work) {
  try {
    return work()
  } catch (error) {
    throw error instanceof Refused ? new Refused('bad-archive') : error
  }
}

class Fields extends SealedFields {
  take(length) {
    need(this.at + length <= this.bytes.length, 'bad-archive')
    return super.take(length)
  }

  text() {
    return asArchive(() => super.text())
  }
}

export function openBackup(suite, seed, did, file) {
  need(file.length <= MOST + 2 * 2 ** 16, 'too-large')
  const whole = suite === 'default' ? fromAge(seed, file) : fromCnsa2(seed, file)
  const length = suite === 'default' ? 32 : 48
  need(whole.length >= length, 'cannot-open')
  const [archive, mac] = [whole.subarray(0, -length), whole.subarray(-length)]
  const key = derive(suite, seed, 'BackupMac', 0)
  const own = suite === 'default' ? Buffer.from(blake3(archive, { key })) : createHmac('sha384', key).update(archive).digest()
  need(own.equals(mac), 'cannot-open')

  const fields = new Fields(archive)
  need(fields.take(16).equals(utf8('gambeson backup\x01')), 'bad-archive')
  const owner = asArchive(() => {
    const text = fields.text()
    parseDid(text)
    return text
  })
  const found = { made: fields.number(8), cards: null, credentials: {}, objects: {}, state: {} }
  const count = fields.number(4)
  need(count <= ENTRIES, 'bad-archive')
  let last = Buffer.of(0)
  for (let entry = 0; entry < count; entry++) {
    const kind = fields.number(1)
    const name = fields.text()
    const data = fields.take(fields.number(4))
    const place = Buffer.concat([Buffer.of(kind), utf8(name)])
    need(Buffer.compare(last, place) < 0, 'bad-archive')
    last = place
    if (kind === 1) {
      need(name === 'cards.jsonl', 'bad-archive')
      found.cards = asArchive(() => {
        const text = data.toString('utf8')
        need(utf8(text).equals(data), 'bad-archive')
        return text
      })
    } else if (kind === 2) {
      need(/^(?!\.)[A-Za-z0-9._-]{1,128}$/.test(name) && data.length <= CREDENTIAL, 'bad-archive')
      found.credentials[name] = data.toString('hex')
    } else if (kind === 4) {
      need(STATES.includes(name) && data.length <= STATE, 'bad-archive')
      found.state[name] = data.toString('hex')
    } else {
      need(kind === 3 && isName(name) && data.length <= OBJECT, 'bad-archive')
      need(nameOf(data) === name, 'wrong-hash')
      found.objects[name] = data.toString('hex')
    }
  }
  need(fields.at === archive.length && owner === did, 'bad-archive')
  return found
}
