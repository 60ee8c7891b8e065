"""Answers questions about keys and signatures with Python's cryptography: JSON lines in, JSON lines out."""

import json
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import mldsa, mlkem

ALGORITHMS = {
    "ML-KEM-768": (mlkem.MLKEM768PrivateKey, mlkem.MLKEM768PublicKey),
    "ML-KEM-1024": (mlkem.MLKEM1024PrivateKey, mlkem.MLKEM1024PublicKey),
    "ML-DSA-44": (mldsa.MLDSA44PrivateKey, mldsa.MLDSA44PublicKey),
    "ML-DSA-65": (mldsa.MLDSA65PrivateKey, mldsa.MLDSA65PublicKey),
    "ML-DSA-87": (mldsa.MLDSA87PrivateKey, mldsa.MLDSA87PublicKey),
}


def load_private(request):
    data = bytes.fromhex(request["private"])
    password = request.get("passphrase")
    password = password.encode() if password is not None else None
    load = (
        serialization.load_pem_private_key
        if data.startswith(b"-----")
        else serialization.load_der_private_key
    )
    key = load(data, password)
    assert isinstance(key, ALGORITHMS[request["alg"]][0]), type(key)
    return key


def load_public(request):
    data = bytes.fromhex(request["public"])
    load = (
        serialization.load_pem_public_key
        if data.startswith(b"-----")
        else serialization.load_der_public_key
    )
    key = load(data)
    assert isinstance(key, ALGORITHMS[request["alg"]][1]), type(key)
    return key


def encoding(request):
    return getattr(serialization.Encoding, request["encoding"])


def answer(request):
    op = request["op"]
    if op == "version":
        import cryptography

        return {"version": cryptography.__version__}
    if op == "generate":
        key = ALGORITHMS[request["alg"]][0].generate()
        encryption = serialization.NoEncryption()
        if "passphrase" in request:
            encryption = serialization.BestAvailableEncryption(request["passphrase"].encode())
        private = key.private_bytes(encoding(request), serialization.PrivateFormat.PKCS8, encryption)
        public = key.public_key()
        published = public.public_bytes(encoding(request), serialization.PublicFormat.SubjectPublicKeyInfo)
        return {"private": private.hex(), "public": published.hex(), "raw": public.public_bytes_raw().hex()}
    if op == "private":
        key = load_private(request)
        return {"raw": key.public_key().public_bytes_raw().hex(), "seed": key.private_bytes_raw().hex()}
    if op == "public":
        return {"raw": load_public(request).public_bytes_raw().hex()}
    if op == "sign":
        message, context = bytes.fromhex(request["message"]), bytes.fromhex(request["context"])
        return {"signature": load_private(request).sign(message, context).hex()}
    if op == "sign_mu":
        return {"signature": load_private(request).sign_mu(bytes.fromhex(request["mu"])).hex()}
    if op == "verify":
        message, context = bytes.fromhex(request["message"]), bytes.fromhex(request["context"])
        try:
            load_public(request).verify(bytes.fromhex(request["signature"]), message, context)
        except InvalidSignature:
            return {"valid": False}
        return {"valid": True}
    if op == "encapsulate":
        k, c = load_public(request).encapsulate()
        return {"k": k.hex(), "c": c.hex()}
    if op == "decapsulate":
        return {"k": load_private(request).decapsulate(bytes.fromhex(request["c"])).hex()}
    raise ValueError(op)


for line in sys.stdin:
    try:
        result = answer(json.loads(line))
    except Exception as error:  # the other side decides whether that was wanted
        result = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(result), flush=True)
