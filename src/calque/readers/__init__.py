"""From files to corpora: find out what a file is, read it, and check two files against each other."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

from calque.core.corpus import BoxCorpus, Corpus, Side
from calque.core.errors import ContractError, Issue, IssueLog
from calque.kernels.scanning import Scanned
from calque.readers import coco, formats, json_tree, snapshot, snapshot_scan
from calque.readers.coco import Results
from calque.readers.coco_columns import scanned_results, scanned_truth
from calque.readers.rules import Rules
from calque.readers.slips import pair_slips
from calque.readers.source import Source

__all__ = ["check_pair", "read", "read_pair"]

SCANNED = {"snapshot": "snapshot", "coco_truth": "coco", "coco_results": "coco-results"}
"""What the compiled scanner reads, and the name of each format."""


def read(source: Any, *, side: str | None = None, **options: Any) -> Corpus:
    """The corpus in a file, in parsed JSON, or the corpus itself.

    ``side`` is ``"ground_truth"`` or ``"prediction"`` when the caller knows; otherwise the file says. Options: ``lenient``,
    ``allow_missing_scores``, ``document_key``. Raises `ContractError` with every issue when a file breaks its contract.
    """
    loaded = _load(source, Rules(None if side is None else Side(side), **options))
    return loaded.alone() if isinstance(loaded, Results) else loaded


def read_pair(truth: Any, found: Any, **options: Any) -> tuple[Corpus, Corpus]:
    """Both sides, each checked by itself and the two against each other; every issue of both in one error.

    Options as in `read`. Files are parsed side by side.
    """
    sources = [_started(truth), _started(found)]
    loaded: list[Corpus | Results] = []
    errors: list[ContractError] = []
    for source, side in zip(sources, (Side.TRUTH, Side.FOUND), strict=True):
        try:
            loaded.append(_load(source, Rules(side, **options)))
        except ContractError as error:
            errors.append(error)
    if errors:
        raise _joined(errors)
    return _paired(*loaded)


def _paired(truth: Corpus | Results, found: Corpus | Results) -> tuple[Corpus, Corpus]:
    if isinstance(truth, Results):
        raise ContractError.single(
            "wrong-side", "a list of COCO results cannot be the truth", file=truth.log.file, help="give the ground truth first"
        )
    if not isinstance(truth, BoxCorpus):
        return truth, found.alone() if isinstance(found, Results) else found
    if isinstance(found, Results):
        found = found.against(truth)
    check_pair(truth, found)
    slips = pair_slips(truth, found) if isinstance(found, BoxCorpus) else ()
    return truth, dataclasses.replace(found, issues=(*found.issues, *slips)) if slips else found  # type: ignore[type-var]


def _started(source: Any) -> Any:
    """A path becomes a file that is being parsed; anything else stays."""
    return Scanned(source) if isinstance(source, str | os.PathLike) and not isinstance(source, Scanned) else source


def _load(source: Any, rules: Rules) -> Corpus | Results:
    if isinstance(source, Corpus):
        return source
    if isinstance(source, Mapping | list):
        return formats.load(Source.of_tree(source), rules)
    file = _started(source)
    if not isinstance(file, Scanned):
        raise TypeError(f"cannot read a {type(source).__name__}: give a path, parsed JSON or a Corpus")
    columns = file.columns()
    if columns is not None and rules.format in (None, SCANNED[columns["kind"]]):
        corpus = _from_scan(columns, file, rules)
        if corpus is not None:
            return corpus
    return formats.load(Source(file.path), rules)


def _from_scan(columns: Mapping[str, Any], file: Scanned, rules: Rules) -> Corpus | Results | None:
    """What the scanner's columns make; ``None`` where the exact reader has to say what is wrong."""
    log = IssueLog(file.path)
    if columns["kind"] == "coco_results":
        return Results(scanned_results(columns), log, rules)
    if columns["kind"] == "coco_truth":
        return coco.truth_corpus(scanned_truth(columns, file), log, rules)
    return snapshot_scan.corpus(columns, file, rules)


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
    if not truth.format == found.format == snapshot.FORMAT:
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
