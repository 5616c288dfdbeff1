"""An audit of ground truth: boxes drawn twice, boxes in boxes, specks, and labels that a sure model misses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from calque.base.columns import Array, Codes, Column, Flags, Floats, Ints, Strings, Table, take
from calque.base.errors import ContractError
from calque.corpus.boxes import BoxCorpus, Flaw
from calque.detection.auditing import AuditRules
from calque.detection.scoring import Status, score
from calque.detection.task import Detection
from calque.evaluation.boxes.crowding import PIECE
from calque.evaluation.boxes.overlay import Layer, Overlay
from calque.geometry.boxes import iou, share
from calque.kernels import kernels
from calque.kernels.structs import LEFT_OUT, TAKES_PART

KINDS = {
    "duplicate": "the same box and class twice",
    "near_duplicate": "two boxes of one class that nearly coincide",
    "two_labels": "two boxes of different classes that nearly coincide",
    "nested": "a box that lies in another of its class",
    "tiny": "a box far smaller than is usual for its class",
    "missing_label": "a sure prediction where no box is",
    "wrong_label": "a sure prediction on a box of another class",
}
"""What an audit looks for, and what it means."""


MOST_FINDINGS = 500_000
"""The largest number of findings that an audit lists."""
DEFAULT_RULES = AuditRules()


@dataclass(frozen=True, eq=False)
class _Suspects:
    """Findings of one kind: rows of a layer, what each has to do with (a truth, or -1), and how strongly."""

    kind: str
    layer: Layer
    rows: Ints
    other: Ints
    value: Floats

    @staticmethod
    def joined(parts: Sequence[_Suspects]) -> _Suspects:
        """Return the findings of several parts of one kind as one."""
        first = parts[0]
        rows, other, value = (np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "other", "value"))
        return _Suspects(first.kind, first.layer, rows, other, value)


def audit(
    truth: BoxCorpus,
    found: BoxCorpus | None = None,
    rules: AuditRules = DEFAULT_RULES,
    *,
    on: Literal["shapes", "boxes", "masks"] = "shapes",
    jobs: int = 1,
) -> Table:
    """One row for each finding: ``kind``, ``document``, ``page``, ``label``, ``id``, ``other_label``, ``other_id``, ``value``.

    ``value`` is the IoU of near duplicates and of labels in doubt, the share inside for nested boxes, the area relative to
    the class's median for tiny ones, the score for missing labels. Crowd regions and broken boxes are left out.

    >>> from calque import Corpus
    >>> truth = Corpus.from_arrays([[0, 0, 10, 10], [0, 0, 10, 10], [1, 1, 5, 5]], ["Table"] * 3)
    >>> [(row["kind"], row["id"], row["other_id"]) for row in audit(truth).rows()]
    [('duplicate', '1', '0'), ('nested', '2', '0'), ('nested', '2', '1')]
    """
    by_itself = Overlay.of(truth, truth, on, jobs=jobs)
    overlay = by_itself if found is None else Overlay.of(truth, found, on, jobs=jobs)
    suspects = [
        _duplicates(overlay, truth.source),
        *_doubles(overlay.truth, by_itself, rules, jobs, truth.source),
        _tiny(overlay, rules),
    ]
    if found is not None:
        table = score(Detection(iou=(rules.iou,), errors="none", on=on), truth, found, jobs=jobs).table("found")
        suspects += _doubted_by(table, overlay, rules, jobs)
    return _table(overlay, sorted(suspects, key=lambda part: list(KINDS).index(part.kind)))


def _in_question(layer: Layer) -> Flags:
    """The boxes that can be judged: whole ones with a label, and no regions that stand for many."""
    judged = layer.label >= 0
    if layer.flaws is not None:
        judged &= layer.flaws != Flaw.BAD_BOX
    if layer.crowd is not None:
        judged &= layer.crowd == 0
    return judged


def _overlaps(truth: Layer, truths: Flags, found: Layer, wanted: Flags, jobs: int) -> Iterator[tuple[Codes, Codes, Floats]]:
    """Yield the chosen boxes of both layers that overlap: their rows, and the area that they share.

    Each part has all pairs of some rows of the second layer, and about `PIECE` pairs at most.
    """
    truth_boxes = truth.page_boxes(np.where(truths, TAKES_PART, LEFT_OUT).astype(np.uint8))
    possible = np.cumsum(np.diff(truth.offsets)[found.page] * wanted)
    start = 0
    while start < len(found):
        before = possible[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(possible, before + PIECE, side="right")))
        roles = np.full(len(found), LEFT_OUT, dtype=np.uint8)
        roles[start:stop][wanted[start:stop]] = TAKES_PART
        yield kernels().overlapping_pairs(truth_boxes, found.page_boxes(roles), jobs)
        start = stop


def _check_findings(overlay: Overlay, pages: Codes, counts: Ints, before: int, file: str) -> None:
    """Refuse more than `MOST_FINDINGS` findings, and name the page that has most of the last ones."""
    if before + int(counts.sum()) <= MOST_FINDINGS:
        return
    page = int(np.bincount(pages, counts).argmax())
    document = overlay.documents[overlay.page_document[page]]
    raise ContractError.single(
        "too-crowded",
        f"page {overlay.page_index[page]} of document {document!r}: an audit lists at most {MOST_FINDINGS:,} findings"
        ", got more",
        file=file,
        help="remove the duplicate boxes of this page, or audit fewer files at a time",
    )


def _duplicates(overlay: Overlay, file: str) -> _Suspects:
    """Every later box with every earlier one of its page and class that has the same four numbers, flat ones too."""
    truth = overlay.truth
    keys = (truth.page, truth.label, *truth.boxes.T)
    rows = np.flatnonzero(_in_question(truth))
    order = rows[np.lexsort([key[rows] for key in reversed(keys)])]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = np.any([key[order[1:]] != key[order[:-1]] for key in keys], axis=0)
    place = np.arange(len(order))
    first = np.maximum.accumulate(np.where(new, place, 0))
    count = place - first
    _check_findings(overlay, truth.page[order], count, 0, file)
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    later, earlier = np.repeat(order, count), order[np.repeat(first, count) + within]
    alike = _same_outlines(truth, later, earlier)
    later, earlier = later[alike], earlier[alike]
    return _Suspects("duplicate", truth, later, earlier, np.ones(len(later)))


def _same_outlines(truth: Layer, one: Ints, two: Ints) -> Flags:
    """For each pair of objects with one box whether they have one outline, too."""
    shapes = truth.outlines
    if shapes is None:
        return np.ones(len(one), dtype=np.bool_)
    pairs = zip(one.tolist(), two.tolist(), strict=True)
    return np.array([shapes.ring(a) == shapes.ring(b) for a, b in pairs], dtype=np.bool_)


def _doubles(truth: Layer, by_itself: Overlay, rules: AuditRules, jobs: int, file: str) -> list[_Suspects]:
    """Pairs of truths on one page that share too much and are not the same; the later or the smaller is the suspect."""
    judged = _in_question(truth)
    found: list[list[_Suspects]] = []
    listed = 0
    for pairs in _overlaps(by_itself.truth, judged, by_itself.found, judged, jobs):
        found.append(_doubles_among(truth, pairs, rules))
        for part in found[-1]:
            _check_findings(by_itself, truth.page[part.rows], np.ones(len(part.rows), np.int64), listed, file)
            listed += len(part.rows)
    return [_Suspects.joined(parts) for parts in zip(*found, strict=True)]


def _doubles_among(truth: Layer, pairs: tuple[Codes, Codes, Floats], rules: AuditRules) -> list[_Suspects]:
    """Return the suspects of each kind among some overlapping pairs."""
    areas = truth.areas()
    earlier, later, common = pairs
    kept = earlier < later
    one, two, common = later[kept].astype(np.int64), earlier[kept].astype(np.int64), common[kept]
    overlap = iou(common, areas[one], areas[two])
    same_class = truth.label[one] == truth.label[two]
    same = (truth.boxes[one] == truth.boxes[two]).all(axis=1) & same_class
    same[same] = _same_outlines(truth, one[same], two[same])
    near = (overlap >= rules.near) & ~same
    inside = share(common, np.minimum(areas[one], areas[two]))
    nested = same_class & ~same & ~near & (inside >= rules.nested)
    smaller, larger = np.where(areas[one] <= areas[two], one, two), np.where(areas[one] <= areas[two], two, one)
    return [
        _Suspects(kind, truth, suspect[where], other[where], value[where])
        for kind, where, suspect, other, value in (
            ("near_duplicate", near & same_class, one, two, overlap),
            ("two_labels", near & ~same_class, one, two, overlap),
            ("nested", nested, smaller, larger, inside),
        )
    ]


def _tiny(overlay: Overlay, rules: AuditRules) -> _Suspects:
    """Truths far below the median area of their class; the median is the lower of the two in the middle."""
    truth = overlay.truth
    areas = truth.areas()
    rows = np.flatnonzero(_in_question(truth))
    by_area = rows[np.lexsort((areas[rows], truth.label[rows]))]
    bounds = np.searchsorted(truth.label[by_area], np.arange(len(overlay.labels) + 1))
    present = np.flatnonzero(np.diff(bounds))
    median = np.zeros(len(overlay.labels))
    median[present] = areas[by_area[(bounds[present] + bounds[present + 1] - 1) // 2]]
    usual = median[truth.label[rows]]
    relative = share(areas[rows], usual)
    where = (usual > 0) & (relative < rules.tiny)
    return _Suspects("tiny", truth, rows[where], np.full(int(where.sum()), -1), relative[where])


def _doubted_by(table: Table, overlay: Overlay, rules: AuditRules, jobs: int) -> list[_Suspects]:
    """Sure false positives: where no truth is, a label may be missing; on a truth of another class, it may be wrong."""
    free = ~(table.array("iou") >= rules.iou)  # pairs are kept from the lowest threshold of any view on
    alone = (table.array("status") == Status.COUNTED) & free & (table.array("absorbed") < rules.iou)
    rows = np.flatnonzero(alone & (table.array("score") >= rules.score))
    nearest, overlap = _nearest(overlay, rows, jobs)
    apart = overlap < rules.iou
    touching = np.flatnonzero(~apart)
    wrong = touching[overlay.truth.label[nearest[touching]] != overlay.found.label[rows[touching]]]
    scores = overlay.found.scores[rows]
    return [
        _Suspects("missing_label", overlay.found, rows[apart], np.full(int(apart.sum()), -1), scores[apart]),
        _Suspects("wrong_label", overlay.found, rows[wrong], nearest[wrong], overlap[wrong]),
    ]


def _nearest(overlay: Overlay, rows: Ints, jobs: int) -> tuple[Ints, Floats]:
    """For each prediction the truth of any class that it overlaps most (the first of equals, -1 for none), and the IoU."""
    truth, found = overlay.truth, overlay.found
    wanted = np.zeros(len(found), dtype=np.bool_)
    wanted[rows] = True
    nearest, most = np.full(len(found), -1), np.zeros(len(found))
    for candidate, prediction, common in _overlaps(truth, _in_question(truth), found, wanted, jobs):
        overlap = iou(common, found.areas()[prediction], truth.areas()[candidate])
        order = np.lexsort((candidate, -overlap, prediction))
        best = order[np.flatnonzero(np.diff(prediction[order], prepend=-1))]
        nearest[prediction[best]], most[prediction[best]] = candidate[best], overlap[best]
    return nearest[rows], most[rows]


def _table(overlay: Overlay, suspects: list[_Suspects]) -> Table:
    columns: dict[str, list[Any]] = {name: [] for name in ("kind", "document", "label", "id", "other_label", "other_id")}
    numbers: dict[str, list[Array]] = {"page": [np.zeros(0, np.int64)], "value": [np.zeros(0)]}
    boxes = [np.zeros((0, 4))]
    for part in suspects:
        order = np.lexsort((part.other, part.rows))
        rows, others = part.rows[order], part.other[order]
        pages = part.layer.page[rows]
        columns["kind"] += [part.kind] * len(rows)
        columns["document"] += [str(overlay.documents[unit]) for unit in overlay.page_document[pages].tolist()]
        columns["label"] += [overlay.labels[code] for code in part.layer.label[rows].tolist()]
        columns["id"] += _ids(part.layer, rows)
        columns["other_label"] += [overlay.labels[overlay.truth.label[row]] if row >= 0 else "" for row in others.tolist()]
        columns["other_id"] += [""] * len(rows) if (others < 0).all() else _ids(overlay.truth, others)
        numbers["page"].append(overlay.page_index[pages])
        numbers["value"].append(part.value[order])
        boxes.append(part.layer.boxes[rows])
    joined: dict[str, Column] = {name: Strings.pack(values) for name, values in columns.items()}
    joined |= {name: np.concatenate(parts) for name, parts in numbers.items()}
    joined["box"] = np.concatenate(boxes)
    order_of_columns = ("kind", "document", "page", "label", "id", "other_label", "other_id", "value", "box")
    return Table({name: joined[name] for name in order_of_columns})


def _ids(layer: Layer, rows: Ints) -> list[str]:
    """The objects' own ids, else their positions on their pages."""
    ids = rows - layer.offsets[layer.page[rows]] if layer.ids is None else take(layer.ids, rows)
    return [str(value) for value in ids.tolist()]


def summary(findings: Table, *, with_predictions: bool) -> dict[str, int]:
    """How many findings there are of each kind that was looked for."""
    kinds = list(findings["kind"])
    looked_for = list(KINDS) if with_predictions else list(KINDS)[:-2]
    return {kind: kinds.count(kind) for kind in looked_for}


def listed(findings: Table, kind: str, limit: int) -> list[Mapping[str, Any]]:
    """The first findings of a kind."""
    rows = [row for row, name in enumerate(findings["kind"]) if name == kind][:limit]
    return list(findings.take(np.array(rows, dtype=np.int64)).rows())
