// docs/spec/jose.md, JWS.

import { parseUrl } from './did.mjs'
import { ML_DSA } from './keys.mjs'
import { decode, encode, has, isText, need, parseObject, text, utf8 } from './reading.mjs'

const MAX_HEADER = 16384

/** A token that was read, and that nothing vouches for before `verify`. */
export class Jws {
  constructor(token, greatest, payload) {
    need(utf8(token).length <= greatest, 'too-large')
    const parts = token.split('.')
    need(parts.length === 3, 'bad-form')
    let [header, middle, signature] = parts
    if (payload === undefined) {
      payload = decode(middle, greatest)
    } else {
      need(middle === '', 'bad-form')
      middle = encode(payload)
    }
    this.payload = payload
    this.header = parseObject(decode(header, MAX_HEADER), MAX_HEADER)
    this.algorithm = this.header.alg
    need(isText(this.algorithm) && has(ML_DSA, this.algorithm), 'bad-algorithm')
    for (const name of ['crit', 'b64', 'jwk', 'jku', 'x5u', 'x5c']) need(!has(this.header, name), 'bad-form')
    this.signature = decode(signature, ML_DSA[this.algorithm].signature)
    need(this.signature.length === ML_DSA[this.algorithm].signature, 'bad-signature')
    this.input = utf8(`${header}.${middle}`)
  }

  expectType(expected) {
    const found = isText(this.header.typ) ? this.header.typ.toLowerCase() : ''
    need(found.replace(/^application\//, '') === expected.toLowerCase(), 'bad-type')
  }

  keyId() {
    return parseUrl(text(this.header, 'kid'))
  }

  verify(key) {
    need(key.algorithm === this.algorithm, 'bad-algorithm')
    key.verify(this.input, this.signature)
  }
}
