"""What a report draws of words: both texts of every document, and which words go together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array, Strings, Table
from calque.base.wording import counted
from calque.corpus.boxes import distinct_names
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.presentation import report_data as columns
from calque.evaluation.presentation.report_data import Number, Overview, Part, ReportData
from calque.words.scoring import STATUS_NAMES

if TYPE_CHECKING:
    from calque.words.task import Words


def report_data(task: Words, ledger: Ledger, numbers: Mapping[str, Any]) -> ReportData | None:  # noqa: ARG001  # as all tasks
    """The words of both sides and the numbers; nothing when the words were let go of."""
    truth, found = ledger.table("truth"), ledger.table("found")
    if "word" not in truth:
        return None
    vocabulary = Strings.pack(ledger.names["word"])
    documents = ledger.table("documents")
    recalls = {str(name): entry["recall"] for name, entry in numbers["documents"].items()}
    head = {
        "kind": "words",
        "documents": list(distinct_names(ledger.units)),
        "statuses": [STATUS_NAMES[code] for code in documents.array("status").tolist()],
        "recalls": [recalls.get(name) for name in distinct_names(ledger.units)],
        "numbers": {"overviews": [_overview(numbers).to_dict()]},
    }
    drawn: dict[str, Array] = {
        **columns.text_columns("word", vocabulary),
        **_side(ledger, truth, "truth", "t"),
        **_side(ledger, found, "found", "p"),
        **_lattice(ledger),
    }
    return ReportData(head, drawn)


def _side(ledger: Ledger, table: Table, name: str, letter: str) -> dict[str, Array]:
    """The words of a side, where each document's begin, and which are matched: those go together in order."""
    return {
        f"{letter}.start": ledger.offsets(name).astype(np.uint32),
        f"{letter}.word": columns.narrow(table.array("word")),
        f"{letter}.matched": (table.array("match") >= 0).astype(np.uint8),
    }


def _lattice(ledger: Ledger) -> dict[str, Array]:
    """Which true words the best path through the lattice has, and what there is to choose from."""
    if "chosen" not in ledger.tables or not ledger.table("oracle").height:
        return {}
    chosen = ledger.table("chosen")
    reached = np.zeros(ledger.table("truth").height, dtype=np.uint8)
    reached[ledger.absolute("truth", chosen.array("unit"), chosen.array("truth"))] = 1
    return {"t.reached": reached, **_choices(ledger)}


def _choices(ledger: Ledger) -> dict[str, Array]:
    """Every choice of a lattice: the true words that can lie there, its candidates, who read them, and which is taken."""
    if "candidates" not in ledger.tables or not isinstance(ledger.table("candidates").get("text"), Strings):
        return {}
    rows = ledger.table("candidates")
    unit, choice = rows.array(UNIT), rows.array("choice")
    begins = np.flatnonzero(np.diff(unit, prepend=-1) | np.diff(choice, prepend=-1))
    return {
        "choice.start": np.searchsorted(unit[begins], np.arange(len(ledger.units) + 1)).astype(np.uint32),
        "choice.size": columns.narrow(np.diff(begins, append=rows.height)),
        **{f"choice.{name}": columns.narrow(rows.array(name)[begins]) for name in ("first", "last")},
        "candidate.taken": rows.array("taken").astype(np.uint8),
        **columns.text_columns("candidate.text", rows["text"]),
        **columns.text_columns("candidate.sources", rows["sources"]),
    }


def _overview(numbers: Mapping[str, Any]) -> Overview:
    """The first view."""
    counts, micro = numbers["counts"], numbers["micro"]
    words, matches, predicted = counts["words"], counts["matches"], counts["predicted_words"]
    titles = {
        "recall": ("Recall", "of the true words, in order"),
        "precision": ("Precision", "of the predicted words"),
        "wer": ("WER", "edits for each true word"),
        "f1": ("F1", "of recall and precision"),
        "bag_recall": ("Bag recall", "in any order"),
    }
    shown = [Number(title, name, micro[name], note) for name, (title, note) in titles.items() if name in micro]
    oracle = numbers.get("oracle", {}).get("recall")
    last = Number("Mean recall", "macro.recall", numbers["macro"]["recall"], "of documents")
    return Overview(
        line=["Words", counted(counts["documents"], "document"), counted(words, "true word"), f"{predicted:,} predicted"],
        parts=[Part("tp", matches, "found"), Part("fn", words - matches, "missing"), Part("fp", predicted - matches, "extra")],
        numbers=[*shown, last if oracle is None else Number("Lattice", "oracle_recall", oracle, "recall of its best path")],
    )
