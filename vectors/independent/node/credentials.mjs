// docs/spec/credentials.md: the form of credentials, tokens, proofs, presentations, status.

import { createHash } from 'node:crypto'
import { crc32, inflateRawSync } from 'node:zlib'
import { Keeper, verifyLog } from './cards.mjs'
import { isUri, ofDidKey, parseDid, parseUrl } from './did.mjs'
import { Jws } from './jws.mjs'
import {
  Refused, canonical, fromMultibase, has, isObject, isText, need, parseObject, parseTime, same, text, utf8, within,
} from './reading.mjs'

const BASE = 'https://www.w3.org/ns/credentials/v2'
const [MAX_CREDENTIAL, MAX_STATUS_LIST, MAX_PRESENTATION] = [65536, 2097152, 1048576]
const SKEW = 60
const CRYPTOSUITE = 'mldsa44-jcs-2024'
const KNOWN_TERMS = new Set(
  (
    'id type description digestMultibase digestSRI mediaType name VerifiableCredential EnvelopedVerifiableCredential ' +
    'VerifiablePresentation EnvelopedVerifiablePresentation JsonSchemaCredential JsonSchema BitstringStatusListCredential ' +
    'BitstringStatusList BitstringStatusListEntry DataIntegrityProof'
  ).split(' '),
)

const LIST_TERMS = ['statusPurpose', 'encodedList', 'ttl', 'statusReference', 'statusSize', 'statusMessage']

/** Knows the documents of some logs of cards, and every did:key. */
export function resolverOf(logs) {
  const keeper = new Keeper()
  for (const log of logs) keeper.add(verifyLog(log))
  return (did, now) => (did.startsWith('did:key:') ? ofDidKey(did) : keeper.resolve(did, now))
}

// The form.

/** What the contexts define, as far as it can be known without fetching any. */
class Terms {
  #defined = new Map()
  #open = false
  #vocabulary = false

  constructor(value) {
    const contexts = value['@context']
    need(Array.isArray(contexts) && contexts[0] === BASE, 'bad-form')
    for (const context of contexts.slice(1)) {
      if (isObject(context)) {
        this.#define(context)
      } else {
        need(isUri(context), 'bad-form')
        this.#open ||= context !== BASE
      }
    }
  }

  #define(context) {
    if (has(context, '@vocab')) {
      const vocabulary = context['@vocab']
      need(vocabulary === null || vocabulary === '' || isUri(vocabulary), 'bad-form')
      this.#vocabulary = vocabulary !== null
    }
    for (const term of Object.keys(context).filter(name => !name.startsWith('@'))) {
      const definition = context[term]
      const alias = (term === 'id' && definition === '@id') || (term === 'type' && definition === '@type')
      need(!KNOWN_TERMS.has(term) || alias, 'bad-form')
      const earlier = this.#defined.get(term)
      need(!earlier?.locked || same(earlier.definition, definition), 'bad-form')
      const target = (isObject(definition) ? definition['@id'] : definition) ?? null
      const fits = target === null || (isText(target) && (target.startsWith('@') || isUri(target) || (this.#vocabulary && isTerm(target))))
      need(fits, 'bad-form')
      this.#defined.set(term, { definition, locked: context['@protected'] === true })
    }
  }

  known(term) {
    if (!isTerm(term) || this.#defined.get(term)?.definition === null) return false
    return this.#open || this.#vocabulary || this.#defined.has(term) || KNOWN_TERMS.has(term)
  }

  types(value, required) {
    const found = isText(value.type) ? [value.type] : value.type
    need(Array.isArray(found) && found.length > 0 && found.every(isText), 'bad-form')
    need(required === undefined || found.includes(required), 'bad-form')
    need(found.every(one => isUri(one) || this.known(one)), 'bad-form')
  }

  typed(value, name) {
    for (const one of objects(value, name)) {
      this.types(one)
      optionalId(one)
      need(name !== 'credentialSchema' || has(one, 'id'), 'bad-form')
    }
  }
}

const isTerm = value => value !== '' && !/[\s:]/u.test(value)

/** The objects of a member that holds one or more; none if it is missing. */
export function objects(value, name) {
  if (!has(value, name)) return []
  const found = isObject(value[name]) ? [value[name]] : value[name]
  need(Array.isArray(found) && found.length > 0 && found.every(isObject), 'bad-form')
  return found
}

export const hasType = (value, kind) => value.type === kind || (Array.isArray(value.type) && value.type.includes(kind))

const optionalId = value => need(!has(value, 'id') || isUri(value.id), 'bad-form')

function urlOf(value) {
  const url = isObject(value) ? value.id : value
  need(isUri(url), 'bad-form')
  return url
}

function languageText(value) {
  for (const name of ['name', 'description']) {
    if (!has(value, name) || isText(value[name])) continue
    const found = Array.isArray(value[name]) ? value[name] : [value[name]]
    need(found.length > 0 && found.every(languageValue), 'bad-form')
  }
}

function languageValue(value) {
  if (!isObject(value) || !isText(value['@value'])) return false
  return Object.entries(value).every(([name, one]) => {
    switch (name) {
      case '@value':
        return true
      case '@language':
        return isText(one) && /^(?=[A-Za-z])[A-Za-z0-9]{1,8}(?:-[A-Za-z0-9]{1,8})*$/.test(one)
      case '@direction':
        return one === 'ltr' || one === 'rtl'
      default:
        return false
    }
  })
}

const optionalTime = (value, name) => (has(value, name) ? parseTime(text(value, name, 'bad-time')) : undefined)

export function validity(value) {
  const [begin, end] = [optionalTime(value, 'validFrom'), optionalTime(value, 'validUntil')]
  need(begin === undefined || end === undefined || begin <= end, 'bad-form')
  const [expires, issued] = [optionalTime(value, 'expirationDate'), optionalTime(value, 'issuanceDate')]
  const ends = [end, expires].filter(time => time !== undefined)
  return [latest([begin, issued]), ends.length > 0 ? ends.reduce((a, b) => (a < b ? a : b)) : undefined]
}

export function issuerUrl(value) {
  need(has(value, 'issuer'), 'bad-form')
  const url = urlOf(value.issuer)
  if (isObject(value.issuer)) languageText(value.issuer)
  return url
}

const TYPED = [
  'credentialStatus', 'credentialSchema', 'refreshService', 'termsOfUse', 'evidence', 'confidenceMethod', 'renderMethod', 'proof',
]

export function checkCredential(value) {
  const terms = new Terms(value)
  optionalId(value)
  terms.types(value, 'VerifiableCredential')
  languageText(value)
  issuerUrl(value)
  const subjects = objects(value, 'credentialSubject')
  need(subjects.length > 0 && subjects.every(subject => Object.keys(subject).length > 0), 'bad-form')
  for (const subject of subjects) {
    optionalId(subject)
    need(Object.keys(subject).every(name => terms.known(name) || isUri(name) || LIST_TERMS.includes(name)), 'bad-form')
  }
  validity(value)
  for (const name of TYPED) terms.typed(value, name)
  relatedResources(value)
}

function relatedResources(value) {
  const seen = new Set()
  for (const resource of objects(value, 'relatedResource')) {
    need(isUri(resource.id) && !seen.has(resource.id), 'bad-form')
    seen.add(resource.id)
    need(has(resource, 'digestSRI') || has(resource, 'digestMultibase'), 'bad-form')
    if (has(resource, 'digestSRI')) {
      need(isText(resource.digestSRI) && resource.digestSRI.split(' ').every(isIntegrity), 'bad-form')
    }
    if (has(resource, 'digestMultibase')) {
      need(isText(resource.digestMultibase) && isDigest(resource.digestMultibase), 'bad-form')
    }
    need(!has(resource, 'mediaType') || (isText(resource.mediaType) && resource.mediaType.includes('/')), 'bad-form')
  }
}

const isIntegrity = one => /^sha(?:256|384|512)-[A-Za-z0-9+/=_-]{43,}$/.test(one)

function isDigest(digest) {
  if (digest.startsWith('z')) return /^z[1-9A-HJ-NP-Za-km-z]{3,}$/.test(digest)
  return verdict(() => need(fromMultibase(digest, 128).length >= 3, 'bad-form')) === undefined
}

/** The code with which something is refused, `undefined` if it is not. */
function verdict(work) {
  try {
    work()
    return undefined
  } catch (error) {
    if (error instanceof Refused) return error.code
    throw error
  }
}

export function checkPresentation(value) {
  const terms = new Terms(value)
  optionalId(value)
  terms.types(value, 'VerifiablePresentation')
  terms.typed(value, 'termsOfUse')
  terms.typed(value, 'proof')
  const holder = has(value, 'holder') ? urlOf(value.holder) : undefined
  for (const credential of objects(value, 'verifiableCredential')) {
    if (hasType(credential, 'EnvelopedVerifiableCredential')) {
      enveloped(credential, 'EnvelopedVerifiableCredential')
    } else {
      checkCredential(credential)
      need(has(credential, 'proof') || issuerUrl(credential) === holder, 'bad-form')
    }
  }
}

/** Media type and content of an enveloped object. */
function enveloped(value, kind) {
  if (value['@context'] !== BASE) new Terms(value)
  need(value.type === kind || (Array.isArray(value.type) && value.type.length === 1 && value.type[0] === kind), 'bad-form')
  const match = isText(value.id) ? /^data:([^,]*),(.*)$/s.exec(value.id) : null
  need(match, 'bad-form')
  return { media: match[1].toLowerCase(), token: match[2] }
}

// Tokens.

const isJson = secured => /^[ \t\n\r\f]*\{/.test(secured)

export function envelope(jws, kind) {
  jws.expectType(`${kind}+jwt`)
  need(!has(jws.header, 'cty') || (isText(jws.header.cty) && jws.header.cty.toLowerCase() === kind), 'bad-type')
  need(jws.algorithm === 'ML-DSA-65' || jws.algorithm === 'ML-DSA-87', 'bad-algorithm')
}

export function numericDate(value, name) {
  if (!has(value, name)) return undefined
  need(Number.isInteger(value[name]) && value[name] >= 0, 'bad-time')
  return value[name]
}

/** A time of signing, with what clocks may differ. */
export const notBefore = seconds => (seconds === undefined ? undefined : Math.max(seconds - SKEW, 0))

const latest = times => times.filter(time => time !== undefined).reduce((a, b) => (a > b ? a : b), undefined)

/** What a credential says, and the URL of the key that signed it. */
export function verifyCredential(secured, resolve, now, status, greatest = MAX_CREDENTIAL) {
  if (isJson(secured)) return verifyEmbedded(parseObject(utf8(secured), greatest), resolve, now, status)
  return verifyToken(secured, resolve, now, status, greatest)
}

function verifyToken(token, resolve, now, status, greatest = MAX_CREDENTIAL, audience = undefined) {
  const jws = new Jws(token, greatest)
  envelope(jws, 'vc')
  const value = parseObject(jws.payload, greatest)
  checkCredential(value)
  const issuer = parseDid(issuerUrl(value))
  const times = registeredClaims(jws.header, value, issuer)
  const { did } = jws.keyId()
  need(did === issuer, 'wrong-issuer')
  const signer = jws.header.kid
  jws.verify(resolve(did, now).keyFor(signer, 'JsonWebKey', 'assertionMethod', now))
  checkAudience(value, audience)
  within(now, ...times)
  return finish(value, signer, now, status)
}

/** What claims of JWT say again must be what the credential says. The times that they set. */
function registeredClaims(header, value, issuer) {
  need(!has(value, 'vc') && !has(value, 'vp'), 'bad-form')
  const [{ id: subject }] = objects(value, 'credentialSubject')
  for (const [where, name, expected] of [
    [value, 'iss', issuer],
    [header, 'iss', issuer],
    [value, 'jti', value.id],
    [value, 'sub', subject],
  ]) {
    need(!has(where, name) || (isText(where[name]) && where[name] === expected), 'bad-form')
  }
  const [issued, nbf, exp] = ['iat', 'nbf', 'exp'].map(name => numericDate(value, name))
  const [begin, end] = validity(value)
  need(nbf === undefined || begin === undefined || nbf === begin, 'bad-form')
  need(exp === undefined || end === undefined || exp === end, 'bad-form')
  return [latest([notBefore(issued), nbf]), exp]
}

/** A token for others (RFC 7519, section 4.1.3) is not for this verifier, who may have no name. */
export function checkAudience(value, audience) {
  const found = [value.aud].flat()
  need(!has(value, 'aud') || (audience !== undefined && found.includes(audience)), 'wrong-audience')
}

function finish(value, signer, now, status) {
  within(now, ...validity(value))
  status.check(value, now)
  return { json: value, signer, subjects: objects(value, 'credentialSubject') }
}

export function verifyEmbedded(value, resolve, now, status) {
  checkCredential(value)
  const { signed, signer } = verifyProof(value, resolve, now, 'assertionMethod')
  checkCredential(signed)
  const issuer = parseDid(issuerUrl(signed))
  const times = registeredClaims({}, signed, issuer)
  need(issuer === parseUrl(signer).did, 'wrong-issuer')
  checkAudience(signed)
  within(now, ...times)
  return finish(signed, signer, now, status)
}

// Proofs inside.

export function ourProof(document) {
  const ours = objects(document, 'proof').filter(proof => proof.cryptosuite === CRYPTOSUITE)
  need(ours.length > 0, 'unsecured')
  need(ours.length === 1, 'bad-form')
  need(ours[0].type === 'DataIntegrityProof', 'bad-type')
  need(!has(ours[0], 'previousProof'), 'bad-form')
  return ours[0]
}

/** What was signed, and the URL of the key. */
function verifyProof(document, resolve, now, purpose, domain, challenge) {
  const proof = ourProof(document)
  need(proof.proofPurpose === purpose, 'wrong-purpose')
  const [created, expires] = [optionalTime(proof, 'created'), optionalTime(proof, 'expires')]
  bound(proof, 'domain', domain, 'wrong-audience')
  bound(proof, 'challenge', challenge, 'wrong-nonce')
  const signer = text(proof, 'verificationMethod')
  const { did } = parseUrl(signer)
  const key = resolve(did, now).keyFor(signer, 'Multikey', purpose, now)
  const signed = verifySignature(document, proof, key)
  within(now, notBefore(created), expires)
  return { signed, signer }
}

function bound(proof, name, expected, code) {
  const found = proof[name]
  need(expected === undefined ? !has(proof, name) : found === expected || (Array.isArray(found) && found.includes(expected)), code)
}

const sha256 = value => createHash('sha256').update(canonical(value)).digest()

export function verifySignature(document, proof, key) {
  const { proofValue, ...options } = proof
  need(isText(proofValue), 'bad-form')
  const signature = fromMultibase(proofValue, 2420)
  const { proof: _, ...signed } = document
  if (has(options, '@context')) {
    need(has(signed, '@context') && beginsWith(signed['@context'], options['@context']), 'bad-form')
    signed['@context'] = options['@context']
  } else if (has(signed, '@context')) {
    options['@context'] = signed['@context']
  }
  need(key.algorithm === 'ML-DSA-44', 'bad-algorithm')
  key.verify(Buffer.concat([sha256(options), sha256(signed)]), signature)
  return signed
}

const beginsWith = (contexts, start) => {
  const [all, first] = [contexts, start].map(one => (Array.isArray(one) ? one : [one]))
  return same(all.slice(0, first.length), first)
}

// Presentations.

export function verifyPresentation(secured, resolve, now, request, status) {
  if (!isJson(secured)) return verifyPresentationToken(secured, resolve, now, request, status)
  const value = parseObject(utf8(secured), MAX_PRESENTATION)
  if (hasType(value, 'EnvelopedVerifiablePresentation')) {
    const { media, token } = enveloped(value, 'EnvelopedVerifiablePresentation')
    need(media === 'application/vp+jwt', 'bad-type')
    return verifyPresentationToken(token, resolve, now, request, status)
  }
  checkPresentation(value)
  const { signed, signer } = verifyProof(value, resolve, now, 'authentication', request.audience, request.nonce)
  const holder = holderOf(signed, parseUrl(signer).did)
  need(parseUrl(signer).did === holder, 'wrong-holder')
  const created = parseTime(text(ourProof(value), 'created'))
  within(now, notBefore(created), created + request.maxAge)
  return { signer, credentials: credentialsOf(signed, holder, resolve, now, request, status) }
}

/** The holder that is named, or else the one whose key signed. */
function holderOf(value, signer) {
  if (!has(value, 'holder')) return signer
  const holder = isObject(value.holder) ? value.holder.id : value.holder
  need(isText(holder), 'bad-form')
  return parseDid(holder)
}

function verifyPresentationToken(token, resolve, now, request, status) {
  const jws = new Jws(token, MAX_PRESENTATION)
  envelope(jws, 'vp')
  const value = parseObject(jws.payload, MAX_PRESENTATION)
  checkPresentation(value)
  need(!has(value, 'vc') && !has(value, 'vp'), 'bad-form')
  const { did } = jws.keyId()
  const holder = holderOf(value, did)
  need([value, jws.header].every(where => !has(where, 'iss') || where.iss === holder), 'bad-form')
  need(did === holder, 'wrong-holder')
  const issued = numericDate(value, 'iat')
  need(issued !== undefined, 'bad-form')
  const [nbf, exp] = ['nbf', 'exp'].map(name => numericDate(value, name))
  const signer = jws.header.kid
  jws.verify(resolve(did, now).keyFor(signer, 'JsonWebKey', 'authentication', now))
  need(value.aud === request.audience, 'wrong-audience')
  need(value.nonce === request.nonce, 'wrong-nonce')
  within(now, notBefore(issued), issued + request.maxAge)
  within(now, nbf, exp)
  return { signer, credentials: credentialsOf(value, holder, resolve, now, request, status) }
}

function credentialsOf(value, holder, resolve, now, request, status) {
  const members = objects(value, 'verifiableCredential')
  need(members.length <= 16, 'too-large')
  return members.map(member => {
    let credential
    if (hasType(member, 'EnvelopedVerifiableCredential')) {
      const { media, token } = enveloped(member, 'EnvelopedVerifiableCredential')
      need(media === 'application/vc+jwt', 'bad-type')
      credential = verifyToken(token, resolve, now, status, MAX_CREDENTIAL, request.audience)
    } else {
      credential = verifyEmbedded(member, resolve, now, status)
    }
    need(request.binding !== 'subject' || credential.subjects.every(({ id }) => id === holder), 'wrong-holder')
    return credential
  })
}

// Status.

const PURPOSES = { revocation: 'revoked', suspension: 'suspended' }

/** A list that was verified. */
export class StatusList {
  constructor(secured, resolve, now) {
    const { json, subjects: [subject] } = verifyCredential(secured, resolve, now, new Status('ignored'), MAX_STATUS_LIST)
    need(hasType(json, 'BitstringStatusListCredential') && hasType(subject, 'BitstringStatusList'), 'bad-type')
    need(has(json, 'id'), 'bad-form')
    this.url = json.id
    this.issuer = issuerUrl(json)
    this.validity = validity(json)
    const packed = text(subject, 'encodedList')
    const purposes = isText(subject.statusPurpose) ? [subject.statusPurpose] : subject.statusPurpose
    need(Array.isArray(purposes) && purposes.length > 0 && purposes.every(isText), 'bad-form')
    need(new Set(purposes).size === purposes.length, 'bad-form')
    need(!has(subject, 'ttl') || (Number.isInteger(subject.ttl) && subject.ttl >= 0), 'bad-form')
    this.purposes = purposes.filter(purpose => has(PURPOSES, purpose))
    this.bits = this.purposes.length ? unpack(packed) : Buffer.alloc(0)
  }

  get entries() {
    return this.bits.length * 8
  }

  isSet(index) {
    need(index < BigInt(this.entries), 'out-of-range')
    const number = Number(index)
    return (this.bits[number >> 3] & (0x80 >> number % 8)) !== 0
  }
}

/** One member of GZIP (RFC 1952) without optional fields that nobody writes, and nothing after it. */
function unpack(packed) {
  const bytes = fromMultibase(packed, MAX_STATUS_LIST)
  need(bytes.length >= 18 && bytes.readUInt16BE(0) === 0x1f8b && bytes[2] === 8, 'bad-encoding')
  need(bytes[3] === 0, 'bad-encoding')
  let found
  try {
    found = inflateRawSync(bytes.subarray(10), { maxOutputLength: 1048576, info: true })
  } catch (error) {
    throw new Refused(error.code === 'ERR_BUFFER_TOO_LARGE' ? 'too-large' : 'bad-encoding')
  }
  const bits = found.buffer
  const end = 10 + found.engine.bytesWritten
  need(bytes.length === end + 8, 'bad-encoding')
  need(bytes.readUInt32LE(end) === crc32(bits) && bytes.readUInt32LE(end + 4) === bits.length, 'bad-encoding')
  need(bits.length >= 16384, 'out-of-range')
  return bits
}

/** `required`, `if-known` or `ignored`, with the lists that are known. */
export class Status {
  constructor(asked, lists = []) {
    this.asked = asked
    this.lists = new Map(lists.map(list => [JSON.stringify([list.issuer, list.url]), list]))
  }

  check(credential, now) {
    need(!has(credential, 'status') || this.asked !== 'required', 'unknown-status')
    for (const entry of objects(credential, 'credentialStatus')) this.checkEntry(issuerUrl(credential), entry, now)
  }

  checkEntry(issuer, entry, now) {
    if (this.asked === 'ignored') return
    try {
      this.lookUp(issuer, entry, now)
    } catch (error) {
      if (error.code !== 'unknown-status' || this.asked === 'required') throw error
    }
  }

  lookUp(issuer, entry, now) {
    need(hasType(entry, 'BitstringStatusListEntry'), 'unknown-status')
    const index = text(entry, 'statusListIndex')
    need(/^(?:0|[1-9][0-9]*)$/.test(index) && BigInt(index) < 2n ** 64n, 'bad-form')
    const url = text(entry, 'statusListCredential')
    need(isUri(url) && entry.id !== url, 'bad-form')
    const purpose = text(entry, 'statusPurpose')
    if (purpose === 'refresh' || purpose === 'message') return
    need(has(PURPOSES, purpose), 'unknown-status')
    need(!has(entry, 'statusSize') || entry.statusSize === 1, 'bad-form')
    const found = this.lists.get(JSON.stringify([issuer, url]))
    need(found, 'unknown-status')
    need(found.purposes.includes(purpose), 'bad-form')
    const isSet = found.isSet(BigInt(index))
    const holds = verdict(() => within(now, ...found.validity)) === undefined
    need(!isSet || (!holds && purpose !== 'revocation'), PURPOSES[purpose])
    need(holds, 'unknown-status')
  }
}
