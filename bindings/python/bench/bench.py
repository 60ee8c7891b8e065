"""ML-DSA-65 and ML-KEM-768 by this package, by its peers in Python, and by native Rust, in interleaved rounds of one run.

    cargo xtask python bench [--check]

Outputs are compared first. Times are processor time of one operation, median of all rounds; a ratio is the median of the
rounds' own ratios, so that what disturbs a round disturbs both sides. `--check` fails unless this package is within 10 % of
native Rust for ML-DSA-65.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives.asymmetric import mldsa as peer_mldsa
from cryptography.hazmat.primitives.asymmetric import mlkem as peer_mlkem
from pqcrypto.kem import ml_kem_768  # type: ignore[import-untyped]
from pqcrypto.sign import ml_dsa_65  # type: ignore[import-untyped]

from gambeson.mldsa import MLDSA65PrivateKey, MLDSA65PublicKey
from gambeson.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey

MESSAGE = b"a" * 64
SEED = bytes(range(64))
ROUNDS = 101
CHECKED = ("dsa-keygen", "dsa-sign", "dsa-verify")
WITHIN = 1.10

Measure = Callable[[str, int], int]


class Native:
    """The Rust program beside this file, asked line by line."""

    def __init__(self, program: str) -> None:
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words: object) -> str:
        assert self.process.stdin and self.process.stdout
        print(*words, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().strip()
        if not answer:
            raise SystemExit(f"the native program did not answer: {words[0]}")
        return answer

    def measure(self, operation: str, count: int) -> int:
        return int(self.ask("time", operation, count))


def in_python(operations: dict[str, Callable[[], object]]) -> Measure:
    def measure(operation: str, count: int) -> int:
        work, rounds = operations[operation], range(count)
        start = time.thread_time_ns()
        for _ in rounds:
            work()
        return time.thread_time_ns() - start

    return measure


def ours() -> dict[str, Callable[[], object]]:
    key, kem = MLDSA65PrivateKey.from_seed_bytes(SEED[:32]), MLKEM768PrivateKey.from_seed_bytes(SEED)
    public, kem_public = key.public_key(), kem.public_key()
    encoded, kem_encoded = public.public_bytes_raw(), kem_public.public_bytes_raw()
    signature, (_, ciphertext) = key.sign(MESSAGE), kem_public.encapsulate()
    return {
        "dsa-keygen": MLDSA65PrivateKey.generate,
        "dsa-sign": lambda: key.sign(MESSAGE),
        "dsa-verify": lambda: public.verify(signature, MESSAGE),
        "dsa-verify-once": lambda: MLDSA65PublicKey.from_public_bytes(encoded).verify(signature, MESSAGE),
        "kem-keygen": MLKEM768PrivateKey.generate,
        "kem-encapsulate": kem_public.encapsulate,
        "kem-encapsulate-once": lambda: MLKEM768PublicKey.from_public_bytes(kem_encoded).encapsulate(),
        "kem-decapsulate": lambda: kem.decapsulate(ciphertext),
    }


def cryptography() -> dict[str, Callable[[], object]]:
    key = peer_mldsa.MLDSA65PrivateKey.from_seed_bytes(SEED[:32])
    kem = peer_mlkem.MLKEM768PrivateKey.from_seed_bytes(SEED)
    public, kem_public = key.public_key(), kem.public_key()
    encoded, kem_encoded = public.public_bytes_raw(), kem_public.public_bytes_raw()
    signature, (_, ciphertext) = key.sign(MESSAGE), kem_public.encapsulate()
    dsa_of, kem_of = (
        peer_mldsa.MLDSA65PublicKey.from_public_bytes,
        peer_mlkem.MLKEM768PublicKey.from_public_bytes,
    )
    return {
        "dsa-keygen": peer_mldsa.MLDSA65PrivateKey.generate,
        "dsa-sign": lambda: key.sign(MESSAGE),
        "dsa-verify": lambda: public.verify(signature, MESSAGE),
        "dsa-verify-once": lambda: dsa_of(encoded).verify(signature, MESSAGE),
        "kem-keygen": peer_mlkem.MLKEM768PrivateKey.generate,
        "kem-encapsulate": kem_public.encapsulate,
        "kem-encapsulate-once": lambda: kem_of(kem_encoded).encapsulate(),
        "kem-decapsulate": lambda: kem.decapsulate(ciphertext),
    }


def pqcrypto() -> dict[str, Callable[[], object]]:
    """Functions over bytes: each use of a key is the first."""
    public, secret = ml_dsa_65.keygen()
    kem_public, kem_secret = ml_kem_768.keygen()
    signature, (ciphertext, _) = ml_dsa_65.sign(secret, MESSAGE), ml_kem_768.encaps(kem_public)
    return {
        "dsa-keygen": ml_dsa_65.keygen,
        "dsa-sign": lambda: ml_dsa_65.sign(secret, MESSAGE),
        "dsa-verify-once": lambda: ml_dsa_65.verify(public, MESSAGE, signature),
        "kem-keygen": ml_kem_768.keygen,
        "kem-encapsulate-once": lambda: ml_kem_768.encaps(kem_public),
        "kem-decapsulate": lambda: ml_kem_768.decaps(kem_secret, ciphertext),
    }


def compare(native: Native) -> int:
    """Everybody's outputs against everybody's, before any clock runs. Returns how many agreed."""
    key, kem = MLDSA65PrivateKey.from_seed_bytes(SEED[:32]), MLKEM768PrivateKey.from_seed_bytes(SEED)
    their_key = peer_mldsa.MLDSA65PrivateKey.from_seed_bytes(SEED[:32])
    their_kem = peer_mlkem.MLKEM768PrivateKey.from_seed_bytes(SEED)
    public = bytes.fromhex(native.ask("dsa-public"))
    kem_public = bytes.fromhex(native.ask("kem-public"))
    agreed = 0

    def same(a: object, b: object) -> None:
        nonlocal agreed
        if a != b:
            raise SystemExit("the contenders do not agree: nothing is measured")
        agreed += 1

    same(key.public_key().public_bytes_raw(), public)
    same(their_key.public_key().public_bytes_raw(), public)
    same(kem.public_key().public_bytes_raw(), kem_public)
    same(their_kem.public_key().public_bytes_raw(), kem_public)

    signers = [
        key.sign(MESSAGE),
        their_key.sign(MESSAGE),
        bytes.fromhex(native.ask("sign")),
    ]
    for signature in signers:
        key.public_key().verify(signature, MESSAGE)
        their_key.public_key().verify(signature, MESSAGE)
        agreed += 3
        ml_dsa_65.verify(public, MESSAGE, signature)
        same(native.ask("verify", signature.hex()), "ok")
    their_public, their_secret = ml_dsa_65.keygen()
    theirs = ml_dsa_65.sign(their_secret, MESSAGE)
    MLDSA65PublicKey.from_public_bytes(their_public).verify(theirs, MESSAGE)
    agreed += 1

    shared, ciphertext = (bytes.fromhex(word) for word in native.ask("encapsulate").split())
    pairs: list[Any] = [
        kem.public_key().encapsulate(),
        their_kem.public_key().encapsulate(),
        (shared, ciphertext),
        tuple(reversed(ml_kem_768.encaps(kem_public))),
    ]
    for shared, ciphertext in pairs:
        same(kem.decapsulate(ciphertext), shared)
        same(their_kem.decapsulate(ciphertext), shared)
        same(bytes.fromhex(native.ask("decapsulate", ciphertext.hex())), shared)
    return agreed


def main() -> int:
    native = Native(sys.argv[1])
    print(f"{compare(native)} outputs compared, all alike")
    contenders: dict[str, tuple[set[str], Measure]] = {}
    operations = ours()
    contenders["native Rust"] = set(operations), native.measure
    for name, work in (
        ("gambeson", operations),
        ("cryptography", cryptography()),
        ("pqcrypto", pqcrypto()),
    ):
        contenders[name] = set(work), in_python(work)

    times: dict[str, dict[str, list[float]]] = {row: {name: [] for name in contenders} for row in operations}
    for row in operations:
        # A batch of some milliseconds for each contender.
        counts = {}
        for name, (has, measure) in contenders.items():
            if row in has:
                measure(row, 5)
                counts[name] = max(4, round(4_000_000 / (measure(row, 10) / 10)))
        for _ in range(ROUNDS):
            for name, count in counts.items():
                times[row][name].append(contenders[name][1](row, count) / count / 1000)

    print(f"\nmicroseconds of processor time, median of {ROUNDS} rounds\n")
    print(f"{'':<22}" + "".join(f"{name:>14}" for name in contenders) + f"{'to native':>12}")
    slow = []
    for row, by_name in times.items():
        cells = [f"{statistics.median(some):14.1f}" if some else f"{'–':>14}" for some in by_name.values()]
        ratio = statistics.median(
            a / b for a, b in zip(by_name["gambeson"], by_name["native Rust"], strict=True)
        )
        print(f"{row:<22}" + "".join(cells) + f"{ratio:11.2f}x")
        if row in CHECKED and ratio > WITHIN:
            slow.append(f"missed: {row}: {ratio:.2f} times native Rust, more than {WITHIN}")
    if "--check" in sys.argv:
        print("\n" + ("\n".join(slow) or f"ML-DSA-65 within {WITHIN} of native Rust"))
        return 1 if slow else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
