"""What each number of tables means, for `calque explain`."""

from __future__ import annotations

from calque.evaluation.measures import Measure

TEDS_SOURCE = "Zhong et al. 2020 (PubTabNet), without its errors"
GRITS_SOURCE = "Smock et al. 2023 (GriTS), as grits-metric 0.7"
NO_ROWS = "neither table has a row"
COMPAT = (
    "--compat NAME reproduces another tool instead: pubtabnet (every element is a node and counts, a th is invisible, no "
    "clamp), docling-eval (as pubtabnet, th = td), omnidocbench-1.5 and omnidocbench (after their tidying of the HTML)."
)
ABOUT = {
    "pubtabnet": "TEDS of PubTabNet's code, on the tree of libxml2: every element below the table is a node and counts, inline "
    "ones too; what a th holds is invisible; characters and tags of a td are compared as they are; not clamped.",
    "docling-eval": "As pubtabnet, with th taken for td.",
    "omnidocbench-1.5": "As pubtabnet after OmniDocBench 1.5's tidying: th becomes td, sections and some tags and attributes "
    "vanish, entities are decoded in the markup, NFKC. Gives the numbers published with its demo.",
    "omnidocbench": "As omnidocbench-1.5, with the texts of cells spelt alike first (OmniDocBench 1.6): symbols, LaTeX, lone "
    "dashes. It moves tables of the same demo by up to 0.083.",
    "table-transformer": "GriTS of the code behind most published numbers: difflib's blocks instead of the longest common "
    "subsequence, the hull of two boxes instead of their union; relations dar_con_original and dar_con (blanks are cells).",
}
"""How each compat mode differs from the default."""
KIND_WORDS = {
    "row_missed": "A row of the truth without a partner: 1, and 1 for each of its cells without one.",
    "row_spurious": "A predicted row without a partner.",
    "row_merged": "Rows of the truth that stand in one predicted row, side by side or cell by cell.",
    "row_split": "A row of the truth that was cut into several.",
    "column_missed": "A cell without a partner, as at least half of its column (two or more).",
    "column_spurious": "A predicted cell without a partner, as at least half of its column (two or more).",
    "cell_missed": "A cell of the truth without a partner, in a row that has one.",
    "cell_spurious": "A predicted cell without a partner, in a row that has one.",
    "cell_merged": "A cell of the truth whose text stands in the cell beside it.",
    "cell_split": "A predicted cell that holds a part of the cell beside it.",
    "shift": "A cell was left out or put in, and the next ones stand under other headings.",
    "span": "A span was lost, invented or changed.",
    "text": "A text was misread: edits by the length of the longer text.",
    "table_missed": "A table of the truth without a partner: the whole of its loss.",
    "table_spurious": "A predicted table without a partner; it stands beside the sum of losses.",
    "header_wrong": "A header taken for a cell or the other way round; it costs nothing.",
}
"""What each kind of error is."""
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


def scopes_of(name: str) -> dict[str, str]:
    """Over what a measure is told, the usual first."""
    if name.endswith(("_precision", "_recall", "_f1")):
        return {"micro": "counts are added up over all tables, missed and spurious ones too"}
    scopes = {
        "mean": "the mean over truth tables; a missed one counts 0",
        "with_spurious": "the same, with one more 0 for each spurious table",
        "pages": "the mean of the means of pages with truth tables",
        "simple": "the mean over truth tables without spans",
        "complex": "the mean over truth tables with spans",
    }
    return scopes | ({"micro": "nodes and slots of all tables together"} if name.startswith(("teds", "grits")) else {})
