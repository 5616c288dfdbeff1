"""The numbers of words: counts of documents, and the ratios that are made of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Flags, Ints
from calque.corpus.boxes import UnitId
from calque.evaluation.ledger import UNIT, Ledger, Piece
from calque.evaluation.measures import Measure, Ratio, Undefined
from calque.words.scoring import STATUS_NAMES, Status, unknown_documents

if TYPE_CHECKING:
    from calque.words.task import Words

SEED = "Evaluation Protocol (OCR words)"


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Counts for each group: a document, or all of them."""

    n_ref: Ints
    n_pred: Ints
    matches: Ints
    naive: Ints
    bag: Ints
    word_edits: Ints
    content_ref: Ints
    content_matches: Ints
    chars_ref: Ints
    char_edits: Ints

    @classmethod
    def of(cls, columns: Mapping[str, Any], rows: Flags) -> Tally:
        """One group for each of these rows."""
        return cls(**{name: columns[name][rows] for name in cls.__dataclass_fields__})

    def total(self) -> Tally:
        """All groups as one."""
        return Tally(**{name: np.array([getattr(self, name).sum()]) for name in self.__dataclass_fields__})


RECALL = Ratio[Tally](
    "recall",
    "recall",
    "The share of true words that the prediction has, in the same order (longest common subsequence).",
    "L / |Test|",
    f"{SEED}, Evaluating a word sequence",
    "no true words",
    lambda t: t.matches,
    lambda t: t.n_ref,
)
PRECISION = Ratio[Tally](
    "precision",
    "precision",
    "The share of predicted words that match. The truth is reduced, so extra words are no fault: recall is the headline.",
    "L / |Predicted|",
    f"{SEED}, Evaluating a word sequence",
    "no predicted words",
    lambda t: t.matches,
    lambda t: t.n_pred,
)
F1 = Ratio[Tally](
    "f1",
    "F1",
    "The harmonic mean of recall and precision.",
    "2·L / (|Test| + |Predicted|)",
    f"{SEED} (noted there, not used)",
    "no words",
    lambda t: 2 * t.matches,
    lambda t: t.n_ref + t.n_pred,
)
NAIVE = Ratio[Tally](
    "naive_recall",
    "naive recall",
    "The share of true words with the same word at the same place (wordid); one missing word shifts all that follow.",
    "|Predicted ⋈ Test| / |Test|",
    f"{SEED}, the naive evaluation",
    "no true words",
    lambda t: t.naive,
    lambda t: t.n_ref,
)
BAG = Ratio[Tally](
    "bag_recall",
    "bag recall",
    "The share of true words that the prediction has in any order: what is left when reading order is forgiven.",
    "Σ min(count in Test, count in Predicted) / |Test|",
    "bag of words",
    "no true words",
    lambda t: t.bag,
    lambda t: t.n_ref,
)
BAG_PRECISION = Ratio[Tally](
    "bag_precision",
    "bag precision",
    "The share of predicted words that the truth has in any order.",
    "Σ min(count in Test, count in Predicted) / |Predicted|",
    "bag of words",
    "no predicted words",
    lambda t: t.bag,
    lambda t: t.n_pred,
)
WER = Ratio[Tally](
    "wer",
    "WER",
    "Word error rate: insertions, deletions and substitutions of words for each true word. Can be above 1.",
    "Levenshtein distance / |Test|",
    "usual in speech and OCR",
    "no true words",
    lambda t: t.word_edits,
    lambda t: t.n_ref,
)
CER = Ratio[Tally](
    "cer",
    "CER",
    "Character error rate: edits of characters for each true character, words joined by one space (--cer).",
    "Levenshtein distance / characters of Test",
    "usual in OCR",
    "characters were not compared, or there are none",
    lambda t: t.char_edits,
    lambda t: t.chars_ref,
)
CONTENT = Ratio[Tally](
    "content_recall",
    "content recall",
    "Recall with stop words left out of both sides (--stop-words).",
    "L / |Test|, without stop words",
    "stop-word-free recall",
    "no true words but stop words",
    lambda t: t.content_matches,
    lambda t: t.content_ref,
)
RATIOS = (RECALL, PRECISION, F1, NAIVE, BAG, BAG_PRECISION, WER, CER, CONTENT)
ORACLE = (
    Measure(
        "oracle_recall",
        "oracle recall",
        "The recall of the best path through the lattice, chosen with the truth in hand: no selector can do better.",
        "max over paths of L / |Test|",
        f"{SEED}, candidate lattice",
        "no true words, or no lattice",
    ),
    Measure(
        "repairable",
        "repairable",
        "The share of the best single source's errors that choosing well from the lattice would repair.",
        "(oracle − best) / (1 − best)",
        "calque",
        "the best source makes no errors, or recall is undefined",
    ),
)
MEASURES: tuple[Measure, ...] = (*RATIOS, *ORACLE)


def measure(task: Words, ledger: Ledger) -> dict[str, Any]:
    """The tree of numbers, in the shape of the JSON."""
    columns = ledger.table("documents").columns
    status = np.asarray(columns["status"])
    rows: Flags = status == Status.HELD_OUT
    tally = Tally.of(columns, rows)
    ratios = _shown(task)
    tree: dict[str, Any] = {
        "micro": {ratio.name: ratio.numbers(tally.total())[0] for ratio in ratios},
        "macro": {ratio.name: _mean(ratio, tally) for ratio in ratios},
        "documents": _documents(ledger, rows, tally, ratios),
        "counts": {**_sizes(columns, status, tally), "listed_without_truth": len(unknown_documents(task, ledger))},
        "pages": _pages(ledger),
        "regions": _regions(ledger),
        "cleanup": _cleanup(ledger),
    }
    if task.lattice != "none":
        tree["oracle"] = _oracle(ledger, tally.total(), tree["micro"]["recall"], task.errors or IRREDUCIBLE)
    if task.errors:
        from calque.words.confused import error_lists

        tree["errors"] = error_lists(ledger, task.errors)
    return tree


def _shown(task: Words) -> tuple[Ratio[Tally], ...]:
    """The ratios that the settings ask for."""
    left_out = {name for name, asked in (("cer", task.characters != "none"), ("content_recall", task.stop_words)) if not asked}
    return tuple(ratio for ratio in RATIOS if ratio.name not in left_out)


def _mean(ratio: Ratio[Tally], tally: Tally) -> float | Undefined:
    """The mean of the documents that have a value."""
    values = ratio.values(tally)
    defined = values[~np.isnan(values)]
    if not len(defined):
        return Undefined("no document has a value")
    return math.fsum(defined.tolist()) / len(defined)


def _documents(ledger: Ledger, rows: Flags, tally: Tally, ratios: tuple[Ratio[Tally], ...]) -> dict[UnitId, dict[str, Any]]:
    columns: dict[str, list[Any]] = {
        "matches": tally.matches.tolist(),
        "n_ref": tally.n_ref.tolist(),
        "n_pred": tally.n_pred.tolist(),
        **{ratio.name: ratio.numbers(tally) for ratio in ratios},
        "missing_pred": (~ledger.table("documents").array("predicted")[rows]).tolist(),
    }
    units = [ledger.units[row] for row in np.flatnonzero(rows).tolist()]
    listed = zip(*columns.values(), strict=True)
    return {unit: dict(zip(columns, values, strict=True)) for unit, values in zip(units, listed, strict=True)}


def _sizes(columns: Mapping[str, Any], status: Ints, tally: Tally) -> dict[str, Any]:
    held = status == Status.HELD_OUT
    ignored: Flags = np.asarray(~held & columns["predicted"])
    return {
        "documents": int(held.sum()),
        "documents_with_recall": int((tally.n_ref > 0).sum()),
        "missing_predictions": int((held & ~columns["predicted"]).sum()),
        "words": int(tally.n_ref.sum()),
        "predicted_words": int(tally.n_pred.sum()),
        "matches": int(tally.matches.sum()),
        "ignored_predictions": int(ignored.sum()),
        "ignored_words": int(columns["n_pred"][ignored].sum()),
        **{name: int((status == code).sum()) for code, name in enumerate(STATUS_NAMES) if code},
    }


class _Groups:
    """True words and how many are found, for each group of them."""

    def __init__(self) -> None:
        self._totals: Counter[Any] = Counter()
        self._hits: Counter[Any] = Counter()

    def add(self, names: Sequence[Any], group: Ints, found: Flags) -> None:
        """Add words, each of a group."""
        for counter, rows in ((self._totals, group), (self._hits, group[found])):
            counter.update(dict(zip(names, np.bincount(rows, minlength=len(names)).tolist(), strict=True)))

    def blocks(self) -> dict[Any, dict[str, Any]]:
        """The numbers of each group."""
        return {
            name: {"n_ref": total, "matches": self._hits[name], "recall": self._hits[name] / total}
            for name, total in self._totals.items()
        }


def _pages(ledger: Ledger) -> dict[UnitId, dict[str, Any]]:
    """The pages of documents, by the pages of the true words; none where every document has one."""
    if not any(rows.array("page").any() for rows in ledger.chunks("truth", "page")):
        return {}
    groups = _Groups()
    for piece in ledger.pieces():
        truth = piece.ledger.table("truth")
        both = np.stack([piece.places[truth.array(UNIT)], truth.array("page")], axis=1)
        # Words of a page stand together: to sort one of each such run is quick, to sort all words is not.
        begins = np.ones(len(both), dtype=np.bool_)
        begins[1:] = (both[1:] != both[:-1]).any(axis=1)
        places, group_of_run = np.unique(both[begins], axis=0, return_inverse=True)
        group = group_of_run.reshape(-1)[np.cumsum(begins) - 1]
        groups.add([(row, number) for row, number in places.tolist()], group, truth.array("found"))
    pages: dict[UnitId, dict[str, Any]] = {}
    for (row, number), block in sorted(groups.blocks().items()):
        pages.setdefault(ledger.units[row], {})[str(number)] = block
    return pages


def _regions(ledger: Ledger) -> dict[str, Any]:
    """Kinds of blocks, where the truth names them."""
    names = ledger.names["region"]
    if not any(names):
        return {}
    groups = _Groups()
    for rows in ledger.chunks("truth", "region", "found"):
        groups.add(names, rows.array("region"), rows.array("found"))
    return {name or "other": block for name, block in groups.blocks().items()}


def _cleanup(ledger: Ledger) -> dict[str, Any]:
    """What each step took out of the truth: how many times, and how many words or characters."""
    names = ledger.names["step"]
    times, amounts = np.zeros(len(names), np.int64), np.zeros(len(names), np.int64)
    for rows in ledger.chunks("removed", "step", "words"):
        times += np.bincount(rows.array("step"), minlength=len(names))
        np.add.at(amounts, rows.array("step"), rows.array("words"))
    return {
        name: {"times": n, "amount": amount} for name, n, amount in zip(names, times.tolist(), amounts.tolist(), strict=True)
    }


def _oracle(ledger: Ledger, total: Tally, recall: float | Undefined, listed: int) -> dict[str, Any]:
    table = ledger.table("oracle")  # a row a document, as what is told of it
    sums = {
        name: int(table.array(name).sum()) for name in ("matches", "n_words", "slots", "candidates", "flat_bound", "pruned")
    }
    n_ref = int(total.n_ref[0])
    oracle = _share(sums["matches"], n_ref, RECALL.undefined)
    sources = _sources(ledger, n_ref)
    best = max(sources.values()) if sources and n_ref else recall
    return {
        "matches": sums["matches"],
        "n_ref": n_ref,
        "recall": oracle,
        "macro_recall": _macro_recall(ledger),
        "precision": _share(sums["matches"], sums["n_words"], "the best path has no words"),
        "sources": sources if n_ref else {},
        "best_source_recall": best,
        "repairable": _repairable(oracle, best),
        "slots": sums["slots"],
        "candidates_per_slot": _share(sums["candidates"], sums["slots"], "no slots"),
        "log10_paths": math.fsum(table.array("log10_paths").tolist()),
        "flat_bound": sums["flat_bound"],
        "pruned_nodes": sums["pruned"],
        "missing_lattices": int((~table.array("has_lattice")).sum()),
        "taken": _taken(ledger),
        "irreducible": _irreducible(ledger, listed),
        "documents": _oracle_documents(ledger),
    }


IRREDUCIBLE = 20
"""How many of the words that no candidate has are listed, unless the settings say how many errors are."""


def _macro_recall(ledger: Ledger) -> float | Undefined:
    """The mean of the documents' best paths."""
    table = ledger.table("oracle")
    sizes = ledger.table("documents").array("n_ref")[table.array(UNIT)]
    shares = (table.array("matches")[sizes > 0] / sizes[sizes > 0]).tolist()
    return math.fsum(shares) / len(shares) if shares else Undefined("no document has a value")


def _taken(ledger: Ledger) -> dict[str, dict[str, int]]:
    """For each source in how many slots with a choice the best paths take what it read, and what only it could give."""
    sums = {key: _by_source(ledger, column) for key, column in (("slots", "taken"), ("alone", "alone"), ("gain", "gain"))}
    return {name: {key: values[code] for key, values in sums.items()} for code, name in enumerate(ledger.names["source"])}


def _by_source(ledger: Ledger, column: str) -> list[int]:
    """What a column adds up to for each source."""
    sums = np.zeros(len(ledger.names["source"]), np.int64)
    for rows in ledger.chunks("sources", "source", column):
        np.add.at(sums, rows.array("source"), rows.array(column))
    return list(sums.tolist())


def _irreducible(ledger: Ledger, size: int) -> dict[str, Any]:
    """How many true words no candidate has, and which they are, the most frequent first."""
    listed = Counter[str]()
    for rows in ledger.chunks("irreducible"):
        listed.update(row["text"] for row in rows.rows())
    ranked = sorted(listed.items(), key=lambda item: (-item[1], item[0]))
    return {"words": listed.total(), "listed": [{"word": word, "count": count} for word, count in ranked[:size]]}


def _share(above: int, below: int, reason: str) -> float | Undefined:
    return above / below if below else Undefined(reason)


def _repairable(oracle: float | Undefined, best: float | Undefined) -> float | Undefined:
    if isinstance(oracle, Undefined) or isinstance(best, Undefined):
        return Undefined("recall is undefined")
    return Undefined("the best source makes no errors") if best >= 1 else (oracle - best) / (1 - best)


def _sources(ledger: Ledger, n_ref: int) -> dict[str, float]:
    matches = zip(ledger.names["source"], _by_source(ledger, "matches"), strict=True)
    return {name: count / n_ref for name, count in matches} if n_ref else {}


def _oracle_documents(ledger: Ledger) -> dict[UnitId, dict[str, Any]]:
    told = {place: block for piece in ledger.pieces() for place, block in _oracles_of(piece)}
    return {ledger.units[place]: told[place] for place in sorted(told)}


def _oracles_of(piece: Piece) -> Iterator[tuple[int, dict[str, Any]]]:
    """What the lattices of a piece's documents could have, by the place of the document."""
    ledger = piece.ledger
    sizes = ledger.table("documents").array("n_ref")
    paths, pairs = ledger.offsets("path"), ledger.offsets("chosen")
    chosen = [ledger.table("chosen").array(name) for name in ("truth", "word_of_path")]
    for row in ledger.table("oracle").rows():
        at = row[UNIT]
        yield (
            int(piece.places[at]),
            {
                "matches": row["matches"],
                "n_ref": int(sizes[at]),
                "n_path": row["n_words"],
                "recall": _share(row["matches"], int(sizes[at]), RECALL.undefined),
                "precision": _share(row["matches"], row["n_words"], "the best path has no words"),
                "slots": row["slots"],
                "candidates": row["candidates"],
                "log10_paths": row["log10_paths"],
                "flat_bound": row["flat_bound"],
                "pruned_nodes": row["pruned"],
                "missing_lattice": not row["has_lattice"],
                "path": ledger.table("path").array("candidate")[paths[at] : paths[at + 1]].tolist(),
                "pairs": np.stack([column[pairs[at] : pairs[at + 1]] for column in chosen], axis=1).tolist(),
            },
        )
