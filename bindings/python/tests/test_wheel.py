"""What the wheel carries besides code."""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import zipfile
from email.parser import Parser
from importlib.metadata import version
from pathlib import Path

from gambeson import _native

PACKAGE = Path(__file__).parents[1]
LICENSES = ("LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-NOTICES")


def test_the_wheel_carries_its_licences() -> None:
    with zipfile.ZipFile(os.environ["GAMBESON_WHEEL"]) as wheel:
        names = wheel.namelist()
        [metadata] = [name for name in names if name.endswith(".dist-info/METADATA")]
        fields = Parser().parsestr(wheel.read(metadata).decode())
        assert fields["License-Expression"] == "Apache-2.0 OR MIT"
        assert sorted(fields.get_all("License-File", [])) == sorted(LICENSES)
        for name in LICENSES:
            [path] = [it for it in names if it.endswith(f".dist-info/licenses/{name}")]
            assert wheel.read(path) == (PACKAGE / name).read_bytes()


def test_the_wheel_is_typed_and_has_no_tests() -> None:
    with zipfile.ZipFile(os.environ["GAMBESON_WHEEL"]) as wheel:
        names = wheel.namelist()
    assert {"gambeson/py.typed", "gambeson/_native.pyi"} <= set(names)
    assert not [name for name in names if "test" in name or "bench" in name]


def test_a_wheel_that_checks_itself_is_no_release() -> None:
    """It is slower by far, and would be taken for what is published."""
    wheel = Path(os.environ["GAMBESON_WHEEL"])
    installed = version("gambeson")
    assert wheel.name.startswith(f"gambeson-{installed}-")
    assert installed.endswith("+checked") == _native.CHECKED
    assert (wheel.parent.name == "wheels") != _native.CHECKED


def test_the_wheel_lists_what_it_carries() -> None:
    with zipfile.ZipFile(os.environ["GAMBESON_WHEEL"]) as wheel:
        [record] = [name for name in wheel.namelist() if name.endswith(".dist-info/RECORD")]
        listed = {path: digest for path, digest, _ in csv.reader(wheel.read(record).decode().splitlines())}
        assert listed.pop(record) == "" and listed.keys() == set(wheel.namelist()) - {record}
        for path, digest in listed.items():
            found = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(path)).digest()).rstrip(b"=")
            assert digest == f"sha256={found.decode()}", path
