"""What the wheel carries besides code."""

from __future__ import annotations

import os
import zipfile
from email.parser import Parser
from pathlib import Path

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
