"""Means over pages of documents with very many pages."""

from __future__ import annotations

import numpy as np

from calque import Evaluator, Tables
from calque.base.columns import Strings, Table
from calque.evaluation.ledger import Ledger

PAGES = 300_000
"""Comparing every page with every table would take minutes."""


def test_page_means_of_many_pages_are_grouped_in_one_pass() -> None:
    task = Tables(only=("grits",))
    table = {"cells": [{"row": 0, "column": 0, "text": "a"}]}
    small = Evaluator(task).update({"d": [table, {**table, "id": "b"}]}, {"d": [table]}).compute().ledger
    rows = small.table("tables")
    assert rows.height == 2
    columns = {
        name: Strings.pack([""] * PAGES) if isinstance(column, Strings) else np.concatenate([column] * (PAGES // 2))
        for name, column in rows.columns.items()
    }
    columns["page"] = np.arange(PAGES) // 3
    large = Ledger(
        units=small.units, names=small.names, details=small.details, tables={**small.tables, "tables": Table(columns)}
    )
    means = task.measure(large)["pages"]
    assert means["grits_con"] == 0.5
