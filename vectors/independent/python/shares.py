"""docs/spec/recovery.md, shares: Bytewords (BCR-2020-012) and SSKR (BCR-2020-011)."""

import hmac
import zlib

from reading import need

BYTEWORDS = (
    "ableacidalsoapexaquaarchatomauntawayaxisbackbaldbarnbeltbetabiasbluebodybragbrewbulbbuzzcalmcashcats"
    "chefcityclawcodecolacookcostcruxcurlcuspcyandarkdatadaysdelidicedietdoordowndrawdropdrumdulldutyeach"
    "easyechoedgeepicevenexamexiteyesfactfairfernfigsfilmfishfizzflapflewfluxfoxyfreefrogfuelfundgalagame"
    "geargemsgiftgirlglowgoodgraygrimgurugushgyrohalfhanghardhawkheathelphighhillholyhopehornhutsicedidea"
    "idleinchinkyintoirisironitemjadejazzjoinjoltjowljudojugsjumpjunkjurykeepkenokeptkeyskickkilnkingkite"
    "kiwiknoblamblavalazyleaflegsliarlimplionlistlogoloudloveluaulucklungmainmanymathmazememomenumeowmild"
    "mintmissmonknailnavyneednewsnextnoonnotenumbobeyoboeomitonyxopenovalowlspaidpartpeckplaypluspoempool"
    "posepuffpumapurrquadquizraceramprealredorichroadrockroofrubyruinrunsrustsafesagascarsetssilkskewslot"
    "soapsolosongstubsurfswantacotasktaxitenttiedtimetinytoiltombtoystriptunatwinuglyundouniturgeuservast"
    "veryvetovialvibeviewvisavoidvowswallwandwarmwaspwavewaxywebswhatwhenwhizwolfworkyankyawnyellyogayurt"
    "zapszerozestzinczonezoom"
)
WORDS = {BYTEWORDS[4 * byte : 4 * byte + 4]: byte for byte in range(256)}
TAGS = (b"\xd9\x9d\x75", b"\xd9\x01\x35")
SECRET, DIGEST = 255, 254
CODE = "bad-shares"


def read(text):
    """The 37 bytes of a share."""
    words = text.lower().split()
    need(all(word in WORDS for word in words), CODE)
    data = bytes(WORDS[word] for word in words)
    need(len(data) == 46 and zlib.crc32(data[:-4]) == int.from_bytes(data[-4:], "big"), CODE)
    need(data[:3] in TAGS and data[3:5] == b"\x58\x25", CODE)
    return data[5:-4]


def combine(texts):
    """The seed of shares of one group."""
    need(1 <= len(texts) <= 16, CODE)
    shares = [read(text) for text in texts]
    need(len(set(shares)) == len(shares), CODE)
    first = shares[0]
    # The id, then groups (threshold and count: one of one), then the group's number and the members' threshold.
    need(all(share[:4] == first[:4] for share in shares) and first[2] == 0 and first[3] >> 4 == 0, CODE)
    threshold = (first[3] & 15) + 1
    members = {share[4]: share[5:] for share in shares}
    need(len(members) == len(shares) >= threshold and max(members) < 16, CODE)
    if threshold == 1:
        return first[5:]
    points = list(members.items())[:threshold]
    secret, digest = interpolate(points, SECRET), interpolate(points, DIGEST)
    need(hmac.digest(digest[4:], secret, "sha256")[:4] == digest[:4], CODE)
    return secret


def multiply(a, b):
    """In GF(2^8) with the polynomial of AES."""
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a = a << 1 ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


def inverse(a):
    power = 1
    for _ in range(254):
        power = multiply(power, a)
    return power


def interpolate(points, at):
    """Lagrange's polynomial through the points, byte by byte."""
    out = bytes(32)
    for x, value in points:
        factor = 1
        for other, _ in points:
            if other != x:
                factor = multiply(factor, multiply(at ^ other, inverse(x ^ other)))
        out = bytes(sum_ ^ multiply(factor, byte) for sum_, byte in zip(out, value))
    return out
