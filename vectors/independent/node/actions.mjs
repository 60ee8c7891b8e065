// docs/spec/action.md and docs/spec/mcp.md.

import { Jws } from './jws.mjs'
import { multihash } from './keys.mjs'
import {
  canonical, decode, fromMultibase, has, isObject, isText, multibase, need, parseObject, utf8, within,
} from './reading.mjs'

const SKEW = 30
const MAX_TOKEN = 16384
const [PROOF, RECEIPT] = ['io.github.gambeson-pq/proof', 'io.github.gambeson-pq/receipt']

export const nameByHash = bytes => multibase(multihash('default', bytes))
export const names = (name, bytes) => name === nameByHash(bytes) || name === multibase(multihash('cnsa2', bytes))

export function isName(name) {
  try {
    const start = fromMultibase(name, 50)
    const kind = start.subarray(0, 2).toString('hex')
    return (start.length === 34 && kind === '1e20') || (start.length === 50 && kind === '2030')
  } catch {
    return false
  }
}

const isTime = value => Number.isInteger(value) && value >= 0

/** Of nonces, until what carried them ends. */
export class Memory {
  #ends = new Map()

  constructor(capacity) {
    this.capacity = capacity
  }

  remember(signer, nonce, end, now) {
    for (const [key, until] of this.#ends) if (until < now) this.#ends.delete(key)
    const key = JSON.stringify([signer, nonce])
    need(!this.#ends.has(key), 'replayed')
    need(this.#ends.size < this.capacity, 'cache-full')
    this.#ends.set(key, end)
  }
}

const MEMBERS = ['v', 'aud', 'method', 'name', 'arguments', 'params', 'iat', 'exp', 'nonce', 'delegation']

/** An action that was read. */
export class Action {
  constructor(bytes) {
    const value = parseObject(bytes, 1048576)
    need(Object.keys(value).every(name => MEMBERS.includes(name)) && value.v === 1, 'bad-form')
    const isShort = one => isText(one) && utf8(one).length <= 8192
    need([value.aud, value.method, value.name, value.nonce].every(isShort), 'bad-form')
    need(isObject(value.arguments) && (!has(value, 'params') || isObject(value.params)), 'bad-form')
    need(isTime(value.iat) && isTime(value.exp) && value.aud !== '' && value.method !== '', 'bad-form')
    need(decode(value.nonce, 16, 'bad-form').length === 16, 'bad-form')
    need(!has(value, 'delegation') || (isShort(value.delegation) && isName(value.delegation)), 'bad-form')
    if (has(value, 'params') && Object.keys(value.params).length === 0) delete value.params
    this.json = value
    this.signed = utf8(canonical(value))
    this.action = value.name === '' ? value.method : `${value.method}/${value.name}`
  }
}

/** The action and the URL of the key that signed it. */
export function verify(bytes, token, { audience, lifetime, resolve, now, memory }) {
  const action = new Action(bytes)
  const jws = readDetached(token, 'gambeson-action+jws', action.signed)
  const { aud, iat, exp, nonce } = action.json
  need(aud === audience, 'wrong-audience')
  need(iat <= exp, 'bad-form')
  need(exp - iat <= lifetime, 'long-lived')
  within(now + SKEW, iat, undefined)
  within(now, undefined, exp)
  const { did } = jws.keyId()
  jws.verify(resolve(did, now).keyFor(jws.header.kid, 'JsonWebKey', 'capabilityInvocation', now))
  memory.remember(did, nonce, exp, now)
  return { action, signer: jws.header.kid }
}

function readDetached(token, kind, payload) {
  const jws = new Jws(token, MAX_TOKEN, payload)
  jws.expectType(kind)
  return jws
}

const signedMembers = value =>
  Object.fromEntries(Object.entries(value).filter(([name, member]) => name !== '_meta' && member !== null))

function meta(value, key) {
  need(isObject(value._meta) && has(value._meta, key), 'unsecured')
  need(isObject(value._meta[key]), 'bad-form')
  return value._meta[key]
}

const BY_URI = ['resources/read', 'resources/subscribe', 'resources/unsubscribe']

/** What a request says of an action. */
function call(method, params) {
  const rest = signedMembers(params)
  const namedBy = BY_URI.includes(method) ? 'uri' : 'name'
  const { [namedBy]: name = '', arguments: given = {}, ...others } = rest
  need(isText(name) && isObject(given), 'bad-form')
  const found = { method, name, arguments: given }
  return Object.keys(others).length > 0 ? { ...found, params: others } : found
}

export function verifyCall(method, params, expected) {
  const { jws, chain = [], approvals = [], ...stated } = meta(params, PROOF)
  need(isText(jws), 'bad-form')
  for (const tokens of [chain, approvals]) {
    need(Array.isArray(tokens), 'bad-form')
    need(tokens.length <= 8, 'too-deep')
    need(tokens.every(isText), 'bad-form')
  }
  const known = ['v', 'aud', 'iat', 'exp', 'nonce', 'delegation']
  need(Object.keys(stated).every(name => known.includes(name)), 'bad-form')
  return verify(utf8(canonical({ ...call(method, params), ...stated })), jws, expected)
}

/** The name in the receipt and the URL of the key. */
export function verifyReceipt(result, action, server, resolve, now) {
  const entry = meta(result, RECEIPT)
  need(isTime(entry.iat) && entry.v === 1 && Object.keys(entry).length === 4 && isText(entry.action), 'bad-form')
  need(names(entry.action, action.signed), 'wrong-audience')
  need(isText(entry.jws), 'bad-form')
  const payload = { v: 1, action: entry.action, iat: entry.iat, result: signedMembers(result) }
  const jws = readDetached(entry.jws, 'gambeson-receipt+jws', utf8(canonical(payload)))
  const { did } = jws.keyId()
  need(did === server, 'wrong-audience')
  within(now + SKEW, entry.iat, undefined)
  jws.verify(resolve(did, now).keyFor(jws.header.kid, 'JsonWebKey', 'assertionMethod', now))
  return { digest: entry.action, signer: jws.header.kid }
}
