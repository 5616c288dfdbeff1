"""What a conversion lost, found by reading back what it would write and comparing that with the source."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from calque.base.columns import Codes, Flags, Floats, Ints
from calque.base.errors import ContractError, Issue, Severity
from calque.base.files import write_folder, write_whole
from calque.corpus.boxes import BoxCorpus, Extent, Side, UnitId
from calque.geometry.boxes import corners
from calque.readers.boxes import coco_write, page_names
from calque.readers.boxes.coco_files import Results
from calque.readers.boxes.conventions import Rules, sizes_of
from calque.readers.boxes.formats import Files, Format
from calque.readers.boxes.objects import UNUSABLE
from calque.readers.page_rows.files import NDJSON, PARQUET
from calque.readers.sources.json_tree import parse
from calque.readers.sources.source import Source

Place: TypeAlias = tuple[UnitId, int]
"""A document and the number of one of its pages."""
SAME_SIDE = 1e-6
"""By how much of its width or height a box may come back elsewhere: rounding, which no pairing notices."""
SAME_POINT = 1e-9
"""The same for boxes without a size, as a share of their coordinates."""


def losses(source: BoxCorpus, kept: Flags, files: Files, target: Format, page_size: Sequence[float] | None) -> list[Issue]:
    """One issue for each kind of thing that does not come back as it was; ``kept`` are the objects that should, unchanged.

    Raises a `ContractError` when the files cannot be read at all.
    """
    again = _read_back(source, files, target)
    comparison = _Comparison(source, again, kept, target, sizes_of(source, page_size), page_size)
    return [issue for issue in comparison.issues() if issue.count]


def _read_back(source: BoxCorpus, files: Files, target: Format) -> BoxCorpus:
    side = Side.FOUND if source.side is None and source.scores is not None else source.side
    rules = Rules(side, format=target.name, allow_missing_scores=True)
    with tempfile.TemporaryDirectory(prefix="calque-") as folder:
        path = os.path.join(folder, "written")
        in_memory = set(files) == {""} and files[""][:1] in (b"{", b"[") and target.name not in (NDJSON, PARQUET)
        if not in_memory:
            write_whole(path, files[""]) if set(files) == {""} else write_folder(path, files)
        try:
            # JSON needs no disk, which may be full.
            written = Source.of_tree(parse(files[""], "")) if in_memory else Source(path)
            loaded = target.load(written, rules)
        except ContractError as error:
            first = error.issues[0]
            where = f"{first.pointer}: " if first.pointer else ""
            text = f"{target.name} cannot hold this: reading it back gives {where}{first.message}"
            raise ContractError.single("not-readable", text, file=source.source, help="choose another --to") from None
    if isinstance(loaded, Results):
        return loaded.against(source) if source.format == "coco" else loaded.alone()
    if not isinstance(loaded, BoxCorpus):
        raise TypeError(f"{target.name} is read as {type(loaded).__name__}")
    return loaded


@dataclass(frozen=True, slots=True, eq=False)
class _Comparison:
    source: BoxCorpus
    again: BoxCorpus
    kept: Flags
    target: Format
    sizes: Floats
    """Of the source's pages, as it says or as was asked for."""
    asked: Sequence[float] | None = None
    """A size of pages that was asked for: the source itself may not have it."""

    def issues(self) -> list[Issue]:
        """Everything that differs; a count of 0 where nothing does."""
        before, after = _places(self.source), _places(self.again)
        names = _names(self.source, before, set(after))
        code = {place: number for number, place in enumerate(dict.fromkeys([*names, *after]))}
        rows, their_rows = np.flatnonzero(self.kept), np.flatnonzero(_usable(self.again))
        page = np.array([code[place] for place in names], dtype=np.int64)
        their_page = np.array([code[place] for place in after], dtype=np.int64)
        labels = {name: number for number, name in enumerate(dict.fromkeys([*self.source.labels, *self.again.labels]))}
        mine = page[self.source.page[rows]] * len(labels) + _codes(self.source, labels)[self.source.label[rows]]
        theirs = (
            their_page[self.again.page[their_rows]] * len(labels) + _codes(self.again, labels)[self.again.label[their_rows]]
        )
        relabelled, lost = _left_over(mine, theirs, len(labels))
        aligned = _aligned(mine, theirs)
        return [
            self._renamed(before, names),
            self._loss("page-lost", "no page of a document", "that the source has", self._gone(names, after)),
            self._loss("label-changed", "an object", "with another label", relabelled),
            self._loss("object-lost", "nothing", "for an object that the source has", lost),
            self._loss("box-changed", "a box", "changed", self._moved(rows[aligned[0]], their_rows[aligned[1]])),
            *self._changed_columns(rows[aligned[0]], their_rows[aligned[1]]),
            self._sizes_lost(),
        ]

    def _loss(self, code: str, noun: str, what: str, count: int, help: str = "") -> Issue:
        text = f"{noun} would come back from {self.target.name} {what}"
        return Issue(code, text, self.source.source, help=help, severity=Severity.LOSS, count=count)

    def _gone(self, names: list[Place], after: list[Place]) -> int:
        """How many pages, and documents without any, do not come back; empty ones only where the target has a place."""
        if "empty pages" not in self.target.carries:
            return len({names[page] for page in np.unique(self.source.page).tolist()} - set(after))
        units, known = self.source.documents, {str(document) for document in self.again.documents}
        bare = np.setdiff1d(np.arange(len(units)), self.source.page_document).tolist()
        return len(set(names) - set(after)) + sum(str(units[code]) not in known for code in bare)

    def _renamed(self, before: list[Place], names: list[Place]) -> Issue:
        """Documents (or pages) that have another name in the target."""
        changed = {old: new for old, new in zip(before, names, strict=True) if old != new}
        documents = {old[0]: new[0] for old, new in changed.items()}
        if not documents:
            return self._loss("document-renamed", "a document", "", 0)
        old, new = next(iter(documents.items()))
        help = ""
        files = page_names.file_names(self.source) if self.source.format == "coco" else []
        if new in {page_names.place(page_names.bare(file))[0] for file in files}:
            help = "evaluate with --document-key stem, which names COCO's images by their files"
        if self.target.name == "coco-results":
            help = "results go with the file that --to coco writes of the same input"
        return self._loss(
            "document-renamed", "a document", f"under another name, such as {old!r} as {new!r}", len(documents), help
        )

    def _moved(self, rows: Ints, their_rows: Ints) -> int:
        """How many boxes are not where they were."""
        boxes = corners(self.source.boxes, self.source.form)[rows]
        again = corners(self.again.boxes, self.again.form)[their_rows]
        scale = np.concatenate([self.sizes, self.sizes], axis=1)[self.source.page[rows]]
        if self.source.extent is not self.again.extent:
            again = again / scale if self.source.extent is Extent.NORMALIZED else again * scale
        sides = boxes[:, 2:] - boxes[:, :2]
        slack = np.where(sides > 0, SAME_SIDE * sides, SAME_POINT * np.maximum(1.0, np.abs(boxes[:, :2])))
        return int((np.abs(boxes - again) > np.concatenate([slack, slack], axis=1)).any(axis=1).sum())

    def _changed_columns(self, rows: Ints, their_rows: Ints) -> list[Issue]:
        """Scores, crowds and ignored objects, where the target has a place for them."""
        issues = []
        for column, feature in (("scores", "scores"), ("crowd", "crowds"), ("ignore", "ignored objects")):
            empty = np.nan if column == "scores" else 0
            mine, theirs = (_column(corpus, column, empty) for corpus in (self.source, self.again))
            if feature in self.target.carries:
                differ = ~np.equal(mine[rows], theirs[their_rows]) & ~(np.isnan(mine[rows]) & np.isnan(theirs[their_rows]))
                issues.append(self._loss("value-changed", "an object", f"with other {feature}", int(differ.sum())))
        return issues

    def _sizes_lost(self) -> Issue:
        """Pages whose size neither file has, although one is in pixels and the other in shares of the page."""
        if self.source.extent is self.again.extent or self._has_sizes(self.source) or self._has_sizes(self.again):
            return self._loss("page-size-lost", "a page", "", 0)
        what = f"in {self.again.extent} without a size, where the source has {self.source.extent}"
        count = len(np.unique(self.source.page[self.kept]))
        return self._loss("page-size-lost", "a page", what, count, "evaluate the two with --page-size W,H")

    def _has_sizes(self, corpus: BoxCorpus) -> bool:
        """Whether every page with objects has a size by its file's own words."""
        if corpus.page_sizes is None:
            return not len(corpus)
        sizes = corpus.page_sizes[np.unique(corpus.page)]
        own = corpus is self.again or self.asked is None or not (sizes == np.array(self.asked)).all()
        return bool(own and (sizes > 0).all())


def _usable(corpus: BoxCorpus) -> Flags:
    flaws = np.zeros(len(corpus), dtype=np.uint8) if corpus.flaws is None else corpus.flaws
    return np.asarray(~np.isin(flaws, UNUSABLE) & (corpus.label >= 0))


def _places(corpus: BoxCorpus) -> list[Place]:
    """The document and the number of each page."""
    documents = [corpus.documents[code] for code in corpus.page_document.tolist()]
    return list(zip(documents, corpus.page_index.tolist(), strict=True))


def _names(source: BoxCorpus, before: list[Place], after: set[Place]) -> list[Place]:
    """What the target calls each page: whichever way of naming brings most of them back."""
    ways: list[list[Place]] = [before, [(str(document), index) for document, index in before]]
    with suppress(ContractError):  # names that no folder could hold were not needed
        ways.append([page_names.place(stem) for stem in page_names.stems(source)])
    ways.append([(identity, 0) for identity in coco_write.image_ids(source)])
    return max(ways, key=lambda names: len(after.intersection(names)))


def _codes(corpus: BoxCorpus, labels: dict[str, int]) -> Codes:
    return np.array([labels[name] for name in corpus.labels], dtype=np.int32)


def _left_over(mine: Ints, theirs: Ints, labels: int) -> tuple[int, int]:
    """How many objects have another label on their page, and how many are gone from it."""
    before, after = Counter(mine.tolist()), Counter(theirs.tolist())
    missing: Counter[int] = Counter()
    extra: Counter[int] = Counter()
    for place, count in (before - after).items():
        missing[place // labels] += count
    for place, count in (after - before).items():
        extra[place // labels] += count
    relabelled = (missing & extra).total()
    return relabelled, missing.total() - relabelled


def _aligned(mine: Ints, theirs: Ints) -> tuple[Ints, Ints]:
    """Which objects are which: those of a page and a label keep their order in every format."""
    keys, counts = np.unique(mine, return_counts=True)
    their_keys, their_counts = np.unique(theirs, return_counts=True)
    found = dict(zip(their_keys.tolist(), their_counts.tolist(), strict=True))
    whole = np.array([key for key, count in zip(keys.tolist(), counts.tolist(), strict=True) if found.get(key) == count])
    orders = [np.argsort(side, kind="stable") for side in (mine, theirs)]
    first, second = (order[np.isin(side[order], whole)] for side, order in zip((mine, theirs), orders, strict=True))
    return first, second


def _column(corpus: BoxCorpus, name: str, empty: float) -> Floats:
    column = getattr(corpus, name)
    values = np.full(len(corpus), empty) if column is None else np.asarray(column, dtype=np.float64)
    return values if name == "scores" else (values != 0).astype(np.float64)
