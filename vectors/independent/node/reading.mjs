// docs/spec/jose.md: JSON, its canonical form, base64url, times. A refusal is `Refused` with its code.

export class Refused extends Error {
  constructor(code) {
    super(code)
    this.code = code
  }
}

/** Refuses with this code unless the condition holds. */
export function need(condition, code) {
  if (!condition) throw new Refused(code)
}

const MAX_DEPTH = 32
const NONCHARACTER = /\p{Noncharacter_Code_Point}/u
const LITERALS = { true: true, false: false, null: null }

/** I-JSON in bytes. `JSON.parse` forgives equal names, so the structure is read here; it reads strings and numbers. */
export function parseJson(bytes, greatest) {
  need(bytes.length <= greatest, 'too-large')
  let text
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Refused('bad-json')
  }
  const token = /[ \t\n\r]*(?:([[\]{},:])|("(?:[^"\\\u0000-\u001f]|\\.)*")|(-?[0-9][0-9.eE+-]*|[a-z]+))/ys
  const next = () => {
    const match = token.exec(text)
    need(match, 'bad-json')
    return match
  }
  const value = ([, mark, string, scalar], depth) => {
    if (string !== undefined) return readString(string)
    if (scalar !== undefined) return scalar in LITERALS ? LITERALS[scalar] : readNumber(scalar)
    need(depth > 0 && (mark === '[' || mark === '{'), 'bad-json')
    return mark === '[' ? array(depth - 1) : object(depth - 1)
  }
  const array = depth => {
    const items = []
    let match = next()
    if (match[1] === ']') return items
    for (;;) {
      items.push(value(match, depth))
      const mark = next()[1]
      if (mark === ']') return items
      need(mark === ',', 'bad-json')
      match = next()
    }
  }
  const object = depth => {
    const members = Object.create(null)
    let match = next()
    if (match[1] === '}') return members
    for (;;) {
      need(match[2] !== undefined, 'bad-json')
      const name = readString(match[2])
      need(!(name in members) && next()[1] === ':', 'bad-json')
      members[name] = value(next(), depth)
      const mark = next()[1]
      if (mark === '}') return members
      need(mark === ',', 'bad-json')
      match = next()
    }
  }
  const found = value(next(), MAX_DEPTH)
  need(/^[ \t\n\r]*$/.test(text.slice(token.lastIndex)), 'bad-json')
  return found
}

function readString(quoted) {
  let string
  try {
    string = JSON.parse(quoted)
  } catch {
    throw new Refused('bad-json')
  }
  need(string.isWellFormed() && !NONCHARACTER.test(string), 'bad-json')
  return string
}

function readNumber(text) {
  need(/^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/.test(text), 'bad-json')
  const number = Number(text)
  need(Math.abs(number) <= Number.MAX_SAFE_INTEGER, 'bad-json')
  return number === 0 ? 0 : number
}

export function parseObject(bytes, greatest) {
  const value = parseJson(bytes, greatest)
  need(isObject(value), 'bad-form')
  return value
}

export const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value)
export const isText = value => typeof value === 'string'
export const has = (object, name) => Object.hasOwn(object, name)

/** RFC 8785, as a string. ECMAScript's own order of strings is that of UTF-16, and it writes numbers as itself. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.keys(value).sort().map(name => `${JSON.stringify(name)}:${canonical(value[name])}`)
  return `{${members.join(',')}}`
}

/** Whether two values of JSON are one. */
export const same = (a, b) => canonical(a) === canonical(b)

export const utf8 = text => Buffer.from(text, 'utf8')
export const hex = text => Buffer.from(text, 'hex')
export const encode = bytes => Buffer.from(bytes).toString('base64url')

/** The bytes of the one text that they have; at most `greatest` of them by the length of the text. */
export function decode(text, greatest, code = 'bad-encoding') {
  need(utf8(text).length <= Math.ceil(greatest / 3) * 4, code)
  const bytes = Buffer.from(text, 'base64url')
  need(bytes.toString('base64url') === text, code)
  return bytes
}

export const multibase = bytes => 'u' + encode(bytes)

export function fromMultibase(text, greatest, code = 'bad-encoding') {
  need(text.startsWith('u'), code)
  return decode(text.slice(1), greatest, code)
}

/** Seconds since 1970. */
export function parseTime(text) {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:Z|([+-])(\d\d):(\d\d))$/.exec(text)
  need(match, 'bad-time')
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number)
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  need(date.getUTCMonth() === month - 1 && date.getUTCDate() === day, 'bad-time')
  const [hours, minutes] = [Number(match[8] ?? 0), Number(match[9] ?? 0)]
  need(hour <= 23 && minute <= 59 && second <= 59 && hours <= 23 && minutes <= 59, 'bad-time')
  const offset = (hours * 60 + minutes) * 60 * (match[7] === '-' ? -1 : 1)
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offset
  need(seconds >= 0 && seconds <= 253402300799, 'bad-time')
  return seconds
}

export const writeTime = seconds => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')

/** A period includes both of its ends; either may be open (`undefined`). */
export function within(now, begin, end) {
  need(begin === undefined || begin <= now, 'not-yet-valid')
  need(end === undefined || now <= end, 'expired')
}

/** The text member of an object. */
export function text(object, name, code = 'bad-form') {
  need(has(object, name) && isText(object[name]), code)
  return object[name]
}
