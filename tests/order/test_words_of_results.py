"""Sections, headline and findings of a reading order, from numbers made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from calque.evaluation.presentation.report_data import Phrase, spoken
from calque.order.metrics import FOUR_NAMES as FOUR
from calque.order.metrics import TABLE
from calque.order.presentation import LISTED, findings, headline, overview, sections

COUNTS = dict.fromkeys(("pages", "truth", "placed", "missing", "unplaced", "unordered", "pairs_merged", "moves"), 0)
BREAKS = dict.fromkeys(("furniture", "interleaved", "column_jump", "skip", "back"), 0)


def numbers(*, documents: dict[str, Any] | None = None, four: Any = None, breaks: Any = None, **counts: int) -> dict[str, Any]:
    block = dict.fromkeys(FOUR, 0.5) | (four or {})
    return {
        "counts": {**COUNTS, "pages": 1, "truth": 10, "placed": 8, **counts}, "micro": block, "macro": block,
        "macro_documents": block,
        "breaks": {**BREAKS, **(breaks or {})}, "documents": documents or {},
        "profiles": {"docling_ard": 0.5, "omnidocbench_edit": 0.5},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (numbers(truth=0), "There is nothing to judge: the truth gives no block a place."),
        (numbers(four={"pairs": None}), "No two blocks can be held against each other."),
        (numbers(four={"pairs": None}, missing=1), "No two blocks can be held against each other; 1 block of 10 has no place."),
        (numbers(four={"pairs": 1}), "Reads all 8 blocks in their order."),
        (numbers(four={"pairs": 1}, missing=1, unplaced=1), "Reads all 8 blocks in their order; 2 blocks of 10 have no place."),
        (numbers(four={"successors": None}), "Reads 50 % of the pairs of blocks in their order."),
        (
            numbers(breaks={"skip": 2, "back": 1}),
            "Reads 50 % of the pairs of blocks in their order, and 50 % of the steps; most of the 3 breaks are skips.",
        ),
        (
            numbers(breaks={"skip": 2, "back": 2}),
            "Reads 50 % of the pairs of blocks in their order, and 50 % of the steps.",
        ),
        (
            numbers(four={"pairs": 1}, breaks={"back": 1}),
            "Reads 100 % of the pairs of blocks in their order, and 50 % of the steps; the only break is a step back.",
        ),
        (
            numbers(breaks={"interleaved": 3}),
            "Reads 50 % of the pairs of blocks in their order, and 50 % of the steps; all 3 breaks are "
            "between interleaved columns.",
        ),
    ],
)
def test_headline_as_text(told: dict[str, Any], said: str) -> None:
    assert spoken(headline(told)) == said


@pytest.mark.parametrize(("value", "tone"), [(0.96, "good"), (0.95, "good"), (0.94, ""), (0.8, ""), (0.79, "bad")])
def test_shares_have_a_tone(value: float, tone: str) -> None:
    phrases = [part for part in headline(numbers(four={"pairs": value, "successors": 0.5})) if not isinstance(part, str)]
    assert phrases == [Phrase("pairs", f"{value:.0%}".replace("%", " %"), tone), Phrase("successors", "50 %", "bad")]
    whole = headline(numbers(four={"pairs": 1, "successors": 1}, missing=1, unplaced=1))
    assert list(whole) == [
        "Reads ",
        Phrase("pairs", "all 8 blocks", "good"),
        " in their order; 2 blocks of 10 have no place.",
    ]


def test_notes_name_only_what_there_is() -> None:
    assert list(sections(numbers())[0].notes) == ["1 page, 10 blocks in order, 8 placed, 0 missing"]
    assert list(sections(numbers(unplaced=1, unordered=2, pairs_merged=1))[0].notes)[1:] == [
        "in predicted blocks without an order: 1 block",
        "without a place in the truth: 2 blocks",
        "in one predicted block, and not judged: 1 pair",
    ]


def documents(*pairs: float | None) -> dict[str, Any]:
    return {f"d{n}": {"truth": 1, "placed": 1, "moves": 0, **dict.fromkeys(FOUR, 0.5), "pairs": p} for n, p in enumerate(pairs)}


def test_the_documents_that_are_read_worst_come_first() -> None:
    made = next(each for each in sections(numbers(documents=documents(0.5, None, 0.25, 0.5))) if "lowest" in each.title)
    assert [row[0] for row in made.rows] == ["d2", "d0", "d3", "d1"]
    many = documents(*([0.5] * (LISTED + 1)))
    long = next(each for each in sections(numbers(documents=many)) if "lowest" in each.title)
    assert (len(long.rows), list(long.notes)) == (LISTED, ["and 1 more document"])
    assert list(made.notes) == []


def test_breaks_and_moves() -> None:
    made = next(each for each in sections(numbers(breaks={"column_jump": 2}, moves=1)) if "path" in each.title)
    assert list(made.notes) == ["2 breaks: 2 column jumps; 1 block would have to move"]
    several = sections(numbers(breaks={"furniture": 1, "interleaved": 3, "skip": 1, "back": 2}))
    told = "7 breaks: 3 between interleaved columns, 2 steps back, 1 at a header or footer, 1 skip"
    assert [list(each.notes) for each in several if "path" in each.title] == [[told]]
    open_in_one_place = sections(numbers(moves=2))
    assert [list(each.notes) for each in open_in_one_place if "path" in each.title] == [["2 blocks would have to move"]]
    assert not any("path" in each.title for each in sections(numbers()))
    rows = TABLE.csv_rows(numbers(breaks={"skip": 3}, documents=documents(0.5)))
    assert [row["scope"] for row in rows] == [
        "micro",
        "macro",
        "macro_documents",
        "document",
        *["break"] * 5,
        "profile",
        "profile",
    ]


def test_findings() -> None:
    made = findings(
        numbers(
            breaks={"skip": 1, "back": 3, "furniture": 2, "interleaved": 1}, missing=1, documents=documents(0.5, 0.25, None)
        )
    )
    assert [(each.mark, each.text) for each in made] == [
        ("wrong", "3 steps back within a column"),
        ("wrong", "2 steps at headers and footers"),
        ("wrong", "1 step between interleaved columns"),
        ("fn", "1 of 10 blocks has no place"),
        ("class", "Read worst: d1, 25 % of its pairs in order"),
    ]
    assert findings(numbers(documents=documents(0.5, None))) == []
    assert [each.text for each in findings(numbers(missing=1, unplaced=1))] == ["2 of 10 blocks have no place"]


def test_the_parts_of_the_first_view_are_all_blocks() -> None:
    """Eight have a place, three of them after a break; one has none, and one is missing."""
    parts = [(part.mark, part.value) for part in overview(numbers(missing=1, unplaced=1, breaks={"skip": 2, "back": 1})).parts]
    assert parts == [("tp", 5), ("wrong", 3), ("fn", 2)]
