// docs/spec/http-signatures.md, on `structured-headers` for structured fields (RFC 9651).

import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { isInnerList, parseDictionary, parseItem, serializeDictionary, serializeInnerList, serializeItem, serializeList } from 'structured-headers'
import { parseUrl } from './did.mjs'
import { has, isText, need, Refused, utf8, within } from './reading.mjs'

const SKEW = 30
const MAX_FIELD = 32768
const MAX_HEAD = 131072
const LENGTHS = [2420, 3309, 4627]
const ALGORITHMS = { 'ml-dsa-44': 'ML-DSA-44', 'ml-dsa-65': 'ML-DSA-65', 'ml-dsa-87': 'ML-DSA-87' }
const DERIVED = [
  '@authority', '@method', '@path', '@query', '@query-param', '@request-target', '@scheme', '@status', '@target-uri',
]
const DICTIONARIES = [
  'accept-signature', 'content-digest', 'priority', 'repr-digest', 'signature', 'signature-input', 'want-content-digest',
  'want-repr-digest',
]
const SINGLE = [
  'age', 'authorization', 'content-length', 'content-location', 'content-range', 'content-type', 'date', 'etag', 'expires', 'from',
  'host', 'if-modified-since', 'if-range', 'if-unmodified-since', 'last-modified', 'location', 'max-forwards', 'origin',
  'proxy-authorization', 'range', 'referer', 'retry-after', 'server', 'set-cookie2', 'upgrade-insecure-requests', 'user-agent',
]
const READING = ['content-type', 'content-encoding', 'content-range']

const values = (message, name) =>
  message.fields.filter(([field]) => field.toLowerCase() === name).map(([, value]) => value.replace(/^[ \t]+|[ \t]+$/g, ''))

function dictionary(message, name) {
  const found = values(message, name)
  need(found.reduce((sum, value) => sum + utf8(value).length, 0) <= MAX_FIELD, 'too-large')
  return structured(found.join(', '))
}

function structured(text) {
  try {
    return parseDictionary(text)
  } catch {
    need(false, 'bad-form')
  }
}

const serialize = member => (isInnerList(member) ? serializeInnerList(member) : serializeItem(member))
const isBytes = value => value instanceof ArrayBuffer

/** A component identifier. */
class Component {
  constructor(item) {
    const [name, parameters] = item
    need(isText(name), 'bad-form')
    for (const [parameter, value] of parameters) {
      const flag = ['req', 'bs', 'sf'].includes(parameter) && value === true
      need(flag || (['key', 'name'].includes(parameter) && isText(value)), 'bad-form')
    }
    this.item = item
    this.name = name
    this.parameters = parameters
    const [bs, sf, key] = ['bs', 'sf', 'key'].map(parameter => parameters.has(parameter))
    const fits = name.startsWith('@')
      ? DERIVED.includes(name) && !bs && !sf && !key && parameters.has('name') === (name === '@query-param')
      : /^[a-z0-9!#$%&'*+\-.^_`|~]+$/.test(name) && !parameters.has('name') && [bs, sf, key].filter(Boolean).length <= 1 && !(sf && !DICTIONARIES.includes(name))
    need(fits, 'bad-form')
    this.identity = JSON.stringify([name, [...parameters].sort()])
  }

  value(message) {
    const of = this.parameters.has('req') ? message.request : message
    need(of, 'bad-form')
    const value = this.name.startsWith('@') ? this.#derived(of) : this.#field(of)
    need(/^[\t -~]*$/.test(value) && !value.includes('\n'), 'bad-form')
    return value
  }

  #derived({ status, method, target }) {
    if (this.name === '@status') {
      need(status >= 100 && status <= 999, 'bad-form')
      return String(status)
    }
    need(target !== undefined && /^[!-~]+$/.test(target), 'bad-form')
    const match = /^(https?):\/\/([a-z0-9\-._~!$&'()*+,;=:%[\]]+)(\/[^?#]*)?(?:\?([^#]*))?$/i.exec(target)
    need(match, 'bad-form')
    const [scheme, path, query] = [match[1].toLowerCase(), match[3] || '/', match[4]]
    const authority = match[2].toLowerCase().replace(scheme === 'https' ? /:(443)?$/ : /:(80)?$/, '')
    need(isAuthority(match[2]), 'bad-form')
    const whole = query === undefined ? path : `${path}?${query}`
    switch (this.name) {
      case '@method':
        return method
      case '@target-uri':
        return `${scheme}://${authority}${whole}`
      case '@scheme':
        return scheme
      case '@authority':
        return authority
      case '@path':
        return path
      case '@query':
        return `?${query ?? ''}`
      case '@query-param':
        return queryParameter(query ?? '', this.parameters.get('name'))
      default:
        need(method !== 'CONNECT', 'bad-form')
        return whole
    }
  }

  #field(message) {
    const found = values(message, this.name)
    need(found.length > 0, 'bad-form')
    if (this.parameters.has('bs')) {
      return serializeList(found.map(value => [new Uint8Array(utf8(value)).buffer, new Map()]))
    }
    const joined = found.join(', ')
    if (this.parameters.has('key')) {
      const member = dictionary(message, this.name).get(this.parameters.get('key'))
      need(member, 'bad-form')
      return serialize(member)
    }
    if (!this.parameters.has('sf')) return joined
    const members = dictionary(message, this.name)
    need(members.size > 0, 'bad-form')
    return serializeDictionary(members)
  }
}

/** A name or an address, with or without a port. */
function isAuthority(text) {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::(0|[1-9][0-9]*)?)?$/i.exec(text)
  if (!match || Number(match[3] ?? '') > 65535) return false
  const [, address, name] = match
  if (address !== undefined) return isIPv6(address)
  return name.replace(/\.$/, '').split('.').every(label => label !== '') && !/%(?![0-9a-f]{2})/i.test(name)
}

/** The escapes of `application/x-www-form-urlencoded`, with `%20` for a space. */
const escape = text => encodeURIComponent(text).replace(/[!'()~]/g, c => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

function queryParameter(query, wanted) {
  need(query.split('&').length <= 1024, 'too-large')
  const found = [...new URLSearchParams(query)].filter(([name]) => escape(name.toWellFormed()) === wanted)
  need(found.length === 1 && !found[0][1].includes('\ufffd'), 'bad-form')
  return escape(found[0][1])
}

/** A component as policies name it: `@method` or `"@method";req`. */
const component = text => new Component(parseItem(text.startsWith('"') ? text : `"${text}"`))

/** What a member of Signature-Input says; nothing of the message was looked at. */
class Signature {
  constructor([label, member]) {
    const [items, parameters] = member
    need(items.length <= 64, 'too-large')
    this.label = label
    this.member = member
    this.components = items.map(item => new Component(item))
    this.covered = new Set(this.components.map(({ identity }) => identity))
    need(this.covered.size === items.length, 'bad-form')
    for (const [name, value] of parameters) {
      const time = ['created', 'expires'].includes(name) && Number.isInteger(value) && value >= 0
      need(time || (['nonce', 'alg', 'keyid', 'tag'].includes(name) && isText(value)), 'bad-form')
      need(name !== 'alg' || has(ALGORITHMS, value), 'bad-algorithm')
    }
    this.parameters = Object.fromEntries(parameters)
  }

  makeBase(message) {
    const lines = this.components.map(one => `${serializeItem(one.item)}: ${one.value(message)}\n`)
    need(lines.join('').length <= MAX_HEAD, 'too-large')
    this.base = `${lines.join('')}"@signature-params": ${serializeInnerList(this.member)}`
  }
}

/** The members of Signature-Input with this tag. */
function read(message, tag) {
  const inputs = [...dictionary(message, 'signature-input')]
  need(inputs.length <= 8, 'too-large')
  need(inputs.every(([, member]) => isInnerList(member)), 'bad-form')
  return inputs.filter(([, member]) => tag === undefined || member[1].get('tag') === tag)
}

function bytesOf(signatures, label) {
  const found = signatures.get(label)
  need(found && isBytes(found[0]), 'bad-form')
  return Buffer.from(found[0])
}

/** The signature that the policy speaks of; of several, the one that can be read here. */
function choose(message, { tag, from }) {
  let found = read(message, tag)
  if (found.length > 1) {
    const signatures = dictionary(message, 'signature')
    found = found.filter(one => counts(one, signatures, from))
  }
  need(found.length > 0, 'unsecured')
  need(found.length === 1, 'bad-form')
  return found[0]
}

function counts([label, [, parameters]], signatures, signer) {
  const [algorithm, id] = [parameters.get('alg'), parameters.get('keyid')]
  try {
    need(algorithm === undefined || (isText(algorithm) && has(ALGORITHMS, algorithm)), 'bad-algorithm')
    need(isText(id), 'bad-form')
    const { did } = parseUrl(id)
    return (signer === undefined || signer === did) && LENGTHS.includes(bytesOf(signatures, label).length)
  } catch (error) {
    if (error instanceof Refused) return false
    throw error
  }
}

/** What says which message it is. */
function bound(message) {
  if (message.target !== undefined) return ['@method', '@target-uri']
  if (message.request === undefined) return ['@status']
  const which = ['signature', 'content-digest'].filter(name => values(message.request, name).length > 0)
  return ['@status', '"@method";req', '"@target-uri";req', ...which.map(name => `"${name}";req`)]
}

function checkBounds(message) {
  const head = [...message.fields.flat(), message.method ?? '', message.target ?? ''].reduce((sum, text) => sum + utf8(text).length, 0)
  need(message.fields.length <= 256 && head <= MAX_HEAD, 'too-large')
  if (message.request) checkBounds(message.request)
}

/** Every reader finds the same content, and the same value of a field. */
function checkFraming(message) {
  need(SINGLE.every(name => values(message, name).length <= 1), 'bad-form')
  need(values(message, 'transfer-encoding').length === 0, 'bad-form')
  for (const length of values(message, 'content-length')) {
    need(/^[0-9]+$/.test(length) && BigInt(length) < 1n << 64n, 'bad-form')
    if (message.body === undefined) continue
    const found = utf8(message.body).length
    const ofAnother = message.status === 304 || message.request?.method === 'HEAD'
    need(BigInt(length) === BigInt(found) || (found === 0 && ofAnother), 'bad-form')
  }
  if (message.request) checkFraming(message.request)
}

/** The one signature that the policy speaks of. */
export function verify(message, { tag, from, required, relationship = 'authentication', maxAge = 120 }, resolve, now, memory) {
  checkBounds(message)
  checkFraming(message)
  const signature = new Signature(choose(message, { tag, from }))
  const wanted = (required ?? bound(message)).map(component)
  const digest = component('content-digest')
  if (message.body) {
    wanted.push(digest, ...READING.filter(name => values(message, name).length > 0).map(component))
  }
  need(wanted.every(({ identity }) => signature.covered.has(identity)), 'uncovered')
  const { created, expires, nonce, alg, keyid } = signature.parameters
  need(created !== undefined && nonce !== undefined && nonce.length >= 1 && nonce.length <= 256 && keyid !== undefined, 'bad-form')
  const { did } = parseUrl(keyid)
  need(from === undefined || from === did, 'other-signer')
  const end = Math.min(created + maxAge, expires ?? Infinity)
  within(now + SKEW, created, undefined)
  within(now, undefined, end)
  const bytes = bytesOf(dictionary(message, 'signature'), signature.label)
  need(LENGTHS.includes(bytes.length), 'bad-signature')
  const key = resolve(did, now).keyFor(keyid, 'JsonWebKey', relationship, now)
  need(alg === undefined || ALGORITHMS[alg] === key.algorithm, 'bad-algorithm')
  signature.makeBase(message)
  key.verify(utf8(signature.base), bytes)
  if (message.body !== undefined && signature.covered.has(digest.identity)) checkDigest(message)
  const answered = message.request
  if (answered?.body !== undefined && values(answered, 'content-digest').length > 0) checkDigest(answered)
  memory.remember(did, nonce, end, now)
  return signature
}

function checkDigest(message) {
  let compared = 0
  for (const [name, member] of dictionary(message, 'content-digest')) {
    if (name !== 'sha-256' && name !== 'sha-512') continue
    need(isBytes(member[0]), 'bad-form')
    const computed = createHash(name.replace('-', '')).update(message.body).digest()
    need(computed.equals(Buffer.from(member[0])), 'wrong-digest')
    compared += 1
  }
  need(compared > 0, 'wrong-digest')
}
