"""What each number of tables means, for `calque explain`."""

from __future__ import annotations

from calque.core.measures import Measure

TEDS_SOURCE = "Zhong et al. 2020 (PubTabNet), without its errors"
GRITS_SOURCE = "Smock et al. 2023 (GriTS), as grits-metric 0.7"
NO_ROWS = "neither table has a row"
COMPAT = (
    "--compat NAME reproduces another tool instead: pubtabnet (every element is a node and counts, a th is invisible, no "
    "clamp), docling-eval (as pubtabnet, th = td), omnidocbench-1.5 and omnidocbench (after their tidying of the HTML)."
)
MEASURES = (
    Measure(
        "teds",
        "TEDS",
        "How alike two tables are as trees of rows and cells: 1 minus the cheapest way to turn one into the other, by the "
        f"larger number of rows and cells. A bare name is the mean over truth tables; a missed table is 0. {COMPAT}",
        "max(0, 1 − D / n); insert, delete 1; cells with other spans 1, else Levenshtein / longer text",
        TEDS_SOURCE,
        NO_ROWS,
    ),
    Measure("teds_struct", "TEDS-Struct", "TEDS with texts ignored.", "as TEDS, equal spans cost 0", TEDS_SOURCE, NO_ROWS),
    Measure(
        "grits_top",
        "GriTS-Top",
        "How much of the grid has cells of the same extent, after rows and columns are aligned in order. "
        "--compat table-transformer divides by the hull of two boxes instead of their union.",
        "2·Σ IoU of relative spans / slots of both",
        GRITS_SOURCE,
        "neither table has a slot",
    ),
    Measure(
        "grits_con",
        "GriTS-Con",
        "How much of the text stands in the same place of the grid. A value under the wrong heading counts, unlike in TEDS. "
        "--compat table-transformer takes difflib's blocks instead of the longest common subsequence.",
        "2·Σ 2·LCS/(|a|+|b|) / slots of both",
        GRITS_SOURCE,
        "neither table has a slot",
    ),
    Measure(
        "grits_loc",
        "GriTS-Loc",
        "How well the boxes of cells agree, after rows and columns are aligned in order.",
        "2·Σ IoU of boxes / slots of both",
        GRITS_SOURCE,
        "a side has no boxes of cells",
    ),
    Measure(
        "exact", "exact", "The share of truth tables that were read without any difference.", "D = 0", "calque", "no tables"
    ),
    Measure(
        "rows_right", "rows right", "The share of truth tables with the right number of rows.", "R = R'", "calque", "no tables"
    ),
    Measure(
        "columns_right",
        "columns right",
        "The share of truth tables with the right number of columns.",
        "C = C'",
        "calque",
        "no tables",
    ),
    *(
        Measure(f"{block}_{name}", f"{title} {word}", f"{about} {share}", formula, source, "there are none")
        for block, title, about, source in (
            ("cells", "cells", "Cells with the same row, column, spans and text on both sides.", "calque"),
            (
                "adjacency",
                "adjacency",
                "Relations between neighbouring cells (--adjacency 2013).",
                "Göbel et al. 2012, ICDAR 2013",
            ),
            ("header", "header", "Header cells among the cells that TEDS pairs.", "calque"),
        )
        for name, word, share, formula in (
            ("precision", "precision", "The share of what was predicted.", "tp / n_pred"),
            ("recall", "recall", "The share of what is true.", "tp / n_truth"),
            ("f1", "F1", "Both together.", "2·tp / (n_truth + n_pred)"),
        )
    ),
)
