// did.json: what DID Core 1.0 says of a reader, by docs/spec/did.md.

import assert from 'node:assert/strict'
import { Document, ofDidKey, parseDid, parseUrl } from './did.mjs'
import { need, parseObject, utf8 } from './reading.mjs'

const readers = {
  did: input => assert.equal(parseDid(input), input),
  'did-url': input => {
    const { did, fragment } = parseUrl(input)
    assert.equal(`${did}#${fragment}`, input)
  },
  document: input => new Document(input),
  text: input => new Document(parseObject(utf8(input), 65536)),
  resolution: resolve,
}

export const check = ({ kind, input }) => readers[kind](input)

/** With a site that gives this document at every address. */
function resolve({ did, document }) {
  parseDid(did)
  if (did.startsWith('did:key:')) return ofDidKey(did)
  need(did.startsWith('did:web:'), 'unknown-did')
  const read = new Document(document)
  need(read.id === did, 'not-bound')
  return read
}
