// docs/spec/delegation.md: capabilities, chains, approvals, the decision.

import { isUtf8 } from 'node:buffer'
import { isName, names } from './actions.mjs'
import { envelope } from './credentials.mjs'
import { isUri, parseDid } from './did.mjs'
import { Jws } from './jws.mjs'
import { Refused, has, isObject, isText, need, parseObject, parseTime, same, text, utf8, within } from './reading.mjs'

const SKEW = 30
const KINDS = {
  AgentDelegationCredential: { member: 'delegation', relationship: 'capabilityDelegation' },
  AgentApproval: { member: 'approval', relationship: 'assertionMethod' },
}
const MEMBERS = ['@context', 'type', 'id', 'issuer', 'validFrom', 'validUntil', 'credentialSubject', 'credentialStatus']

const only = (value, known) => Object.keys(value).every(name => known.includes(name))

/** A credential of one of the kinds that was read. */
class Credential {
  constructor(token, kind) {
    const { member, relationship } = KINDS[kind]
    this.token = token
    this.relationship = relationship
    this.jws = new Jws(token, 65536)
    envelope(this.jws, 'vc')
    const value = parseObject(this.jws.payload, 65536)
    need(has(value, 'type'), 'bad-form')
    need(same(value.type, ['VerifiableCredential', kind]), 'bad-type')
    const terms = { [kind]: `urn:gambeson:${kind}`, [member]: { '@id': `urn:gambeson:${member}`, '@type': '@json' } }
    need(has(value, '@context') && same(value['@context'], ['https://www.w3.org/ns/credentials/v2', terms]), 'bad-form')
    need(isUri(text(value, 'id')), 'bad-form')
    this.issuer = parseDid(text(value, 'issuer'))
    this.begin = parseTime(text(value, 'validFrom'))
    this.end = parseTime(text(value, 'validUntil'))
    const { credentialSubject: subject, credentialStatus: status = [] } = value
    need(isObject(subject) && (isObject(status) || Array.isArray(status)), 'bad-form')
    this.status = [status].flat()
    need(!has(value, 'credentialStatus') || this.status.length > 0, 'bad-form')
    this.subject = parseDid(text(subject, 'id'))
    need(isObject(subject[member]), 'bad-form')
    this.granted = subject[member]
    need(only(value, MEMBERS) && only(subject, ['id', member]) && this.begin <= this.end, 'bad-form')
  }

  verify(resolve, status, now) {
    within(now + SKEW, this.begin, undefined)
    within(now, undefined, this.end)
    const { did } = this.jws.keyId()
    need(did === this.issuer, 'wrong-issuer')
    this.jws.verify(resolve(did, now).keyFor(this.jws.header.kid, 'JsonWebKey', this.relationship, now))
    for (const entry of this.status) {
      need(isObject(entry), 'bad-form')
      status(entry)
    }
  }
}

// What is granted.

const isNumber = value => typeof value === 'number'

function count(value, name) {
  if (!has(value, name)) return undefined
  need(Number.isSafeInteger(value[name]) && value[name] >= 0, 'bad-form')
  return value[name]
}

/** A text, or all that is below a prefix. */
export class Pattern {
  constructor(pattern) {
    const length = utf8(pattern).length
    need(length >= 1 && length <= 4096 && !/\p{Cc}/u.test(pattern), 'bad-form')
    this.below = pattern.endsWith('/*')
    this.prefix = this.below ? pattern.slice(0, -2) : pattern
    need(this.prefix !== '' && !this.prefix.includes('*'), 'bad-form')
  }

  matches(value) {
    if (!this.below) return value === this.prefix
    if (!value.startsWith(`${this.prefix}/`) || utf8(value).length > 4096) return false
    const parts = value.slice(this.prefix.length + 1).split('/')
    return parts.every(part => /^[A-Za-z0-9\-._~!$&'()+,;=:@]+$/.test(part) && !['', '.', '..'].includes(part.split(';')[0]))
  }

  /** Whether a rule of this pattern asks about the text, however it goes on. */
  reaches(value) {
    return this.below ? value.startsWith(`${this.prefix}/`) : value === this.prefix
  }

  covers(other) {
    if (!other.below) return this.matches(other.prefix)
    return this.below && (this.prefix === other.prefix || this.matches(other.prefix))
  }
}

const isHierarchical = prefix => prefix.startsWith('/') || prefix.includes('://')

function continues(prefix, value) {
  if (!value.startsWith(prefix)) return false
  const next = value.charAt(prefix.length)
  if (!isHierarchical(prefix) || next === '' || next === '/' || prefix.endsWith('/')) return true
  return !prefix.startsWith('/') && (/[?#]/.test(prefix) || next === '?' || next === '#')
}

/** Whether the segments of the path are the same to every reader, without a way up. */
function isUnambiguous(value) {
  let path = value.slice(1)
  if (!value.startsWith('/')) {
    const at = value.indexOf('://')
    const [rest] = value.slice(at < 0 ? 0 : at + 3).split(/[?#]/)
    path = rest.includes('/') ? rest.slice(rest.indexOf('/') + 1) : ''
  }
  const segments = path.split('/')
  return segments.every((segment, index) => (segment === '' && index === segments.length - 1) || isPlainSegment(segment))
}

const BLANK = String.raw`\p{White_Space}\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff`
const RESEMBLED = new Map([
  ...Array.from({ length: 0x5e }, (_, at) => [0xff01 + at, String.fromCharCode(0x21 + at)]),
  ...[0x2024, 0x2025, 0x2026, 0x3002, 0xfe12, 0xfe19, 0xfe30, 0xfe52, 0xff61].map(code => [code, '.']),
  ...[0x2044, 0x2215, 0x29f8].map(code => [code, '/']),
  ...[0x2216, 0x29f5, 0x29f9, 0xfe68].map(code => [code, '\\']),
  [0x37e, ';'], [0xfe54, ';'], [0xfe6a, '%'],
])

/** Whether no reader takes a segment for a way up, for nothing, or for two. */
function isPlainSegment(segment) {
  if (/%(?![0-9a-f]{2})/i.test(segment)) return false
  let [read, before] = [segment, undefined]
  while (read !== before) {
    before = read
    const bytes = decoded(read)
    if (!isUtf8(bytes)) return false
    read = Array.from(bytes.toString(), one => RESEMBLED.get(one.codePointAt(0)) ?? one).join('')
  }
  return !/[/\\\p{Cc}]/u.test(read) && !new RegExp(`^[.${BLANK}]*$`, 'u').test(read.split(';')[0])
}

/** Without escapes, and those that come of it. */
function decoded(text) {
  const out = []
  for (const byte of utf8(text)) {
    out.push(byte)
    for (;;) {
      const escape = /^%([0-9a-f]{2})$/i.exec(String.fromCharCode(...out.slice(-3)))
      if (!escape) break
      out.splice(-3, 3, Number.parseInt(escape[1], 16))
    }
  }
  return Buffer.from(out)
}

const TESTS = {
  oneOf: { fits: value => Array.isArray(value) && value.length >= 1 && value.length <= 64, met: (all, it) => all.some(one => same(one, it)) },
  atMost: { fits: isNumber, met: (most, it) => isNumber(it) && it <= most },
  atLeast: { fits: isNumber, met: (least, it) => isNumber(it) && it >= least },
  prefix: { fits: isText, met: (prefix, it) => isText(it) && continues(prefix, it) && (!isHierarchical(prefix) || isUnambiguous(it)) },
}

/** A condition: on an argument, or that somebody approved. */
class Caveat {
  constructor(value) {
    need(isObject(value) && only(value, ['argument', 'approval', ...Object.keys(TESTS)]), 'bad-form')
    const members = Object.keys(value)
    if (members.length === 1 && Array.isArray(value.approval)) {
      for (const approver of value.approval) {
        need(isText(approver), 'bad-did')
        parseDid(approver)
      }
      need(value.approval.length >= 1 && value.approval.length <= 64, 'bad-form')
      this.approvers = value.approval
      return
    }
    this.pointer = text(value, 'argument')
    need(members.length === 2 && utf8(this.pointer).length <= 512 && /^\/(?:[^~]|~[01])*$/s.test(this.pointer), 'bad-form')
    this.test = members.find(name => name !== 'argument')
    this.value = value[this.test]
    need(has(TESTS, this.test) && TESTS[this.test].fits(this.value), 'bad-form')
  }

  met(value) {
    return TESTS[this.test].met(this.value, value)
  }

  holds(value) {
    for (const escaped of this.pointer.split('/').slice(1)) {
      const part = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
      const found = isObject(value) ? has(value, part) : Array.isArray(value) && /^(?:0|[1-9][0-9]*)$/.test(part) && Number(part) < value.length
      if (!found) return false
      value = value[part]
    }
    return this.met(value)
  }

  implies(other) {
    if (this.approvers || other.approvers) {
      return Boolean(this.approvers && other.approvers) && this.approvers.every(did => other.approvers.includes(did))
    }
    if (this.pointer !== other.pointer) return false
    if (this.test === 'oneOf') return this.value.every(value => other.met(value))
    if (this.test !== other.test) return false
    return this.test === 'prefix' ? continues(other.value, this.value) : other.met(this.value)
  }
}

/** A permission. */
class Capability {
  constructor(value) {
    need(isObject(value) && only(value, ['action', 'resource', 'caveats']), 'bad-form')
    const { caveats = [] } = value
    need(Array.isArray(caveats) && caveats.length <= 32, 'bad-form')
    this.caveats = caveats.map(one => new Caveat(one))
    this.action = new Pattern(text(value, 'action'))
    this.resource = new Pattern(text(value, 'resource'))
  }

  permits({ action, json }) {
    const met = caveat => caveat.approvers !== undefined || caveat.holds(json.arguments)
    const segments = json.method.split('/').length
    const plain = segments === 2 || (segments === 1 && json.name === '')
    return plain && this.action.matches(action) && this.resource.matches(json.aud) && this.caveats.every(met)
  }

  covers(other) {
    const implied = ours => other.caveats.some(theirs => theirs.implies(ours))
    return this.action.covers(other.action) && this.resource.covers(other.resource) && this.caveats.every(implied)
  }
}

/** A link that was read. */
class Link {
  constructor(token) {
    this.credential = new Credential(token, 'AgentDelegationCredential')
    this.token = token
    this.issuer = this.credential.issuer
    this.delegate = this.credential.subject
    const value = this.credential.granted
    this.parent = value.parent
    need(this.parent === null || (isText(this.parent) && isName(this.parent)), 'bad-form')
    need(only(value, ['parent', 'capabilities', 'maxDepth', 'maxCalls', 'budget']), 'bad-form')
    const { capabilities } = value
    need(Array.isArray(capabilities) && capabilities.length >= 1 && capabilities.length <= 64, 'bad-form')
    this.capabilities = capabilities.map(one => new Capability(one))
    const caveats = this.capabilities.flatMap(one => one.caveats)
    const listed = caveats.reduce((sum, one) => sum + (one.approvers ?? (one.test === 'oneOf' ? one.value : [])).length, 0)
    need(caveats.length <= 256 && listed <= 512, 'bad-form')
    this.depth = count(value, 'maxDepth')
    need(this.depth <= 7, 'bad-form')
    if (has(value, 'budget')) {
      need(isObject(value.budget) && only(value.budget, ['amount', 'unit']), 'bad-form')
      const amount = count(value.budget, 'amount')
      need(amount !== undefined, 'bad-form')
      this.budget = { amount, unit: text(value.budget, 'unit') }
    }
    this.calls = count(value, 'maxCalls')
  }

  join(before) {
    need(this.parent !== null && names(this.parent, utf8(before.token)), 'broken-chain')
    need(this.issuer === before.delegate, 'wrong-delegate')
  }

  narrow(before) {
    need(before.depth > 0, 'too-deep')
    need(this.depth < before.depth, 'widened')
    need(this.credential.begin >= before.credential.begin && this.credential.end <= before.credential.end, 'widened')
    need(before.calls === undefined || this.calls <= before.calls, 'widened')
    need(!before.budget || (this.budget?.unit === before.budget.unit && this.budget.amount <= before.budget.amount), 'widened')
    need(this.capabilities.every(one => before.capabilities.some(ours => ours.covers(one))), 'widened')
  }
}

function verifyChain(tokens, trusted, { resolve, status, now }) {
  need(tokens.length <= 8, 'too-deep')
  const links = []
  for (const token of tokens) {
    const link = new Link(token)
    const before = links.at(-1)
    if (before) {
      link.join(before)
    } else {
      need(link.parent === null, 'broken-chain')
      need(trusted(link.issuer), 'untrusted-root')
    }
    link.credential.verify(resolve, status, now)
    if (before) link.narrow(before)
    links.push(link)
  }
  return links
}

function verifyApproval(token, { action, actor, resolve, status, now }) {
  const approval = new Credential(token, 'AgentApproval')
  const { action: name } = approval.granted
  need(only(approval.granted, ['action']) && isText(name) && isName(name), 'bad-form')
  need(names(name, action.signed), 'not-approved')
  need(approval.subject === actor, 'wrong-delegate')
  approval.verify(resolve, status, now)
  return approval
}

// The decision.

/** What was used up, by issuer and token. */
export class Ledger {
  #used = new Map()

  constructor(capacity) {
    this.capacity = capacity
  }

  spend(charges) {
    const after = new Map()
    for (const { by, calls, budget, cost } of charges) {
      const key = JSON.stringify([by.issuer, by.token])
      const had = after.get(key) ?? this.#used.get(key) ?? { calls: 0, cost: 0 }
      need(calls === undefined || had.calls + 1 <= calls, 'over-count')
      need(budget === undefined || had.cost + cost <= budget, 'over-budget')
      after.set(key, { calls: had.calls + 1, cost: had.cost + cost })
    }
    need(new Set([...this.#used.keys(), ...after.keys()]).size <= this.capacity, 'cache-full')
    for (const [key, state] of after) this.#used.set(key, state)
  }
}

/** Root, path and approvers. `question` has action, actor, chain, approvals, roots, rules, cost, resolve, status, ledger, now. */
export function authorize(question) {
  const { action, actor, chain, approvals, roots, rules, cost, ledger } = question
  need(approvals.length <= 8, 'too-deep')
  const trusted = root => roots.some(({ did, resource }) => did === root && resource.matches(action.json.aud))
  const { delegation } = action.json
  if (chain.length > 0) need(delegation !== undefined && names(delegation, utf8(chain.at(-1))), 'broken-chain')
  const links = chain.length > 0 ? verifyChain(chain, trusted, question) : []
  const root = links[0]?.issuer ?? actor
  if (links.length === 0) {
    need(delegation === undefined, 'broken-chain')
    need(trusted(root), 'untrusted-root')
  } else {
    need(links.at(-1).delegate === actor, 'wrong-delegate')
  }
  const verified = approvals.map(token => verifyApproval(token, question))
  const parties = [actor, ...links.map(({ delegate }) => delegate)]
  const ask = (approvers, used, excluded = parties) => {
    const approval = verified.find(({ issuer }) => approvers.includes(issuer) && !excluded.includes(issuer))
    need(approval, 'not-approved')
    return used.includes(approval) ? used : [...used, approval]
  }
  let used = []
  const all = [...parties, ...links.map(({ issuer }) => issuer)]
  for (const { pattern, approvers } of rules) if (pattern.reaches(action.action)) used = ask(approvers, used, all)
  if (links.length > 0) used = permitted(links.at(-1).capabilities, action, used, ask)
  const charges = links.filter(({ calls, budget }) => calls !== undefined || budget).map(link => charge(link, cost))
  ledger.spend([...used.map(by => ({ by, calls: 1, cost: 0 })), ...charges])
  return { root, path: [...links.map(({ issuer }) => issuer), actor], approvers: used.map(({ issuer }) => issuer) }
}

/** Those used, for the first capability that permits. */
function permitted(capabilities, action, used, ask) {
  let refusal = new Refused('not-permitted')
  for (const capability of capabilities.filter(one => one.permits(action))) {
    try {
      const questions = capability.caveats.filter(({ approvers }) => approvers)
      return questions.reduce((found, { approvers }) => ask(approvers, found), used)
    } catch (error) {
      refusal = error
    }
  }
  throw refusal
}

function charge(link, cost) {
  const { calls, budget } = link
  need(!budget || cost?.unit === budget.unit, 'over-budget')
  return { by: link, calls, budget: budget?.amount, cost: budget ? cost.amount : 0 }
}
