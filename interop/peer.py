"""Answers questions about keys, signatures and certificates with Python's cryptography: JSON lines in, JSON lines out."""

import datetime
import ipaddress
import json
import sys

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, mldsa, mlkem
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from cryptography.x509.verification import PolicyBuilder, Store

ALGORITHMS = {
    "ML-KEM-768": (mlkem.MLKEM768PrivateKey, mlkem.MLKEM768PublicKey),
    "ML-KEM-1024": (mlkem.MLKEM1024PrivateKey, mlkem.MLKEM1024PublicKey),
    "ML-DSA-44": (mldsa.MLDSA44PrivateKey, mldsa.MLDSA44PublicKey),
    "ML-DSA-65": (mldsa.MLDSA65PrivateKey, mldsa.MLDSA65PublicKey),
    "ML-DSA-87": (mldsa.MLDSA87PrivateKey, mldsa.MLDSA87PublicKey),
}


# What signs certificates, and with which hash.
SIGNERS = {
    "ML-DSA-44": (mldsa.MLDSA44PrivateKey.generate, None),
    "ML-DSA-65": (mldsa.MLDSA65PrivateKey.generate, None),
    "ML-DSA-87": (mldsa.MLDSA87PrivateKey.generate, None),
    "Ed25519": (ed25519.Ed25519PrivateKey.generate, None),
    "Ed448": (ed448.Ed448PrivateKey.generate, None),
    "ECDSA-P256": (lambda: ec.generate_private_key(ec.SECP256R1()), hashes.SHA256()),
    "ECDSA-P384": (lambda: ec.generate_private_key(ec.SECP384R1()), hashes.SHA384()),
}


def issue(alg, name, issuer, issuer_key, path_length=None):
    """A certificate and its key; without an issuer it signs itself."""
    generate, hash_function = SIGNERS[alg]
    key = generate()
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.timezone.utc)
    is_authority = path_length is not None
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=path_length), critical=True)
        .add_extension(
            x509.KeyUsage(
                digital_signature=not is_authority,
                content_commitment=False,
                key_encipherment=False,
                data_encipherment=False,
                key_agreement=False,
                key_cert_sign=is_authority,
                crl_sign=is_authority,
                encipher_only=False,
                decipher_only=False,
            ),
            critical=True,
        )
    )
    if not is_authority:
        names = [x509.DNSName("example.com"), x509.IPAddress(ipaddress.ip_address("192.0.2.7"))]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        builder = builder.add_extension(usage, critical=False)
    return builder.sign(issuer_key or key, hash_function), key


def make_chain(alg):
    root, root_key = issue(alg, "Root", None, None, 1)
    middle, middle_key = issue(alg, "Middle", root, root_key, 0)
    leaf, _ = issue(alg, "Leaf", middle, middle_key)
    now = datetime.datetime.now(datetime.timezone.utc)
    revoked = x509.RevokedCertificateBuilder().serial_number(leaf.serial_number).revocation_date(now)
    crl = x509.CertificateRevocationListBuilder().issuer_name(middle.subject)
    crl = crl.last_update(now - datetime.timedelta(hours=1)).next_update(now + datetime.timedelta(days=1))
    crl = crl.add_extension(x509.CRLNumber(7), critical=False)
    crl = crl.add_revoked_certificate(revoked.build()).sign(middle_key, SIGNERS[alg][1])
    request = x509.CertificateSigningRequestBuilder().subject_name(leaf.subject)
    names = x509.SubjectAlternativeName([x509.DNSName("example.com")])
    request = request.add_extension(names, critical=False).sign(root_key, SIGNERS[alg][1])
    pem = serialization.Encoding.PEM
    made = {"root": root, "middle": middle, "leaf": leaf, "crl": crl, "request": request}
    return {name: value.public_bytes(pem).decode() for name, value in made.items()}


def look_at_chain(request):
    """Reads our chain, list and request, and checks what can be checked of each."""
    root, middle, leaf = (
        x509.load_pem_x509_certificate(request[name].encode()) for name in ("root", "middle", "leaf")
    )
    for certificate, issuer in ((root, root), (middle, root), (leaf, middle)):
        certificate.verify_directly_issued_by(issuer)
    try:
        leaf.verify_directly_issued_by(root)
        raise AssertionError("another issuer was taken")
    except (InvalidSignature, ValueError):
        pass
    crl = x509.load_pem_x509_crl(request["crl"].encode())
    csr = x509.load_pem_x509_csr(request["request"].encode())
    found = {
        "crl": crl.is_signature_valid(middle.public_key()),
        "revoked": crl.get_revoked_certificate_by_serial_number(leaf.serial_number) is not None,
        "csr": csr.is_signature_valid and csr.public_key() == leaf.public_key(),
        "key_identifiers": middle.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest
        == leaf.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value.key_identifier,
        "serial_bits": leaf.serial_number.bit_length(),
    }
    # Its path verifier follows the rules of the web, which have no EdDSA.
    if request["path"]:
        verifier = PolicyBuilder().store(Store([root]))
        verifier = verifier.build_server_verifier(x509.DNSName("example.com"))
        found["path"] = len(verifier.verify(leaf, [middle]))
    return found


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
    if op == "make_chain":
        return make_chain(request["alg"])
    if op == "look_at_chain":
        return look_at_chain(request)
    raise ValueError(op)


for line in sys.stdin:
    try:
        result = answer(json.loads(line))
    except Exception as error:  # the other side decides whether that was wanted
        result = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(result), flush=True)
