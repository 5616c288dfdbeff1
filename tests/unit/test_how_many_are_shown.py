"""Lists for people are cut: up to a number everything stands there, and beyond it the others are counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from calque import ConfigError, Corpus, Detection, Evaluator, Fields, Table, Words
from calque.base.errors import Issue
from calque.checks.evaluators.registry import build_all
from calque.checks.evaluators.settings import Complaints
from calque.checks.presentation import _failures
from calque.detection.report_data import _curves
from calque.evaluation.presentation.sections import Section, grouped
from calque.fields.failures import _frequent
from calque.fields.presentation import _outside, _worst
from calque.layout.presentation import _confusion
from calque.readers.boxes.coco_files import _some as some_images
from calque.readers.sides.class_maps import _some as some_labels
from calque.readers.sources.shards import _check_partners
from calque.report.build import _run
from calque.report.page import shortened
from calque.statistics.comparability import _listed
from calque.words.presentation import _documents, _pages, _story

Shown = tuple[int, str]
"""How many are listed, and how many others are said to be."""


def names(count: int) -> list[str]:
    return [f"n{number:04}" for number in range(count)]


def in_text(text: str) -> Shown:
    more = re.search(r"and ([\d,]+) (?:more|other)|([\d,]+) more rows", text)
    return len(set(re.findall(r"n\d{4}", text))), (more[1] or more[2]) if more else ""


def in_section(section: Section) -> Shown:
    return len(section.rows), in_text(" ".join(section.notes))[1]


def notebook(count: int) -> Shown:
    html = Table({"number": np.arange(count)})._repr_html_()
    return html.count("<tr><td>"), (re.findall(r"of ([\d,]+) rows", html) or [""])[0]


def failures(count: int) -> Shown:
    row = {"status": "ok", "verdict": "fail", "score": 0.0, "evaluator": "equals"}
    return in_section(_failures([{**row, "id": name, "reasoning": name} for name in names(count)])[0])


def misses(count: int) -> Shown:
    [check] = build_all([{"type": "equals", "path": "$[*]", "value": 1}], Complaints("s.yaml"), {})
    told = check.evaluate([0] * count, None).misses
    return len([line for line in told if line.startswith("output[")]), in_text(told[-1])[1]


def complaints(count: int) -> Shown:
    schema = {"type": "object", "additionalProperties": {"type": "string"}}
    [check] = build_all([{"type": "json_schema", "schema": schema}], Complaints("s.yaml"), {})
    return in_text(check.evaluate(dict.fromkeys(names(count), 1), None).misses[0])


def unpaired(count: int) -> Shown:
    with pytest.raises(ConfigError) as raised:
        _check_partners({(name,): name for name in names(count)}, {}, "a*.json", "b*.json")
    return in_text(str(raised.value))


def words(count: int) -> dict[str, Any]:
    block = {"n_ref": 1, "n_pred": 1, "matches": 0, "recall": 0.0, "precision": 0.0}
    return dict.fromkeys(names(count), block)


def lost_words(count: int) -> Shown:
    listed = [{"word": name, "count": 1} for name in names(count)]
    return in_section(_story({"taken": {}, "irreducible": {"words": count, "listed": listed}})[0])


@pytest.mark.parametrize(
    ("most", "shown"),
    [
        pytest.param(5, lambda count: in_text(_listed(set(names(count)))), id="documents of runs that cannot be compared"),
        pytest.param(
            3, lambda count: in_text(" ".join(grouped(Issue("odd", name, name) for name in names(count)))), id="issues"
        ),
        pytest.param(50, failures, id="failed cases"),
        pytest.param(5, misses, id="wrong items of a case"),
        pytest.param(5, complaints, id="places that break a schema"),
        pytest.param(10, lambda count: in_text(some_images(list(names(count)))), id="ids of images"),
        pytest.param(12, lambda count: in_text(some_labels(names(count))), id="labels of a class map"),
        pytest.param(3, unpaired, id="files without a partner"),
        pytest.param(10, lambda count: in_section(_documents({"documents": words(count)})), id="documents of words"),
        pytest.param(10, lost_words, id="words that nobody read"),
        pytest.param(12, lambda count: in_text(_outside(dict.fromkeys(names(count), 2))[0]), id="fields outside a schema"),
        pytest.param(
            200, lambda count: in_section(shortened(Section(title="", head=("a",), rows=[(1,)] * count))), id="rows of a report"
        ),
    ],
)
def test_the_others_are_counted(most: int, shown: Callable[[int], Shown]) -> None:
    assert shown(most) == (most, "")
    assert shown(most + 1) == (most, "1")
    assert shown(most + 1200) == (most, "1,200")


def wrong_pairs(count: int) -> int:
    return len(_frequent(Counter({(name, "x"): 1 for name in names(count)})))


def worst_fields(count: int) -> int:
    entry = {"document": "d", "score": 0.0, "wrong": 1, "fields": []}
    return len(_worst({"worst_documents": [entry] * count}).rows)


def worst_records(count: int) -> int:
    task = Fields(schema={"fields": {"a": {"type": "string"}}})
    made = Evaluator(task).update(*({name: {"a": value} for name in names(count)} for value in "12")).compute()
    return len(made.numbers["worst_documents"])


def boxes(count: int, width: float, **more: Any) -> Corpus:
    return Corpus.from_arrays([[0.0, 0.0, width, 10.0]] * count, ["Table"] * count, documents=names(count), **more)


def detected(count: int, task: Detection) -> dict[str, Any]:
    return Evaluator(task).update(boxes(count, 10.0), boxes(count, 8.0, scores=[0.9] * count)).compute().numbers


def reasons(count: int) -> int:
    """Each document without words lacks several numbers: there are more than are listed, and all are counted."""
    result = Evaluator(Words()).update(dict.fromkeys(names(count), ""), dict.fromkeys(names(count), "")).compute()
    run, _ = _run(result, result.ledger)
    assert run["undefined_count"] == len(result.undefined) >= count
    return len(run["undefined"])


@pytest.mark.parametrize(
    ("most", "shown"),
    [
        pytest.param(100, reasons, id="undefined numbers of a report"),
        pytest.param(5, wrong_pairs, id="wrong pairs of a field"),
        pytest.param(5, worst_fields, id="worst records in the table"),
        pytest.param(10, worst_records, id="worst records"),
        pytest.param(10, lambda count: len(detected(count, Detection(crops=True))["crops"]["worst"]), id="worst crops"),
        pytest.param(10, lambda count: len(detected(count, Detection(page_view=True))["page_view"]["worst"]), id="worst pages"),
        pytest.param(10, lambda count: len(_pages({"d": words(count)}).rows), id="pages of words"),
        pytest.param(
            200, lambda count: len(_curves({"curves": {"precision": {"0.5": {}}}}, names(count))), id="curves of classes"
        ),
    ],
)
def test_no_more_than_so_many(most: int, shown: Callable[[int], int]) -> None:
    assert (shown(most), shown(most + 1)) == (most, most)


def test_a_notebook_shows_ten_rows_and_says_of_how_many() -> None:
    assert [notebook(count) for count in (10, 11)] == [(10, ""), (10, "11")]


@pytest.mark.parametrize(("labels", "title", "rows"), [(12, "truth → taken for", 12), (13, "most frequent confusions", 20)])
def test_many_confusions_are_listed_the_most_frequent_first(labels: int, title: str, rows: int) -> None:
    confusion = {name: {other: 9 if name == other else 1 + (name > other) for other in names(labels)} for name in names(labels)}
    section = _confusion(confusion)
    assert (section.title, len(section.rows)) == (title, rows)
    assert labels == 12 or section.head == ("truth → taken for", "blocks")
    assert labels == 12 or {row[1] for row in section.rows} == {2}
