"""Names of files: an empty one is told by what was given it, on every verb, and a report has a name that opens as a page."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from calque import ConfigError, Evaluator, Words, compare
from calque.cli.app import VERBS
from calque.cli.outputs import Named, WrittenPage
from tests.conftest import Run
from tests.snapshots import BOX, predictions, truth, write

Command = Callable[..., Run]


def parameters(kind: type[click.ParamType]) -> list[tuple[str, str]]:
    """Every verb with each of its parameters of a type: the flag of an option, the name of an argument."""
    commands: dict[str, click.Command] = {verb: importlib.import_module(f"calque.cli.{verb}").command for verb in VERBS}
    return [
        (verb, each.opts[-1] if isinstance(each, click.Option) else each.human_readable_name)
        for verb, command in commands.items()
        for each in command.params
        if isinstance(each.type, kind)
    ]


def line(verb: str, given: str, value: str) -> list[str]:
    """A call of a verb in which one parameter has this value, and all that must be there has some."""
    command: click.Command = importlib.import_module(f"calque.cli.{verb}").command
    arguments = [each for each in command.params if isinstance(each, click.Argument)]
    told = [value if each.human_readable_name == given else "x" for each in arguments]
    more = ["y", "z"] if verb == "compare" else []
    return [verb, *told, *more, *([given, value] if given.startswith("-") else [])]


def test_every_path_is_of_this_type() -> None:
    assert set(parameters(click.Path)) == set(parameters(Named))
    assert {verb for verb, _ in parameters(Named)} == set(VERBS) - {"explain"}
    assert [verb for verb in VERBS if (verb, "--report") in parameters(Named)] == [
        verb for verb in VERBS if (verb, "--report") in parameters(WrittenPage)
    ]


@pytest.mark.parametrize(("verb", "given"), parameters(Named))
def test_an_empty_name_is_told(calque: Command, verb: str, given: str) -> None:
    run = calque(*line(verb, given, ""))
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("error: ")
    assert f"{given}: the name is empty; name a f" in run.err
    required = not given.startswith("-") or (verb, given) in {("report", "--output"), ("bless", "--output")}
    assert ("leave the option out" in run.err) is not required


@pytest.mark.parametrize(("verb", "given"), parameters(WrittenPage))
@pytest.mark.parametrize("name", ["x.pdf", "X.JSON", "x", "here.html/../x", ".html"])
def test_a_report_that_would_not_open_is_refused_before_any_work(
    calque: Command, tmp_path: Path, verb: str, given: str, name: str
) -> None:
    run = calque(*line(verb, given, name))
    assert (run.code, run.out) == (2, "")
    assert f"{name}: a report is an HTML page; call it " in run.err
    assert ("print the page in a browser" in run.err) is (name == "x.pdf")
    assert list(tmp_path.iterdir()) == []


def test_so_it_is_in_python(tmp_path: Path) -> None:
    result = Evaluator(Words()).update({"a": "one two"}, {"a": "one too"}).compute()
    for shown in (result, compare([result, result], ["a", "b"])):
        with pytest.raises(ConfigError, match=r"x\.pdf: a report is an HTML page; call it x\.html"):
            shown.report(tmp_path / "x.pdf")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["x.html", "x.HTM", "-"])
def test_a_report_is_written_under_the_name_of_a_page(calque: Command, tmp_path: Path, name: str) -> None:
    write(tmp_path / "t.json", truth({("a", 0): [("Figure", BOX)]}))
    write(tmp_path / "p.json", predictions({("a", 0): [("Figure", BOX, 0.9)]}))
    assert calque("detect", "t.json", "p.json", "--save", "a.state").code == 0
    run = calque("report", "a.state", "-o", name)
    assert run.code == 0
    assert (run.out if name == "-" else (tmp_path / name).read_text()).startswith("<!doctype html>")
