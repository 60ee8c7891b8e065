// did.json: what DID Core 1.0 says of a reader, by docs/spec/did.md.

import assert from 'node:assert/strict'
import { verifyLog } from './cards.mjs'
import { DID_JSON, DID_LD_JSON, Document, RELATIONSHIPS, join, list, ofDidKey, parseDid, readRepresentation, splitUrl } from './did.mjs'
import { Refused, canonical, decode, has, isObject, need, parseObject, parseTime, utf8, within } from './reading.mjs'

const readers = {
  did: ({ input }) => assert.equal(parseDid(input), input),
  'did-url'({ input }) {
    const { did, path, query, fragment } = splitUrl(input)
    assert.equal(did + path + (query === undefined ? '' : `?${query}`) + (fragment === undefined ? '' : `#${fragment}`), input)
  },
  relative: ({ input, url }) => assert.equal(join(input.did, input.reference), url),
  document: ({ input }) => new Document(input),
  text: ({ input }) => new Document(parseObject(utf8(input), 65536)),
  representation: ({ input }) => readRepresentation(input.mediaType, utf8(input.text)),
  signed({ input: { document, url, message, context, signature } }) {
    const key = new Document(document).keyFor(url, 'JsonWebKey', 'assertionMethod', 0)
    key.verify(utf8(message), decode(signature, 8192), utf8(context))
  },
  resolution({ input, returned }) {
    try {
      equal(functions[input.function](input), returned)
    } catch (error) {
      if (!(error instanceof Failed)) throw error
      equal({ metadata: { error: error.keyword }, content: null, contentMetadata: {} }, returned)
      throw error.why
    }
  },
}

const equal = (found, expected) => assert.equal(canonical(found), canonical(expected))

export const check = vector => readers[vector.kind](vector)

/** A keyword of the standard, and the refusal behind it. */
class Failed extends Error {
  constructor(keyword, why) {
    super(keyword)
    Object.assign(this, { keyword, why })
  }
}

function orFail(keyword, work) {
  try {
    return work()
  } catch (error) {
    throw error instanceof Refused ? new Failed(keyword, error) : error
  }
}

const functions = {
  resolve(input) {
    orFail('invalidDid', () => parseDid(input.url))
    const document = orFail('notFound', () => documentOf(input.url, input))
    return { metadata: {}, content: document.json, contentMetadata: about(document) }
  },
  resolveRepresentation(input) {
    orFail('invalidDid', () => parseDid(input.url))
    return represented(orFail('notFound', () => documentOf(input.url, input)), input)
  },
  dereference(input) {
    const { did, query } = orFail('invalidDidUrl', () => splitUrl(input.url))
    orFail('invalidDidUrl', () => checkParameters(query ?? ''))
    const document = orFail('notFound', () => documentOf(did, input))
    const whole = represented(document, input)
    if (input.url === did) return whole
    const { '@context': context } = whole.content
    const found = orFail('notFound', () => part(document, input.url))
    return { ...whole, content: context === undefined ? found : { ...found, '@context': context }, contentMetadata: {} }
  },
}

/** With a site that gives one document at every address, and perhaps a log of cards. */
function documentOf(did, { document, log, now = 0 }) {
  if (did.startsWith('did:key:')) return ofDidKey(did)
  if (did.startsWith('did:web:')) {
    const read = new Document(document)
    need(read.id === did, 'not-bound')
    return read
  }
  need(log !== undefined, 'unknown-did')
  const newest = verifyLog(log).at(-1)
  need(newest.did === did, 'unknown-did')
  within(now, newest.validFrom, newest.validUntil)
  return newest.document
}

function represented(document, { accept }) {
  const [first] = [document.json['@context']].flat()
  const available = first === 'https://www.w3.org/ns/did/v1' ? [DID_LD_JSON, DID_JSON] : [DID_JSON]
  const contentType = accept === undefined ? available[0] : accept.toLowerCase()
  orFail('representationNotSupported', () => need(available.includes(contentType), 'bad-type'))
  const content = { ...document.json }
  if (contentType === DID_JSON) delete content['@context']
  return { metadata: { contentType }, content, contentMetadata: about(document) }
}

function about({ id, json }) {
  if (!id.startsWith('did:gambeson:')) return {}
  const { version, validFrom } = json.card
  return { versionId: String(version), [version === 1 ? 'created' : 'updated']: validFrom }
}

function part(document, url) {
  const entries = ['verificationMethod', 'service', ...RELATIONSHIPS].flatMap(name => list(document.json, name))
  const found = entries.find(entry => isObject(entry) && has(entry, 'id') && absolute(document.id, entry.id) === url)
  need(found, 'unknown-key')
  return found
}

/** `undefined` for the id of a service that is no DID URL. */
function absolute(did, reference) {
  try {
    return join(did, reference)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return undefined
  }
}

function checkParameters(query) {
  for (const [, value] of query.matchAll(/(?<=^|&)versionTime=([^&]*)/g)) {
    const text = Buffer.from(unescape(value), 'latin1').toString()
    parseTime(text)
    need(/^.{19}Z$/.test(text), 'bad-time')
  }
}
