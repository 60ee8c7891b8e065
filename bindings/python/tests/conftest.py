"""What several test files stand on: every private and public key class, by name, and a stock node of SLIM."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import pytest

import gambeson.lms as lms
import gambeson.mldsa as mldsa
import gambeson.mlkem as mlkem
import gambeson.slhdsa as slhdsa
import gambeson.xmss as xmss
import gambeson.xwing as xwing

PRIVATE: list[Any] = [
    mldsa.MLDSA44PrivateKey,
    mldsa.MLDSA65PrivateKey,
    mldsa.MLDSA87PrivateKey,
    mlkem.MLKEM512PrivateKey,
    mlkem.MLKEM768PrivateKey,
    mlkem.MLKEM1024PrivateKey,
    xwing.XWingPrivateKey,
    slhdsa.SLHDSAPrivateKey,
]

PUBLIC: list[Any] = [
    mldsa.MLDSA44PublicKey,
    mldsa.MLDSA65PublicKey,
    mldsa.MLDSA87PublicKey,
    mlkem.MLKEM512PublicKey,
    mlkem.MLKEM768PublicKey,
    mlkem.MLKEM1024PublicKey,
    xwing.XWingPublicKey,
    slhdsa.SLHDSAPublicKey,
]

# Keys that only verify.
VERIFYING: list[Any] = [lms.LMSPublicKey, lms.HSSPublicKey, xmss.XMSSPublicKey, xmss.XMSSMTPublicKey]


def sets(kind: Any) -> tuple[str, ...]:
    """What the makers of keys of this class take besides: the parameter set, where one class is for all."""
    return ("SLH-DSA-SHA2-128f",) if "SLHDSA" in kind.__name__ else ()


def buffers(data: bytes) -> Iterator[bytes | bytearray | memoryview]:
    """The same bytes as every kind of buffer, one of them with gaps in memory."""
    yield data
    yield bytearray(data)
    yield memoryview(data)
    yield memoryview(bytes(byte for byte in data for _ in range(2)))[::2]


@pytest.fixture(scope="session")
def node() -> Iterator[str]:
    """The address of what `python -m gambeson.channel up` starts: a stock node and the delivery service."""
    assert version("slim-bindings") == "3.3.8"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "gambeson.channel", "up", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        said = program.stdout.readline()
        assert said.startswith(f"agents meet at http://127.0.0.1:{port} (node: process "), said
        yield f"http://127.0.0.1:{port}"
        program.send_signal(signal.SIGINT)
        assert program.wait(timeout=30) == 0
    with socket.socket() as gone:
        assert gone.connect_ex(("127.0.0.1", port)) != 0, "the node has ended too"
