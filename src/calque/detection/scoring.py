"""From two corpora to the ledger: which boxes take part, how they pair, and one row for each of them."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from calque.base.columns import Bytes, Column, Flags, Strings, Table
from calque.corpus.boxes import BoxCorpus, Flaw
from calque.detection.average_precision import area_ranges
from calque.detection.kinds.classify import Kinds, classify, mark_empty_pages
from calque.detection.views.columns import Roles, added
from calque.engines import run_parallel, threads_for
from calque.evaluation.boxes.overlay import PAGE_DETAILS, Layer, Overlay
from calque.evaluation.boxes.pairing import Pairing, ScorePairing, by_score, greedy
from calque.evaluation.ledger import Ledger
from calque.geometry.forms import FORMS
from calque.kernels.structs import ABSORBS, LEFT_OUT, TAKES_PART

if TYPE_CHECKING:
    from calque.detection.task import Detection


class Status(IntEnum):
    """Whether an object counts, and if not, why."""

    COUNTED = 0
    SMALL = 1
    """Below the smallest area: ignored, as the next two."""
    CROWD = 2
    IGNORED = 3
    LOW_SCORE = 4
    """Left out by a setting, as the next two."""
    OTHER_LABEL = 5
    ONE_SIDED = 6
    UNKNOWN_LABEL = 7
    """Invalid, as the next two."""
    BAD_BOX = 8
    UNKNOWN_PAGE = 9
    """A truth on an image that the truth does not list."""
    NOT_ANNOTATED = 10
    """A prediction on a page that nobody has annotated: left out."""


STATUS_NAMES = tuple(status.name.lower() for status in Status)
IGNORED = (Status.SMALL, Status.CROWD, Status.IGNORED)
EXCLUDED = (Status.LOW_SCORE, Status.OTHER_LABEL, Status.ONE_SIDED, Status.NOT_ANNOTATED)
INVALID = (Status.UNKNOWN_LABEL, Status.BAD_BOX, Status.UNKNOWN_PAGE)

Columns: TypeAlias = dict[str, Column]

DETAILS = frozenset((table, column) for table in ("truth", "found") for column in ("box", "form", "id")) | PAGE_DETAILS


def counted(truth: Table) -> Flags:
    """Which truths count."""
    flags: Flags = truth.array("status") == Status.COUNTED
    return flags


def score(task: Detection, truth: BoxCorpus, found: BoxCorpus, *, jobs: int) -> Ledger:
    """The ledger of two corpora: tables ``documents``, ``pages``, ``truth`` and ``found``."""
    overlay = Overlay.of(truth, found, task.on, jobs=jobs)
    truth_status, found_status, whatever_score = statuses(task, overlay)
    ranked = ranked_roles(overlay.found, whatever_score)
    roles = roles_of(truth_status, found_status, whatever_score)
    # The pairs at a higher threshold are among those at a lower one.
    lowest = min(task.iou[0], task.limits().match)

    def pair() -> tuple[Pairing, tuple[Columns, Columns]]:
        pairing = greedy(overlay, roles.truth, roles.found, threshold=lowest, jobs=jobs)
        return pairing, _error_columns(task, overlay, truth_status, found_status, pairing, jobs)

    def rank() -> ScorePairing:
        truth_roles, ranges = ranked_truths(truth_status), area_ranges(truth.extent, task.min_area)
        limit = task.most_detections()
        return by_score(overlay, truth_roles, ranked, area_ranges=ranges, max_detections=limit, jobs=jobs)

    # While one of the two is between two kernels, the other's threads go on.
    (pairing, (truth_errors, found_errors)), ranking = run_parallel(threads_for(len(found), jobs), pair, rank)
    views = added(task, overlay, (truth, found), pairing, roles, jobs=jobs)
    truth_extra = {**truth_errors, **views.truth}
    if views.met is not None:
        truth_extra["met"] = overlay.within_document(overlay.truth, overlay.found, views.met)
    return Ledger(
        units=overlay.documents,
        names={"label": overlay.labels, "status": STATUS_NAMES},
        details=DETAILS,
        tables={
            "documents": overlay.document_table(),
            "pages": _pages(overlay),
            "truth": _truth_rows(overlay, truth_status, pairing, ranking, truth_extra),
            "found": _found_rows(overlay, found_status, pairing, ranking, {**found_errors, **views.found}),
            **views.tables,
        },
    )


def statuses(task: Detection, overlay: Overlay) -> tuple[Bytes, Bytes, Bytes]:
    """The status of each truth, of each prediction, and of each prediction whatever its score."""
    truth = _status(task, overlay, overlay.truth)
    if overlay.truth.flaws is not None:
        truth[overlay.truth.flaws == Flaw.UNKNOWN_PAGE] = Status.UNKNOWN_PAGE
    whatever_score = _status(task, overlay, overlay.found)
    found = whatever_score.copy()
    if task.min_score is not None:
        found[(found <= Status.SMALL) & (overlay.found.scores < task.min_score)] = Status.LOW_SCORE
    return truth, found, whatever_score


def roles_of(truth_status: Bytes, found_status: Bytes, whatever_score: Bytes) -> Roles:
    """Who takes part in what. A small prediction may still be the one that finds a truth; only unpaired is it ignored."""
    return Roles(
        truth=_roles(truth_status, ignored=ABSORBS),
        found=_roles(found_status, ignored=TAKES_PART),
        any_score=_roles(whatever_score, ignored=TAKES_PART),
        small=whatever_score == Status.SMALL,
        countable=_roles(found_status, ignored=LEFT_OUT),
    )


def _error_columns(
    task: Detection, overlay: Overlay, truth_status: Bytes, found_status: Bytes, pairing: Pairing, jobs: int
) -> tuple[Columns, Columns]:
    """Kinds of errors for truths and for predictions; no columns when nobody asks."""
    if task.errors == "none":
        return {}, {}
    limits = task.limits()
    truth_counts: Flags = truth_status == Status.COUNTED
    # As for precision: what lies on an ignored truth is excused, and a small prediction that finds a truth counts.
    excused = pairing.absorbed >= limits.match
    counted: Flags = found_status == Status.COUNTED
    if task.errors == "tide":
        from calque.detection.kinds.tide import classify_as_tide

        small = found_status == Status.SMALL
        kinds = classify_as_tide(overlay, truth_counts, counted | small, excused | small, limits, jobs=jobs)
    else:
        found_counts = (pairing.found_iou >= limits.match) | (counted & ~excused)
        kinds = classify(overlay, pairing, truth_counts, found_counts, limits, jobs=jobs)
        mark_empty_pages(kinds, overlay.found, _empty_pages(overlay, truth_status))
    return _kind_columns(overlay, kinds)


def _kind_columns(overlay: Overlay, kinds: Kinds) -> tuple[Columns, Columns]:
    truth: Columns = {
        "kind": kinds.truth,
        "partner": overlay.within_document(overlay.truth, overlay.found, kinds.truth_partner),
        "area": overlay.truth.areas(),
    }
    found: Columns = {
        "kind": kinds.found,
        "partner": overlay.within_document(overlay.found, overlay.truth, kinds.found_partner),
        "subtype": kinds.subtype,
        "area": overlay.found.areas(),
    }
    return truth, found


def _empty_pages(overlay: Overlay, truth_status: Bytes) -> Flags:
    """For each page whether it has no truth, not even one that is ignored."""
    there = ~np.isin(truth_status, [*EXCLUDED, *INVALID])
    empty: Flags = np.bincount(overlay.truth.page[there], minlength=len(overlay.page_index)) == 0
    return empty


def _status(task: Detection, overlay: Overlay, layer: Layer) -> Bytes:
    """The status of each object of one side; what comes later outweighs what comes before."""
    status = np.full(len(layer), Status.COUNTED, dtype=np.uint8)
    if task.min_area > 0:
        status[layer.areas() < task.min_area] = Status.SMALL
    if layer.ignore is not None:
        status[layer.ignore != 0] = Status.IGNORED
    if layer.crowd is not None:
        status[layer.crowd != 0] = Status.CROWD
    if task.labels:
        kept = np.array([*(name in task.labels for name in overlay.labels), False], dtype=np.bool_)
        status[~kept[layer.label]] = Status.OTHER_LABEL
    if task.missing == "intersect":
        both: Flags = overlay.in_truth & overlay.in_found
        status[~both[overlay.page_document[layer.page]]] = Status.ONE_SIDED
    if layer.flaws is not None:
        status[layer.flaws == Flaw.DROPPED] = Status.OTHER_LABEL
        status[layer.flaws == Flaw.NOT_ANNOTATED] = Status.NOT_ANNOTATED
        status[layer.flaws == Flaw.UNKNOWN_LABEL] = Status.UNKNOWN_LABEL
        status[layer.flaws == Flaw.BAD_BOX] = Status.BAD_BOX
    return status


def _roles(status: Bytes, *, ignored: int) -> Bytes:
    if not status.any():
        return np.full_like(status, TAKES_PART)  # all count, as is usual
    role_of = np.full(len(Status), LEFT_OUT, dtype=np.uint8)
    role_of[Status.COUNTED] = TAKES_PART
    role_of[list(IGNORED)] = ignored
    return role_of[status]


def ranked_truths(status: Bytes) -> Bytes:
    """Which truths take part in AP: ignored ones too, and COCO's matching tells what becomes of them."""
    return _roles(status, ignored=TAKES_PART)


def ranked_roles(found: Layer, status: Bytes) -> Bytes:
    """Who takes part in AP: objects with flaws that P/R can live with do not."""
    roles = _roles(status, ignored=TAKES_PART)
    if found.flaws is not None:
        roles[found.flaws != Flaw.NONE] = LEFT_OUT
    return roles


def _pages(overlay: Overlay) -> Table:
    return Table({**overlay.page_columns(), **sortable_images(overlay), **overlay.page_details()})


def sortable_images(overlay: Overlay) -> Columns:
    """A column with the image of each page, whose order decides about ties in AP; none where documents are images."""
    if overlay.image_ids is None:
        return {}
    return {"image": Strings.pack([_sortable(image) for image in overlay.image_ids])}


def _sortable(image: int | str) -> str:
    """An image id as text whose order is the canonical one: integers by value, then strings."""
    return f"1{image}" if isinstance(image, str) else f"0{image + 2**63:020}"


def _truth_rows(overlay: Overlay, status: Bytes, pairing: Pairing, ranking: ScorePairing, extra: Columns) -> Table:
    columns: Columns = {
        "match": overlay.within_document(overlay.truth, overlay.found, pairing.truth_match),
        "iou": pairing.iou,
        "coverage": pairing.coverage,
        "purity": pairing.purity,
        "out_of_range": ranking.truth_ignored,
        **extra,
    }
    return _rows(overlay, overlay.truth, status, columns)


def _found_rows(overlay: Overlay, status: Bytes, pairing: Pairing, ranking: ScorePairing, extra: Columns) -> Table:
    columns: Columns = {
        "score": overlay.found.scores,
        "match": overlay.within_document(overlay.found, overlay.truth, pairing.found_match),
        "iou": pairing.found_iou,
        "absorbed": pairing.absorbed,
        "rank": ranking.rank,
        "matched": ranking.matched,
        "ignored": ranking.ignored,
        **extra,
    }
    return _rows(overlay, overlay.found, status, columns)


def _rows(overlay: Overlay, layer: Layer, status: Bytes, columns: dict[str, Column]) -> Table:
    """The columns that both sides share, then the side's own."""
    form = np.full(len(layer), FORMS.index(layer.form), dtype=np.uint8)
    return Table({**overlay.row_columns(layer), "status": status, **columns, **layer.detail_columns(), "form": form})
