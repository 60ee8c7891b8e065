// docs/spec/did.md: DIDs, DID URLs, DID documents.

import { ML_DSA, VerifyingKey, fromJwk, fromMultikey, isPrivate } from './keys.mjs'
import { Refused, decode, fromMultibase, has, isObject, isText, need, parseObject, parseTime, text, utf8 } from './reading.mjs'

export const RELATIONSHIPS = [
  'authentication',
  'assertionMethod',
  'keyAgreement',
  'capabilityInvocation',
  'capabilityDelegation',
]
const CONTEXTS = ['https://www.w3.org/ns/did/v1', 'https://www.w3.org/ns/did/v1.1', 'https://www.w3.org/ns/cid/v1']

/** The text itself, once it is known to be a DID. */
export function parseDid(did) {
  need(utf8(did).length <= 4096, 'bad-did')
  const match = /^did:([^:]*):(.*)$/s.exec(did)
  need(match, 'bad-did')
  const [, method, id] = match
  if (method === 'gambeson') {
    const bytes = fromMultibase(id, 50, 'bad-did')
    const start = bytes.subarray(0, 2).toString('hex')
    need((bytes.length === 34 && start === '1e20') || (bytes.length === 50 && start === '2030'), 'bad-did')
  } else if (method === 'key') {
    instead('bad-did', () => fromMultikey(id))
  } else if (method === 'web') {
    web(id)
  } else {
    need(/^[a-z0-9]+$/.test(method) && /^(?:[A-Za-z0-9._:-]|%[0-9A-Fa-f]{2})+$/.test(id), 'bad-did')
    need(!id.endsWith(':'), 'bad-did')
  }
  return did
}

function instead(code, work) {
  try {
    return work()
  } catch (error) {
    throw error instanceof Refused ? new Refused(code) : error
  }
}

/** Host, port and segments of a did:web. */
function web(id) {
  const [host, ...segments] = id.split(':')
  const match = /^([A-Za-z0-9.-]{1,253})(?:%3[Aa]([1-9][0-9]*))?$/.exec(host)
  need(match, 'bad-did')
  const labels = match[1].split('.')
  need(labels.every(label => /^(?!-)[A-Za-z0-9-]{1,63}(?<!-)$/.test(label)), 'bad-did')
  need(!/^([0-9]+|0[xX][0-9A-Fa-f]*)$/.test(labels.at(-1)), 'bad-did')
  need(match[2] === undefined || Number(match[2]) <= 65535, 'bad-did')
  need(segments.every(segment => /^[A-Za-z0-9._-]+$/.test(segment) && segment !== '.' && segment !== '..'), 'bad-did')
  return { host: match[1], port: match[2], segments }
}

export function webAddress(did) {
  const { host, port, segments } = web(did.slice('did:web:'.length))
  const path = segments.length ? segments.join('/') : '.well-known'
  return `https://${host}${port ? `:${port}` : ''}/${path}/did.json`
}

export const suiteOf = did =>
  did.startsWith('did:gambeson:u') && fromMultibase(did.slice(13), 50)[0] === 0x20 ? 'cnsa2' : 'default'

const PLAIN = "[A-Za-z0-9\\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2}"
const REST = new RegExp(`^((?:${PLAIN})*)(?:\\?((?:${PLAIN}|\\?)*))?(?:#((?:${PLAIN}|\\?)*))?$`)

/** The parts of a DID URL; `undefined` where there is no query or fragment. */
export function splitUrl(url) {
  const at = url.search(/[/?#]|$/)
  const rest = url.slice(at)
  const match = REST.exec(rest)
  need(match && utf8(rest).length <= 4096, 'bad-did')
  return { did: parseDid(url.slice(0, at)), path: match[1], query: match[2], fragment: match[3] }
}

/** The same of the URL of a key, which has a fragment. */
export function parseUrl(url) {
  const parts = splitUrl(url)
  need(parts.fragment, 'bad-did')
  return parts
}

/** The DID URL of a reference in the document of a DID (RFC 3986, section 5.2). */
export function join(base, reference) {
  need(!reference.startsWith('//'), 'bad-did')
  const absolute = /^[^/?#]*:/.test(reference)
  const { did, path, query, fragment } = absolute ? splitUrl(reference) : splitUrl(base + rooted(reference))
  const tail = (query === undefined ? '' : `?${query}`) + (fragment === undefined ? '' : `#${fragment}`)
  const url = did + (path === '' ? '' : withoutDots(path)) + tail
  splitUrl(url)
  return url
}

const rooted = reference => (/^([/?#]|$)/.test(reference) ? reference : `/${reference}`)

function withoutDots(path) {
  const segments = path.slice(1).split('/')
  const kept = segments.reduce((kept, one) => (one === '..' ? kept.slice(0, -1) : one === '.' ? kept : [...kept, one]), [])
  return `/${[...kept, ...(/^\.\.?$/.test(segments.at(-1)) ? [''] : [])].join('/')}`
}

export const isUri = value => isText(value) && /^[A-Za-z][A-Za-z0-9+.-]*:[!-~]+$/.test(value) && !/["<>\\^`{|}]/.test(value)

/** A DID document whose form is good. */
export class Document {
  constructor(value) {
    this.json = value
    this.id = parseDid(text(value, 'id'))
    contexts(value)
    controllers(value)
    const aliases = list(value, 'alsoKnownAs')
    need(aliases.every(isUri) && new Set(aliases).size === aliases.length, 'bad-form')
    services(this.id, value)
    this.methods = new Map()
    for (const method of list(value, 'verificationMethod')) this.add(method)
    this.relationships = new Map()
    for (const name of RELATIONSHIPS) {
      const urls = new Set()
      need(!has(value, name) || value[name].length !== 0, 'bad-form')
      for (const entry of list(value, name)) {
        const url = isText(entry) ? join(this.id, entry) : this.add(entry)
        need(!urls.has(url), 'bad-form')
        urls.add(url)
      }
      this.relationships.set(name, urls)
    }
  }

  add(value) {
    need(isObject(value), 'bad-form')
    const method = readMethod(join(this.id, text(value, 'id')), value)
    need(!this.methods.has(method.url), 'bad-form')
    this.methods.set(method.url, method)
    return method.url
  }

  usable(url, now) {
    const method = this.methods.get(url)
    need(method && method.controller === this.id && splitUrl(url).did === this.id, 'unknown-key')
    need(method.revoked === undefined || method.revoked > now, 'key-revoked')
    need(method.expires === undefined || now <= method.expires, 'expired')
    return method
  }

  keyFor(url, form, relationship, now) {
    const method = this.usable(url, now)
    need(this.relationships.get(relationship).has(url), 'wrong-purpose')
    need(method.key instanceof VerifyingKey && method.form === form, 'wrong-purpose')
    return method.key
  }

  keyOfRole(url, role, now) {
    const method = this.usable(url, now)
    const alone = [...this.relationships.values()].every(urls => !urls.has(url))
    need(method.key instanceof VerifyingKey && splitUrl(url).fragment?.startsWith(`${role}-`) && alone, 'wrong-purpose')
    return method.key
  }

  /** The URL and the bytes of the key. */
  agreementKey(algorithm, now) {
    for (const url of [...this.relationships.get('keyAgreement')].sort()) {
      try {
        const { key } = this.usable(url, now)
        if (key?.other === algorithm) return { url, bytes: key.bytes }
      } catch (error) {
        if (!(error instanceof Refused)) throw error
      }
    }
    throw new Refused('unknown-key')
  }
}

/** A verification method; its key is for signatures, `{other, bytes}`, or missing where nothing here uses it. */
function readMethod(url, value) {
  const controller = parseDid(text(value, 'controller'))
  const time = name => (has(value, name) ? parseTime(text(value, name)) : undefined)
  const [expires, revoked] = [time('expires'), time('revoked')]
  const form = text(value, 'type')
  need(!(has(value, 'publicKeyJwk') && has(value, 'publicKeyMultibase')), 'bad-form')
  const { publicKeyJwk: jwk, publicKeyMultibase: multikey } = value
  let key
  if (form === 'JsonWebKey') {
    need(isObject(jwk), 'bad-form')
    key = jwkKey(jwk)
  } else if (form === 'Multikey') {
    need(isText(multikey), 'bad-form')
    key = multikeyKey(multikey)
  } else if (isObject(jwk)) {
    jwkKey(jwk)
  }
  return { url, controller, expires, revoked, form, key }
}

function jwkKey(jwk) {
  need(!isPrivate(jwk), 'bad-key')
  if (jwk.kty !== 'AKP') return undefined
  const name = text(jwk, 'alg')
  if (has(ML_DSA, name)) {
    try {
      return fromJwk(jwk)
    } catch (error) {
      if (error.code !== 'wrong-purpose') throw error
      return undefined
    }
  }
  return isText(jwk.pub) ? { other: name, bytes: decode(jwk.pub, 4096) } : undefined
}

function multikeyKey(multikey) {
  if (/^z[1-9A-HJ-NP-Za-km-z]+$/.test(multikey)) return undefined
  try {
    return fromMultikey(multikey)
  } catch (error) {
    if (error.code !== 'bad-algorithm') throw error
    return undefined
  }
}

export function list(value, name) {
  if (!has(value, name)) return []
  need(Array.isArray(value[name]), 'bad-form')
  return value[name]
}

function contexts(value) {
  if (!has(value, '@context')) return
  const found = value['@context']
  need(CONTEXTS.includes(Array.isArray(found) ? found[0] : found), 'bad-form')
}

function controllers(value) {
  if (!has(value, 'controller')) return
  const found = isText(value.controller) ? [value.controller] : value.controller
  need(Array.isArray(found) && found.length > 0, 'bad-form')
  for (const controller of found) {
    need(isText(controller), 'bad-form')
    parseDid(controller)
  }
}

function services(did, value) {
  const seen = new Set()
  for (const service of list(value, 'service')) {
    need(isObject(service), 'bad-form')
    const id = text(service, 'id').replace(/^#/, `${did}#`)
    need(isUri(id) && !seen.has(id), 'bad-form')
    seen.add(id)
    need(oneOrMore(service.type, isText), 'bad-form')
    need(oneOrMore(service.serviceEndpoint, one => isUri(one) || isObject(one)), 'bad-form')
  }
}

const oneOrMore = (value, fits) => (Array.isArray(value) ? value.length > 0 && value.every(fits) : fits(value))

export const DID_JSON = 'application/did+json'
export const DID_LD_JSON = 'application/did+ld+json'

/** A document in the representation of a media type. */
export function readRepresentation(mediaType, bytes) {
  const kind = mediaType.toLowerCase()
  need(kind === DID_JSON || kind === DID_LD_JSON, 'bad-type')
  const value = parseObject(bytes, 65536)
  need(kind === DID_JSON || has(value, '@context'), 'bad-form')
  return new Document(value)
}

/** The document of a did:key. */
export function ofDidKey(did) {
  const multikey = did.slice('did:key:'.length)
  const key = fromMultikey(multikey)
  const urls = [`${did}#${multikey}`, `${did}#${multikey}-jwk`]
  return new Document({
    id: did,
    verificationMethod: [
      { id: urls[0], controller: did, type: 'Multikey', publicKeyMultibase: multikey },
      { id: urls[1], controller: did, type: 'JsonWebKey', publicKeyJwk: key.jwk() },
    ],
    ...Object.fromEntries(RELATIONSHIPS.filter(name => name !== 'keyAgreement').map(name => [name, urls])),
  })
}
