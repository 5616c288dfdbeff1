"""The numbers of reading order: four ratios over pages, what is counted, and what other tools would say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from calque.base.columns import Array, Floats, Ints
from calque.corpus.boxes import UnitId
from calque.evaluation.document_sums import share
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.measures import Measure, Undefined
from calque.order.page_orders import BREAKS, ORDER_COUNTS

NOT_JUDGED = "no page has two blocks whose order can be judged"
NO_BLOCKS = "no true block has an order"
SOURCE = "calque"
MEASURES = (
    Measure(
        "pairs",
        "pairs",
        "The way as a whole: of the pairs of blocks that the truth orders, the share that is read in that order; what the "
        "prediction leaves open counts half. Reversed is 0, chance 0.5.",
        "(C + X/2) / (C + D + X)",
        SOURCE,
        NOT_JUDGED,
    ),
    Measure(
        "successors",
        "successors",
        "The next step: steps from a block to the next that truth and prediction share.",
        "2·right / (required + predicted)",
        SOURCE,
        NOT_JUDGED,
    ),
    Measure(
        "footrule",
        "footrule",
        "The distance: how far blocks are from their place, of the most that they could be. Reversed is 0.",
        "1 − Σ|rank read − true rank| / ⌊n²/2⌋",
        SOURCE,
        NOT_JUDGED,
    ),
    Measure(
        "edit",
        "edit",
        "Everything at once, missing blocks included: the edits between the two lines of blocks.",
        "1 − Levenshtein distance / N",
        SOURCE,
        NO_BLOCKS,
    ),
    Measure(
        "docling_ard",
        "docling ARD",
        "What docling-eval would say: the mean over pages of 1 minus the average relative distance. The worst order has 0.5.",
        "mean of 1 − Σ|Δrank| / n²",
        "docling-eval",
        "no block is placed",
    ),
    Measure(
        "omnidocbench_edit",
        "OmniDocBench edit",
        "What OmniDocBench would say: the mean over pages of the edit distance of orders; less is better.",
        "mean of Levenshtein distance / N",
        "OmniDocBench",
        NO_BLOCKS,
    ),
    Measure(
        "moves",
        "moves",
        "The fewest blocks to lift and put back so that all that are placed are in order.",
        "n − longest rising subsequence",
        SOURCE,
        "",
    ),
)
SHOWN = (
    "truth", "unordered", "placed", "unplaced", "missing", "pred", "pairs_judged", "concordant", "discordant", "open",
    "pairs_merged", "links_required", "links_predicted", "links_right", "moves",
)  # fmt: skip


class Pages:
    """The pages of a ledger, as columns, with the parts of each number."""

    def __init__(self, ledger: Ledger) -> None:
        table = ledger.table("pages")
        self.unit: Array = table.array(UNIT)
        self.counts: dict[str, Array] = {name: table.array(name) for name in ORDER_COUNTS}
        c = self.counts
        self.counts["pairs_judged"] = c["concordant"] + c["discordant"] + c["open"]
        judged = c["pairs_judged"] > 0
        self.judged = judged
        links = c["links_required"] + c["links_predicted"]
        self.parts: dict[str, tuple[Array, Array]] = {
            "pairs": (2 * c["concordant"] + c["open"], 2 * c["pairs_judged"]),
            "successors": (np.where(judged, 2 * c["links_right"], 0), np.where(judged, links, 0)),
            "footrule": (np.where(judged, c["displacement"], 0), np.where(judged, c["largest"], 0)),
            "edit": (c["edits"], c["truth"]),
        }
        """What is above and below; of the last two the part that is lost."""

    def values(self, name: str) -> Floats:
        """A number of each page; NaN where it has none."""
        above, below = self.parts[name]
        quotient = share(above, below)
        return 1 - quotient if name in LOST else quotient

    def document_values(self, name: str, documents: int) -> Floats:
        """Return a metric of each document, computed from the sums over its pages; NaN where it is undefined."""
        above, below = (self.document_sums(column, documents) for column in self.parts[name])
        quotient = share(above, below)
        return 1 - quotient if name in LOST else quotient

    def document_sums(self, column: Array, documents: int) -> Ints:
        """Add up a column over the pages of each document."""
        sums = np.zeros(documents, dtype=np.int64)
        np.add.at(sums, self.unit, column)
        return sums

    def profile(self, name: str) -> Floats:
        """What another tool would say of each page."""
        placed = self.counts["placed"]
        if name == "docling_ard":
            return 1 - share(self.counts["displacement"], placed * placed)
        return share(self.counts["edits"], self.counts["truth"])


MOST_PAGES = 5
"""How many of the worst pages are named."""
LOST = ("footrule", "edit")
"""Numbers that are what is left of a loss."""


def measure(ledger: Ledger) -> dict[str, Any]:
    """The tree of numbers, in the shape of the JSON."""
    pages = Pages(ledger)
    counts = {name: int(pages.counts[name].sum()) for name in SHOWN}
    page_means = {name: _mean(pages.values(name), _reason(name)) for name in pages.parts}
    return {
        "micro": {name: _micro(pages, name) for name in pages.parts},
        "macro": page_means,
        "macro_pages": dict(page_means),
        "macro_documents": {name: _mean(pages.document_values(name, len(ledger.units)), _reason(name)) for name in pages.parts},
        "counts": {"pages": int((pages.counts["truth"] > 0).sum()), "pages_judged": int(pages.judged.sum()), **counts},
        "breaks": {kind: int(pages.counts[kind].sum()) for kind in BREAKS},
        "profiles": {
            "docling_ard": _mean(pages.profile("docling_ard"), "no block is placed"),
            "omnidocbench_edit": _mean(pages.profile("omnidocbench_edit"), NO_BLOCKS),
        },
        "worst_pages": _worst_pages(ledger, pages),
        "documents": _documents(ledger, pages),
    }


def _reason(name: str) -> str:
    return NO_BLOCKS if name == "edit" else NOT_JUDGED


def _micro(pages: Pages, name: str) -> float | Undefined:
    above, below = pages.parts[name]
    return _share(int(above.sum()), int(below.sum()), name)


def _share(above: int, below: int, name: str) -> float | Undefined:
    if not below:
        return Undefined(_reason(name))
    return 1 - above / below if name in LOST else above / below


def _mean(values: Floats, reason: str) -> float | Undefined:
    known = values[~np.isnan(values)]
    return math.fsum(known.tolist()) / len(known) if len(known) else Undefined(reason)


def _worst_pages(ledger: Ledger, pages: Pages) -> list[dict[str, Any]]:
    """Up to `MOST_PAGES` pages on which a step is wrong, the fewest right steps first, and then as documents and pages come."""
    number, values = ledger.table("pages").array("page"), pages.values("successors")
    breaks = {kind: pages.counts[kind] for kind in BREAKS}
    left = np.flatnonzero(~np.isnan(values) & (np.sum([*breaks.values()], axis=0) > 0))
    worst = left[np.argsort(values[left], kind="stable")][:MOST_PAGES].tolist()
    return [
        {
            "document": ledger.units[int(pages.unit[row])],
            "page": int(number[row]),
            "successors": float(values[row]),
            "breaks": {kind: int(count[row]) for kind, count in breaks.items() if count[row]},
        }
        for row in worst
    ]


def _documents(ledger: Ledger, pages: Pages) -> dict[UnitId, dict[str, Any]]:
    """The numbers of each document of the truth."""

    def by_document(column: Array) -> list[int]:
        sums: list[int] = pages.document_sums(column, len(ledger.units)).tolist()
        return sums

    parts = {name: (by_document(above), by_document(below)) for name, (above, below) in pages.parts.items()}
    counted = {name: by_document(pages.counts[name]) for name in ("truth", "placed", "moves")}
    return {
        ledger.units[row]: {name: _share(above[row], below[row], name) for name, (above, below) in parts.items()}
        | {name: values[row] for name, values in counted.items()}
        for row in np.flatnonzero(ledger.table("documents").array("in_truth")).tolist()
    }
