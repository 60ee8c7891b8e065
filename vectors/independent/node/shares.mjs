// docs/spec/recovery.md, shares: Bytewords (BCR-2020-012) and SSKR (BCR-2020-011).

import { createHmac } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { need } from './reading.mjs'

const WORDS = (
    'ableacidalsoapexaquaarchatomauntawayaxisbackbaldbarnbeltbetabiasbluebodybragbrewbulbbuzzcalmcashcats' +
    'chefcityclawcodecolacookcostcruxcurlcuspcyandarkdatadaysdelidicedietdoordowndrawdropdrumdulldutyeach' +
    'easyechoedgeepicevenexamexiteyesfactfairfernfigsfilmfishfizzflapflewfluxfoxyfreefrogfuelfundgalagame' +
    'geargemsgiftgirlglowgoodgraygrimgurugushgyrohalfhanghardhawkheathelphighhillholyhopehornhutsicedidea' +
    'idleinchinkyintoirisironitemjadejazzjoinjoltjowljudojugsjumpjunkjurykeepkenokeptkeyskickkilnkingkite' +
    'kiwiknoblamblavalazyleaflegsliarlimplionlistlogoloudloveluaulucklungmainmanymathmazememomenumeowmild' +
    'mintmissmonknailnavyneednewsnextnoonnotenumbobeyoboeomitonyxopenovalowlspaidpartpeckplaypluspoempool' +
    'posepuffpumapurrquadquizraceramprealredorichroadrockroofrubyruinrunsrustsafesagascarsetssilkskewslot' +
    'soapsolosongstubsurfswantacotasktaxitenttiedtimetinytoiltombtoystriptunatwinuglyundouniturgeuservast' +
    'veryvetovialvibeviewvisavoidvowswallwandwarmwaspwavewaxywebswhatwhenwhizwolfworkyankyawnyellyogayurt' +
    'zapszerozestzinczonezoom'
).match(/.{4}/g)
const BYTES = new Map(WORDS.map((word, byte) => [word, byte]))
const TAGS = ['d99d75', 'd90135']
const [SECRET, DIGEST] = [255, 254]
const CODE = 'bad-shares'

/** The 37 bytes of a share. */
function read(text) {
  const bytes = Buffer.from(text.toLowerCase().split(/\s+/).filter(Boolean).map(word => {
    need(BYTES.has(word), CODE)
    return BYTES.get(word)
  }))
  need(bytes.length === 46 && crc32(bytes.subarray(0, -4)) === bytes.readUInt32BE(42), CODE)
  need(TAGS.includes(bytes.toString('hex', 0, 3)) && bytes.toString('hex', 3, 5) === '5825', CODE)
  return bytes.subarray(5, -4)
}

/** The seed of shares of one group. */
export function combine(texts) {
  need(texts.length >= 1 && texts.length <= 16, CODE)
  const shares = texts.map(read)
  const [first] = shares
  // The id, then groups (threshold and count: one of one), then the group's number and the members' threshold.
  need(shares.every(share => share.subarray(0, 4).equals(first.subarray(0, 4))) && first[2] === 0 && first[3] >> 4 === 0, CODE)
  const threshold = (first[3] & 15) + 1
  const members = new Map(shares.map(share => [share[4], share.subarray(5)]))
  need(members.size === shares.length && members.size >= threshold && Math.max(...members.keys()) < 16, CODE)
  if (threshold === 1) return first.subarray(5)
  const points = [...members].slice(0, threshold)
  const [secret, digest] = [interpolate(points, SECRET), interpolate(points, DIGEST)]
  const mac = createHmac('sha256', digest.subarray(4)).update(secret).digest()
  need(mac.subarray(0, 4).equals(digest.subarray(0, 4)), CODE)
  return secret
}

/** In GF(2^8) with the polynomial of AES. */
function multiply(a, b) {
  let product = 0
  for (; b; b >>= 1) {
    if (b & 1) product ^= a
    a = (a << 1) ^ (a & 0x80 ? 0x11b : 0)
  }
  return product
}

const inverse = a => Array.from({ length: 254 }).reduce(power => multiply(power, a), 1)

/** Lagrange's polynomial through the points, byte by byte. */
function interpolate(points, at) {
  const out = Buffer.alloc(32)
  for (const [x, value] of points) {
    const others = points.filter(([other]) => other !== x)
    const factor = others.reduce((sum, [other]) => multiply(sum, multiply(at ^ other, inverse(x ^ other))), 1)
    for (const [index, byte] of value.entries()) out[index] ^= multiply(factor, byte)
  }
  return out
}
