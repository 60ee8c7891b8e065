"""What several test files stand on: every private and public key class, by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gambeson.mldsa as mldsa
import gambeson.mlkem as mlkem
import gambeson.xwing as xwing

PRIVATE: list[Any] = [
    mldsa.MLDSA44PrivateKey,
    mldsa.MLDSA65PrivateKey,
    mldsa.MLDSA87PrivateKey,
    mlkem.MLKEM512PrivateKey,
    mlkem.MLKEM768PrivateKey,
    mlkem.MLKEM1024PrivateKey,
    xwing.XWingPrivateKey,
]

PUBLIC: list[Any] = [
    mldsa.MLDSA44PublicKey,
    mldsa.MLDSA65PublicKey,
    mldsa.MLDSA87PublicKey,
    mlkem.MLKEM512PublicKey,
    mlkem.MLKEM768PublicKey,
    mlkem.MLKEM1024PublicKey,
    xwing.XWingPublicKey,
]


def buffers(data: bytes) -> Iterator[bytes | bytearray | memoryview]:
    """The same bytes as every kind of buffer, one of them with gaps in memory."""
    yield data
    yield bytearray(data)
    yield memoryview(data)
    yield memoryview(bytes(byte for byte in data for _ in range(2)))[::2]
