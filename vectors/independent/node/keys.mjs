// Keys: their derivation (docs/spec/kdf.md), their texts (docs/spec/jose.md), and ML-DSA.

import { createHash, createHmac, createPublicKey, verify as verifySignature } from 'node:crypto'
import { blake3 } from '@noble/hashes/blake3.js'
import { shake256 } from '@noble/hashes/sha3.js'
import { ed25519, x25519 } from '@noble/curves/ed25519.js'
import { p256, p384, p521 } from '@noble/curves/nist.js'
import { ml_dsa44, ml_dsa65, ml_dsa87 } from '@noble/post-quantum/ml-dsa.js'
import { ml_kem768, ml_kem1024 } from '@noble/post-quantum/ml-kem.js'
import { decode, encode, fromMultibase, has, isText, multibase, need, text, utf8 } from './reading.mjs'

export const ML_DSA = {
  'ML-DSA-44': { noble: ml_dsa44, key: 1312, signature: 2420, varint: [0x90, 0x24] },
  'ML-DSA-65': { noble: ml_dsa65, key: 1952, signature: 3309, varint: [0x91, 0x24] },
  'ML-DSA-87': { noble: ml_dsa87, key: 2592, signature: 4627, varint: [0x92, 0x24] },
}
const ML_KEM = { 'ML-KEM-768': ml_kem768, 'ML-KEM-1024': ml_kem1024 }

/** Leaf keys of groups that are not of ML-DSA alone. */
const LEAVES = {
  GroupEcdsaP256: 'ECDSA-P256-SHA256',
  GroupEcdsaP384: 'ECDSA-P384-SHA384',
  GroupEcdsaP521: 'ECDSA-P521-SHA512',
  GroupMlDsa65Ed25519: 'MLDSA65-Ed25519-SHA512',
  GroupMlDsa87EcdsaP384: 'MLDSA87-ECDSA-P384-SHA512',
}
/** The curve, and what its order leaves of the first byte of a scalar. */
const CURVES = { P256: [p256, 32, 0xff], P384: [p384, 48, 0xff], P521: [p521, 66, 1] }

/** Role, what follows in the context and the length, in suite `default` and in `cnsa2`. */
const PURPOSES = {
  Identity: [0, 'identity ML-DSA-65 seed', 32, 'identity ML-DSA-87 seed', 32],
  Signing: [1, 'signing ML-DSA-65 seed', 32, 'signing ML-DSA-87 seed', 32],
  Did: [2, 'did ML-DSA-65 seed', 32, 'did ML-DSA-87 seed', 32],
  Backup: [3, 'backup X-Wing seed', 32, 'backup ML-KEM-1024 seed', 64],
  BackupMac: [3, 'backup authentication BLAKE3 key', 32, 'backup authentication HMAC-SHA384 key', 48],
  Sealed: [3, 'sealed X-Wing seed', 32, 'sealed ML-KEM-1024 seed', 64],
  Encapsulation: [3, 'encapsulation ML-KEM-768 seed', 64, 'encapsulation ML-KEM-1024 seed', 64],
  SigningHedge: [4, 'session signing hedge key', 32, 'session signing hedge key', 48],
  SealingHedge: [4, 'session sealing hedge key', 32, 'session sealing hedge key', 48],
  GroupHedge: [4, 'session group hedge key', 32, 'session group hedge key', 48],
  GroupMlDsa44: [5, 'group ML-DSA-44 seed', 32, 'group ML-DSA-44 seed', 32],
  GroupMlDsa65: [5, 'group ML-DSA-65 seed', 32, 'group ML-DSA-65 seed', 32],
  GroupMlDsa87: [5, 'group ML-DSA-87 seed', 32, 'group ML-DSA-87 seed', 32],
  GroupEd25519: [5, 'group Ed25519 seed', 32, 'group Ed25519 seed', 32],
  GroupEcdsaP256: [5, 'group ECDSA-P256-SHA256 seed', 32, 'group ECDSA-P256-SHA256 seed', 32],
  GroupEcdsaP384: [5, 'group ECDSA-P384-SHA384 seed', 32, 'group ECDSA-P384-SHA384 seed', 32],
  GroupEcdsaP521: [5, 'group ECDSA-P521-SHA512 seed', 32, 'group ECDSA-P521-SHA512 seed', 32],
  GroupMlDsa65Ed25519: [5, 'group MLDSA65-Ed25519-SHA512 seed', 32, 'group MLDSA65-Ed25519-SHA512 seed', 32],
  GroupMlDsa87EcdsaP384: [5, 'group MLDSA87-ECDSA-P384-SHA512 seed', 32, 'group MLDSA87-ECDSA-P384-SHA512 seed', 32],
  DataIntegrity: [6, 'data integrity ML-DSA-44 seed', 32, 'data integrity ML-DSA-44 seed', 32],
  Log: [6, 'log ML-DSA-44 seed', 32, 'log ML-DSA-44 seed', 32],
  State: [7, 'state XChaCha20-Poly1305 key', 32, 'state AES-256-GCM key', 32],
  Child: [null, 'child agent master seed', 32, 'child agent master seed', 32],
}

export const roleOf = purpose => PURPOSES[purpose][0]

/** The context of a purpose, and the length of what comes out. */
export function context(suite, purpose) {
  const [role, normal, length, cnsa2, cnsa2Length] = PURPOSES[purpose]
  const path = role === null ? '' : `m/${role}' `
  return suite === 'default'
    ? [`gambeson 2026-11-21 v1 ${path}${normal}`, length]
    : [`gambeson 2026-11-21 v1 cnsa2 ${path}${cnsa2}`, cnsa2Length]
}

export function derive(suite, seed, purpose, index) {
  const [name, length] = context(suite, purpose)
  const number = Buffer.alloc(8)
  number.writeBigUInt64BE(BigInt(index))
  if (suite === 'default') {
    return Buffer.from(blake3(Buffer.concat([seed, number]), { context: utf8(name), dkLen: length }))
  }
  const extracted = hmac384(Buffer.alloc(48), seed)
  return expandSha384(extracted, Buffer.concat([utf8(name), number]), length)
}

const hmac384 = (key, data) => createHmac('sha384', key).update(data).digest()

export function expandSha384(key, info, length) {
  let [out, block] = [Buffer.alloc(0), Buffer.alloc(0)]
  for (let round = 1; out.length < length; round++) {
    block = hmac384(key, Buffer.concat([block, info, Buffer.of(round)]))
    out = Buffer.concat([out, block])
  }
  return out.subarray(0, length)
}

/** What pair of keys a derived seed makes; `undefined` where there is none to look at. */
export function algorithmOf(suite, purpose) {
  const normal = suite === 'default'
  switch (purpose) {
    case 'Identity':
    case 'Signing':
    case 'Did':
      return normal ? 'ML-DSA-65' : 'ML-DSA-87'
    case 'DataIntegrity':
    case 'Log':
      return 'ML-DSA-44'
    case 'GroupMlDsa44':
    case 'GroupMlDsa65':
    case 'GroupMlDsa87':
      return `ML-DSA-${purpose.slice(-2)}`
    case 'GroupEcdsaP256':
    case 'GroupEcdsaP384':
    case 'GroupEcdsaP521':
    case 'GroupMlDsa65Ed25519':
    case 'GroupMlDsa87EcdsaP384':
      return LEAVES[purpose]
    case 'Backup':
    case 'Sealed':
      return normal ? 'X-Wing' : 'ML-KEM-1024'
    case 'Encapsulation':
      return normal ? 'ML-KEM-768' : 'ML-KEM-1024'
  }
}

/** The private keys of ML-KEM-768 and X25519 in an X-Wing key. */
export function xWing(seed) {
  const expanded = Buffer.from(shake256(seed, { dkLen: 96 }))
  return { mlKem: ml_kem768.keygen(expanded.subarray(0, 64)), x25519: expanded.subarray(64) }
}

/** The public point of the first string that is a scalar; `next` gives so many bytes. */
function point(name, next) {
  const [curve, length, mask] = CURVES[name]
  for (;;) {
    const scalar = next(length)
    scalar[0] &= mask
    if (curve.utils.isValidSecretKey(scalar)) return curve.getPublicKey(scalar, false)
  }
}

/** The public key of ECDSA or of a composite, out of SHAKE256 of the seed. */
function leaf(name, seed) {
  const output = shake256(seed, { dkLen: 4096 })
  let at = 0
  const next = length => output.slice(at, (at += length))
  if (name.startsWith('ECDSA-')) return Buffer.from(point(name.split('-')[1], next))
  const first = name.startsWith('MLDSA65-') ? ml_dsa65 : ml_dsa87
  const { publicKey } = first.keygen(next(32))
  const second = name.includes('Ed25519') ? ed25519.getPublicKey(next(32)) : point('P384', next)
  return Buffer.concat([publicKey, second])
}

export function publicKey(name, seed) {
  if (Object.values(LEAVES).includes(name)) return leaf(name, seed)
  if (name in ML_DSA) return Buffer.from(ML_DSA[name].noble.keygen(seed).publicKey)
  if (name in ML_KEM) return Buffer.from(ML_KEM[name].keygen(seed).publicKey)
  const both = xWing(seed)
  return Buffer.concat([both.mlKem.publicKey, x25519.getPublicKey(both.x25519)])
}

/** The deterministic variant of ML-DSA (FIPS 204, §3.4). */
export function sign(name, seed, message, signatureContext = Buffer.alloc(0)) {
  const { noble } = ML_DSA[name]
  return Buffer.from(noble.sign(message, noble.keygen(seed).secretKey, { extraEntropy: false, context: signatureContext }))
}

/** An ML-DSA public key. */
export class VerifyingKey {
  constructor(algorithm, bytes) {
    need(bytes.length === ML_DSA[algorithm].key, 'bad-key')
    this.algorithm = algorithm
    this.bytes = bytes
  }

  verify(message, signature, signatureContext = Buffer.alloc(0)) {
    need(signature.length === ML_DSA[this.algorithm].signature, 'bad-signature')
    const key = createPublicKey({ key: this.jwk(), format: 'jwk' })
    need(verifySignature(null, message, { key, context: signatureContext }, signature), 'bad-signature')
  }

  jwk() {
    return { kty: 'AKP', alg: this.algorithm, pub: encode(this.bytes) }
  }

  multikey() {
    return multibase(Buffer.concat([Buffer.from(ML_DSA[this.algorithm].varint), this.bytes]))
  }

  equals(other) {
    return this.algorithm === other.algorithm && this.bytes.equals(other.bytes)
  }
}

export const isPrivate = jwk => ['priv', 'd', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'].some(name => has(jwk, name))

export function fromJwk(jwk) {
  need(!isPrivate(jwk), 'bad-key')
  if (has(jwk, 'use')) need(text(jwk, 'use') === 'sig', 'wrong-purpose')
  if (has(jwk, 'key_ops')) {
    const { key_ops: named } = jwk
    need(Array.isArray(named) && named.every(isText) && new Set(named).size === named.length, 'bad-form')
    need(named.includes('verify'), 'wrong-purpose')
  }
  need(text(jwk, 'kty') === 'AKP', 'bad-key')
  const name = text(jwk, 'alg')
  need(has(ML_DSA, name), 'bad-algorithm')
  return new VerifyingKey(name, decode(text(jwk, 'pub'), ML_DSA[name].key))
}

export function fromMultikey(multikey) {
  const bytes = fromMultibase(multikey, 2594)
  need(bytes.length >= 2, 'bad-key')
  const name = Object.keys(ML_DSA).find(name => ML_DSA[name].varint.every((byte, at) => byte === bytes[at]))
  need(name, 'bad-algorithm')
  return new VerifyingKey(name, bytes.subarray(2))
}

export const blake3Hash = bytes => Buffer.from(blake3(bytes))

export const multihash = (suite, bytes) =>
  suite === 'default'
    ? Buffer.concat([Buffer.of(0x1e, 0x20), blake3Hash(bytes)])
    : Buffer.concat([Buffer.of(0x20, 0x30), createHash('sha384').update(bytes).digest()])
