"""Laws of what people read: a sentence for every result, a reason below every dash, a meaning for every header."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.base.errors import Issue
from calque.base.wording import percent
from calque.ceiling import Ceiling
from calque.checks.suites.suite import Suite
from calque.cli.explain import _known
from calque.cli.render import NO_NUMBER, as_csv, lines
from calque.detection.task import Detection
from calque.evaluation.evaluator import Evaluator
from calque.evaluation.presentation.sections import (
    MISSING,
    Missing,
    Section,
    cell,
    grouped,
    latex_text,
    to_latex,
    to_markdown,
    to_text,
    width,
)
from calque.evaluation.result import Result
from calque.fields import Fields
from calque.layout.task import Layout
from calque.order import Order
from calque.tables import Tables
from calque.words import Words
from tests.report.empty import EMPTY
from tests.snapshots import predictions, truth

BOX, AWAY = (0.1, 0.1, 0.3, 0.3), (0.6, 0.6, 0.9, 0.9)
NONE: list[Any] = []
BOXES: dict[str, tuple[Any, Any]] = {
    "nothing on either side": ({("a", 0): NONE}, {("a", 0): NONE}),
    "no truth": ({("a", 0): NONE}, {("a", 0): [("Table", BOX, 0.5)]}),
    "no predictions": ({("a", 0): [("Figure", BOX)]}, {("a", 0): NONE}),
    "nothing found": ({("a", 0): [("Figure", BOX)], ("b", 0): [("Figure", BOX)]}, {("a", 0): [("Figure", AWAY, 0.5)]}),
    "one document, all right": ({("a", 0): [("Figure", BOX)]}, {("a", 0): [("Figure", BOX, 0.5)]}),
    "all right": (
        {("a", 0): [("Figure", BOX)], ("b", 0): [("Table", AWAY)]},
        {("a", 0): [("Figure", BOX, 0.5)], ("b", 0): [("Table", AWAY, 0.7)]},
    ),
    "some right": (
        {("a", 0): [("Figure", BOX), ("Table", AWAY)], ("b", 0): [("Figure", BOX)]},
        {("a", 0): [("Figure", BOX, 0.5), ("Figure", AWAY, 0.9)], ("c", 0): [("Table", BOX, 0.7)]},
    ),
}
TEXTS = {
    "nothing on either side": ("", ""),
    "no truth": ("", "made up"),
    "no predictions": ("one two", ""),
    "nothing found": ("one two", "three"),
    "one word": ("one", "one"),
    "all right": ("one two", "one two"),
    "some right": ("one two three", "one too three four"),
}
ONE, OTHER = "<table><tr><td>a<td>b<tr><td>1<td>2</table>", "<table><tr><td>x</table>"
GRIDS = {
    "nothing on either side": ("", ""),
    "no truth": ("", ONE),
    "no predictions": (ONE, ""),
    "nothing found": (ONE + ONE, OTHER),
    "one table": (ONE, ONE),
    "all right": (ONE + OTHER, OTHER + ONE),
    "some right": (ONE + OTHER, ONE.replace("2", "3") + OTHER + ONE),
    "only empty": ("<table></table>", "<table></table>"),
}
RECORDS: dict[str, tuple[Any, Any]] = {
    "no truth": ([{"id": 1, "a": None}], [{"id": 1, "a": "x"}]),
    "nothing on either side": ([{"id": 1, "a": None}], [{"id": 1, "a": None}]),
    "nothing found": ([{"id": 1, "a": "x"}], [{"id": 1, "a": None}]),
    "one value": ([{"id": 1, "a": "x"}], [{"id": 1, "a": "x"}]),
    "some right": (
        [{"id": 1, "a": {"_value": "x", "_bbox": [0, 0, 9, 9]}, "b": "y"}, {"id": 2, "a": "z"}],
        [{"id": 1, "a": {"_value": "x", "_bbox": [0, 0, 9, 9], "_confidence": 0.9}, "b": "yy"}, {"id": 3, "a": "z"}],
    ),
}
ORDERS: dict[str, tuple[list[str], list[str]]] = {
    "nothing on either side": ([], []),
    "no truth": ([], ["x", "y"]),
    "no predictions": (["x", "y"], []),
    "one block": (["x"], ["x"]),
    "all right": (["x", "y", "z"], ["x", "y", "z"]),
    "some right": (["x", "y", "z"], ["y", "x", "u"]),
}
SUITE = """
name: s
evaluators: [{{type: iou_score, bbox_path: box, expected_bbox_path: box, threshold: 0.5}}]
cases: {cases}
"""


def results(folder: Path) -> Iterator[tuple[str, Result]]:
    """Every task on everything that is extreme."""
    views = {"crops": True, "confusion": True, "sweep": True, "page_view": True, "recall_floor": 0.9}
    for name, (expected, found) in BOXES.items():
        pair = truth(expected), predictions(found)
        yield f"detection: {name}", Evaluator(Detection(**views)).update(*pair).compute()
        yield f"detection with TIDE: {name}", Evaluator(Detection(errors="tide", iou=(0.6,))).update(*pair).compute()
        yield f"layout: {name}", Evaluator(Layout()).update(*pair).compute()
        systems = {"One": pair[1], "Two": predictions({("a", 0): [("Figure", BOX, 0.5)]})}
        yield f"ceiling: {name}", Evaluator(Ceiling(kind="boxes")).update(pair[0], systems).compute()
    for name, blocks in ORDERS.items():
        rows = ([{"doc_id": "a", "page_index": 0, "ids": side, "order": side}] for side in blocks)
        yield f"order: {name}", Evaluator(Order(pair="id")).update(*rows).compute()
    for name, (expected, found) in TEXTS.items():
        yield f"words: {name}", Evaluator(Words(errors=3)).update({"a": expected}, {"a": found}).compute()
    for name, (expected, found) in GRIDS.items():
        yield f"tables: {name}", Evaluator(Tables()).update({"a": expected}, {"a": found}).compute()
    for mode in ("pubtabnet", "table-transformer"):
        yield f"tables as {mode}", Evaluator(Tables(compat=mode)).update({"a": ONE}, {"a": ONE + OTHER}).compute()
    yield "tables of 2019", Evaluator(Tables(adjacency="2019")).update({"a": ONE}, {"a": OTHER}).compute()
    for name, (expected, found) in RECORDS.items():
        schema = json.dumps({"fields": {"a": {"type": "str"}, "b": {"type": "str"}}})
        yield f"fields: {name}", Evaluator(Fields(schema=schema, id="id")).update(expected, found).compute()
        of_fields = Ceiling(kind="fields", schema=schema, id="id")
        yield f"ceiling of fields: {name}", Evaluator(of_fields).update(expected, {"One": found, "Two": expected}).compute()
    good = "{id: good, expected: {box: [0, 0, 4, 4]}, output: {box: [0, 0, 4, 4]}}"
    bad = ", ".join(f"{{id: bad{k}, expected: {{box: [0, 0, 4, 4]}}, output: {{box: [6, 6, 9, 9]}}}}" for k in range(3))
    for cases in (f"[{good}]", f"[{good}, {bad}]"):
        (folder / "suite.yaml").write_text(SUITE.format(cases=cases))
        suite = Suite.load(str(folder / "suite.yaml"))
        yield "checks", suite.evaluator([row for chunk in suite.stream() for row in chunk], None).compute()


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    return {f"{place} {name}": result for place, (name, result) in enumerate(results(tmp_path_factory.mktemp("suites")))}


def test_every_result_begins_with_one_plain_sentence(everything: Mapping[str, Result]) -> None:
    for name, result in everything.items():
        if result.unevaluated:
            assert str(result).startswith(to_text(result.warning()))
            continue  # no sentence describes numbers that do not exist
        sentence = str(result).split("\n", 1)[0]
        assert sentence == result.task.view().message(result.to_dict()), name
        assert re.fullmatch(r"[A-Z][^\n–]*[a-z0-9%)]\.", sentence), (name, sentence)
        assert not re.search(r"\bNone\b|\bnan\b|\b1 (objects|blocks|words|values|cases|documents|predictions)\b", sentence), (
            sentence
        )


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("detection: nothing on either side", "There is nothing to evaluate: no truths and no predictions count."),
        ("detection: no truth", "There is nothing to find: no truths count, and the only prediction is wrong."),
        ("detection: no predictions", "Finds nothing of the only object: there are no predictions."),
        ("detection: nothing found", "Finds none of 2 objects at IoU 0.5; its only prediction is wrong."),
        ("layout: all right", "Finds all 2 blocks, all with the right name."),
        ("layout: some right", "Finds 67 % of 3 blocks, 50 % of those with the right name."),
        ("words: all right", "Reads all 2 words in order, and nothing else (WER 0.0000)."),
        ("words: nothing found", "Reads none of 2 words right, with 1 predicted word."),
        ("fields: nothing found", "Reads not even the only value in 1 document right: 1 missing."),
    ],
)  # fmt: skip
def test_what_is_said_of_extremes(name: str, sentence: str, everything: Mapping[str, Result]) -> None:
    (result,) = [result for title, result in everything.items() if title.split(" ", 1)[1] == name]
    assert result.task.view().message(result.to_dict()) == sentence


def test_below_every_dash_stands_why_and_nothing_is_said_of_others(everything: Mapping[str, Result]) -> None:
    for name, result in everything.items():
        for section in [*result.sections(), *result.brief(), *result.template()]:
            dashes = {
                head for row in section.rows for head, value in zip(section.head, row, strict=True) if cell(value) == MISSING
            }
            told = [note for note in section.remarks() if note.startswith(MISSING)]
            said = {head for note in told for head in dashes if head in note.partition(":")[0]}
            assert said == dashes, (name, section.title)
            assert bool(told) == bool(dashes), (name, section.title)
            assert None not in [value for row in section.rows for value in row], (name, section.title)


SETTINGS = {"sweep.recall_floor", "sweep.precision_floor", "schema.inferred_from"}
"""What was not asked for is null among the numbers, too."""


def _nulls(tree: Any, *path: str) -> Iterator[str]:
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield from _nulls(value, *path, str(key))
    elif tree is None:
        yield ".".join(path)


def test_every_number_that_is_undefined_has_a_reason(everything: Mapping[str, Result]) -> None:
    for name, result in {**everything, **{name: make() for name, make in EMPTY.items()}}.items():
        without = {*_nulls(result.numbers)} - result.undefined.keys() - SETTINGS
        assert not without, (name, without)
        assert all(result.undefined.values()), name


def test_explain_knows_every_header_of_every_table(everything: Mapping[str, Result]) -> None:
    known = _known()
    for name, result in everything.items():
        # A matrix has the classes of the data across, and systems have their own names.
        labels = {"Figure", "Table", "(background)", "repaired by One", "repaired by Two"}
        for section in [*result.sections(), *result.brief()]:
            for head in section.head:
                assert head in labels or result.task.name in {task for task, _ in known[head.casefold()]}, (name, head)


def test_csv_and_markdown_hold_every_number_of_the_terminal(everything: Mapping[str, Result]) -> None:
    for name, result in everything.items():
        written = "".join(lines(result, "csv"))
        rows = list(csv.DictReader(io.StringIO(written)))
        shown = {cell(_number(value)) for row in rows for value in row.values() if value}
        markdown = "".join(lines(result, "markdown"))
        for section in result.sections():
            if section.title == "Failures":  # the cases themselves are in JSON Lines
                continue
            for row in section.rows:
                missing = [value for value in row[1:] if isinstance(value, int | float) and cell(value) not in shown]
                assert not missing, (name, section.title, row)
                assert all(cell(value) in markdown for value in row[1:] if isinstance(value, int | float))
        assert {row["signature"] for row in rows} == {str(result.signature)}
        assert result.unevaluated or result.task.view().message(result.to_dict()) in markdown.replace("\\", "")


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def test_undefined_is_never_an_empty_cell() -> None:
    assert as_csv([{"a": None, "b": 1}, {"a": Missing("no truths"), "c": 2}]) == f"a,b,c\n{NO_NUMBER},1,\n{NO_NUMBER},,2\n"


CELLS = st.one_of(st.none(), st.integers(-(10**9), 10**9), st.floats(-1e9, 1e9), st.text(max_size=40))


@given(st.lists(st.tuples(st.text(max_size=60), CELLS, CELLS, st.text(max_size=60)), min_size=1), st.integers(40, 120))
def test_tables_fit_the_terminal_and_lose_no_number(rows: list[tuple[Any, ...]], columns: int) -> None:
    section = Section(title="A title", head=("first", "second", "third", "fourth"), rows=rows, notes=["a note " * 30])
    text = to_text([section], columns)
    assert all(width(line) <= max(columns, 45) for line in text.split("\n"))
    for row in rows:
        assert all(cell(value) in text for value in row if isinstance(value, int | float))
    assert len(to_text([section]).split("\n")) == len(rows) + 3


@given(st.text())
def test_latex_obeys_nothing_of_the_data(text: str) -> None:
    told = latex_text(text)
    assert not re.search(r"(?<!\\)[&%#_]", told)
    bare = re.sub(r"\\[{}]", "", told)
    assert bare.count("{") == bare.count("}")
    assert told.replace(r"\$", "").count("$") % 2 == 0


def test_latex_tables_have_the_rules_of_booktabs() -> None:
    section = Section(title="R&D", head=("class", "ΔF1"), rows=[("a_b", -0.5), ("all", Missing("no truths"))], rule_before=1)
    assert to_latex([section]) == (
        "% needs \\usepackage{booktabs}\n\\begin{table}\n\\caption{R\\&D}\n\\begin{tabular}{lr}\n\\toprule\n"
        "class & $\\Delta$F1 \\\\\n\\midrule\na\\_b & $-0.5000$ \\\\\n\\midrule\nall & -- \\\\\n\\bottomrule\n\\end{tabular}\n"
        "\\par -- $\\Delta$F1: no truths (all)\n\\end{table}\n"
    )
    assert "- – ΔF1: no truths (all)" in to_markdown([section])


@given(st.floats(0, 1))
def test_a_share_is_all_or_nothing_only_when_it_is(share: float) -> None:
    assert (percent(share) == "100 %") == (share == 1)
    assert (percent(share) == "0 %") == (share == 0)


def test_alike_issues_are_one_line() -> None:
    alike = [Issue("odd", "holds nothing", f"{k}.json") for k in range(50)]
    assert grouped(alike) == ["0.json and 49 more files: holds nothing (50 times)"]
    differing = [Issue("odd", f"box {k} is odd", f"{k}.json") for k in range(50)]
    assert len(grouped(differing)) == 4
    assert grouped(differing)[-1].startswith("… and 47 more like it")
