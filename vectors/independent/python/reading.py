"""docs/spec/jose.md: JSON, its canonical form, base64url, times. A refusal is `Refused` with its code."""

import base64
import datetime
import json
import re

MAX_INTEGER = 2**53 - 1
MAX_DEPTH = 32
NONCHARACTER = re.compile("[\ufdd0-\ufdef" + "".join(chr(plane << 16 | low) for plane in range(17) for low in (0xFFFE, 0xFFFF)) + "]")


class Refused(Exception):
    """What a format refuses; the code is part of the format."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


def need(condition, code):
    """Refuses with this code unless the condition holds."""
    if not condition:
        raise Refused(code)


def parse_json(data, greatest):
    """I-JSON: integers as `int` however they are spelled, other numbers as `float`."""
    need(len(data) <= greatest, "too-large")
    try:
        value = json.loads(
            data.decode("utf-8"), object_pairs_hook=members, parse_int=number, parse_float=number, parse_constant=number
        )
        need(depth(value) <= MAX_DEPTH, "bad-json")
        text = json.dumps(value, ensure_ascii=False)
        text.encode("utf-8")  # lone surrogates have no UTF-8
        need(not NONCHARACTER.search(text), "bad-json")
    except (ValueError, RecursionError):
        raise Refused("bad-json") from None
    return value


def parse_object(data, greatest):
    value = parse_json(data, greatest)
    need(isinstance(value, dict), "bad-form")
    return value


def members(pairs):
    names = dict(pairs)
    need(len(names) == len(pairs), "bad-json")
    return names


def number(text):
    if text in ("NaN", "Infinity", "-Infinity"):
        raise Refused("bad-json")
    value = float(text)
    need(abs(value) <= MAX_INTEGER, "bad-json")
    return int(value) if value.is_integer() else value


def depth(value):
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)
    return 0


def canonical(value):
    """RFC 8785, in UTF-8."""
    return text_of(value).encode("utf-8")


def text_of(value):
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return ecmascript(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ",".join(map(text_of, value)) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-16-be"))
    return "{" + ",".join(text_of(name) + ":" + text_of(value[name]) for name in names) + "}"


def ecmascript(value):
    """Number::toString of a double that is no integer: the shortest digits, placed as ECMAScript places them."""
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    point = len(whole) + int(exponent or 0)
    digits = whole + fraction
    point -= len(digits) - len(digits.lstrip("0"))
    digits = digits.strip("0")
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    if 0 < point < len(digits):
        return sign + digits[:point] + "." + digits[point:]
    power = point - 1
    rest = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{'+' if power > 0 else '-'}{abs(power)}"


def encode(data):
    """base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text, greatest, code="bad-encoding"):
    """The bytes of the one text that they have; at most `greatest` of them by the length of the text."""
    need(len(text) <= -(-greatest // 3) * 4, code)
    need(re.fullmatch("[A-Za-z0-9_-]*", text) and len(text) % 4 != 1, code)
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    need(encode(data) == text, code)
    return data


def multibase(data):
    return "u" + encode(data)


def from_multibase(text, greatest, code="bad-encoding"):
    need(text.startswith("u"), code)
    return decode(text[1:], greatest, code)


TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)
EPOCH = datetime.datetime(1970, 1, 1)


def parse_time(text):
    """Seconds since 1970."""
    match = TIME.fullmatch(text)
    need(match, "bad-time")
    try:
        local = datetime.datetime(*(int(part) for part in match.groups()[:6]))
    except ValueError:
        raise Refused("bad-time") from None
    sign, hours, minutes = match[7], int(match[8] or 0), int(match[9] or 0)
    need(hours <= 23 and minutes <= 59, "bad-time")
    offset = (hours * 60 + minutes) * 60
    seconds = int((local - EPOCH).total_seconds()) - (-offset if sign == "-" else offset)
    need(0 <= seconds <= 253402300799, "bad-time")
    return seconds


def write_time(seconds):
    return (EPOCH + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def within(now, begin, end):
    """A period includes both of its ends; either may be open (`None`)."""
    need(begin is None or begin <= now, "not-yet-valid")
    need(end is None or now <= end, "expired")


def text(value, name, code="bad-form"):
    """The text member of an object."""
    found = value.get(name)
    need(isinstance(found, str), code)
    return found


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)
