"""A fresh machine: an environment with the wheel alone runs the README's example, and it prints what the README says."""

from __future__ import annotations

import inspect
import os
import shutil
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
    # The README's own command, in the folder where the wheel lies.
    shutil.copy(wheel, folder)
    (command,) = blocks("sh")
    assert command.startswith("pip install ./gambeson-")
    environment = {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}", "PIP_NO_INDEX": "1"}
    subprocess.run(["sh", "-ec", command], cwd=folder, env=environment, check=True, capture_output=True)
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


def deterministic(module: object) -> list[str]:
    """What signs without randomness in a module, in its classes too."""
    names = [(name, getattr(module, name)) for name in dir(module)]
    inside = [f"{name}.{member}" for name, it in names if isinstance(it, type) for member in dir(it)]
    return [name for name in [*dir(module), *inside] if "deterministic" in name.lower()]


def test_nothing_in_the_wheel_signs_without_randomness(fresh: Path) -> None:
    """What only tests may have is absent from what is shipped: deterministic signatures."""

    class Planted:
        class Key:
            def sign_deterministic(self) -> None: ...

    assert deterministic(Planted) == ["Key.sign_deterministic"]
    script = f"import gambeson._native as n\n{inspect.getsource(deterministic)}\nprint(len(dir(n)) > 50, deterministic(n))"
    assert subprocess.run([fresh, "-I", "-c", script], capture_output=True, text=True).stdout == "True []\n"
