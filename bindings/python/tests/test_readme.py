"""A fresh machine: an environment with the wheel alone runs the README's example, and it prints what the README says."""

from __future__ import annotations

import os
import re
import subprocess
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
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", wheel], check=True)
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


def test_no_private_key_has_a_way_out_of_the_wheel(fresh: Path) -> None:
    """What only tests may have is absent from what is shipped: deterministic signatures."""
    script = "import gambeson._native as n; print(*(k for k in dir(n) if 'deterministic' in k.lower()))"
    assert subprocess.run([fresh, "-I", "-c", script], capture_output=True, text=True).stdout == "\n"
