"""From files to corpora: find out what a file is, read it, and check two files against each other."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

from calque.core.corpus import BoxCorpus, Corpus, Side
from calque.core.errors import ContractError, Issue
from calque.readers import json_tree, snapshot
from calque.readers.slips import pair_slips
from calque.readers.snapshot import Rules

__all__ = ["check_pair", "read", "read_pair"]


def read(source: Any, *, side: str | None = None, lenient: bool = False, allow_missing_scores: bool = False) -> Corpus:
    """The corpus in a file, in parsed JSON, or the corpus itself.

    ``side`` is ``"ground_truth"`` or ``"prediction"`` when the caller knows; otherwise the file says. Raises `ContractError`
    with every issue of the file when it breaks its contract.
    """
    if isinstance(source, Corpus):
        return source
    rules = Rules(None if side is None else Side(side), lenient, allow_missing_scores)
    if isinstance(source, Mapping):
        return snapshot.from_tree(source, "", rules)
    if not isinstance(source, str | os.PathLike):
        raise TypeError(f"cannot read a {type(source).__name__}: give a path, parsed JSON or a Corpus")
    name = os.fspath(source)
    tree = json_tree.parse(json_tree.read_bytes(name), name)
    if isinstance(tree, Mapping) or snapshot.looks_like(tree):
        return snapshot.from_tree(tree, name, rules)
    raise ContractError.single(
        "unknown-format",
        f"the file holds {json_tree.kind(tree)} {json_tree.shown(tree)}, and no format that calque reads begins so",
        file=name,
        help="snapshot files are an object with label_map, info, documents and predictions",
    )


def read_pair(truth: Any, found: Any, *, lenient: bool = False, allow_missing_scores: bool = False) -> tuple[Corpus, Corpus]:
    """Both sides, each checked by itself and the two against each other; every issue of both in one error."""
    sides: list[Corpus] = []
    errors: list[ContractError] = []
    for source, side in ((truth, Side.TRUTH), (found, Side.FOUND)):
        try:
            sides.append(read(source, side=side, lenient=lenient, allow_missing_scores=allow_missing_scores))
        except ContractError as error:
            errors.append(error)
    if errors:
        raise _joined(errors)
    check_pair(sides[0], sides[1])
    expected, predictions = sides
    if isinstance(expected, BoxCorpus) and isinstance(predictions, BoxCorpus):
        noted = pair_slips(expected, predictions)
        predictions = dataclasses.replace(predictions, issues=(*predictions.issues, *noted))
    return expected, predictions


def _joined(errors: list[ContractError]) -> ContractError:
    if len(errors) == 1:
        return errors[0]
    return ContractError(
        [issue for error in errors for issue in error.issues],
        total=sum(error.total for error in errors),
        hints=[hint for error in errors for hint in error.hints],
    )


def check_pair(truth: Corpus, found: Corpus) -> None:
    """Raise a `ContractError` when two corpora cannot be compared: their label maps differ."""
    if not isinstance(truth, BoxCorpus) or not isinstance(found, BoxCorpus):
        return
    mine, theirs = truth.label_map, found.label_map
    if mine is None or theirs is None or mine == theirs:
        return
    issues = [
        Issue(
            "label-maps-differ",
            f"label {key} is {_named(theirs, key)} here and {_named(mine, key)} in {truth.source}",
            found.source,
            json_tree.pointer("label_map", key),
            "both files must have the same label_map",
        )
        for key in sorted({*mine, *theirs}, key=str)
        if mine.get(key) != theirs.get(key)
    ]
    raise ContractError(issues)


def _named(label_map: Mapping[Any, str], key: Any) -> str:
    return repr(label_map[key]) if key in label_map else "not there"
