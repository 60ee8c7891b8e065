// docs/spec/log.md: trees, files, checkpoints, proofs.

import { createHash } from 'node:crypto'
import { VerifyingKey, derive, publicKey, sign } from './keys.mjs'
import { need, utf8 } from './reading.mjs'

const [MAX_CHECKPOINT, MAX_PROOF] = [131072, 262144]

const sha256 = (...parts) => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}
const [LEAF, NODE] = [Buffer.of(0), Buffer.of(1)]
export const leaf = entry => sha256(LEAF, entry)
const node = (left, right) => sha256(NODE, left, right)

/** RFC 6962, §2.1, level by level: a hash without a sibling goes up as it is. */
export function root(hashes) {
  if (hashes.length === 0) return sha256()
  while (hashes.length > 1) {
    const above = []
    for (let at = 0; at < hashes.length; at += 2) {
      above.push(at + 1 < hashes.length ? node(hashes[at], hashes[at + 1]) : hashes[at])
    }
    hashes = above
  }
  return hashes[0]
}

function tileName(number) {
  const digits = String(number)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/.{3}/g)
  return groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/')
}

function* tiles(prefix, items) {
  for (let at = 0; at < items.length; at += 256) {
    const part = items.slice(at, at + 256)
    yield [`${prefix}/${tileName(at / 256)}${part.length < 256 ? `.p/${part.length}` : ''}`, Buffer.concat(part)]
  }
}

const number = (value, length) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes.subarray(8 - length)
}

/** Every file of a log that was written at once, by name. */
export function files(entries, origin, seed, now) {
  const found = new Map(tiles('tile/entries', entries.map(entry => Buffer.concat([number(entry.length, 2), entry]))))
  const hashes = entries.map(leaf)
  for (let [level, at] = [hashes, 0]; level.length > 0; at++) {
    for (const [name, bytes] of tiles(`tile/${at}`, level)) found.set(name, bytes)
    const next = []
    for (let from = 0; from + 256 <= level.length; from += 256) next.push(root(level.slice(from, from + 256)))
    level = next
  }
  found.set('checkpoint', utf8(checkpoint(origin, entries.length, root(hashes), seed, now)))
  return found
}

const keyId = (origin, key) => sha256(utf8(origin), utf8('\n\x06'), key).subarray(0, 4)

function cosigned(origin, time, size, tree) {
  const name = Buffer.concat([Buffer.of(utf8(origin).length), utf8(origin)])
  return Buffer.concat([utf8('subtree/v1\n\0'), name, time, name, Buffer.alloc(8), number(size, 8), tree])
}

function checkpoint(origin, size, tree, seed, now) {
  const key = derive('default', seed, 'Log', '0')
  const time = number(now, 8)
  const signature = sign('ML-DSA-44', key, cosigned(origin, time, size, tree))
  const line = Buffer.concat([keyId(origin, publicKey('ML-DSA-44', key)), time, signature]).toString('base64')
  return `${origin}\n${size}\n${tree.toString('base64')}\n\n— ${origin} ${line}\n`
}

function from64(text, code) {
  const bytes = Buffer.from(text, 'base64')
  need(bytes.toString('base64') === text, code)
  return bytes
}

function decimal(text, code) {
  need(/^(?:0|[1-9][0-9]{0,19})$/.test(text) && BigInt(text) < 2n ** 64n, code)
  return BigInt(text)
}

const isName = name => /^[^\s+\p{Cc}]+$/u.test(name)

/** Size, root and time of a checkpoint that the key signed. */
function readCheckpoint(text, origin, key, now) {
  const code = 'bad-checkpoint'
  need(utf8(text).length <= MAX_CHECKPOINT, 'too-large')
  need(!/[\x00-\x09\x0b-\x1f]/.test(text) && text.includes('\n\n') && text.endsWith('\n'), code)
  const at = text.lastIndexOf('\n\n')
  const [lines, signatures] = [text.slice(0, at).split('\n'), text.slice(at + 2, -1).split('\n')]
  need(signatures.length <= 32, code)
  const read = signatures.map(line => {
    const match = /^— (\S+) (\S+)$/.exec(line)
    need(match && isName(match[1]), code)
    const bytes = from64(match[2], code)
    need(bytes.length >= 5, code)
    return { name: match[1], bytes }
  })
  need(lines.length === 3 && isName(lines[0]) && utf8(lines[0]).length <= 255, code)
  const size = decimal(lines[1], code)
  const tree = from64(lines[2], code)
  need(tree.length === 32 && lines[0] === origin, code)
  const ours = read.filter(({ name, bytes }) => name === origin && bytes.subarray(0, 4).equals(keyId(origin, key.bytes)))
  need(ours.length > 0, 'bad-signature')
  for (const { bytes } of ours) key.verify(cosigned(origin, bytes.subarray(4, 12), size, tree), bytes.subarray(12))
  const time = Math.max(...ours.map(({ bytes }) => Number(bytes.readBigUInt64BE(4))))
  need(time <= now + 300, 'not-yet-valid')
  return { size, tree, time }
}

function verifierKey(text) {
  const [origin, id, ...rest] = text.split('+')
  const bytes = Buffer.from(rest.join('+'), 'base64')
  const key = bytes.subarray(1)
  if (bytes[0] !== 6 || keyId(origin, key).toString('hex') !== id) throw new Error('not a verifier key')
  return [origin, new VerifyingKey('ML-DSA-44', key)]
}

/** Index and checkpoint of a proof that an entry is in a log. */
export function verifyProof(text, entry, key, now) {
  need(utf8(text).length <= MAX_PROOF, 'too-large')
  const at = text.indexOf('\n\n')
  need(at >= 0, 'bad-form')
  const [version, ...lines] = text.slice(0, at).split('\n')
  need(version === 'c2sp.org/tlog-proof@v1', 'bad-form')
  if (lines[0]?.startsWith('extra ')) need(from64(lines.shift().slice(6), 'bad-form').length <= 65536, 'too-large')
  need(lines[0]?.startsWith('index '), 'bad-form')
  const index = decimal(lines[0].slice(6), 'bad-form')
  const path = lines.slice(1).map(line => from64(line, 'bad-form'))
  need(path.length <= 64 && path.every(one => one.length === 32), 'bad-form')
  const { size, tree, time } = readCheckpoint(text.slice(at + 2), ...verifierKey(key), now)
  verifyInclusion(leaf(entry), index, size, path, tree)
  return { index, size, tree, time }
}

/** RFC 9162, §2.1.3.2. */
export function verifyInclusion(hash, index, size, path, tree) {
  const code = 'not-included'
  need(index < size, code)
  let [at, last, found] = [index, size - 1n, hash]
  for (const one of path) {
    need(last > 0n, code)
    if (at & 1n || at === last) {
      found = node(one, found)
      while (at > 0n && !(at & 1n)) [at, last] = [at >> 1n, last >> 1n]
    } else {
      found = node(found, one)
    }
    ;[at, last] = [at >> 1n, last >> 1n]
  }
  need(last === 0n && found.equals(tree), code)
}

/** RFC 9162, §2.1.4.2. */
export function verifyConsistency(old, oldRoot, size, newRoot, path) {
  const code = 'inconsistent'
  need(old <= size, code)
  if (old === size || old === 0n) {
    need(path.length === 0, code)
    need(old !== size || oldRoot.equals(newRoot), code)
    need(old !== 0n || oldRoot.equals(sha256()), code)
    return
  }
  need(path.length > 0, code)
  const [start, ...rest] = (old & (old - 1n)) === 0n ? [oldRoot, ...path] : path
  let [at, last] = [old - 1n, size - 1n]
  while (at & 1n) [at, last] = [at >> 1n, last >> 1n]
  let [first, second] = [start, start]
  for (const one of rest) {
    need(last > 0n, code)
    if (at & 1n || at === last) {
      ;[first, second] = [node(one, first), node(one, second)]
      while (at > 0n && !(at & 1n)) [at, last] = [at >> 1n, last >> 1n]
    } else {
      second = node(second, one)
    }
    ;[at, last] = [at >> 1n, last >> 1n]
  }
  need(last === 0n && first.equals(oldRoot) && second.equals(newRoot), code)
}
