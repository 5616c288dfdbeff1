"""Snapshot files from the compiled scanner's columns: the same contract, checked column by column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calque.base.columns import Codes, Floats, Ints, Strings
from calque.base.errors import IssueLog
from calque.corpus.boxes import BoxCorpus, Extent, Side
from calque.geometry.forms import BoxForm
from calque.kernels.scanning import Scanned
from calque.readers.boxes.conventions import Rules
from calque.readers.boxes.snapshot import FORMAT, head_of
from calque.readers.sources.json_tree import parse

_NUMBER = 2
"""The scanner's mark for a score that is a number; 0 is absent, 1 is null."""


def corpus(columns: Mapping[str, Any], file: Scanned, rules: Rules) -> BoxCorpus | None:
    """The corpus, or ``None`` when a column breaks a rule: the exact reader then says which and where."""
    pages, objects = columns["pages"], columns["objects"]
    log = IssueLog(file.path)
    side, model = head_of(parse(file.part(columns["info"]), file.path), log, rules)
    label_map = dict(columns["label_map"])
    labels = {name: code for code, name in enumerate(dict.fromkeys(label_map.values()))}
    documents = list(Strings(columns["documents"]["doc_id"]["data"], columns["documents"]["doc_id"]["offsets"]))
    document = _codes(pages["doc"], {name: code for code, name in enumerate(documents)})
    label = _codes(objects["label"], labels)
    if log.errors or len(set(documents)) < len(documents) or document is None or label is None:
        return None
    if not (
        _pages_differ(document, pages["page_index"]) and _boxes_hold(objects["bbox"]) and _scores_hold(objects, side, rules)
    ):
        return None
    return BoxCorpus(
        documents=tuple(documents),
        page_document=document,
        page_index=pages["page_index"],
        page_names=_strings(pages["page_id"]),
        image_names=_strings(columns["documents"]["doc_path"]).take(document) if rules.images else None,
        labels=tuple(labels),
        label_map=label_map,
        page=objects["page"],
        label=label,
        boxes=objects["bbox"],
        scores=objects["score"] if side is not Side.TRUTH and not np.isnan(objects["score"]).all() else None,
        ids=_strings(objects["id"]),
        form=BoxForm.XYXY,
        extent=Extent.NORMALIZED,
        side=side,
        format=FORMAT,
        model=model,
        source=file.path,
        issues=tuple(log),
    )


def _strings(column: Mapping[str, Any]) -> Strings:
    return Strings(column["data"], column["offsets"])


def _codes(column: Mapping[str, Any], known: Mapping[str, int]) -> Codes | None:
    """The codes of a scanned column in another table; ``None`` when a name is not there."""
    if not all(name in known for name in column["values"]):
        return None
    table = np.array([known[name] for name in column["values"]], dtype=np.int32)
    return table[column["codes"]] if len(table) else np.zeros(0, dtype=np.int32)


def _pages_differ(document: Codes, index: Ints) -> bool:
    order = np.lexsort((index, document))
    same = (np.diff(document[order]) == 0) & (np.diff(index[order]) == 0)
    return not same.any()


def _boxes_hold(boxes: Floats) -> bool:
    if not len(boxes):
        return True
    return bool(
        boxes.min() >= 0 and boxes.max() <= 1 and (boxes[:, 0] < boxes[:, 2]).all() and (boxes[:, 1] < boxes[:, 3]).all()
    )


def _scores_hold(objects: Mapping[str, Any], side: Side | None, rules: Rules) -> bool:
    state, score = objects["score_state"], objects["score"]
    numbers = state == _NUMBER
    if side is Side.TRUTH:
        return not numbers.any()
    if not rules.allow_missing_scores and not numbers.all():
        return False
    given = score[numbers]
    return not len(given) or bool(given.min() >= 0 and given.max() <= 1)
