"""Code that people name on the command line or in Python: found where they stand, run once, and free to fail."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from calque import ConfigError, Fields
from calque.base.user_code import code_named, of_file
from calque.checks.suites.suite import Suite
from tests.conftest import Run

MODELS = """
from __future__ import annotations
from dataclasses import dataclass
from pydantic import BaseModel
from lines_of_ours import Line
print("models are loaded")

class Invoice(BaseModel):
    number: str
    lines: list[Line]

@dataclass
class Plain:
    number: str
    lines: list[Line]
"""
LINES = """
from __future__ import annotations
from decimal import Decimal
from pydantic import BaseModel

class Line(BaseModel):
    amount: Decimal
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder that the user stands in, with a module of theirs that imports another."""
    (tmp_path / "models_of_ours.py").write_text(MODELS)
    (tmp_path / "lines_of_ours.py").write_text(LINES)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in ("models_of_ours", "lines_of_ours"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("place", ["models_of_ours", "models_of_ours.py", "./models_of_ours.py"])
@pytest.mark.parametrize("name", ["Invoice", "Plain"])
def test_a_class_is_found_where_the_user_stands(here: Path, place: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By its file or as a module, with string annotations and with what stands beside it; Python's path stays as it was."""
    before = list(sys.path)
    schema = Fields(schema=f"{place}:{name}").schema
    assert '"lines"' in schema
    assert '"amount"' in schema
    assert sys.path == before
    assert capsys.readouterr().out == ""


def test_all_doors_to_a_class_compare_alike(here: Path, calque: Callable[..., Run]) -> None:
    (here / "truth.jsonl").write_text('{"id": 1, "number": "7", "lines": [{"amount": "1,000.50"}]}\n')
    (here / "found.jsonl").write_text('{"id": 1, "number": "7", "lines": [{"amount": 1000.5}]}\n')
    given = ["fields", "truth.jsonl", "found.jsonl", "--format", "json"]
    done = [calque(*given, "--schema", f"{place}:Invoice") for place in ("models_of_ours", "models_of_ours.py")]
    assert [each.code for each in done] == [0, 0]
    assert json.loads(done[0].out) == json.loads(done[1].out)
    assert json.loads(done[0].out)["overall"]["cm_f1"] == 1.0


def test_what_is_installed_comes_first(here: Path) -> None:
    """A file in the folder never takes the place of a module of Python's."""
    (here / "decimal.py").write_text("raise RuntimeError('the wrong one')\n")
    (here / "wordless.py").write_text("import decimal\nclass Model: pass\n")
    assert code_named("wordless", "Model", what="class", fits=callable).__name__ == "Model"


def test_a_changed_file_is_run_again(here: Path) -> None:
    first = of_file("models_of_ours.py")
    assert of_file("models_of_ours.py") is first
    (here / "models_of_ours.py").write_text(MODELS.replace("number", "code"))
    assert "code" in of_file("models_of_ours.py").Invoice.model_fields


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(:", "cannot be loaded: SyntaxError"),
        ("1 / 0", "cannot be loaded: ZeroDivisionError"),
        ("import sys; sys.exit(3)", "cannot be loaded: SystemExit: 3"),
        ("import nothing_like_it", "cannot be loaded: ModuleNotFoundError: No module named 'nothing_like_it'"),
        ("class Invoices: pass", "has no class 'Invoice'; did you mean 'Invoices'"),
    ],
)
@pytest.mark.parametrize("ending", ["", ".py"])
def test_code_that_fails_is_named(here: Path, text: str, message: str, ending: str) -> None:
    (here / "broken_one.py").write_text(text)
    with pytest.raises(ConfigError, match=f"^broken_one{ending}: .*{message}"):
        Fields(schema=f"broken_one{ending}:Invoice")
    sys.modules.pop("broken_one", None)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("no_such_place", "neither installed nor in this folder; a file has its ending"),
        ("json.no_such_place", "there is no module 'json.no_such_place'"),
        ("no_such_place.py", "cannot be read: no such file"),
        ("nul\0.py", "cannot be read: no such file"),
    ],
)
def test_code_that_is_not_there_is_told(here: Path, place: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Fields(schema=f"{place}:Invoice")


def test_evaluators_may_have_classes(here: Path) -> None:
    """A class with string annotations looks for its own module."""
    text = "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass Seen:\n    n: int\n"
    (here / "own.py").write_text(f"{text}def judge(output, expected):\n    return Seen(output).n == expected\n")
    (here / "suite.yaml").write_text("evaluators: [{type: own}]\ncases: [{id: a, output: 1, expected: 1}]\n")
    assert Suite.load("suite.yaml", evaluators={"own": "own.py:judge"}).run()["pass"] == 1
