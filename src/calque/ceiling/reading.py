"""The truth and all systems, read and brought to one scale: boxes pair by pair against the truth, records by their ids."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from calque.base.errors import ConfigError, ContractError, Issue, all_read
from calque.ceiling.systems import Systems, by_name
from calque.corpus.boxes import BoxCorpus, Corpus, Extent
from calque.corpus.records import RecordCorpus

if TYPE_CHECKING:
    from calque.ceiling.task import Ceiling

HEAD = 1 << 16
"""How many bytes of a file are looked at to tell what it holds."""
KEY = re.compile(rb'"([^"\\\\]{1,64})"\s*:')
OF_BOXES = frozenset({"boxes", "bbox", "annotations", "images", "predictions"})
"""Keys that files of boxes have."""
TEXTS = (".txt", ".hocr", ".tsv", ".lattice")
"""How files of words end."""


def read_sides(task: Ceiling, expected: Any, found: Any, *, jobs: int = 1) -> tuple[Corpus, Systems]:
    """Both sides of a ceiling."""
    sources = by_name(found, task.systems)
    for source in (expected, *sources.values()):
        _refuse_words(source)
    truth, parts = _records(task, expected, sources, jobs) if task.kind == "fields" else _boxes(task, expected, sources)
    seen = set(truth.issues)
    issues = tuple(dict.fromkeys(issue for part in parts for issue in part.issues if issue not in seen))
    lean = tuple(replace(part, issues=()) for part in parts)
    return truth, Systems(names=tuple(sources), parts=lean, issues=issues)


def _refuse_words(source: Any) -> None:
    from calque.ceiling.task import WORDS

    path = getattr(source, "path", source)
    if isinstance(path, str | os.PathLike) and os.fspath(path).lower().endswith(TEXTS):
        raise ConfigError(f"{os.fspath(path)}: words are no boxes and no records; {WORDS}")


def _boxes(task: Ceiling, expected: Any, sources: Mapping[str, Any]) -> tuple[BoxCorpus, list[BoxCorpus]]:
    """Each system is checked against the truth; the truth is read once, and measured as all systems need it."""
    truth = _truth(task, expected)
    pairs = all_read(partial(_pair, task, truth, source) for source in sources.values())
    if len({side.extent for pair in pairs for side in pair}) > 1:
        # Shares of the page beside pixels: all on the scale of the truth in pixels.
        pixels = next(pair[0] for pair in pairs if pair[0].extent is Extent.PIXELS)
        plain = replace(task, class_map=(), class_map_truth=(), class_map_pred=(), document_key="")
        pairs = [pair if pair[0].extent is Extent.PIXELS else _pair(plain, pixels, pair[1]) for pair in pairs]
    return pairs[0][0], [pair[1] for pair in pairs]


def _truth(task: Ceiling, expected: Any) -> Any:
    """The truth, read once and left as it is: pairing it with a system names its labels."""
    from calque.readers import read

    if task.on == "masks":
        return expected  # masks are measured while both sides are read
    corpus = read(
        expected,
        side="ground_truth",
        format=task.from_truth or None,
        metadata=task.wants_metadata(),
        **task._rules(),
    )
    return _as_boxes(corpus, expected)


def _pair(task: Ceiling, truth: Any, source: Any) -> tuple[BoxCorpus, BoxCorpus]:
    sides = task.read_boxes(truth, source, allow_missing_scores=True)
    return _as_boxes(sides[0], truth), _as_boxes(sides[1], source)


def _as_boxes(corpus: Any, source: Any) -> BoxCorpus:
    if not isinstance(corpus, BoxCorpus):
        where = getattr(corpus, "source", "") or getattr(source, "path", source)
        raise ConfigError(f"{where}: holds no boxes; all sides must be boxes, or all records (--schema)")
    return corpus


def _records(task: Ceiling, expected: Any, sources: Mapping[str, Any], jobs: int) -> tuple[RecordCorpus, list[RecordCorpus]]:
    from calque.readers.records import read_record_pair

    declared = frozenset(task.fields().plan().keys)
    for source in (expected, *sources.values()):
        _refuse_pages(source, declared)
    truth: Any = expected
    parts = []
    for source in sources.values():
        truth, part = read_record_pair(truth, source, declared=declared, id_key=task.id or None, jobs=jobs)
        parts.append(part)
    if len({side.named for side in (truth, *parts) if side.documents}) > 1:
        parts = [_unnamed(part) for part in parts]
    return truth, parts


def _unnamed(part: RecordCorpus) -> RecordCorpus:
    return part if not part.named else replace(part, documents=tuple(range(len(part))), named=False)


def _refuse_pages(source: Any, declared: frozenset[str]) -> None:
    """Files of boxes are JSON too; beside records they would pass for records without a field."""
    path = os.fspath(source) if isinstance(source, str | os.PathLike) else ""
    if not os.path.isfile(path):
        return
    with open(path, "rb") as file:
        head = file.read(HEAD)
    keys = {key.decode("utf-8", "replace") for key in KEY.findall(head)}
    if keys & OF_BOXES and not keys & declared:
        text = "holds boxes, and not records of this schema; all sides must be records, or all boxes"
        raise ContractError([Issue("boxes-beside-records", text, path, help="leave --schema out for boxes")])
