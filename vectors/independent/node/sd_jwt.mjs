// docs/spec/credentials.md, SD-JWT VC.

import { createHash } from 'node:crypto'
import { checkAudience, notBefore, numericDate } from './credentials.mjs'
import { parseDid, parseUrl } from './did.mjs'
import { Jws } from './jws.mjs'
import { decode, encode, has, isObject, isText, need, parseJson, parseObject, text, utf8, within } from './reading.mjs'

const MAX = 65536
const NEVER_HIDDEN = ['iss', 'nbf', 'exp', 'cnf', 'vct', 'vct#integrity', 'status']

function notEmpty(value, name) {
  const found = text(value, name)
  need(found !== '', 'bad-form')
  return found
}

function readToken(token, kind) {
  const jws = new Jws(token, MAX)
  jws.expectType(kind)
  need((jws.header.cty ?? '') === '', 'bad-type')
  need(jws.algorithm === 'ML-DSA-65' || jws.algorithm === 'ML-DSA-87', 'bad-algorithm')
  return { jws, payload: parseObject(jws.payload, MAX) }
}

const digest = (algorithm, part) => encode(createHash(algorithm.replace('-', '')).update(part).digest())

/** Salt, maybe name, and value. */
function readDisclosure(part, algorithm) {
  const value = parseJson(decode(part, MAX), MAX)
  const fits = Array.isArray(value) && [2, 3].includes(value.length) && isText(value[0]) && (value.length === 2 || isText(value[1]))
  need(fits, 'bad-disclosure')
  const name = value.length === 3 ? value[1] : undefined
  need(!['_sd', '...', '_sd_alg'].includes(name), 'bad-disclosure')
  return { name, value: value.at(-1), digest: digest(algorithm, part) }
}

/** Puts together what was disclosed. */
class Claims {
  #seen = new Set()
  #unused

  constructor(disclosures) {
    this.#unused = new Map(disclosures.map(one => [one.digest, one]))
    need(this.#unused.size === disclosures.length, 'bad-disclosure')
  }

  whole({ _sd_alg, ...payload }) {
    const found = this.#value(payload, 32, true)
    need(this.#unused.size === 0, 'bad-disclosure')
    return found
  }

  #find(one) {
    need(isText(one) && !this.#seen.has(one), 'bad-disclosure')
    this.#seen.add(one)
    const found = this.#unused.get(one)
    this.#unused.delete(one)
    return found
  }

  #value(value, depth, root = false) {
    if (typeof value !== 'object' || value === null) return value
    need(depth > 0, 'bad-disclosure')
    return Array.isArray(value) ? value.flatMap(item => this.#elements(item, depth - 1)) : this.#members(value, depth - 1, root)
  }

  #elements(item, depth) {
    if (!isObject(item) || !has(item, '...')) return [this.#value(item, depth)]
    need(Object.keys(item).length === 1, 'bad-disclosure')
    const found = this.#find(item['...'])
    need(found?.name === undefined, 'bad-disclosure')
    return found ? [this.#value(found.value, depth)] : []
  }

  #members(value, depth, root) {
    need(!has(value, '...') && !has(value, '_sd_alg'), 'bad-disclosure')
    const { _sd: hidden = [], ...plain } = value
    need(Array.isArray(hidden), 'bad-disclosure')
    const out = Object.create(null)
    for (const [name, member] of Object.entries(plain)) out[name] = this.#value(member, depth)
    for (const one of hidden) {
      const found = this.#find(one)
      if (!found) continue
      need(found.name !== undefined && !has(out, found.name) && !(root && NEVER_HIDDEN.includes(found.name)), 'bad-disclosure')
      out[found.name] = this.#value(found.value, depth)
    }
    return out
  }
}

/** The claims and the URL of the key. */
export function verify(presented, resolve, now, request) {
  need(utf8(presented).length <= MAX, 'too-large')
  const parts = presented.split('~')
  need(parts.length > 1, 'bad-form')
  const binding = parts.pop()
  const [token, ...disclosures] = parts
  need(disclosures.length <= 256, 'too-large')
  const { jws, payload } = readToken(token, 'dc+sd-jwt')
  const { _sd_alg: algorithm = 'sha-256' } = payload
  need(algorithm === 'sha-256' || algorithm === 'sha-384', 'bad-algorithm')
  const read = disclosures.map(part => readDisclosure(part, algorithm))
  const { did } = jws.keyId()
  need(parseDid(notEmpty(payload, 'iss')) === did, 'wrong-issuer')
  const signer = jws.header.kid
  jws.verify(resolve(did, now).keyFor(signer, 'JsonWebKey', 'assertionMethod', now))
  const claims = new Claims(read).whole(payload)
  notEmpty(claims, 'vct')
  const [issued, nbf, exp] = ['iat', 'nbf', 'exp'].map(name => numericDate(claims, name))
  within(now, notBefore(issued), undefined)
  within(now, nbf, exp)
  checkAudience(claims, request.audience)
  need(!has(claims, 'status'), 'unknown-status')
  let holder
  if (has(claims, 'cnf')) {
    need(isObject(claims.cnf), 'bad-form')
    holder = notEmpty(claims.cnf, 'kid')
    parseUrl(holder)
  }
  if (request.binding === 'none') need(binding === '', 'bad-form')
  else verifyBinding({ presented, binding, holder, algorithm }, resolve, now, request)
  return { claims, signer }
}

function verifyBinding({ presented, binding, holder, algorithm }, resolve, now, request) {
  need(holder !== undefined, 'wrong-holder')
  need(binding !== '', 'unsecured')
  const { jws, payload } = readToken(binding, 'kb+jwt')
  need(!has(jws.header, 'kid') || jws.header.kid === holder, 'wrong-holder')
  jws.verify(resolve(parseUrl(holder).did, now).keyFor(holder, 'JsonWebKey', 'authentication', now))
  need(payload.aud === request.audience, 'wrong-audience')
  need(payload.nonce === request.nonce, 'wrong-nonce')
  need(payload.sd_hash === digest(algorithm, presented.slice(0, presented.length - binding.length)), 'bad-signature')
  const issued = numericDate(payload, 'iat')
  need(issued !== undefined, 'bad-form')
  const [nbf, exp] = ['nbf', 'exp'].map(name => numericDate(payload, name))
  within(now, notBefore(issued), issued + request.maxAge)
  within(now, nbf, exp)
}
