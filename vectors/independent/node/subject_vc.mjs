// vc.json: what the VC Data Model 2.0 says of a reader, by docs/spec/credentials.md.

import { Status, checkCredential, checkPresentation, resolverOf, verifyCredential, verifyPresentation } from './credentials.mjs'

const readers = {
  credential: ({ input }) => checkCredential(input),
  presentation: ({ input }) => checkPresentation(input),
  secured: ({ input, now }) => verifyCredential(input, resolverOf([]), now, new Status('required')),
  'secured-presentation': ({ input, now, audience, nonce }) =>
    verifyPresentation(input, resolverOf([]), now, { audience, nonce, maxAge: 120, binding: 'subject' }, new Status('required')),
}

export const check = vector => readers[vector.kind](vector)
