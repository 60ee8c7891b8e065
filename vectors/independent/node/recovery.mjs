// docs/spec/recovery.md and docs/spec/keystore.md: the seed in words, in age files, in keystore files.

import { argon2Sync, createDecipheriv, createHash, createHmac, hkdfSync, pbkdf2Sync, scryptSync } from 'node:crypto'
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { expandSha384 } from './keys.mjs'
import { Refused, need, utf8 } from './reading.mjs'

const NUMBERS = new Map(wordlist.map((word, number) => [word, BigInt(number)]))

/** BIP-39: 24 words are the entropy and one byte of its hash. */
export function fromWords(text) {
  const code = 'bad-words'
  need(utf8(text).length <= 4096, code)
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  need(words.length === 24 && words.every(word => NUMBERS.has(word)), code)
  const whole = words.reduce((sum, word) => (sum << 11n) | NUMBERS.get(word), 0n)
  const bytes = Buffer.from(whole.toString(16).padStart(66, '0'), 'hex')
  const seed = bytes.subarray(0, 32)
  need(createHash('sha256').update(seed).digest()[0] === bytes[32], code)
  return seed
}

/** What opens with the authenticated cipher; `code` if it does not. */
function opened(code, work) {
  try {
    return Buffer.from(work())
  } catch {
    throw new Refused(code)
  }
}

function decrypt(cipher, key, nonce, bytes, aad = Buffer.alloc(0)) {
  const decipher = createDecipheriv(cipher, key, nonce, { authTagLength: 16 }).setAAD(aad)
  decipher.setAuthTag(bytes.subarray(-16))
  return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()])
}

// age

function dearmored(file) {
  const text = file.toString('latin1')
  if (!text.trimStart().startsWith('-----BEGIN')) return file
  const lines = text.trim().split('\n')
  const [first, last] = [lines.shift(), lines.pop()]
  need(first === '-----BEGIN AGE ENCRYPTED FILE-----' && last === '-----END AGE ENCRYPTED FILE-----', 'bad-form')
  need(lines.length > 0 && lines.every((line, at) => line.length === 64 || (at === lines.length - 1 && line.length < 64)), 'bad-form')
  const bytes = Buffer.from(lines.join(''), 'base64')
  need(bytes.toString('base64') === lines.join(''), 'bad-form')
  return bytes
}

const hkdf = (key, salt, info) => Buffer.from(hkdfSync('sha256', key, salt, info, 32))

const HEADER =
  /^(age-encryption\.org\/v1\n-> scrypt ([A-Za-z0-9+/]{22}) ([1-9][0-9]?)\n([A-Za-z0-9+/]{43})\n---) ([A-Za-z0-9+/]{43})\n/

export function fromAge(file, passphrase, limit) {
  const code = 'bad-form'
  const bytes = dearmored(file)
  const match = HEADER.exec(bytes.toString('latin1'))
  need(match, code)
  const [salt, body, mac] = [match[2], match[4], match[5]].map(part => Buffer.from(part, 'base64'))
  const factor = Number(match[3])
  need(factor <= limit, 'too-much-work')
  const label = Buffer.concat([utf8('age-encryption.org/v1/scrypt'), salt])
  const wrap = scryptSync(passphrase, label, 32, { N: 2 ** factor, r: 8, p: 1, maxmem: 2 ** 31 - 1 })
  const key = opened('wrong-passphrase', () => decrypt('chacha20-poly1305', wrap, Buffer.alloc(12), body))
  const computed = createHmac('sha256', hkdf(key, '', 'header')).update(match[1]).digest()
  need(computed.equals(mac), code)
  const rest = bytes.subarray(match[0].length)
  need(rest.length >= 32, code)
  return fromWords(withoutComments(stream(hkdf(key, rest.subarray(0, 16), 'payload'), rest.subarray(16))))
}

function stream(key, bytes) {
  const out = []
  for (let at = 0; at < bytes.length; at += 65552) {
    const nonce = Buffer.alloc(12)
    nonce.writeUInt32BE(at / 65552, 7)
    nonce[11] = at + 65552 >= bytes.length ? 1 : 0
    out.push(opened('bad-form', () => decrypt('chacha20-poly1305', key, nonce, bytes.subarray(at, at + 65552))))
  }
  return Buffer.concat(out)
}

function withoutComments(bytes) {
  need(bytes.length <= 4096, 'bad-words')
  return bytes.toString().split(/\r?\n/).filter(line => !line.startsWith('#')).join(' ')
}

// Keystore files

const PURPOSES = { 1: ['agent master seed', 'default'], 2: ['agent master seed cnsa2', 'cnsa2'] }

/** The suite of the agent and its seed. */
export function fromKeystore(file, passphrase) {
  const code = 'bad-form'
  need(file.length >= 168 && file.length <= 168 + 2 ** 20, code)
  need(file.toString('latin1', 0, 16) === 'gambeson secret\x01' && [1, 2].includes(file[16]), code)
  const suite = file[16]
  const [memory, passes, lanes] = [20, 24, 28].map(at => file.readUInt32BE(at))
  const [purpose, salt, nonce, commitment] = [[32, 64], [64, 96], [96, 120], [120, 152]].map(([a, b]) => file.subarray(a, b))
  const zero = bytes => bytes.every(byte => byte === 0)
  need(zero(file.subarray(17, 20)) && (suite === 1 || (memory === 0 && lanes === 0 && zero(nonce.subarray(12)))), code)
  const fits =
    suite === 1
      ? lanes >= 1 && lanes <= 16 && passes >= 1 && passes <= 64 && memory >= 8 * lanes && memory <= 2 ** 20 && memory * passes <= 2 ** 22
      : passes >= 1000 && passes <= 10_000_000
  need(fits, 'too-much-work')
  const [name, agent] = PURPOSES[suite]
  need(purpose.toString('latin1') === name.padEnd(32, '\0'), code)
  let [key, stated] = []
  if (suite === 1) {
    const message = utf8(passphrase)
    const derived = argon2Sync('argon2id', { message, nonce: salt, parallelism: lanes, tagLength: 64, memory, passes })
    ;[key, stated] = [derived.subarray(0, 32), derived.subarray(32)]
  } else {
    const prk = pbkdf2Sync(passphrase, salt, passes, 48, 'sha384')
    ;[key, stated] = ['key', 'commitment'].map(what => expandSha384(prk, utf8(`gambeson secret v1 ${what}`), 32))
  }
  need(stated.equals(commitment), 'wrong-passphrase')
  const [header, sealed] = [file.subarray(0, 152), file.subarray(152)]
  const seed = opened(code, () =>
    suite === 1
      ? xchacha20poly1305(key, nonce, header).decrypt(sealed)
      : decrypt('aes-256-gcm', key, nonce.subarray(0, 12), sealed, header),
  )
  need(seed.length === 32, code)
  return { suite: agent, seed }
}
