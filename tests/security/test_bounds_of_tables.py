"""Small files of tables whose comparison would take hours: such documents are named, and the others are evaluated."""

from __future__ import annotations

from typing import Any

import pytest

from calque import ContractError, Evaluator, Tables
from calque.base.errors import Severity
from calque.corpus.tables import CellTable
from calque.tables import compare, parse, teds
from calque.tables.pairing import MOST_STEPS, STEPS_OF_A_PAIR, paired, steps

SIDE = 317  # a square table of this width, compared with its like, is just beyond the limit
WIDE = f"<table><tr>{'<td rowspan=999>x' * SIDE}</tr>{'<tr></tr>' * (SIDE - 1)}</table>"
"""Three kilobytes: one row of cells that reach down to the last of as many rows."""
SMALL = "<table><tr><td>a<td>b</table>"


def losses(given: Any) -> tuple[Any, list[tuple[str, str]]]:
    result = Evaluator(Tables(only=("teds",))).update(given, given).compute()
    return result, [(issue.code, issue.pointer) for issue in result.issues if issue.severity is Severity.LOSS]


def test_tables_that_take_hours_are_named_and_the_rest_is_evaluated() -> None:
    result, lost = losses({"big": WIDE, "small": SMALL})
    assert lost == [("too-much-work", "big")]
    assert result.incomplete
    assert result["micro.teds"] == 1.0
    assert {row["status"] for row in result.outcomes().rows() if row["document"] == "big"} == {"invalid"}


def test_many_tables_without_ids_and_with_them() -> None:
    many = [{"cells": [{"row": 0, "column": 0, "text": "x"}]}] * 1001
    assert len(many) ** 2 * STEPS_OF_A_PAIR > MOST_STEPS
    assert losses({"d": many})[1] == [("too-much-work", "d")]
    assert losses({"d": [{**table, "id": str(place)} for place, table in enumerate(many)]})[1] == []


def test_two_tables_that_take_hours_are_refused() -> None:
    assert steps([(parse(WIDE), parse(WIDE))]) == SIDE**4 > MOST_STEPS
    for call in (teds, compare):
        with pytest.raises(ContractError, match="too large"):
            call(WIDE, WIDE)
    assert teds(WIDE, SMALL) is not None


def test_cells_that_lie_on_one_slot_are_work_too() -> None:
    pile = CellTable.of([(0, 0, 1, 1, "x", False)] * 100)
    assert pile.slots == 1
    assert steps([(pile, pile)]) == 10_000


def test_one_document_beyond_the_limit_leaves_the_others_their_pairs() -> None:
    wide, small = parse(WIDE), parse(SMALL)

    def alike(pairs: list[Any]) -> Any:
        import numpy as np

        assert pairs == [(small, small)]
        return np.ones(1)

    assert paired([([wide], [wide]), ([small], [small]), ([wide], [])], alike) == [None, [(0, 0)], []]


def test_table_with_a_span_beyond_every_grid_is_refused_by_name() -> None:
    cells = [{"row": 1, "column": 0, "text": "a"}, {"row": 0, "column": 0, "colspan": 2**62, "text": "b"}]
    result, lost = losses({"big": [{"cells": cells}], "small": SMALL})
    assert [pointer for _, pointer in lost] == ["big, table 0"]
    assert result["micro.teds"] == 1.0
