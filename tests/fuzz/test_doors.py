"""Every door is in the table of attacks, its samples are sound, and neither a short hunt nor an old finding gets through."""

from __future__ import annotations

import ast
import contextlib
import importlib
import itertools
import shlex
from pathlib import Path

import click
import pytest
from hypothesis import settings

import calque
from calque.checks.evaluators.registry import KNOWN as EVALUATORS
from calque.cli.app import VERBS
from calque.cli.outputs import Written
from calque.evaluation.task import BUILT_IN
from calque.readers.boxes import formats
from calque.readers.text import text_files
from tests.fuzz.__main__ import slug
from tests.fuzz.door import Door, laid_out, run, tried
from tests.fuzz.doors import CASES, DOORS, EVERY_EVALUATOR, STATE_LINES
from tests.fuzz.hunt import Hunt

SOURCE = Path(calque.__file__).parent
FINDINGS = Path(__file__).parent / "findings"
OPENED = {name for door in DOORS for name in door.opens}
BY_NAME = {door.name: door for door in DOORS}
A_FEW = settings.default.max_examples // 2
"""Files that are tried behind each door with every run of the tests; ``make fuzz`` tries as many as there is time for."""


def opened(kind: str) -> set[str]:
    return {name.removeprefix(f"{kind}: ") for name in OPENED if name.startswith(f"{kind}: ")}


def modules(folder: str, *but: str) -> set[str]:
    """The modules of a folder that each read a format."""
    return {path.stem for path in (SOURCE / "readers" / folder).glob("*.py")} - {"__init__", *but}


def test_every_format_of_boxes_is_attacked() -> None:
    assert opened("boxes") == {entry.name for entry in formats.FORMATS}


def test_every_format_of_words_is_attacked() -> None:
    assert {*text_files.FORMATS} - {"auto"} <= opened("words")


def test_every_format_of_tables_is_attacked() -> None:
    assert opened("tables") >= modules("tables", "files", "placing", "tags")


def test_every_format_of_orders_is_attacked() -> None:
    assert opened("orders") >= modules("orders", "files", "building")


def test_states_of_every_task_are_attacked() -> None:
    saved = {command.split()[0] for _, command in STATE_LINES.values()}
    assert saved == {{"detection": "detect", "checks": "check"}.get(task, task) for task in BUILT_IN}


def test_every_evaluator_of_checks_is_attacked() -> None:
    """But programs, which are not run unless the user allows it."""
    named = {entry["type"] for entry in EVERY_EVALUATOR["evaluators"]}
    assert named == set(EVALUATORS) - {"command"}
    assert {key for case in CASES for key in case} == {"id", "input", "output", "expected", "tags"}


def reading_parameters() -> set[tuple[str, str]]:
    """Every parameter of every verb that names a file which is read."""
    found = set()
    for verb in VERBS:
        command: click.Command = importlib.import_module(f"calque.cli.{verb}").command
        for parameter in command.params:
            named = isinstance(parameter.type, click.Path) or parameter.name == "images"
            if named and not isinstance(parameter.type, Written):
                found.add((verb, str(parameter.name)))
    return found


NOT_FILES = {(verb, "images") for verb in VERBS if verb != "report"} | {("check", "kept"), ("compare", "baseline")}
"""One folder of pictures stands for all verbs, which hand it to the same function; answers of programs are kept by calque; and
the baseline of a comparison is one of its runs."""


def test_every_file_that_a_verb_reads_is_attacked() -> None:
    given = set()
    for line in {line for door in DOORS for line in door.commands}:
        verb, *words = shlex.split(line)
        command: click.Command = importlib.import_module(f"calque.cli.{verb}").command
        context = command.make_context(verb, words, resilient_parsing=True)
        given |= {(verb, name) for name, value in context.params.items() if value}
    assert reading_parameters() - NOT_FILES - given == set()


OPENING = {"open", "read_bytes", "read_text", "OSFile", "ParquetFile", "opened"}
NOT_FROM_OTHERS = {
    "cli/demo.py": "its own files, to see whether they are there already",
    "cli/exits.py": "the null device",
    "coco/coco.py": "what pycocotools would read, with a test of its own",
    "base/files.py": "outputs",
    "engines/processes.py": "the null device",
    "kernels/reference/mask_rows.py": "masks of a file of boxes that a reader has looked through",
    "checks/evaluators/commands.py": "answers that it kept itself, and programs that the user allowed",
    "report/page.py": "the page that comes with calque",
}
"""Modules that open files which no attacker writes."""
READ_THROUGH = {
    "ceiling/reading.py", "evaluation/shards/checkpoint.py",
    "checks/suites/cases.py", "checks/suites/data_files.py", "checks/suites/inputs.py",
    "base/regular_files.py", "cli/bless.py", "cli/compare.py", "cli/inputs.py", "corpus/class_map.py",
    "corpus/masks.py", "evaluation/evaluator.py", "fields/schemas/sources.py", "kernels/scanning.py", "readers/boxes/yolo.py",
    "readers/line_records.py", "readers/orders/files.py",
    "readers/page_rows/parquet.py", "readers/page_rows/streams.py", "readers/records.py", "readers/sides/metadata.py",
    "readers/sources/compression.py", "readers/sources/json_tree.py", "readers/sources/parquet_files.py",
    "readers/sources/source.py", "readers/tables/files.py", "readers/text/lattices.py", "readers/text/text_files.py",
    "readers/text/word_table.py", "report/images.py", "words/attached.py",
}  # fmt: skip
"""Modules that open what a door of the table leads to. A new one must be attacked, and named here."""


def test_every_module_that_opens_files_is_known() -> None:
    opening = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        if not any(name in text for name in OPENING):
            continue  # reading the tree of every file takes seconds
        calls = (node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
        names = {
            call.id if isinstance(call, ast.Name) else call.attr for call in calls if isinstance(call, ast.Name | ast.Attribute)
        }
        if names & OPENING:
            opening.add(str(path.relative_to(SOURCE)))
    assert opening == READ_THROUGH | NOT_FROM_OTHERS.keys()


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_samples_are_sound(door: Door, tmp_path: Path) -> None:
    """Attacks on nothing, or on files that are refused anyway, would find nothing: every command of a door evaluates some."""
    assert door.attacked
    with contextlib.chdir(tmp_path):
        laid_out(door.files)
        ends = [run(command, door.files) for command in door.commands]
    refused = [command for command, code in zip(door.commands, ends, strict=True) if code == 2]
    assert all(command.startswith("validate") for command in refused), refused


@pytest.mark.long
@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_a_few_attacks(door: Door) -> None:
    hunt = Hunt(door, seed=1, guided=False)
    said = [said for _, said in itertools.islice(hunt, A_FEW) if said]
    assert said == []


FOUND = sorted(path.parent for path in FINDINGS.rglob("SAID"))


@pytest.mark.parametrize("folder", FOUND, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_what_was_found_once_is_mended(folder: Path) -> None:
    door = next(door for door in DOORS if slug(door.name) == folder.parent.name)
    changed = {str(path.relative_to(folder)).removesuffix(".found"): path.read_bytes() for path in folder.rglob("*.found")}
    assert tried({**door.files, **changed}, door.commands) == ""
