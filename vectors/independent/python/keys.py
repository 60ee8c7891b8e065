"""Keys: their derivation (docs/spec/kdf.md), their texts (docs/spec/jose.md), and ML-DSA."""

import hashlib
import hmac
import io

import blake3
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, mldsa, mlkem, x25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from dilithium_py.ml_dsa import ML_DSA_44, ML_DSA_65, ML_DSA_87

from reading import Refused, decode, encode, from_multibase, multibase, need, text

# name: public class, private class, bytes of the key, bytes of a signature, varint of the multicodec
ML_DSA = {
    "ML-DSA-44": (mldsa.MLDSA44PublicKey, mldsa.MLDSA44PrivateKey, 1312, 2420, b"\x90\x24"),
    "ML-DSA-65": (mldsa.MLDSA65PublicKey, mldsa.MLDSA65PrivateKey, 1952, 3309, b"\x91\x24"),
    "ML-DSA-87": (mldsa.MLDSA87PublicKey, mldsa.MLDSA87PrivateKey, 2592, 4627, b"\x92\x24"),
}
KEY_LENGTH = {name: row[2] for name, row in ML_DSA.items()}
SIGNATURE_LENGTH = {name: row[3] for name, row in ML_DSA.items()}
VARINT = {name: row[4] for name, row in ML_DSA.items()}

# purpose: role, (length, rest of the context) in suite default, the same in cnsa2
PURPOSES = {
    "Identity": (0, (32, "m/0' identity ML-DSA-65 seed"), (32, "m/0' identity ML-DSA-87 seed")),
    "Signing": (1, (32, "m/1' signing ML-DSA-65 seed"), (32, "m/1' signing ML-DSA-87 seed")),
    "Did": (2, (32, "m/2' did ML-DSA-65 seed"), (32, "m/2' did ML-DSA-87 seed")),
    "Backup": (3, (32, "m/3' backup X-Wing seed"), (64, "m/3' backup ML-KEM-1024 seed")),
    "BackupMac": (3, (32, "m/3' backup authentication BLAKE3 key"), (48, "m/3' backup authentication HMAC-SHA384 key")),
    "Sealed": (3, (32, "m/3' sealed X-Wing seed"), (64, "m/3' sealed ML-KEM-1024 seed")),
    "Encapsulation": (3, (64, "m/3' encapsulation ML-KEM-768 seed"), (64, "m/3' encapsulation ML-KEM-1024 seed")),
    "SigningHedge": (4, (32, "m/4' session signing hedge key"), (48, "m/4' session signing hedge key")),
    "SealingHedge": (4, (32, "m/4' session sealing hedge key"), (48, "m/4' session sealing hedge key")),
    "GroupHedge": (4, (32, "m/4' session group hedge key"), (48, "m/4' session group hedge key")),
    "GroupMlDsa44": (5, (32, "m/5' group ML-DSA-44 seed"), (32, "m/5' group ML-DSA-44 seed")),
    "GroupMlDsa65": (5, (32, "m/5' group ML-DSA-65 seed"), (32, "m/5' group ML-DSA-65 seed")),
    "GroupMlDsa87": (5, (32, "m/5' group ML-DSA-87 seed"), (32, "m/5' group ML-DSA-87 seed")),
    "GroupEd25519": (5, (32, "m/5' group Ed25519 seed"), (32, "m/5' group Ed25519 seed")),
    "GroupEcdsaP256": (5, (32, "m/5' group ECDSA-P256-SHA256 seed"), (32, "m/5' group ECDSA-P256-SHA256 seed")),
    "GroupEcdsaP384": (5, (32, "m/5' group ECDSA-P384-SHA384 seed"), (32, "m/5' group ECDSA-P384-SHA384 seed")),
    "GroupEcdsaP521": (5, (32, "m/5' group ECDSA-P521-SHA512 seed"), (32, "m/5' group ECDSA-P521-SHA512 seed")),
    "GroupMlDsa65Ed25519": (5, (32, "m/5' group MLDSA65-Ed25519-SHA512 seed"), (32, "m/5' group MLDSA65-Ed25519-SHA512 seed")),
    "GroupMlDsa87EcdsaP384": (5, (32, "m/5' group MLDSA87-ECDSA-P384-SHA512 seed"), (32, "m/5' group MLDSA87-ECDSA-P384-SHA512 seed")),
    "DataIntegrity": (6, (32, "m/6' data integrity ML-DSA-44 seed"), (32, "m/6' data integrity ML-DSA-44 seed")),
    "Log": (6, (32, "m/6' log ML-DSA-44 seed"), (32, "m/6' log ML-DSA-44 seed")),
    "State": (7, (32, "m/7' state XChaCha20-Poly1305 key"), (32, "m/7' state AES-256-GCM key")),
    "Child": (None, (32, "child agent master seed"), (32, "child agent master seed")),
}
# Leaf keys of groups that are not of ML-DSA alone.
LEAVES = {
    "GroupEcdsaP256": "ECDSA-P256-SHA256",
    "GroupEcdsaP384": "ECDSA-P384-SHA384",
    "GroupEcdsaP521": "ECDSA-P521-SHA512",
    "GroupMlDsa65Ed25519": "MLDSA65-Ed25519-SHA512",
    "GroupMlDsa87EcdsaP384": "MLDSA87-ECDSA-P384-SHA512",
}
# curve, bits and order (SEC 2)
CURVES = {
    "P256": (ec.SECP256R1(), 256, 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551),
    "P384": (
        ec.SECP384R1(),
        384,
        0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973,
    ),
    "P521": (
        ec.SECP521R1(),
        521,
        0x01FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFA51868783BF2F966B7FCC0148F709A5D03BB5C9B8899C47AEBB6FB71E91386409,
    ),
}
SUITES = {"default": "gambeson 2026-11-21 v1 ", "cnsa2": "gambeson 2026-11-21 v1 cnsa2 "}


def context(suite, purpose):
    """The context of a purpose and the length of what comes out."""
    length, rest = PURPOSES[purpose][1 if suite == "default" else 2]
    return SUITES[suite] + rest, length


def derive(suite, seed, purpose, index):
    name, length = context(suite, purpose)
    number = index.to_bytes(8, "big")
    if suite == "default":
        return blake3.blake3(seed + number, derive_key_context=name).digest(length)
    extracted = hmac.digest(bytes(48), seed, "sha384")
    return expand_sha384(extracted, name.encode() + number, length)


def expand_sha384(key, info, length):
    out = block = b""
    while len(out) < length:
        block = hmac.digest(key, block + info + bytes([len(out) // 48 + 1]), "sha384")
        out += block
    return out[:length]


def algorithm(suite, purpose):
    """What pair of keys a derived seed makes; `None` where there is none to look at."""
    if purpose in ("Identity", "Signing", "Did"):
        return "ML-DSA-65" if suite == "default" else "ML-DSA-87"
    if purpose in ("DataIntegrity", "Log", "GroupMlDsa44"):
        return "ML-DSA-44"
    if purpose in ("GroupMlDsa65", "GroupMlDsa87"):
        return "ML-DSA-" + purpose[-2:]
    if purpose in LEAVES:
        return LEAVES[purpose]
    if purpose in ("Backup", "Sealed"):
        return "X-Wing" if suite == "default" else "ML-KEM-1024"
    if purpose == "Encapsulation":
        return "ML-KEM-768" if suite == "default" else "ML-KEM-1024"
    return None


def raw(key):
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def x_wing(seed):
    """The private keys of ML-KEM-768 and X25519 in an X-Wing key."""
    expanded = hashlib.shake_256(seed).digest(96)
    return (
        mlkem.MLKEM768PrivateKey.from_seed_bytes(expanded[:64]),
        x25519.X25519PrivateKey.from_private_bytes(expanded[64:]),
    )


def point(curve, stream):
    """The public point of the first string that is a scalar; `stream` gives the next bytes."""
    group, bits, order = CURVES[curve]
    while True:
        scalar = int.from_bytes(stream((bits + 7) // 8), "big") % (1 << bits)
        if 0 < scalar < order:
            public = ec.derive_private_key(scalar, group).public_key()
            return public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def leaf(name, seed):
    """The public key of ECDSA or of a composite, out of SHAKE256 of the seed."""
    output = io.BytesIO(hashlib.shake_256(seed).digest(4096))
    if name.startswith("ECDSA-"):
        return point(name.split("-")[1], output.read)
    first = mldsa.MLDSA65PrivateKey if name.startswith("MLDSA65-") else mldsa.MLDSA87PrivateKey
    public = first.from_seed_bytes(output.read(32)).public_key().public_bytes_raw()
    if "Ed25519" in name:
        return public + raw(ed25519.Ed25519PrivateKey.from_private_bytes(output.read(32)).public_key())
    return public + point("P384", output.read)


def public_key(name, seed):
    if name in LEAVES.values():
        return leaf(name, seed)
    if name in ML_DSA:
        return ML_DSA[name][1].from_seed_bytes(seed).public_key().public_bytes_raw()
    if name == "X-Wing":
        return b"".join(raw(key.public_key()) for key in x_wing(seed))
    private = {"ML-KEM-768": mlkem.MLKEM768PrivateKey, "ML-KEM-1024": mlkem.MLKEM1024PrivateKey}[name]
    return raw(private.from_seed_bytes(seed).public_key())


def sign(name, seed, message, signature_context=b""):
    """The deterministic variant of ML-DSA (FIPS 204, §3.4)."""
    scheme = {"ML-DSA-44": ML_DSA_44, "ML-DSA-65": ML_DSA_65, "ML-DSA-87": ML_DSA_87}[name]
    return scheme.sign(scheme.key_derive(seed)[1], message, ctx=signature_context, deterministic=True)


class VerifyingKey:
    """An ML-DSA public key."""

    def __init__(self, name, data):
        self.algorithm, self.data = name, data
        need(len(data) == KEY_LENGTH[name], "bad-key")

    def verify(self, message, signature, context=b""):
        need(len(signature) == SIGNATURE_LENGTH[self.algorithm], "bad-signature")
        key = ML_DSA[self.algorithm][0].from_public_bytes(self.data)
        try:
            key.verify(signature, message, context)
        except InvalidSignature:
            raise Refused("bad-signature") from None

    def jwk(self):
        return {"kty": "AKP", "alg": self.algorithm, "pub": encode(self.data)}

    def multikey(self):
        return multibase(VARINT[self.algorithm] + self.data)

    def __eq__(self, other):
        return (self.algorithm, self.data) == (other.algorithm, other.data)


PRIVATE = {"priv", "d", "p", "q", "dp", "dq", "qi", "oth", "k"}


def from_jwk(jwk):
    need(not PRIVATE & jwk.keys(), "bad-key")
    need(text(jwk, "use") == "sig", "wrong-purpose") if "use" in jwk else None
    if "key_ops" in jwk:
        named = jwk["key_ops"]
        need(isinstance(named, list) and all(isinstance(one, str) for one in named), "bad-form")
        need(len(set(named)) == len(named), "bad-form")
        need("verify" in named, "wrong-purpose")
    need(text(jwk, "kty") == "AKP", "bad-key")
    name = text(jwk, "alg")
    need(name in ML_DSA, "bad-algorithm")
    return VerifyingKey(name, decode(text(jwk, "pub"), KEY_LENGTH[name]))


def from_multikey(multikey):
    data = from_multibase(multikey, 2594)
    need(len(data) >= 2, "bad-key")
    names = [name for name, varint in VARINT.items() if varint == data[:2]]
    need(names, "bad-algorithm")
    return VerifyingKey(names[0], data[2:])


def blake3_256(data):
    return blake3.blake3(data).digest()


def multihash(suite, data):
    if suite == "default":
        return b"\x1e\x20" + blake3_256(data)
    return b"\x20\x30" + hashlib.sha384(data).digest()
