"""An audit of ground truth: boxes drawn twice, boxes in boxes, specks, and labels that a sure model misses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from calque.core.columns import Array, Codes, Column, Flags, Floats, Ints, Strings, Table
from calque.core.corpus import BoxCorpus, Flaw
from calque.core.errors import ConfigError
from calque.core.geometry import corners, share
from calque.core.overlay import Layer, Overlay
from calque.detection.scoring import Status, score
from calque.detection.task import Detection

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

PAIRS_AT_ONCE = 1 << 18


@dataclass(frozen=True, kw_only=True)
class AuditRules:
    """From where on something is suspicious; every threshold is inclusive, but tiny is less than."""

    near: float = 0.9
    """IoU from which two boxes nearly coincide."""
    nested: float = 0.95
    """Share of the smaller box inside the larger."""
    tiny: float = 0.01
    """Share of the median area of the class."""
    score: float = 0.9
    """Score from which a prediction is sure."""
    iou: float = 0.5
    """IoU from which a prediction finds a box."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not 0 <= value <= 1 or (name in ("near", "iou") and value == 0):
                raise ConfigError(f"{name} must be a share from 0 to 1, not {value}")


DEFAULT_RULES = AuditRules()


@dataclass(frozen=True, eq=False)
class _Suspects:
    """Findings of one kind: rows of a layer, what each has to do with (a truth, or -1), and how strongly."""

    kind: str
    layer: Layer
    rows: Ints
    other: Ints
    value: Floats


def audit(truth: BoxCorpus, found: BoxCorpus | None = None, rules: AuditRules = DEFAULT_RULES) -> Table:
    """One row for each finding: ``kind``, ``document``, ``page``, ``label``, ``id``, ``other_label``, ``other_id``, ``value``.

    ``value`` is the IoU of near duplicates and of labels in doubt, the share inside for nested boxes, the area relative to
    the class's median for tiny ones, the score for missing labels. Crowd regions and broken boxes are left out.

    >>> from calque import Corpus
    >>> truth = Corpus.from_arrays([[0, 0, 10, 10], [0, 0, 10, 10], [1, 1, 5, 5]], ["Table"] * 3)
    >>> [(row["kind"], row["id"], row["other_id"]) for row in audit(truth).rows()]
    [('duplicate', '1', '0'), ('nested', '2', '0'), ('nested', '2', '1')]
    """
    overlay = Overlay.of(truth, truth if found is None else found)
    suspects = [*_doubles(overlay.truth, rules), _tiny(overlay, rules)]
    if found is not None:
        suspects += _doubted_by(truth, found, overlay, rules)
    return _table(overlay, sorted(suspects, key=lambda part: list(KINDS).index(part.kind)))


def _in_question(layer: Layer) -> Flags:
    """The boxes that can be judged: whole ones with a label, and no regions that stand for many."""
    judged = layer.label >= 0
    if layer.flaws is not None:
        judged &= layer.flaws != Flaw.BAD_BOX
    if layer.crowd is not None:
        judged &= layer.crowd == 0
    return judged


def _page_pairs(rows: Ints, pages: Codes, truth: Layer) -> Iterator[tuple[Ints, Ints]]:
    """Every given row with every truth of its page, a bounded number at a time."""
    first = truth.offsets[pages]
    count = truth.offsets[pages + 1] - first
    before = np.concatenate([[0], np.cumsum(count)])
    start = 0
    while start < len(rows):
        stop = int(np.searchsorted(before, before[start] + PAIRS_AT_ONCE, "right")) - 1
        stop = min(max(stop, start + 1), len(rows))
        repeats = count[start:stop]
        within = np.arange(before[stop] - before[start]) - np.repeat(before[start:stop] - before[start], repeats)
        yield np.repeat(rows[start:stop], repeats), np.repeat(first[start:stop], repeats) + within
        start = stop


def _shared(one: Layer, rows: Ints, other: Layer, others: Ints) -> Floats:
    a, b = corners(one.boxes[rows], one.form), corners(other.boxes[others], other.form)
    size = np.minimum(a[:, 2:], b[:, 2:]) - np.maximum(a[:, :2], b[:, :2])
    return np.asarray(np.where((size > 0).all(axis=1), size[:, 0] * size[:, 1], 0.0))


def _doubles(truth: Layer, rules: AuditRules) -> list[_Suspects]:
    """Pairs of truths on one page that share too much; the later or the smaller box is the suspect."""
    judged = _in_question(truth)
    areas = truth.areas()
    parts: dict[str, list[tuple[Ints, Ints, Floats]]] = {
        kind: [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
        for kind in ("duplicate", "near_duplicate", "two_labels", "nested")
    }
    rows = np.flatnonzero(judged)
    for later, earlier in _page_pairs(rows, truth.page[rows], truth):
        kept = (earlier < later) & judged[earlier]
        one, two = later[kept], earlier[kept]
        common = _shared(truth, one, truth, two)
        overlap = share(common, areas[one] + areas[two] - common)
        same_class = truth.label[one] == truth.label[two]
        same = (truth.boxes[one] == truth.boxes[two]).all(axis=1) & same_class
        near = (overlap >= rules.near) & ~same
        inside = share(common, np.minimum(areas[one], areas[two]))
        nested = same_class & ~same & ~near & (common > 0) & (inside >= rules.nested)
        smaller, larger = np.where(areas[one] <= areas[two], one, two), np.where(areas[one] <= areas[two], two, one)
        for kind, where, suspect, other, value in (
            ("duplicate", same, one, two, np.ones(len(one))),
            ("near_duplicate", near & same_class, one, two, overlap),
            ("two_labels", near & ~same_class, one, two, overlap),
            ("nested", nested, smaller, larger, inside),
        ):
            parts[kind].append((suspect[where], other[where], value[where]))
    return [_Suspects(kind, truth, *map(np.concatenate, zip(*found, strict=True))) for kind, found in parts.items()]


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
    relative = share(areas[rows], median[truth.label[rows]])
    where = relative < rules.tiny
    return _Suspects("tiny", truth, rows[where], np.full(int(where.sum()), -1), relative[where])


def _doubted_by(truth: BoxCorpus, found: BoxCorpus, overlay: Overlay, rules: AuditRules) -> list[_Suspects]:
    """Sure false positives: where no truth is, a label may be missing; on a truth of another class, it may be wrong."""
    table = score(Detection(iou=(rules.iou,)), truth, found, jobs=1).table("found")
    alone = (table.array("status") == Status.COUNTED) & (table.array("match") < 0) & (table.array("absorbed") < rules.iou)
    rows = np.flatnonzero(alone & (table.array("score") >= rules.score))
    nearest, overlap = _nearest(overlay, rows)
    apart = overlap < rules.iou
    touching = np.flatnonzero(~apart)
    wrong = touching[overlay.truth.label[nearest[touching]] != overlay.found.label[rows[touching]]]
    scores = overlay.found.scores[rows]
    return [
        _Suspects("missing_label", overlay.found, rows[apart], np.full(int(apart.sum()), -1), scores[apart]),
        _Suspects("wrong_label", overlay.found, rows[wrong], nearest[wrong], overlap[wrong]),
    ]


def _nearest(overlay: Overlay, rows: Ints) -> tuple[Ints, Floats]:
    """For each prediction the truth of any class that it overlaps most (the first of equals, -1 for none), and the IoU."""
    truth, found = overlay.truth, overlay.found
    judged = _in_question(truth)
    nearest, best = np.full(len(found), -1), np.zeros(len(found))
    for prediction, candidate in _page_pairs(rows, found.page[rows], truth):
        common = _shared(found, prediction, truth, candidate)
        union = found.areas()[prediction] + truth.areas()[candidate] - common
        overlap = np.where(judged[candidate], share(common, union), 0.0)
        order = np.lexsort((candidate, -overlap, prediction))
        first = order[np.flatnonzero(np.diff(prediction[order], prepend=-1))]
        touching = first[overlap[first] > 0]
        nearest[prediction[touching]], best[prediction[touching]] = candidate[touching], overlap[touching]
    return nearest[rows], best[rows]


def _table(overlay: Overlay, suspects: list[_Suspects]) -> Table:
    ids = {id(layer): _ids(layer) for layer in (overlay.truth, overlay.found)}
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
        columns["id"] += [ids[id(part.layer)][row] for row in rows.tolist()]
        columns["other_label"] += [overlay.labels[overlay.truth.label[row]] if row >= 0 else "" for row in others.tolist()]
        columns["other_id"] += [ids[id(overlay.truth)][row] if row >= 0 else "" for row in others.tolist()]
        numbers["page"].append(overlay.page_index[pages])
        numbers["value"].append(part.value[order])
        boxes.append(part.layer.boxes[rows])
    joined: dict[str, Column] = {name: Strings.pack(values) for name, values in columns.items()}
    joined |= {name: np.concatenate(parts) for name, parts in numbers.items()}
    joined["box"] = np.concatenate(boxes)
    order_of_columns = ("kind", "document", "page", "label", "id", "other_label", "other_id", "value", "box")
    return Table({name: joined[name] for name in order_of_columns})


def _ids(layer: Layer) -> list[str]:
    """The objects' own ids, else their positions on their pages."""
    if layer.ids is None:
        return [str(place) for place in (np.arange(len(layer)) - layer.offsets[layer.page]).tolist()]
    return [str(value) for value in layer.ids.tolist()]


def summary(findings: Table, *, with_predictions: bool) -> dict[str, int]:
    """How many findings there are of each kind that was looked for."""
    kinds = list(findings["kind"])
    looked_for = list(KINDS) if with_predictions else list(KINDS)[:-2]
    return {kind: kinds.count(kind) for kind in looked_for}


def listed(findings: Table, kind: str, limit: int) -> list[Mapping[str, Any]]:
    """The first findings of a kind."""
    rows = [row for row, name in enumerate(findings["kind"]) if name == kind][:limit]
    return list(findings.take(np.array(rows, dtype=np.int64)).rows())
