"""Every option of every verb is a setting that the signature tells, a view, or one of a few that have a reason here."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import click
import pytest

from calque import Ceiling, Detection, Fields, Layout, Order, Tables, Words
from calque.checks import Checks
from calque.cli.app import VERBS
from calque.detection.auditing import AuditRules
from calque.evaluation.boxes.reading import BoxReading
from calque.evaluation.task import Task, settings

TASKS: dict[str, type[Task]] = {
    "detect": Detection, "layout": Layout, "fields": Fields, "words": Words, "tables": Tables, "order": Order, "check": Checks,
    "ceiling": Ceiling,
}  # fmt: skip
"""Verbs that evaluate under a task."""

HOLDERS: dict[str, tuple[type[object], ...]] = {"audit": (AuditRules, BoxReading)}
"""A verb whose JSON tells its settings, and which has no states to be merged."""

NO_NUMBERS = {
    "validate": "says whether files keep their contract",
    "convert": "writes what it read in another format",
    "explain": "says what a measure means",
    "demo": "evaluates its own samples with every setting at its default",
    "bless": "copies a state",
    "report": "shows what a state holds",
    "merge": "takes all settings from the states",
    "compare": "has the options of the verbs, and its own, whose settings are in the comparison's signature",
}
"""Verbs that count nothing under settings of their own."""

OUTPUT = {
    "--format": "how the result is written",
    "--output": "where it is written",
    "--save": "the state beside it",
    "--report": "the page that shows it",
    "--images": "pictures in that page",
    "--report-size": "how many of them",
    "--sidecar": "where they stand",
    "--brief": "how much of it is shown to people",
    "--quiet": "what is said on stderr",
    "--annotations": "what failed once more, for GitHub",
    "--jobs": "how many workers; a law says that the bits are the same",
    "--engine": "where shards are evaluated; a test says that the bits are the same",
    "--scheduler": "which cluster does it",
    "--checkpoint": "keeps finished shards, each under the content that it depends on; a test says that the bits are the same",
    "--intervals": "adds intervals; the signature tells of them where they are, as of the next three",
    "--replicates": "how often documents are resampled",
    "--resample-seed": "from which seed",
    "--confidence": "how sure intervals are",
}
"""Options of every verb."""

GATES = {
    "--fail-under": "what must hold of the numbers",
    "--fail-over": "what must hold of numbers of which less is better",
    "--baseline": "the run that must not be lost against",
    "--tolerance": "what may be lost",
    "--no-broken": "what must stay right",
    "--primary": "which measures must not be significantly worse",
}
"""Options that decide how a verb ends, and change no number."""

OTHERS = {
    ("words", "--show"): "prints one document in place of the numbers",
    ("words", "--differences"): "leaves out what is alike, where one document is printed",
    ("words", "--removed"): "prints what clean-up took out in place of the numbers",
    ("tables", "--show"): "prints the grids of one document in place of the numbers",
    ("fields", "--explain-schema"): "prints how fields are compared in place of the numbers",
    ("fields", "--write-schema"): "writes the schema beside them",
    ("fields", "--errors"): "lists wrong values in place of the numbers",
    ("fields", "--documents"): "writes one line a document beside them",
    ("check", "--schema"): "prints a JSON Schema in place of judging",
    ("check", "--data"): "names the cases, as an argument does: they are data",
    ("check", "--expected"): "names one side of the cases: they are data",
    ("check", "--actual"): "names one side of the cases: they are data",
    ("check", "--allow-commands"): "allows what the suite says; that is in the signature",
    ("check", "--cache"): "keeps answers, each under the content that it depends on",
    ("check", "--only-failed"): "lists fewer results; the summary counts all",
    ("audit", "--agreement"): "asks another question, whose JSON has another shape",
}
"""Options of single verbs."""


def options(verb: str) -> Iterator[str]:
    command: click.Command = importlib.import_module(f"calque.cli.{verb}").command
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            yield max(parameter.opts, key=len)


def test_every_verb_is_in_one_table() -> None:
    assert sorted([*TASKS, *HOLDERS, *NO_NUMBERS]) == sorted(VERBS)


@pytest.mark.parametrize(("verb", "flag"), [(verb, flag) for verb in (*TASKS, *HOLDERS) for flag in options(verb)])
def test_an_option_is_a_setting_or_has_a_reason(verb: str, flag: str) -> None:
    holders = (TASKS[verb],) if verb in TASKS else HOLDERS[verb]
    known = {note.flag: note for holder in holders for note in settings(holder).values()}
    places = [flag in known, flag in OUTPUT, flag in GATES, (verb, flag) in OTHERS]
    assert sum(places) == 1, f"{verb} {flag} is in {sum(places)} of the tables"
    note = known.get(flag)
    if note is not None and not note.view and not note.spells:
        assert note.key
        assert verb in HOLDERS or note.key in TASKS[verb]().signature().settings


def test_the_tables_name_no_option_that_is_gone() -> None:
    every = {(verb, flag) for verb in VERBS for flag in options(verb)}
    assert every >= OTHERS.keys()
    assert {flag for _, flag in every} >= OUTPUT.keys() | GATES.keys()


def test_every_verb_that_evaluates_has_gates() -> None:
    for verb in (*TASKS, "merge"):
        assert set(options(verb)) >= GATES.keys()


@pytest.mark.parametrize("task", TASKS.values())
def test_no_two_settings_share_a_key_or_an_option(task: type[Task]) -> None:
    notes = settings(task).values()
    keys = [note.key for note in notes if not note.view and not note.spells]
    assert len(set(keys)) == len(keys)
    assert len({note.flag for note in notes}) == len(notes)


@pytest.mark.parametrize("verb", ["detect", "layout", "fields", "words", "tables", "order", "ceiling"])
def test_every_setting_is_an_option(verb: str) -> None:
    assert {note.flag for note in settings(TASKS[verb]).values()} <= set(options(verb))
