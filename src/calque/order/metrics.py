"""The metrics of reading order: four ratios over pages, their means, counts, and the metrics of other tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array, Floats
from calque.evaluation.document_sums import share
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.metrics import (
    Block,
    Count,
    CsvRows,
    Each,
    MeanOfDocuments,
    Metric,
    MetricTable,
    PlainSums,
    Tally,
    block_of,
)
from calque.evaluation.presentation.result_schema import COUNT, SHARE, UNIT_ID, list_of, map_of, object_of
from calque.order.page_orders import BREAKS, ORDER_COUNTS

if TYPE_CHECKING:
    from calque.order.task import Order

NOT_JUDGED = "no page has two blocks whose order can be judged"
NO_BLOCKS = "no true block has an order"
SOURCE = "calque"
MOST_PAGES = 5
"""How many of the worst pages the result lists."""
SCALE = 2.0**-4
"""Brings the metric of a page or document to the range in which it is added up."""

# 1. Metrics: each is a formula over counts of pages. JUDGED counts are those of pages with a pair to judge.

CONCORDANT, DISCORDANT, OPEN = Count("concordant"), Count("discordant"), Count("open")
LINKS_RIGHT, LINKS = Count("judged links_right"), Count("judged links")
DISPLACEMENT, LARGEST = Count("judged displacement"), Count("judged largest")
EDITS, TRUTH = Count("edits"), Count("truth")
JUDGED = {
    "judged links_right": ("links_right",),
    "judged links": ("links_required", "links_predicted"),
    "judged displacement": ("displacement",),
    "judged largest": ("largest",),
}

FOUR = (
    Metric(
        "pairs",
        "pairs",
        "The way as a whole: of the pairs of blocks that the truth orders, the share that is read in that order; what the "
        "prediction leaves open counts half. Reversed is 0, chance 0.5.",
        "(C + X/2) / (C + D + X)",
        SOURCE,
        NOT_JUDGED,
        value=(2 * CONCORDANT + OPEN) / (2 * CONCORDANT + 2 * DISCORDANT + 2 * OPEN),
    ),
    Metric(
        "successors",
        "successors",
        "The next step: steps from a block to the next that truth and prediction share.",
        "2·right / (required + predicted)",
        SOURCE,
        NOT_JUDGED,
        value=2 * LINKS_RIGHT / LINKS,
    ),
    Metric(
        "footrule",
        "footrule",
        "The distance: how far blocks are from their place, of the most that they could be. Reversed is 0.",
        "1 − Σ|rank read − true rank| / ⌊n²/2⌋",
        SOURCE,
        NOT_JUDGED,
        value=1 - DISPLACEMENT / LARGEST,
    ),
    Metric(
        "edit",
        "edit",
        "Everything at once, missing blocks included: the edits between the two lines of blocks.",
        "1 − Levenshtein distance / N",
        SOURCE,
        NO_BLOCKS,
        value=1 - EDITS / TRUTH,
    ),
)
FOUR_NAMES = tuple(metric.name for metric in FOUR)


def page_mean(metric: Metric) -> Metric:
    """Return the metric as the mean over pages that have a value."""
    return replace(metric, value=Count(f"page {metric.name}") / Count(f"pages with {metric.name}"))


PROFILES = (
    page_mean(
        Metric(
            "docling_ard",
            "docling ARD",
            "What docling-eval would say: the mean over pages of 1 minus the average relative distance. "
            "The worst order has 0.5.",
            "mean of 1 − Σ|Δrank| / n²",
            "docling-eval",
            "no block is placed",
        )
    ),
    page_mean(
        Metric(
            "omnidocbench_edit",
            "OmniDocBench edit",
            "What OmniDocBench would say: the mean over pages of the edit distance of orders; less is better.",
            "mean of Levenshtein distance / N",
            "OmniDocBench",
            NO_BLOCKS,
            better="lower",
        )
    ),
)
MOVES = Metric(
    "moves",
    "moves",
    "The fewest blocks to lift and put back so that all that are placed are in order.",
    "n − longest rising subsequence",
    SOURCE,
    value=Count("moves"),
    support=TRUTH,
    better="lower",
    on_request=True,
)
SIZES = (
    "pages", "pages_judged", "truth", "unordered", "placed", "unplaced", "missing", "pred", "pairs_judged", "concordant",
    "discordant", "open", "pairs_merged", "links_required", "links_predicted", "links_right",
)  # fmt: skip
"""The counts of the result, besides moves."""


# 2. Rows: the counts of each page, and the metrics of each page for the means over pages.


def page_counts(columns: Mapping[str, Array]) -> dict[str, Array]:
    """Return the counts of pages that the metrics need, from the columns of `ORDER_COUNTS`."""
    counts = {name: columns[name] for name in ORDER_COUNTS}
    counts["pairs_judged"] = counts["concordant"] + counts["discordant"] + counts["open"]
    judged = counts["pairs_judged"] > 0
    for name, parts in JUDGED.items():
        counts[name] = np.where(judged, np.sum([counts[part] for part in parts], axis=0), 0)
    counts["pages"] = (counts["truth"] > 0).astype(np.int64)
    counts["pages_judged"] = judged.astype(np.int64)
    return counts


def page_values(counts: Mapping[str, Array]) -> dict[str, Floats]:
    """Return the metrics of each page; NaN where a page has none."""
    return {
        **{metric.name: metric.of(counts) for metric in FOUR},
        "docling_ard": 1 - share(counts["displacement"], counts["placed"] * counts["placed"]),
        "omnidocbench_edit": share(counts["edits"], counts["truth"]),
    }


def count_rows(_task: Order, ledger: Ledger) -> Tally:
    """Tell which rows of a ledger add to which count."""
    tally, pages, documents = Tally(ledger), ledger.table("pages"), ledger.table("documents")
    counts = page_counts({name: pages.array(name) for name in ORDER_COUNTS})
    for name, values in counts.items():
        tally.count(name, pages, values=values)
    for name, values in page_values(counts).items():
        known = np.flatnonzero(~np.isnan(values))
        tally.add(f"page {name}", pages, values, known, scale=SCALE, exact=True)
        tally.count(f"pages with {name}", pages, known)
    tally.count("in_truth", documents, documents.array("in_truth"))
    return tally


# 3. The result.


def other_values(_task: Order, ledger: Ledger, sums: PlainSums) -> dict[str, Any]:
    """Return the values of the result that are not metrics."""
    return {
        "counts": {name: sums.whole(name) for name in SIZES},
        "breaks": {kind: sums.whole(kind) for kind in BREAKS},
        "worst_pages": _worst_pages(ledger),
    }


def _worst_pages(ledger: Ledger) -> list[dict[str, Any]]:
    """Return up to `MOST_PAGES` pages with a wrong step, the lowest successors first, then by document and page."""
    pages = ledger.table("pages")
    values = page_values(page_counts({name: pages.array(name) for name in ORDER_COUNTS}))["successors"]
    breaks = {kind: pages.array(kind) for kind in BREAKS}
    rows = np.flatnonzero(~np.isnan(values) & (np.sum([*breaks.values()], axis=0) > 0))
    worst = rows[np.argsort(values[rows], kind="stable")][:MOST_PAGES].tolist()
    return [
        {
            "document": ledger.units[int(pages.array(UNIT)[row])],
            "page": int(pages.array("page")[row]),
            "successors": float(values[row]),
            "breaks": {kind: int(count[row]) for kind, count in breaks.items() if count[row]},
        }
        for row in worst
    ]


PAGE_MEANS = tuple(page_mean(metric) for metric in FOUR)
DOCUMENT = (*FOUR, Metric("truth", value=TRUTH), Metric("placed", value=Count("placed")), MOVES)
ALL_PAGES = {"all": "over all pages"}
TABLE = MetricTable(
    "order",
    (*FOUR, *PROFILES, MOVES),
    rows=count_rows,
    supplied=other_values,
    result=Block(
        {
            "micro": block_of(
                FOUR,
                scope="",
                scopes={"micro": "counts are added up over all pages, then divided; also for each document"},
            ),
            "macro": block_of(
                PAGE_MEANS,
                scope="macro",
                scopes=dict.fromkeys(("macro", "macro_pages"), "the mean of the pages that have a value"),
            ),
            "macro_pages": block_of(PAGE_MEANS, scope="macro_pages", listed=False),
            "macro_documents": block_of(
                FOUR,
                scope="macro_documents",
                scopes={"macro_documents": "the mean of the documents that have a value"},
                over=MeanOfDocuments(exact=True, scale=SCALE, undefined=""),
            ),
            "counts": Block({**dict.fromkeys(SIZES, COUNT), "moves": MOVES}, scopes=ALL_PAGES),
            "breaks": object_of(dict.fromkeys(BREAKS, COUNT)),
            "profiles": block_of(PROFILES, scopes=ALL_PAGES, on_request=True),
            "worst_pages": list_of(
                object_of({"document": UNIT_ID, "page": COUNT, "successors": SHARE, "breaks": map_of(COUNT)})
            ),
            "documents": Each(
                block_of(DOCUMENT), by="label", over="document", present=Count("in_truth"), listed=False, ids=True
            ),
        },
        order=("micro", "macro", "macro_documents", "profiles", "counts"),
    ),
    csv=(
        CsvRows("micro", {"scope": "micro", "document": ""}, joined=("counts",)),
        CsvRows("macro", {"scope": "macro", "document": ""}),
        CsvRows("macro_documents", {"scope": "macro_documents", "document": ""}),
        CsvRows("documents", {"scope": "document"}, keys=("document",)),
        CsvRows("breaks", {"scope": "break", "document": ""}, keys=("part",), value="count"),
        CsvRows("profiles", {"scope": "profile", "document": ""}, keys=("part",), value="value"),
    ),
)
