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

EXAMPLES = Path(__file__).parent.parent / "examples"
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
    command = blocks("sh")[0]
    assert command.startswith("pip install ./gambeson-")
    pip = shlex.join([sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index"])
    subprocess.run(["sh", "-ec", command.replace("pip install", pip)], cwd=folder, check=True, capture_output=True)
    return python


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_three_commands_lead_from_nothing_to_two_agents_that_talk(tmp_path: Path) -> None:
    shutil.copy(os.environ["GAMBESON_WHEEL"], tmp_path)
    venv.create(tmp_path / "venv", with_pip=True)
    commands = blocks("sh")[1]
    assert len(commands.splitlines()) == 3
    # The environment's own programs, and no other: no compiler is found.
    path = str(tmp_path / "venv" / "bin")
    assert shutil.which("pip", path=path) and shutil.which("python", path=path)
    for compiler in ("cc", "gcc", "clang", "cmake", "rustc", "cargo"):
        assert shutil.which(compiler, path=path) is None
    # The service in the background ends with the shell that began it.
    script = f"trap 'kill $!; wait' EXIT\n{commands}"
    run = subprocess.run(
        ["/bin/sh", "-ec", script],
        cwd=tmp_path,
        env={"PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    said = re.findall(r"^(\w+), process (\d+): (\w+)$", run.stdout, re.MULTILINE)
    assert [(name, word) for name, _, word in said] == [("Ada", "hello"), ("Ben", "HELLO")]
    assert len({process for _, process, _ in said}) == 2


@pytest.mark.parametrize("which", [0, 1])
def test_the_examples_print_what_the_readme_says(which: int, fresh: Path, tmp_path: Path) -> None:
    examples, printed = blocks("python"), blocks("text")
    assert len(examples) == len(printed) == 2
    run = subprocess.run(
        [fresh, "-I", "-W", "error", "-c", examples[which]], cwd=tmp_path, capture_output=True, text=True
    )
    assert run.stderr == ""
    assert run.stdout == printed[which]
    assert run.returncode == 0


def test_the_minute_of_the_front_page_runs(fresh: Path, tmp_path: Path) -> None:
    front = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    minute = front.split("\n## A minute for a Python developer\n")[1].split("\n## ")[0]
    (code,) = re.findall(r"^```python\n(.*?)^```$", minute, re.MULTILINE | re.DOTALL)
    script = code + 'print("verified", len(secret))'
    run = subprocess.run([fresh, "-I", "-W", "error", "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert (run.stdout, run.stderr, run.returncode) == ("verified 32\n", "", 0)


def test_the_panel_runs_from_the_wheel_and_votes(fresh: Path, tmp_path: Path) -> None:
    run = subprocess.run([fresh, "-W", "error", EXAMPLES / "panel.py"], cwd=tmp_path, capture_output=True, text=True)
    assert (run.stderr, run.returncode) == ("", 0)
    assert run.stdout.splitlines()[-1] == "The panel votes: 2 for north, 1 for south"


def test_the_panel_with_a_model_asks_for_one_and_runs_with_any(fresh: Path, tmp_path: Path) -> None:
    assert len((EXAMPLES / "panel_with_a_model.py").read_text().splitlines()) <= 40
    script = tmp_path / "filled_in.py"
    script.write_text(
        "import asyncio, panel_with_a_model as model\n"
        "async def ask(system, prompt):\n"
        "    return ' south ' if 'Vote' in prompt else 'I am of two minds.'\n"
        "if __name__ == '__main__':\n"
        "    model.ask = ask\n"
        "    asyncio.run(model.panel.panel(model.Hub(), model.think))\n"
    )
    environment = os.environ | {"PYTHONPATH": str(EXAMPLES), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run([fresh, "-W", "error", script], env=environment, capture_output=True, text=True)
    assert (run.stderr, run.returncode) == ("", 0)
    assert run.stdout.splitlines()[-1] == "The panel votes: 3 for south"
    empty = [fresh, EXAMPLES / "panel_with_a_model.py"]
    assert "put your model's client into" in subprocess.run(empty, env=environment, capture_output=True, text=True).stderr


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


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [
        ("gambeson.mcp", "mcp", "mcp"),
        ("gambeson.a2a", "a2a", "a2a"),
        ("gambeson.http", "httpx", "httpx"),
        ("gambeson.channel.mcp", "mcp", "mcp"),
        ("gambeson.channel.a2a", "a2a", "a2a"),
    ],
)
def test_a_part_without_its_sdk_names_the_extra(module: str, package: str, extra: str, fresh: Path) -> None:
    run = subprocess.run([fresh, "-I", "-c", f"import {module}"], capture_output=True, text=True)
    told = f'{module} needs the package {package}: install gambeson with its extra "{extra}"'
    assert run.stderr.splitlines()[-1] == f"ModuleNotFoundError: {told}"


def test_the_server_and_the_client_of_mcp_run_as_two_processes() -> None:
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    helper = [sys.executable, "-W", "error", str(EXAMPLES / "mcp_helper.py")]
    run = subprocess.run(helper, env=environment, capture_output=True, text=True, timeout=120)
    assert (run.stderr, run.returncode) == ("", 0)
    assert run.stdout.splitlines() == ["the helper pays 50", "101 is refused: not-permitted"]
