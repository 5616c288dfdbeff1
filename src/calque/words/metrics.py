"""The metrics of words: recall and what goes with it, over all words, as means of documents, and for each document."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array, Flags, Ints
from calque.corpus.boxes import UnitId
from calque.evaluation.document_sums import DocumentTallies, Replicates, Support, TalliedMetrics, share
from calque.evaluation.ledger import UNIT, Ledger, Piece
from calque.evaluation.measures import Undefined
from calque.evaluation.metrics import (
    Block,
    Count,
    Each,
    MeanOfDocuments,
    Metric,
    MetricTable,
    PlainSums,
    Tally,
)
from calque.evaluation.presentation.result_schema import (
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
)
from calque.words.scoring import STATUS_NAMES, Status, unknown_documents

if TYPE_CHECKING:
    from calque.words.task import Words

SEED = "Evaluation Protocol (OCR words)"

# 1. Metrics: each is a formula over counts of documents.

N_REF, N_PRED, MATCHES = Count("n_ref"), Count("n_pred"), Count("matches")
COLUMNS = (
    "n_ref", "n_pred", "matches", "naive", "bag", "word_edits", "content_ref", "content_matches", "chars_ref", "char_edits",
)  # fmt: skip
"""The columns of the table of documents that are counts."""
RECALL = Metric(
    "recall",
    "recall",
    "The share of true words that the prediction has, in the same order (longest common subsequence).",
    "L / |Test|",
    f"{SEED}, Evaluating a word sequence",
    "no true words",
    value=MATCHES / N_REF,
)
PRECISION = Metric(
    "precision",
    "precision",
    "The share of predicted words that match. The truth is reduced, so extra words are no fault: recall is the headline.",
    "L / |Predicted|",
    f"{SEED}, Evaluating a word sequence",
    "no predicted words",
    value=MATCHES / N_PRED,
)
F1 = Metric(
    "f1",
    "F1",
    "The harmonic mean of recall and precision.",
    "2·L / (|Test| + |Predicted|)",
    f"{SEED} (noted there, not used)",
    "no words",
    value=2 * MATCHES / (N_REF + N_PRED),
)
NAIVE = Metric(
    "naive_recall",
    "naive recall",
    "The share of true words with the same word at the same place (wordid); one missing word shifts all that follow.",
    "|Predicted ⋈ Test| / |Test|",
    f"{SEED}, the naive evaluation",
    "no true words",
    value=Count("naive") / N_REF,
    aliases=("naive",),
)
BAG = Metric(
    "bag_recall",
    "bag recall",
    "The share of true words that the prediction has in any order: what is left when reading order is forgiven.",
    "Σ min(count in Test, count in Predicted) / |Test|",
    "bag of words",
    "no true words",
    value=Count("bag") / N_REF,
)
BAG_PRECISION = Metric(
    "bag_precision",
    "bag precision",
    "The share of predicted words that the truth has in any order.",
    "Σ min(count in Test, count in Predicted) / |Predicted|",
    "bag of words",
    "no predicted words",
    value=Count("bag") / N_PRED,
)
WER = Metric(
    "wer",
    "WER",
    "Word error rate: insertions, deletions and substitutions of words for each true word. Can be above 1.",
    "Levenshtein distance / |Test|",
    "usual in speech and OCR",
    "no true words",
    value=Count("word_edits") / N_REF,
    kind=MEASURE,
    better="lower",
)
CER = Metric(
    "cer",
    "CER",
    "Character error rate: edits of characters for each true character, words joined by one space (--cer).",
    "Levenshtein distance / characters of Test",
    "usual in OCR",
    "characters were not compared, or there are none",
    value=Count("char_edits") / Count("chars_ref"),
    kind=MEASURE,
    better="lower",
    asked=lambda task: task.characters != "none",
)
CONTENT = Metric(
    "content_recall",
    "content recall",
    "Recall with stop words left out of both sides (--stop-words).",
    "L / |Test|, without stop words",
    "stop-word-free recall",
    "no true words but stop words",
    value=Count("content_matches") / Count("content_ref"),
    asked=lambda task: bool(task.stop_words),
)
RATIOS = (RECALL, PRECISION, F1, NAIVE, BAG, BAG_PRECISION, WER, CER, CONTENT)
SIZES_OF_DOCUMENT = (
    Metric("matches", value=MATCHES),
    Metric("n_ref", value=N_REF, better="neither"),
    Metric("n_pred", value=N_PRED, better="neither"),
)
ORACLE = (
    Metric(
        "oracle_recall",
        "oracle recall",
        "The recall of the best path through the lattice, chosen with the truth in hand: no selector can do better.",
        "max over paths of L / |Test|",
        f"{SEED}, candidate lattice",
        "no true words, or no lattice",
        kind=SHARE,
    ),
    Metric(
        "repairable",
        "repairable",
        "The share of the best single source's errors that choosing well from the lattice would repair.",
        "(oracle − best) / (1 − best)",
        "calque",
        "the best source makes no errors, or recall is undefined",
        kind=SHARE,
        better="neither",
    ),
)
SIZES = (
    "documents", "documents_with_recall", "missing_predictions", "words", "predicted_words", "matches",
    "ignored_predictions", "ignored_words", *STATUS_NAMES[1:], "listed_without_truth",
)  # fmt: skip
"""The sizes of the result."""


# 2. Rows: the documents of the test, with their counts.


def count_rows(_task: Words, ledger: Ledger) -> Tally:
    """Tell which rows of a ledger add to which count."""
    tally, documents = Tally(ledger), ledger.table("documents")
    held = np.flatnonzero(documents.array("status") == Status.HELD_OUT)
    for name in COLUMNS:
        tally.count(name, documents, held, values=documents.array(name))
    tally.count("documents", documents, held)
    return tally


# 3. The result.


def other_values(task: Words, ledger: Ledger, sums: PlainSums) -> dict[str, Any]:
    """Return the values of the result that are not metrics with a formula."""
    columns = ledger.table("documents").columns
    status = np.asarray(columns["status"])
    missing = ~np.asarray(columns["predicted"])
    values: dict[str, Any] = {
        "documents": {
            ledger.units[row]: {"missing_pred": bool(missing[row])}
            for row in np.flatnonzero(status == Status.HELD_OUT).tolist()
        },
        "counts": {**_sizes(columns, status, sums), "listed_without_truth": len(unknown_documents(task, ledger))},
        "pages": _pages(ledger),
        "regions": _regions(ledger),
        "cleanup": _cleanup(ledger),
    }
    if task.lattice != "none":
        values["oracle"] = _oracle(ledger, sums.whole("n_ref"), sums.whole("matches"), task.errors or IRREDUCIBLE)
    if task.errors:
        from calque.words.confused import error_lists

        values["errors"] = error_lists(ledger, task.errors)
    return values


def _sizes(columns: Mapping[str, Any], status: Ints, sums: PlainSums) -> dict[str, Any]:
    held = status == Status.HELD_OUT
    ignored: Flags = np.asarray(~held & columns["predicted"])
    return {
        "documents": int(held.sum()),
        "documents_with_recall": int((columns["n_ref"][held] > 0).sum()),
        "missing_predictions": int((held & ~columns["predicted"]).sum()),
        "words": sums.whole("n_ref"),
        "predicted_words": sums.whole("n_pred"),
        "matches": sums.whole("matches"),
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


def _oracle(ledger: Ledger, n_ref: int, matches: int, listed: int) -> dict[str, Any]:
    table = ledger.table("oracle")  # a row a document, as what is told of it
    sums = {
        name: int(table.array(name).sum()) for name in ("matches", "n_words", "slots", "candidates", "flat_bound", "pruned")
    }
    oracle = _share(sums["matches"], n_ref, RECALL.undefined)
    sources = _sources(ledger, n_ref)
    best = max(sources.values()) if sources and n_ref else _share(matches, n_ref, RECALL.undefined)
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


def _oracle_block() -> Block:
    """Return the tree of the best path through a lattice."""
    document = {
        **dict.fromkeys(("matches", "n_ref", "n_path", "slots", "candidates", "flat_bound", "pruned_nodes"), COUNT),
        **dict.fromkeys(("recall", "precision"), SHARE),
        "log10_paths": NUMBER,
        "missing_lattice": FLAG,
        "path": list_of({"type": "integer"}),
        "pairs": list_of(list_of(COUNT)),
    }
    recall, repairable = ORACLE
    return Block(
        {
            **dict.fromkeys(("matches", "n_ref", "slots", "flat_bound", "pruned_nodes", "missing_lattices"), COUNT),
            "recall": recall,
            **dict.fromkeys(("precision", "best_source_recall"), SHARE),
            "repairable": repairable,
            "sources": map_of(SHARE),
            "macro_recall": SHARE,
            "candidates_per_slot": MEASURE,
            "log10_paths": NUMBER,
            "taken": map_of(object_of(dict.fromkeys(("slots", "alone", "gain"), COUNT))),
            "irreducible": object_of({"words": COUNT}, {"listed": list_of(object_of({"word": TEXT, "count": COUNT}))}),
            "documents": map_of(object_of(document)),
        },
        scopes={"all": "over all documents together; also for each document"},
    )


def _errors_schema() -> Schema:
    confusion = object_of({"truth": TEXT, "predicted": TEXT, "count": COUNT})
    kind = object_of({"kind": TEXT, "count": COUNT, "encoding": FLAG})
    totals = (
        "words", "missed_words", "extra_words", "characters", "characters_of_missing_words", "characters_of_extra_words",
    )  # fmt: skip
    return object_of({
        "words": list_of(confusion),
        "characters": list_of(confusion),
        "kinds": list_of(kind),
        "totals": object_of(dict.fromkeys(totals, COUNT)),
    })  # fmt: skip


def _ratios(**options: Any) -> Block:
    """Return a block of the ratios; some are there only if a setting asks for them."""
    always = {metric.name: metric for metric in RATIOS if metric.asked is None}
    return Block(always, {metric.name: metric for metric in RATIOS if metric.asked is not None}, **options)


def _document_block() -> Block:
    ratios = _ratios()
    sizes = {metric.name: metric for metric in SIZES_OF_DOCUMENT}
    return Block({**sizes, **ratios.fields, "missing_pred": FLAG}, ratios.optional)


PART = object_of({"n_ref": COUNT, "matches": COUNT, "recall": SHARE})
OF_DOCUMENTS = "the mean of the documents that have a value"
TABLE = MetricTable(
    "words",
    (*RATIOS, *ORACLE, *SIZES_OF_DOCUMENT),
    rows=count_rows,
    supplied=other_values,
    result=Block(
        {
            "micro": _ratios(scope="", scopes={"micro": "counts are added up over all documents, then divided"}),
            "macro": _ratios(
                scope="macro_documents",
                scopes=dict.fromkeys(("macro", "macro_documents"), OF_DOCUMENTS),
                over=MeanOfDocuments(exact=True),
            ),
            "documents": Each(
                _document_block(), by="label", over="document", present=Count("documents"), listed=False, ids=True
            ),
            "counts": object_of(dict.fromkeys(SIZES, COUNT)),
            "pages": map_of(map_of(PART)),
            "regions": map_of(PART),
            "cleanup": map_of(object_of({"times": COUNT, "amount": COUNT})),
        },
        {"oracle": _oracle_block(), "errors": _errors_schema()},
    ),
)


# The best path through a lattice, for weighted documents.


def weighted_oracle(ledger: Ledger) -> TalliedMetrics:
    """Return the metrics of the best path through the lattice for any weights of the documents."""
    documents, oracle, sources = (ledger.table(name) for name in ("documents", "oracle", "sources"))
    held = np.flatnonzero(documents.array("status") == Status.HELD_OUT)
    tallies, together = DocumentTallies(), np.zeros(len(held), np.int64)
    for name in ("n_ref", "matches"):
        tallies.count(name, held, together, 1, documents.array(name)[held])
    tallies.count("oracle", oracle.array(UNIT), np.zeros(oracle.height, np.int64), 1, oracle.array("matches"))
    names = ledger.names["source"]
    tallies.count("sources", sources.array(UNIT), sources.array("source"), len(names), sources.array("matches"))
    support = np.zeros(len(ledger.units), np.bool_)
    support[held[documents.array("n_ref")[held] > 0]] = True
    return TalliedMetrics(tallies, dict.fromkeys((metric.name for metric in ORACLE), Support(support)), _oracle_replicates)


def _oracle_replicates(sums: Mapping[str, Array]) -> Replicates:
    n_ref = sums["n_ref"][0]
    recall = share(sums["oracle"][0], n_ref)
    best = share(sums["sources"].max(axis=0) if len(sums["sources"]) else sums["matches"][0], n_ref)
    with np.errstate(invalid="ignore"):
        return {"oracle_recall": recall, "repairable": share(recall - best, np.where(best >= 1, 0.0, 1 - best))}
