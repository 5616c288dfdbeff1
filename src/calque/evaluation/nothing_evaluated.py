"""Whether there was anything to evaluate: nobody should be glad of sides that never meet, or of a truth with nothing in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from calque.base.errors import Issue, Severity

if TYPE_CHECKING:
    from calque.base.columns import Flags, Table
    from calque.corpus.boxes import UnitId
    from calque.evaluation.ledger import Ledger

NO_COMMON_DOCUMENT = "no-common-document"
NO_COMMON_PAGE = "no-common-page"
NO_TRUTH = "no-truth"
NOTHING_HELD_OUT = "nothing-held-out"
CODES = (NO_COMMON_DOCUMENT, NO_COMMON_PAGE, NO_TRUTH, NOTHING_HELD_OUT)
"""The issues of a result in which nothing was evaluated."""


@dataclass(frozen=True, slots=True, eq=False)
class DocumentCoverage:
    """What the two sides of a ledger are about: for each document whether the truth knows it, and whether predictions do."""

    in_truth: Flags
    in_found: Flags
    code: str = ""
    """What is amiss although documents meet, with the reason and what to do about it; nothing where it is empty."""
    reason: str = ""
    help: str = ""


def unevaluated(
    coverage: DocumentCoverage,
    units: Sequence[UnitId],
    truth_file: str,
    found_file: str,
    *,
    naming: str,
    intersect: bool = False,
    coco: bool = False,
) -> Issue | None:
    """Why nothing was evaluated, if nothing was, naming the file to look at; ``intersect`` leaves out what one side lacks.

    ``naming`` says what to try where documents are named in two ways, and ``coco`` whether they may be images of COCO files.
    """
    if not coverage.in_truth.any():
        return _issue(NO_TRUTH, "the truth is empty: it has no documents", truth_file, "check that the truth comes first")
    if (intersect or coverage.in_found.any()) and not (coverage.in_truth & coverage.in_found).any():
        from calque.readers.sides.comparable import nothing_in_common

        truth, found = _chosen(units, coverage.in_truth), _chosen(units, coverage.in_found)
        return replace(nothing_in_common(truth, found, found_file, naming=naming, coco=coco), severity=Severity.LOSS)
    if not coverage.code:
        return None
    return _issue(coverage.code, coverage.reason, truth_file if coverage.code == NO_TRUTH else found_file, coverage.help)


def _issue(code: str, text: str, file: str, help: str) -> Issue:
    return Issue(code, text, file, help=help, severity=Severity.LOSS)


def _chosen(units: Sequence[UnitId], flags: Flags) -> list[UnitId]:
    return [unit for unit, known in zip(units, flags.tolist(), strict=True) if known]


def box_coverage(ledger: Ledger, counted: Callable[[Table], Flags], what: str) -> DocumentCoverage:
    """The coverage of boxes on pages; ``counted`` says of truths whether they count, and ``what`` truths are called.

    Predictions are about the documents that have some. Where there is none at all, they are about all that are listed: a
    model that finds nothing was evaluated, unless its documents are others altogether.
    """
    from calque.evaluation.boxes.coverage import Meetings

    met = ledger.fold(partial(Meetings, counted))
    in_truth, in_found, predicted = met.flags(len(ledger.units))
    rows, truths, counting, told, shared = met.rows, met.truths, met.counting, met.told, met.shared
    if rows and (in_truth & in_found).any():  # COCO results are listed under every image of the truth
        in_found = predicted
    if not counting:
        count = f"{truths:,} {what if truths != 1 else what.removesuffix('s')}"
        left = f"none of its {count} counts" if truths else f"it has no {what}"
        return DocumentCoverage(
            in_truth, in_found, NO_TRUTH, f"the truth is empty: {left}", "check the file, --labels and --min-area"
        )
    if rows and told and (in_truth & in_found).any() and not shared:
        text = "the two sides have no page in common: every prediction is on a page that the truth does not have"
        return DocumentCoverage(
            in_truth, in_found, NO_COMMON_PAGE, text, "check whether pages are counted from 0 on both sides"
        )
    return DocumentCoverage(in_truth, in_found)
