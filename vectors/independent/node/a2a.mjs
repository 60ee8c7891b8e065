// docs/spec/a2a.md: what of an agent card is signed, and by whom.

import { Jws } from './jws.mjs'
import { Refused, canonical, has, isObject, isText, need, parseObject, utf8 } from './reading.mjs'

const [MAX_CARD, MAX_TOKEN] = [262144, 16384]

// A shape takes a value and gives what is kept of it, or `undefined`.

const filled = value => (Object.keys(value).length > 0 ? value : undefined)

function text(value) {
  need(isText(value), 'bad-form')
  return value === '' ? undefined : value
}

function flag(value) {
  need(typeof value === 'boolean', 'bad-form')
  return value
}

const whenTrue = value => (flag(value) ? true : undefined)

const list = shape => value => {
  need(Array.isArray(value), 'bad-form')
  return filled(value.map(shape).filter(item => item !== undefined))
}

/** An object with free names. */
const named = shape => value => {
  need(isObject(value), 'bad-form')
  return filled(Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shape(member)]).filter(([, member]) => member !== undefined)))
}

const snake = name => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

const message = (fields, most = Infinity) => value => {
  need(isObject(value), 'bad-form')
  const there = []
  for (const [name, shape] of Object.entries(fields)) {
    const known = [...new Set([name, snake(name)])].filter(one => has(value, one))
    need(known.length <= 1, 'bad-form')
    if (known.length === 1 && value[known[0]] !== null) there.push([name, shape, value[known[0]]])
  }
  need(there.length <= most, 'bad-form')
  return filled(Object.fromEntries(there.map(([name, shape, member]) => [name, shape(member)]).filter(([, member]) => member !== undefined)))
}

const oneOf = fields => message(fields, 1)

/** Free JSON without what is empty, from the inside out. */
function clean(value) {
  if (value === null || value === '') return undefined
  if (Array.isArray(value)) return filled(value.map(clean).filter(item => item !== undefined))
  if (!isObject(value)) return value
  return filled(Object.fromEntries(Object.entries(value).map(([name, member]) => [name, clean(member)]).filter(([, member]) => member !== undefined)))
}

function free(value) {
  need(isObject(value), 'bad-form')
  return clean(value)
}

const texts = names => Object.fromEntries(names.split(' ').map(name => [name, text]))
const flow = names => message({ ...texts(names), scopes: named(text) })

const flows = oneOf({
  authorizationCode: message({ ...texts('authorizationUrl tokenUrl refreshUrl'), scopes: named(text), pkceRequired: whenTrue }),
  clientCredentials: flow('tokenUrl refreshUrl'),
  implicit: flow('authorizationUrl refreshUrl'),
  password: flow('tokenUrl refreshUrl'),
  deviceCode: flow('deviceAuthorizationUrl tokenUrl refreshUrl'),
})
const scheme = oneOf({
  apiKeySecurityScheme: message(texts('description location name')),
  httpAuthSecurityScheme: message(texts('description scheme bearerFormat')),
  oauth2SecurityScheme: message({ ...texts('description oauth2MetadataUrl'), flows }),
  openIdConnectSecurityScheme: message(texts('description openIdConnectUrl')),
  mtlsSecurityScheme: message(texts('description')),
})
const requirements = list(message({ schemes: named(message({ list: list(text) })) }))
const extension = message({ ...texts('uri description'), required: whenTrue, params: free })
const skill = message({
  ...texts('id name description'),
  tags: list(text), examples: list(text), inputModes: list(text), outputModes: list(text),
  securityRequirements: requirements,
})
const agentCard = message({
  ...texts('name description version documentationUrl iconUrl'),
  supportedInterfaces: list(message(texts('url protocolBinding tenant protocolVersion'))),
  provider: message(texts('url organization')),
  capabilities: message({ streaming: flag, pushNotifications: flag, extensions: list(extension), extendedAgentCard: flag }),
  securitySchemes: named(scheme),
  securityRequirements: requirements,
  defaultInputModes: list(text),
  defaultOutputModes: list(text),
  skills: list(skill),
})

/** What is signed, and the URL of the key. */
export function verify(bytes, expected, resolve, now) {
  const { signatures, ...rest } = parseObject(bytes, MAX_CARD)
  const signed = agentCard(rest)
  need(signed, 'bad-form')
  const payload = canonical(signed)
  const all = signatures ?? []
  need(Array.isArray(all), 'bad-form')
  need(all.length <= 8, 'too-large')
  let refusal
  for (const signature of all) {
    try {
      return { payload, signer: verifyOne(signature, utf8(payload), expected, resolve, now) }
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      if (error.code !== 'bad-algorithm') refusal ??= error
    }
  }
  throw refusal ?? new Refused('unsecured')
}

function verifyOne(signature, payload, expected, resolve, now) {
  need(isObject(signature) && isText(signature.protected) && isText(signature.signature), 'bad-form')
  const jws = new Jws(`${signature.protected}..${signature.signature}`, MAX_TOKEN, payload)
  jws.expectType('JOSE')
  const { did } = jws.keyId()
  need(expected === undefined || did === expected, 'wrong-issuer')
  jws.verify(resolve(did, now).keyFor(jws.header.kid, 'JsonWebKey', 'assertionMethod', now))
  return jws.header.kid
}
