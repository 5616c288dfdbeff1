"""Help pages: groups of options, short texts, and pages that fit the terminal."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable

import click
import pytest

from calque.cli.app import VERBS
from calque.cli.help import GROUPS, ORDER
from calque.evaluation.boxes.reading import BOX_FORMATS
from tests.conftest import Run

Command = Callable[..., Run]


def options(name: str) -> list[click.Option]:
    command: click.Command = importlib.import_module(f"calque.cli.{name}").command
    return [parameter for parameter in command.params if isinstance(parameter, click.Option)]


@pytest.mark.parametrize("name", VERBS)
def test_help_of_an_option_is_one_short_phrase(name: str) -> None:
    for option in options(name):
        text = option.help or ""
        assert 0 < len(text) < 80, (option.opts, text)
        assert re.fullmatch(r"[A-Z0-9].*[.\]]", text), (option.opts, text)
        assert not re.match(r"(What|Which|How|Where|Whether|Also)\b", text), (option.opts, text)
        tail = re.search(r"default: (.*)", text)
        assert tail is None or not re.search(r"\. [A-Z]", tail[1]), (option.opts, text)


@pytest.mark.parametrize("width", [80, 140])
@pytest.mark.parametrize("name", ["", *VERBS])
def test_help_page_fits_the_width_without_color(
    name: str, width: int, calque: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    run = calque(*([name] if name else []), "--help")
    assert run.code == 0
    assert "\x1b" not in run.out
    assert max(map(len, run.out.splitlines())) <= width
    headings = [line[:-1] for line in run.out.splitlines() if re.fullmatch(r"[A-Z][A-Za-z ]+:", line)]
    if name:
        assert headings in ([each for each in ORDER if each in headings], ["Options"])
        assert all(option.opts[-1] in run.out for option in options(name))


def test_help_of_detect_names_each_format_once_and_ten_options_first(calque: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = calque("detect", "--help").out
    description = text.split("\nCommon:")[0]
    listed = re.split(r"[,.\s]+", description.partition("Formats: ")[2].partition(".\n")[0])
    assert sorted(listed) == sorted(BOX_FORMATS)
    first = text.splitlines()[:24]
    assert sum(line.startswith("  --") for line in first) >= 10


def test_help_of_calque_lists_every_command(calque: Command) -> None:
    text = calque("--help").out
    assert all(re.search(rf"^  {name} ", text, re.MULTILINE) for name in VERBS)


def test_groups_of_options_name_existing_options() -> None:
    known = {option.opts[-1] for name in VERBS for option in options(name)} | {"--help", "--version"}
    assert {flag for flags in GROUPS.values() for flag in flags} <= known


def test_help_is_plain_with_no_color(calque: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "NO_COLOR", "1")
    assert "\x1b" not in calque("detect", "--help").out
