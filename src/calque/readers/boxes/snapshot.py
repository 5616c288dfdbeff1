"""The snapshot format v1.3: figures and tables on PDF pages, as truth or as predictions, checked rule by rule."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import numpy as np

from calque.base.columns import Strings
from calque.base.errors import SHOWN, Issue, IssueLog, Severity, did_you_mean
from calque.corpus.boxes import BoxCorpus, Extent, Side
from calque.geometry.forms import BoxForm
from calque.readers.boxes.conventions import UNITS, Rules
from calque.readers.sides.slips import DIVIDE, box_hints, score_hint
from calque.readers.sources.json_tree import RepeatedKeys, kind, numbers, pointer, shown

FORMAT = "snapshot"
VERSION = "1.3"
TOLERANCE = 1e-9
"""Dividing pixels by the page size leaves 1.0000000000000002; that much outside [0, 1] is clipped, with a note."""

_HELP = {
    "box-number": "a box is four finite numbers from 0 to 1",
    "box-shape": "a box is [x1, y1, x2, y2]",
    "coordinate-system": "convert the boxes to shares of the page, and say so here",
    "duplicate-document": "list each document once",
    "duplicate-id": "give each object of a page an id of its own",
    "label-map": 'write it as {"1": "Figure", "2": "Table"}',
    "missing-key": "add it",
    "score-range": "give a number from 0 to 1",
    "wrong-type": f"see the format's schema, version {VERSION}",
}
"""What to do about an issue when the place where it is found knows nothing better."""

REMEDIES = {
    "pixels": "pass --units pixels --page-size W,H, or " + DIVIDE["pixels"],
    "percent": "pass --units percent, or divide them by 100",
}
"""What to do about boxes that are not shares of the page."""

_LABEL_KEY = re.compile(r"[1-9][0-9]*")
_LARGEST_INDEX = 2**53


def looks_like(tree: Any) -> bool:
    """Whether parsed JSON means to be a snapshot file."""
    return isinstance(tree, Mapping) and ("label_map" in tree or {"documents", "predictions"} <= tree.keys())


def from_tree(tree: Any, file: str, rules: Rules) -> BoxCorpus:
    """The corpus of a parsed file; `ContractError` with every issue when it breaks the contract."""
    return _Reader(IssueLog(file), rules).corpus(tree)


def head_of(info: Any, log: IssueLog, rules: Rules) -> tuple[Side | None, str]:
    """The side and the model that the file's head states, checked like the whole file would be."""
    reader = _Reader(log, rules)
    model = reader.info(info)
    return reader.side, model


@dataclass(slots=True)
class _Columns:
    """What is collected while the file is walked."""

    page_document: list[int] = field(default_factory=list)
    page_index: list[int] = field(default_factory=list)
    page_names: list[str] = field(default_factory=list)
    page: list[int] = field(default_factory=list)
    label: list[int] = field(default_factory=list)
    boxes: list[list[float]] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)


class _Reader:
    """Walks a parsed file once, fills columns, and writes every issue down instead of stopping at the first."""

    def __init__(self, log: IssueLog, rules: Rules) -> None:
        self.log = log
        self.rules = rules
        self.side = rules.side
        self.columns = _Columns()
        self.labels: dict[str, int] = {}
        self.label_map: dict[int | str, str] = {}
        self.documents: dict[str, int] = {}
        self.paths: list[str] = []
        self.places: dict[tuple[str, int], int] = {}
        self.seen_ids: dict[int, set[str]] = {}
        self.odd_boxes: list[list[float]] = []
        self.odd_scores: list[float] = []

    def corpus(self, tree: Any) -> BoxCorpus:
        model = ""
        if self._keys(tree, "", ("label_map", "info", "documents", "predictions")):
            if "label_map" in tree:
                self._label_map(tree["label_map"])
            if "info" in tree:
                model = self.info(tree["info"])
            if "documents" in tree:
                self._documents(tree["documents"])
            for number, page in enumerate(self._array(tree, "predictions", pointer("predictions"))):
                self._page(page, pointer("predictions", number))
        self._hints()
        self.log.raise_errors()
        return self._build(model)

    def _build(self, model: str) -> BoxCorpus:
        columns = self.columns
        scored = self.side is not Side.TRUTH and not all(map(math.isnan, columns.scores))
        return BoxCorpus(
            documents=tuple(self.documents),
            page_document=np.array(columns.page_document, dtype=np.int32),
            page_index=np.array(columns.page_index, dtype=np.int64),
            page_names=Strings.pack(columns.page_names),
            image_names=self._image_names() if self.rules.images else None,
            labels=tuple(self.labels),
            label_map=self.label_map,
            page=np.array(columns.page, dtype=np.int32),
            label=np.array(columns.label, dtype=np.int32),
            boxes=np.array(columns.boxes, dtype=np.float64).reshape(-1, 4),
            scores=np.array(columns.scores, dtype=np.float64) if scored else None,
            ids=Strings.pack(columns.ids),
            form=BoxForm.XYXY,
            extent=Extent.NORMALIZED,
            side=self.side,
            format=FORMAT,
            model=model,
            source=self.log.file,
            issues=tuple(self.log),
        )

    def _add(self, code: str, pointer: str, message: str, *, help: str = "", severity: Severity = Severity.ERROR) -> None:
        usual = _HELP.get(code, "") if severity is Severity.ERROR else ""
        self.log.add(code, pointer, message, help=help or usual, severity=severity)

    def _did_you_mean(self, word: str, known: Iterable[str]) -> str:
        """A question for a mistyped word, as long as issues are still shown one by one: each costs a look at all names."""
        return did_you_mean(word, known) if self.log.total < SHOWN else ""

    # Shapes: objects with known keys, arrays, strings.

    def _keys(
        self, node: Any, where: str, required: tuple[str, ...], optional: tuple[str, ...] = (), *, free: bool = False
    ) -> TypeGuard[Mapping[str, Any]]:
        """Whether the node is an object; which keys it lacks or has too many goes to the log."""
        if not isinstance(node, Mapping):
            self._add("wrong-type", where, f"expected an object, not {kind(node)} {shown(node)}")
            return False
        if isinstance(node, RepeatedKeys):
            for key in node.repeated:
                self._add("duplicate-key", where, f"the key {key!r} occurs more than once", help="keep one of them")
        for key in required:
            if key not in node:
                self._add("missing-key", where, f"the key {key!r} is missing", help=self._did_you_mean(key, node))
        for key in () if free else sorted(node.keys() - {*required, *optional}):
            severity = Severity.NOTE if self.rules.lenient else Severity.ERROR
            question = self._did_you_mean(key, (*required, *optional))
            help = "" if self.rules.lenient else question or "remove it, or pass --lenient to ignore unknown keys"
            self._add(
                "unknown-key", pointer_join(where, key), f"the key {key!r} is not known here", help=help, severity=severity
            )
        return True

    def _array(self, node: Any, key: str, where: str) -> list[Any]:
        value = node.get(key) if isinstance(node, Mapping) else None
        if isinstance(value, list):
            return value
        if key in node:
            self._add("wrong-type", where, f"expected an array, not {kind(value)} {shown(value)}")
        return []

    def _text(self, node: Any, key: str, where: str) -> str | None:
        """A non-empty string, or ``None`` with an issue when the key holds something else."""
        if not isinstance(node, Mapping) or key not in node:
            return None
        value = node[key]
        if isinstance(value, str) and value:
            return value
        wrong = "an empty string" if value == "" else f"{kind(value)} {shown(value)}"
        self._add("wrong-type", pointer_join(where, key), f"expected a non-empty string, not {wrong}")
        return None

    # The head of the file: label_map, info, documents.

    def _label_map(self, node: Any) -> None:
        where = pointer("label_map")
        if not isinstance(node, Mapping) or not node:
            self._add("label-map", where, f"expected an object with at least one label, not {shown(node)}")
            return
        self._keys(node, where, (), free=True)
        for key, name in node.items():
            if not _LABEL_KEY.fullmatch(key):
                self._add("label-map", pointer_join(where, key), f"the key {key!r} is not a positive integer")
            if not isinstance(name, str) or not name:
                self._add("label-map", pointer_join(where, key), f"expected a label name, not {shown(name)}")
            else:
                self.label_map[key] = name
                self.labels.setdefault(name, len(self.labels))

    def info(self, node: Any) -> str:
        """Checks the head of the file; returns the model's name."""
        where = pointer("info")
        required = ("schema_version", "type", "run_id", "model", "coordinate_system")
        if not self._keys(node, where, required, ("created_at",)):
            return ""
        version = node.get("schema_version", VERSION)
        if version != VERSION:
            help = f"calque reads version {VERSION}; convert the file"
            self._add(
                "schema-version",
                pointer_join(where, "schema_version"),
                f"expected {VERSION!r}, not {shown(version)}",
                help=help,
            )
        self._check_side(node, where)
        created = node.get("created_at", "00000000")
        if not isinstance(created, str) or len(created) < 8:
            self._add("wrong-type", pointer_join(where, "created_at"), f"expected a date, not {shown(created)}")
        if node.get("run_id") is not None:
            self._text(node, "run_id", where)
        self._check_coordinates(node, where)
        return self._model(node, where)

    def _check_side(self, node: Mapping[str, Any], where: str) -> None:
        stated = node.get("type")
        if "type" not in node:
            return
        if stated not in tuple(Side):
            text = f"expected 'ground_truth' or 'prediction', not {shown(stated)}"
            self._add("wrong-type", pointer_join(where, "type"), text)
        elif self.side is not None and stated != self.side:
            given = "ground truth" if self.side is Side.TRUTH else "predictions"
            text = f"the file says it is {shown(stated)} but was given as {given}"
            self._add("wrong-side", pointer_join(where, "type"), text, help="give the ground truth first, then the predictions")
            # The rest is read as what the file says it is: one slip should not look like a thousand.
            self.side = Side(stated)
        elif self.side is None:
            self.side = Side(stated)

    def _check_coordinates(self, node: Mapping[str, Any], where: str) -> None:
        system, place = node.get("coordinate_system"), pointer_join(where, "coordinate_system")
        if "coordinate_system" not in node or not self._keys(system, place, ("type", "range", "origin")):
            return
        for key, wanted in (("type", "normalized_xyxy"), ("range", [0.0, 1.0]), ("origin", "top_left")):
            # true == 1 in Python, and JSON tells them apart.
            if key in system and (system[key] != wanted or any(isinstance(item, bool) for item in system[key])):
                self._add("coordinate-system", pointer_join(place, key), f"expected {shown(wanted)}, not {shown(system[key])}")

    def _model(self, node: Mapping[str, Any], where: str) -> str:
        model, place = node.get("model"), pointer_join(where, "model")
        if "model" not in node or not self._keys(model, place, ("name",), free=True):
            return ""
        for key in ("version", "notes"):
            if not isinstance(model.get(key), str | None):
                self._add("wrong-type", pointer_join(place, key), f"expected a string or null, not {shown(model[key])}")
        return self._text(model, "name", place) or ""

    def _documents(self, node: Any) -> None:
        where = pointer("documents")
        if not isinstance(node, list) or not node:
            self._add("wrong-type", where, f"expected an array with at least one document, not {shown(node)}")
            return
        for number, document in enumerate(node):
            place = pointer("documents", number)
            if not self._keys(document, place, ("doc_id", "doc_name", "doc_path")):
                continue
            self._text(document, "doc_name", place)
            path = self._text(document, "doc_path", place)
            name = self._text(document, "doc_id", place)
            if name in self.documents:
                self._add("duplicate-document", place, f"the document {name!r} occurs more than once")
            elif name is not None:
                self.documents[name] = len(self.documents)
                self.paths.append(path or "")

    def _image_names(self) -> Strings:
        """For each page the path of its document."""
        return Strings.pack(self.paths[document] for document in self.columns.page_document)

    # Pages and their objects.

    def _page(self, node: Any, where: str) -> None:
        if not self._keys(node, where, ("page_id", "doc_id", "page_index", "objects")):
            return
        name = self._text(node, "page_id", where) or ""
        page = self._place(self._text(node, "doc_id", where), self._page_index(node, where), name, where)
        seen = self.seen_ids.setdefault(page, set()) if page >= 0 else set()
        for number, item in enumerate(self._array(node, "objects", pointer_join(where, "objects"))):
            self._object(item, f"{where}/objects/{number}", page, seen)

    def _page_index(self, node: Mapping[str, Any], where: str) -> int | None:
        if "page_index" not in node:
            return None
        value = node["page_index"]
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _LARGEST_INDEX and value % 1 == 0:
            return int(value)
        self._add("wrong-type", pointer_join(where, "page_index"), f"expected an integer from 0, not {shown(value)}")
        return None

    def _place(self, document: str | None, index: int | None, name: str, where: str) -> int:
        """The row of the page; -1 when it has no valid place."""
        if document is not None and document not in self.documents:
            help = self._did_you_mean(document, self.documents) or "list it there, or correct the id"
            text = f"the document {document!r} is not in this file's documents"
            self._add("unknown-document", pointer_join(where, "doc_id"), text, help=help)
            return -1
        if document is None or index is None:
            return -1
        known = self.places.get((document, index))
        if known is not None:
            severity = Severity.NOTE if self.rules.lenient else Severity.ERROR
            help = "" if self.rules.lenient else "merge the entries, or pass --lenient to have them merged"
            text = f"page {index} of {document!r} occurs more than once"
            self._add("duplicate-page", where, text, help=help, severity=severity)
            return known
        row = self.places[document, index] = len(self.columns.page_index)
        self.columns.page_document.append(self.documents[document])
        self.columns.page_index.append(index)
        self.columns.page_names.append(name)
        return row

    def _object(self, node: Any, where: str, page: int, seen: set[str]) -> None:
        if not self._keys(node, where, ("id", "label", "bbox"), ("score", "attributes")):
            return
        identity = self._text(node, "id", where)
        if identity in seen:
            self._add("duplicate-id", where, f"the id {identity!r} occurs more than once on this page")
        elif identity is not None:
            seen.add(identity)
        if not isinstance(node.get("attributes", {}), Mapping):
            text = f"expected an object, not {shown(node['attributes'])}"
            self._add("wrong-type", pointer_join(where, "attributes"), text)
        label = self._label(node, where)
        box = self._box(node, where)
        score = self._score(node, where)
        if page >= 0 and label is not None and box is not None:
            columns = self.columns
            columns.page.append(page)
            columns.label.append(label)
            columns.boxes.append(box)
            columns.scores.append(score)
            columns.ids.append(identity or "")

    def _label(self, node: Mapping[str, Any], where: str) -> int | None:
        value, place = node.get("label"), pointer_join(where, "label")
        if "label" not in node:
            return None
        if isinstance(value, str) and value in self.labels:
            return self.labels[value]
        meant = self.label_map.get(str(value))
        if meant is not None and not isinstance(value, bool):
            help = f"write the label's name, {meant!r}, not its number"
            severity = Severity.LOSS if self.rules.lenient else Severity.ERROR
            self._add("label-id", place, f"{shown(value)} is a label number", help=help, severity=severity)
        elif not isinstance(value, str) or not value:
            self._add("wrong-type", place, f"expected a label name, not {shown(value)}")
        else:
            severity = Severity.LOSS if self.rules.lenient else Severity.ERROR
            help = self._did_you_mean(value, self.labels) or f"the labels are {', '.join(self.labels) or 'none'}"
            self._add("unknown-label", place, f"the label {value!r} is not in label_map", help=help, severity=severity)
        return None

    def _box(self, node: Mapping[str, Any], where: str) -> list[float] | None:
        value, place = node.get("bbox"), pointer_join(where, "bbox")
        if "bbox" not in node:
            return None
        if not isinstance(value, list) or len(value) != 4:
            self._add("box-shape", place, f"expected four numbers [x1, y1, x2, y2], not {shown(value)}")
            return None
        before = self.log.errors
        box = [self._coordinate(item, f"{place}/{axis}") for axis, item in enumerate(value)]
        if self.log.errors > before:
            if all(isinstance(item, int | float) for item in value):
                self.odd_boxes.append([_bounded(item) for item in value])
            return None
        for low, high, name in ((0, 2, "x"), (1, 3, "y")):
            if box[low] >= box[high]:
                text = f"{name}1 = {value[low]!r} is not below {name}2 = {value[high]!r}"
                self._add("box-order", place, text, help="corners are [left, top, right, bottom], and the area is not 0")
        if self.log.errors > before:
            self.odd_boxes.append(box)
            return None
        return box

    def _coordinate(self, value: Any, place: str) -> float:
        """The coordinate in [0, 1]; what is not one goes to the log."""
        if not isinstance(value, int | float) or isinstance(value, bool):
            self._add("box-number", place, f"expected a number, not {kind(value)} {shown(value)}")
            return 0.0
        if 0 <= value <= 1:
            return float(value)
        if not math.isfinite(_bounded(value)):
            self._add("box-number", place, f"{shown(value)} is not a finite number")
        elif -TOLERANCE <= value <= 1 + TOLERANCE:
            text = f"{value!r} was clipped to {min(max(value, 0.0), 1.0)!r}"
            self._add("clipped", place, text, severity=Severity.NOTE)
        else:
            text = f"{shown(value)} is {'below 0' if value < 0 else 'greater than 1'}"
            self._add("box-range", place, text, help="coordinates are shares of the page, from 0 to 1")
        return float(min(max(value, 0.0), 1.0))

    def _score(self, node: Mapping[str, Any], where: str) -> float:
        value, place = node.get("score"), pointer_join(where, "score")
        if self.side is Side.TRUTH:
            # Real ground truth carries "score": null; only a number is a contradiction.
            if value is not None:
                self._add("score-on-truth", place, f"ground truth has no score, and this is {shown(value)}", help="remove it")
            return float("nan")
        if value is None:
            if not self.rules.allow_missing_scores:
                help = "give a number from 0 to 1, or pass --allow-missing-scores for a model without scores"
                self._add("score-missing", place, "the prediction has no score", help=help)
            return float("nan")
        if not isinstance(value, int | float) or isinstance(value, bool):
            self._add("wrong-type", place, f"expected a number from 0 to 1, not {kind(value)} {shown(value)}")
        elif not 0 <= value <= 1:
            self.odd_scores.append(_bounded(value))
            self._add("score-range", place, f"{shown(value)} is not from 0 to 1")
        else:
            return float(value)
        return float("nan")

    def _hints(self) -> None:
        for hint in (*box_hints(self.odd_boxes, REMEDIES), *score_hint(self.odd_scores)):
            self.log.hint(hint)


def _bounded(value: float) -> float:
    """The number as a float; JSON integers can be larger than any float."""
    return float(max(-(10**18), min(value, 10**18))) if isinstance(value, int) else value


def pointer_join(where: str, key: str) -> str:
    """The pointer to a key of the object at ``where``."""
    return where + pointer(key)


def in_any_units(tree: Any, file: str, rules: Rules) -> BoxCorpus:
    """The corpus of a parsed file. Its boxes are shares of the page, unless most are plainly not and the rules say what."""
    scale = _scale(rules)
    if scale is None or not _mostly_beyond(tree):
        return from_tree(tree, file, rules)
    corpus = from_tree(_divided(tree, scale), file, rules)
    text = f"the file says that its boxes are shares of the page; they were read as {rules.measure()}, as asked for"
    note = Issue("units-converted", text, file, severity=Severity.NOTE)
    return dataclasses.replace(corpus, issues=(*corpus.issues, note))


def _scale(rules: Rules) -> tuple[float, ...] | None:
    """What a whole page measures; ``None`` where the rules leave the file its word."""
    whole = UNITS[rules.measure()]
    if whole is not None:
        return None if whole == 1 else (whole,) * 4
    return None if rules.page_size is None else (*rules.page_size, *rules.page_size)


def _objects(tree: Any) -> Iterator[tuple[dict[str, Any], list[float]]]:
    pages = tree.get("predictions") if isinstance(tree, Mapping) else None
    for page in pages if isinstance(pages, list) else ():
        objects = page.get("objects") if isinstance(page, Mapping) else None
        for entry in objects if isinstance(objects, list) else ():
            box = numbers(entry.get("bbox")) if isinstance(entry, dict) else None
            if box is not None and len(box) == 4:
                yield entry, box


def _mostly_beyond(tree: Any) -> bool:
    beyond = [max(box) > 1 + TOLERANCE for _, box in _objects(tree)]
    return sum(beyond) > len(beyond) / 2


def _divided(tree: Any, scale: tuple[float, ...]) -> Any:
    import copy

    tree = copy.deepcopy(tree)
    for entry, box in _objects(tree):
        entry["bbox"] = [value / whole for value, whole in zip(box, scale, strict=True)]
    return tree
