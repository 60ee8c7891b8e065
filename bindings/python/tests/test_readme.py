"""A fresh machine: an environment with the wheel alone runs the README's example, and it prints what the README says."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import shutil
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
    # The README's own command, in the folder where the wheel lies; done by our pip into that Python.
    shutil.copy(wheel, folder)
    (command,) = blocks("sh")
    assert command.startswith("pip install ./gambeson-")
    pip = shlex.join([sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index"])
    subprocess.run(["sh", "-ec", command.replace("pip install", pip)], cwd=folder, check=True, capture_output=True)
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


def unfit(module: object) -> list[str]:
    """What only tests may have, in a module and in its classes: signatures without randomness, raw derivations."""
    names = [(name, getattr(module, name)) for name in dir(module)]
    inside = [f"{name}.{member}" for name, it in names if isinstance(it, type) for member in dir(it)]
    return [name for name in [*dir(module), *inside] if re.search("deterministic|derived", name, re.IGNORECASE)]


def test_what_only_tests_may_have_is_absent_from_what_is_shipped(fresh: Path) -> None:
    class Planted:
        class Key:
            def sign_deterministic(self) -> None: ...

    assert unfit(Planted) == ["Key.sign_deterministic"]
    script = f"import re\nimport gambeson._native as n\n{inspect.getsource(unfit)}\nprint(len(dir(n)) > 50, unfit(n))"
    assert subprocess.run([fresh, "-I", "-c", script], capture_output=True, text=True).stdout == "True []\n"
