"""What is said of tables: the sentence, the notes, the lists and the findings, at the limits of their words."""

from __future__ import annotations

from typing import Any

import pytest

from calque.evaluation.presentation.report_data import Phrase
from calque.tables.presentation import SLICES, WORST, findings, flat, headline, sections, sentence

NONE = dict.fromkeys(("documents", "truth", "pred", "paired", "missed", "spurious", "undefined", "clamped", "invalid"), 0)


def numbers(counts: dict[str, int], teds: Any = 0.5, **more: Any) -> dict[str, Any]:
    means = {"teds": teds}
    kinds = {"simple": {"tables": 0}, "complex": {"tables": 0}}
    return {
        "counts": {**NONE, **counts}, "mean": means, "with_spurious": means, "pages": means, "micro": {}, **kinds, "worst": [],
        "apart": [], "documents": {}, **more,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("counts", "teds", "said"),
    [
        ({"pred": 1}, 0.5, "There is nothing to find: the truth has no tables, and 1 table was predicted."),
        ({"pred": 2}, 0.5, "There is nothing to find: the truth has no tables, and 2 tables were predicted."),
        ({"truth": 1, "paired": 1}, 1.0, "Finds the only table, without any difference (TEDS 1)."),
        ({"truth": 1, "paired": 0}, 0.0, "Does not find the only table, with a mean TEDS of 0.0000."),
        ({"truth": 3, "paired": 3}, 0.5, "Finds all 3 tables, with a mean TEDS of 0.5000."),
        ({"truth": 3, "paired": 2}, 0.5, "Finds 2 of 3 tables, with a mean TEDS of 0.5000."),
        ({"truth": 3, "paired": 0, "spurious": 1}, None, "Finds none of 3 tables, and 1 table that is not there."),
        ({"truth": 3, "paired": 3, "spurious": 2}, None, "Finds all 3 tables, and 2 tables that are not there."),
    ],
)
def test_the_sentence(counts: dict[str, int], teds: float | None, said: str) -> None:
    assert sentence(numbers(counts, teds)) == said


def errors(**losses: float) -> dict[str, Any]:
    return {kind: {"count": 1, "cost": 1.0, "loss": loss} for kind, loss in losses.items()}


@pytest.mark.parametrize(
    ("losses", "said"),
    [
        ({}, ""),
        ({"text": 0.0}, ""),
        ({"text": 0.2}, "; all of the loss is misread texts"),
        ({"text": 0.1, "span": 0.3}, "; 75 % of the loss is wrong spans"),
        ({"text": 0.1, "no_kind": 0.3}, "; all of the loss is misread texts"),
    ],
)
def test_what_costs_most_is_said(losses: dict[str, float], said: str) -> None:
    made = numbers({"truth": 2, "paired": 2}, errors=errors(**losses))
    assert sentence(made) == f"Finds all 2 tables, with a mean TEDS of 0.5000{said}."


@pytest.mark.parametrize(("teds", "tone"), [(0.9, "good"), (0.8999, ""), (0.7, ""), (0.6999, "bad")])
def test_the_headline_has_a_tone(teds: float, tone: str) -> None:
    said = headline(numbers({"truth": 2, "paired": 2}, teds))
    assert list(said) == ["Finds all 2 tables, with a mean TEDS of ", Phrase("teds", f"{teds:.3f}", tone), "."]
    assert list(headline(numbers({"truth": 2, "paired": 2}, None))) == ["Finds all 2 tables."]
    whole = headline(numbers({"truth": 2, "paired": 2}, 1.0))
    assert list(whole) == ["Finds all 2 tables, without any difference (TEDS ", Phrase("teds", "1.000", "good"), ")."]


def test_notes_name_only_what_there_is() -> None:
    (bare, *_) = sections(numbers({"documents": 1, "truth": 2, "pred": 1000, "paired": 2}))
    assert list(bare.notes) == ["1 document, 2 true tables, 1,000 predicted, 2 paired"]
    counts = {"truth": 2, "missed": 1, "spurious": 2, "undefined": 3, "clamped": 1, "invalid": 1}
    assert list(sections(numbers(counts))[0].notes)[1:] == [
        "missed: 1 table, counted as 0",
        "spurious: 2 tables, not in the mean",
        "undefined: 3 tables without rows on either side, left out",
        "clamped: 1 table with more differences than rows and cells, counted as 0",
        "invalid: 1 table too large to be evaluated, left out",
    ]


def entry(number: int, **more: Any) -> dict[str, Any]:
    return {"document": number, "truth": 0, "found": number - 1, "teds": 0.5, "kind": "text", **more}


def test_the_worst_tables_and_how_many_more() -> None:
    listed = [entry(number) for number in range(WORST)]
    section = sections(numbers({"truth": 99, "paired": WORST, "missed": 1}, worst=listed))[-1]
    assert section.rows[:2] == [("0", 0, "", 0.5, "text"), ("1", 0, 0, 0.5, "text")]
    assert section.head == ("document", "truth", "found", "TEDS", "main kind")
    assert list(section.notes) == ["and 1 more, none of them worse; --show DOCUMENT prints both grids"]
    assert list(sections(numbers({"truth": 9, "paired": WORST}, worst=listed))[-1].notes) == []
    assert list(sections(numbers({"truth": 9, "paired": WORST}, worst=listed[:-1]))[-1].notes) == []
    apart = sections(numbers({"truth": 9}, apart=[*listed, entry(99)]))[-1]
    assert len(apart.rows) == WORST


def test_kinds_come_by_what_they_cost() -> None:
    made = sections(numbers({"truth": 2, "paired": 2}, errors=errors(text=0.1, span=0.3, shift=0.1)))[-1]
    assert [row[0] for row in made.rows] == ["span", "shift", "text"]


def test_scopes_of_all_or_no_tables_are_not_repeated() -> None:
    made = numbers({"truth": 3, "paired": 3}, simple={"tables": 3, "teds": 0.5}, complex={"tables": 0})
    split = numbers({"truth": 3, "paired": 3}, simple={"tables": 1, "teds": 0.5}, complex={"tables": 2, "teds": 0.25})
    shown, parted = (sections(each)[1].rows for each in (made, split))
    assert len(parted) == len(shown) + 2
    assert [(row[0].endswith(size), row[1]) for row, size in zip(parted[-2:], (" (1)", " (2)"), strict=True)] == [
        (True, 0.5), (True, 0.25),
    ]  # fmt: skip


def test_slices_end_with_their_mean_and_what_has_no_value() -> None:
    part = {"documents": 1, "tables": 2, "mean": {"teds": 0.5}}
    tree = {"values": {"de": part, "en": part}, "macro_slices": {"teds": 0.5}, "without_value": None}
    made = sections(numbers({"truth": 2}, slices={"lang": tree, "none": None}))[-1]
    assert [row[0] for row in made.rows] == ["de", "en", "mean of slices"]
    assert made.rule_before == 2
    rest = sections(numbers({"truth": 2}, slices={"lang": {**tree, "without_value": part}}))[-1]
    assert rest.rows[-1] == ("(no value)", 1, 2, 0.5)
    tree_of_all = numbers({"truth": 2}, slices={"lang": tree}, documents={"d": {"teds": [0.5, 1.0]}}, worst=[entry(1)])
    rows = [*flat(tree_of_all), *SLICES.rows(tree_of_all)]
    assert [(row["scope"], row["part"]) for row in rows][-5:] == [
        ("table", "d#0"), ("table", "d#1"), ("worst", "1"), ("lang", "de"), ("lang", "en"),
    ]  # fmt: skip


def test_counts_at_several_limits_have_a_row_each() -> None:
    counts = {"tp": 1, "n_truth": 2}
    micro = {"teds": 0.5, "cells": counts, "adjacency": {"0.6": counts, "0.7": {**counts, "tp": 0}, "mean": 0.5}}
    rows = [row for row in flat(numbers({"truth": 2}, micro=micro)) if row["scope"] in micro]
    assert rows == [
        {"scope": "cells", "part": "", **counts}, {"scope": "adjacency", "part": "0.6", **counts},
        {"scope": "adjacency", "part": "0.7", "tp": 0, "n_truth": 2},
    ]  # fmt: skip


def test_findings() -> None:
    made = findings(
        numbers({"truth": 3, "missed": 1, "spurious": 2}, errors=errors(text=0.1, span=0.3, shift=0.2, table_missed=0.9),
                apart=[entry(5)], worst=[entry(7)])
    )  # fmt: skip
    assert [(each.mark, each.text) for each in made] == [
        ("fn", "1 of 3 tables is missed"),
        ("fp", "2 predicted tables for nothing"),
        ("wrong", "30 % of TEDS is lost to wrong spans"),
        ("wrong", "20 % of TEDS is lost to shifted rows"),
        ("note", "1 table: values stand under the wrong headings"),
    ]
    few = findings(numbers({"truth": 3}, errors=errors(text=0.0), worst=[entry(7)]))
    assert [(each.mark, each.text, dict(each.address)) for each in few] == [("class", "Worst table: 7", {"doc": "7"})]
    assert findings(numbers({"truth": 3})) == []
