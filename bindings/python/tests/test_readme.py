"""A fresh machine: an environment with the wheel alone runs the README's example, and it prints what the README says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the wheel, and nothing else."""
    wheel = os.environ.get("GAMBESON_WHEEL")
    assert wheel, "GAMBESON_WHEEL names the wheel; `cargo xtask python` sets it"
    folder = tmp_path_factory.mktemp("fresh")
    # Our pip installs into it: one of its own would take longer to unpack than all else here.
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-index", wheel]
    subprocess.run(pip, check=True)
    return python


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_the_example_prints_what_the_readme_says(fresh: Path, tmp_path: Path) -> None:
    examples, printed = blocks("python"), blocks("text")
    assert len(examples) == len(printed) == 1
    run = subprocess.run(
        [fresh, "-I", "-W", "error", "-c", examples[0]], cwd=tmp_path, capture_output=True, text=True
    )
    assert run.stderr == ""
    assert run.stdout == printed[0]
    assert run.returncode == 0


def test_what_only_tests_may_have_is_absent_from_what_is_shipped(fresh: Path) -> None:
    """Raw derivations and deterministic signatures; `test_vectors` shows that they are found where they are."""
    script = (
        "import gambeson._native as n; "
        "names = [*dir(n), *(m for c in vars(n).values() if isinstance(c, type) for m in dir(c))]; "
        "print(len(names) > 500, *(k for k in names if 'deterministic' in k.lower() or 'derived' in k.lower()))"
    )
    assert subprocess.run([fresh, "-I", "-c", script], capture_output=True, text=True).stdout == "True\n"
