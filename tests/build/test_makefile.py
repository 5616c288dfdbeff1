"""The Makefile's two steps of installation, and the script that runs the docs without extras."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def planned(target: str, folder: Path) -> str:
    """The commands that make would run for a target on a fresh clone."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    command = ["make", "--dry-run", "--no-print-directory", target, f"VENV={folder / 'venv'}"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def test_make_demo_installs_calque_without_development_tools(tmp_path: Path) -> None:
    commands = planned("demo", tmp_path)
    assert "--editable ." in commands
    assert "[dev]" not in commands
    assert "calque demo" in commands


@pytest.mark.parametrize("target", ["setup", "test", "check"])
def test_development_targets_add_the_tools_and_compile_once(target: str, tmp_path: Path) -> None:
    commands = planned(target, tmp_path)
    assert commands.count("--editable") == 1
    assert commands.index("--editable .") < commands.index("calque-eval[dev]")


def test_every_step_of_an_installation_is_announced_with_its_time(tmp_path: Path) -> None:
    announced = re.findall(r'echo "(\w+ing [^"]*)"', planned("setup", tmp_path))
    assert len(announced) == 4  # the environment, calque with or without a compiler, the tools
    assert all(re.search(r"usually .*(second|minute)s", line) for line in announced)


MISSING = """```console
$ printf "pip install 'calque-%s'" 'eval[xml]'
something else
```

```python
>>> raise ImportError("pip install 'calque-" + "eval[xml]'")

```
"""


@pytest.mark.parametrize(
    ("page", "code"),
    [
        ("```console\n$ echo one\none\n```\n\n```python\n>>> 1 + 1\n2\n\n```\n", 0),
        ("```console\n$ echo one\ntwo\n```\n\n```python\n>>> 1 + 1\n2\n\n```\n", 1),
        ("```console\n$ echo one\none\n```\n\n```python\n>>> 1 + 1\n3\n\n```\n", 1),
        (MISSING, 1),
        (f"This needs `calque-eval[xml]`.\n\n{MISSING}", 0),
    ],
    ids=["right", "wrong-session", "wrong-example", "extra-not-named", "extra-named"],
)
def test_base_install_accepts_a_missing_extra_only_on_pages_that_name_it(page: str, code: int, tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(page, "utf-8")
    command = [sys.executable, str(ROOT / "tests/docs/base_install.py"), str(path)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == code
