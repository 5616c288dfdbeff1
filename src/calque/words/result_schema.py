"""The JSON Schema of a words result, of one prediction or of several."""

from __future__ import annotations

from calque.core.result_schema import (
    COUNT,
    FLAG,
    MEASURE,
    NUMBER,
    SHARE,
    TEXT,
    Schema,
    list_of,
    map_of,
    object_of,
    result_of,
)
from calque.words.numbers import CER, CONTENT, RATIOS, WER
from calque.words.scoring import STATUS_NAMES

_UNBOUNDED = (WER, CER)
"""Error rates can be above 1."""
_ASKED_FOR = (CER, CONTENT)
_SIZES = (
    "documents", "documents_with_recall", "missing_predictions", "words", "predicted_words", "matches",
    "ignored_predictions", "ignored_words", *STATUS_NAMES[1:], "listed_without_truth",
)  # fmt: skip


def result_schema() -> Schema:
    """The schema of what ``calque words --format json`` prints: numbers, or with several predictions ``runs`` of them."""
    single = result_of("words", _numbers(), {"oracle": _oracle(), "errors": _errors()})
    head = ("task", "version", "signature", "settings")
    own = {key: value for key, value in single["properties"].items() if key not in ("task", "version")}
    run = {"type": "object", "properties": own, "required": [key for key in single["required"] if key in own]}
    runs = object_of({key: single["properties"][key] for key in head} | {"runs": map_of(run)}, {"oracle": _oracle()})
    about = {key: single.pop(key) for key in ("$schema", "title")}
    return {**about, "if": {"required": ["runs"]}, "then": runs, "else": single}


def _numbers() -> dict[str, Schema]:
    kinds = {ratio.name: MEASURE if ratio in _UNBOUNDED else SHARE for ratio in RATIOS}
    optional = {ratio.name: kinds.pop(ratio.name) for ratio in _ASKED_FOR}
    part = object_of({"n_ref": COUNT, "matches": COUNT, "recall": SHARE})
    document = {"matches": COUNT, "n_ref": COUNT, "n_pred": COUNT, **kinds, "missing_pred": FLAG}
    return {
        "micro": object_of(kinds, optional),
        "macro": object_of(kinds, optional),
        "documents": map_of(object_of(document, optional)),
        "counts": object_of(dict.fromkeys(_SIZES, COUNT)),
        "pages": map_of(map_of(part)),
        "regions": map_of(part),
        "cleanup": map_of(object_of({"times": COUNT, "amount": COUNT})),
    }


def _oracle() -> Schema:
    """The best path through a lattice."""
    document = {
        **dict.fromkeys(("matches", "n_ref", "n_path", "slots", "candidates", "flat_bound", "pruned_nodes"), COUNT),
        **dict.fromkeys(("recall", "precision"), SHARE),
        "log10_paths": NUMBER,
        "missing_lattice": FLAG,
        "path": list_of({"type": "integer"}),
        "pairs": list_of(list_of(COUNT)),
    }
    return object_of({
        **dict.fromkeys(("matches", "n_ref", "slots", "flat_bound", "pruned_nodes", "missing_lattices"), COUNT),
        **dict.fromkeys(("recall", "precision", "best_source_recall", "repairable"), SHARE),
        "sources": map_of(SHARE),
        "candidates_per_slot": MEASURE,
        "log10_paths": NUMBER,
        "documents": map_of(object_of(document)),
    })  # fmt: skip


def _errors() -> Schema:
    confusion = object_of({"truth": TEXT, "predicted": TEXT, "count": COUNT})
    return object_of({"words": list_of(confusion), "characters": list_of(confusion)})
