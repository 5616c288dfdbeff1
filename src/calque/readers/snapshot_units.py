"""Snapshot files whose boxes are not shares of the page, read as what ``--units`` says they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from calque.core.corpus import BoxCorpus
from calque.core.errors import Issue, Severity
from calque.readers import snapshot
from calque.readers.json_values import numbers
from calque.readers.placement import UNITS
from calque.readers.rules import Rules


def from_tree(tree: Any, file: str, rules: Rules) -> BoxCorpus:
    """The corpus of a parsed file. Its boxes are shares of the page, unless most are plainly not and the rules say what."""
    scale = _scale(rules)
    if scale is None or not _mostly_beyond(tree):
        return snapshot.from_tree(tree, file, rules)
    corpus = snapshot.from_tree(_divided(tree, scale), file, rules)
    text = f"the file says that its boxes are shares of the page; they were read as {rules.units}, as asked for"
    note = Issue("units-converted", text, file, severity=Severity.NOTE)
    return dataclasses.replace(corpus, issues=(*corpus.issues, note))


def _scale(rules: Rules) -> tuple[float, ...] | None:
    """What a whole page measures; ``None`` where the rules leave the file its word."""
    whole = UNITS[rules.units]
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
    beyond = [max(box) > 1 + snapshot.TOLERANCE for _, box in _objects(tree)]
    return sum(beyond) > len(beyond) / 2


def _divided(tree: Any, scale: tuple[float, ...]) -> Any:
    import copy

    tree = copy.deepcopy(tree)
    for entry, box in _objects(tree):
        entry["bbox"] = [value / whole for value, whole in zip(box, scale, strict=True)]
    return tree
