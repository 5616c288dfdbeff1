"""From two corpora of words to the ledger: which documents count, how their words pair, and one row for each word."""

from __future__ import annotations

from enum import IntEnum
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Array, Codes, Column, Flags, Ints, Strings, Table
from calque.base.errors import Issue, Severity
from calque.base.wording import counted
from calque.corpus.boxes import UnitId, canonical
from calque.corpus.words import WordCorpus
from calque.evaluation.document_sums import share
from calque.evaluation.item_outcomes import FalsePositives, RunOutcomes, TruthOutcomes, positions
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.nothing_evaluated import NO_TRUTH, NOTHING_HELD_OUT, DocumentCoverage
from calque.kernels import kernels
from calque.words.alignment import LOG_LIMIT, as_texts, count_bag_matches, count_matches
from calque.words.holdout import held_out
from calque.words.lattice.lattices import COLUMNS, oracle_tables
from calque.words.text.characters import character_edits
from calque.words.text.languages import content_words
from calque.words.text.prepare import Sides

if TYPE_CHECKING:
    from calque.words.task import Words


class Status(IntEnum):
    """Whether a document is part of the test, and if not, why."""

    HELD_OUT = 0
    NOT_HELD_OUT = 1
    NO_TRUTH = 2
    """Only predictions know it."""


STATUS_NAMES = tuple(status.name.lower() for status in Status)
_WORDS = frozenset((table, column) for table in ("truth", "found") for column in ("word", "match"))
"""Only lists of confusions are made of words; all other numbers are counts."""
_TEXTS = frozenset({("removed", "text")}) | {("candidates", column) for column in COLUMNS}


def score(task: Words, truth: WordCorpus, found: WordCorpus, *, jobs: int) -> Ledger:
    """The ledger: ``documents`` with counts, ``truth`` and ``found`` with a row a word, ``removed``, the oracle's tables."""
    units = tuple(sorted({*truth.units(), *found.units()}, key=canonical))
    test = held_out(truth.units(), listed=task.holdout, fraction=task.holdout_fraction, fold=task.holdout_fold, seed=task.seed)
    sides = Sides.of(truth.select(test), found.select(test))
    unit_rows = np.array([row for row, unit in enumerate(units) if unit in test], dtype=np.int32)
    partners = kernels().lcs_partners(*sides.arrays(), LOG_LIMIT, jobs)
    counts = _counts(task, sides, partners, jobs)
    oracle, oracle_names = oracle_tables(task, sides, found, unit_rows, jobs)
    removed, steps = _removed(truth, units, test)
    region, regions = _regions(sides.truth)
    return Ledger(
        units=units,
        names={"word": sides.vocabulary, "status": STATUS_NAMES, "region": regions, "step": steps, **oracle_names},
        details=_TEXTS if task.errors else _TEXTS | _WORDS,
        tables={
            "documents": _documents(units, truth, found, counts, unit_rows),
            "truth": _truth_rows(sides, unit_rows, partners, region),
            "found": _found_rows(sides, unit_rows, partners),
            "removed": removed,
            **oracle,
        },
    )


def coverage(task: Words, ledger: Ledger) -> DocumentCoverage:
    """Which documents the two sides are about, whether any is held out, and whether any word is there to be found."""
    documents = ledger.table("documents")
    status = documents.array("status")
    in_truth, in_found = status != Status.NO_TRUTH, documents.array("predicted")
    held = status == Status.HELD_OUT
    if not held.any():
        rule = "the list" if task.holdout is not None else "the rule"
        text = f"{rule} of documents that are held out matches none of the {np.count_nonzero(in_truth):,} in the truth"
        return DocumentCoverage(
            in_truth, in_found, NOTHING_HELD_OUT, text, "list ids as the truth has them: a file's stem, one a line"
        )
    if not documents.array("n_ref")[held].any():
        return DocumentCoverage(
            in_truth, in_found, NO_TRUTH, "the truth is empty: it has no words", "check the files and what is dropped"
        )
    return DocumentCoverage(held, in_found)


NAMED = 5
"""How many unknown ids a message names."""


def unknown_documents(task: Words, ledger: Ledger) -> list[str]:
    """Return the ids of the hold-out list that are not documents of the ground truth."""
    held = np.flatnonzero(ledger.table("documents").array("status") == Status.HELD_OUT).tolist()
    return sorted(set(task.holdout or ()) - {str(ledger.units[row]) for row in held})


def remarks(task: Words, ledger: Ledger) -> tuple[Issue, ...]:
    """Report ids of the hold-out list that no document has; if no id has one, `coverage` reports that."""
    unknown = unknown_documents(task, ledger)
    if not unknown or len(unknown) == len(set(task.holdout or ())):
        return ()
    named = ", ".join(map(repr, unknown[:NAMED])) + (f" and {len(unknown) - NAMED:,} more" if len(unknown) > NAMED else "")
    text = f"holdout lists {counted(len(unknown), 'id')} that no document of the ground truth has, got {named}"
    help = "list ids as the ground truth has them: the stem of a file, one per line"
    return (Issue("unknown-holdout", text, help=help, severity=Severity.NOTE),)


def _counts(task: Words, sides: Sides, partners: Codes, jobs: int) -> dict[str, Ints]:
    """What is counted for each document of the test."""
    matched = np.concatenate([[0], np.cumsum(partners >= 0)])[sides.truth_offsets]
    counts = {
        "matches": np.diff(matched),
        "naive": _naive(sides),
        "bag": count_bag_matches(*sides.arrays()),
        "word_edits": _word_edits(sides, np.diff(matched)),
    }
    stop_free = sides.only(content_words(sides.vocabulary, task.stop_words)) if task.stop_words else sides
    counts["content_ref"] = np.diff(stop_free.truth_offsets)
    counts["content_matches"] = count_matches(*stop_free.arrays(), jobs) if task.stop_words else counts["matches"]
    characters = np.zeros((len(sides.documents), 3), dtype=np.int64)
    if task.characters != "none":
        characters = character_edits(sides, partners, task.characters, task.separators)
    counts |= {name: characters[:, column] for column, name in enumerate(("chars_ref", "chars_pred", "char_edits"))}
    return counts


def _naive(sides: Sides) -> Ints:
    """How many words stand at the same place on both sides."""
    row = sides.truth_rows()
    if sides.truth.position is None and sides.found_position is None:
        at = sides.found_offsets[row] + sides.truth_positions()
        there: Flags = at < sides.found_offsets[row + 1]
    else:
        keys = sides.found_rows() * _APART + sides.found_positions()
        wanted = row * _APART + sides.truth_positions()
        at = np.searchsorted(keys, wanted)
        there = np.append(keys, -1)[at] == wanted
    same = there.copy()
    same[there] = sides.found_word[at[there]] == sides.truth_word[there]
    return np.bincount(row[same], minlength=len(sides.documents)).astype(np.int64)


_APART = 1 << 40
"""More than any word id: documents are kept apart by it."""


def _word_edits(sides: Sides, matches: Ints) -> Ints:
    from rapidfuzz.distance import Levenshtein

    ours, theirs = as_texts(sides.truth_word, sides.found_word)
    edits = []
    bounds = zip(pairwise(sides.truth_offsets.tolist()), pairwise(sides.found_offsets.tolist()), matches.tolist(), strict=True)
    for (a, b), (c, d), shared in bounds:
        most = b - a + d - c - 2 * shared
        edits.append(Levenshtein.distance(ours[a:b], theirs[c:d], score_cutoff=most) if most else 0)
    return np.array(edits, dtype=np.int64)


def _documents(units: tuple[UnitId, ...], truth: WordCorpus, found: WordCorpus, counts: dict[str, Ints], rows: Codes) -> Table:
    in_truth, in_found = _sizes(units, truth), _sizes(units, found)
    status = np.where(in_truth < 0, Status.NO_TRUTH, Status.NOT_HELD_OUT).astype(np.uint8)
    status[rows] = Status.HELD_OUT
    columns: dict[str, Column] = {
        UNIT: np.arange(len(units), dtype=np.int32),
        "status": status,
        "predicted": in_found >= 0,
        "n_ref": np.maximum(in_truth, 0),
        "n_pred": np.maximum(in_found, 0),
    }
    for name, values in counts.items():
        column = np.zeros(len(units), dtype=np.int64)
        column[rows] = values
        columns[name] = column
    return Table(columns)


def _sizes(units: tuple[UnitId, ...], corpus: WordCorpus) -> Ints:
    """The number of words of each document; -1 where the corpus does not know it."""
    known = dict(zip(corpus.documents, np.diff(corpus.offsets).tolist(), strict=True))
    return np.array([known.get(unit, -1) for unit in units], dtype=np.int64)


def _regions(truth: WordCorpus) -> tuple[Codes, tuple[str, ...]]:
    """For each word the code of its kind of block, and the names of the kinds that occur."""
    if truth.region is None:
        return np.zeros(len(truth), dtype=np.int32), ("",) if len(truth) else ()
    used, codes = np.unique(truth.region, return_inverse=True)
    return codes.astype(np.int32), tuple(truth.regions[code] for code in used.tolist())


def _truth_rows(sides: Sides, unit_rows: Codes, partners: Codes, region: Codes) -> Table:
    page = sides.truth.page
    return Table({
        UNIT: unit_rows[sides.truth_rows()],
        "word": sides.truth_word,
        "match": partners,
        "found": partners >= 0,
        "page": np.zeros(len(partners), dtype=np.int32) if page is None else page,
        "region": region,
    })  # fmt: skip


def _found_rows(sides: Sides, unit_rows: Codes, partners: Codes) -> Table:
    match = np.full(len(sides.found_word), -1, dtype=np.int32)
    paired = np.flatnonzero(partners >= 0)
    rows = sides.truth_rows()[paired]
    match[sides.found_offsets[rows] + partners[paired]] = (paired - sides.truth_offsets[rows]).astype(np.int32)
    return Table({UNIT: unit_rows[sides.found_rows()], "word": sides.found_word, "match": match})


def _removed(truth: WordCorpus, units: tuple[UnitId, ...], test: set[UnitId]) -> tuple[Table, tuple[str, ...]]:
    """What clean-up took out of the documents of the test, and the names of its steps."""
    position = {unit: row for row, unit in enumerate(units)}
    rows = [removed for removed in truth.removed if removed.document in test]
    steps = tuple(sorted({removed.step for removed in rows}))
    code = {step: number for number, step in enumerate(steps)}
    unit: Array = np.array([position[removed.document] for removed in rows], dtype=np.int32)
    table = Table({
        UNIT: unit,
        "step": np.array([code[removed.step] for removed in rows], dtype=np.int32),
        "words": np.array([removed.words for removed in rows], dtype=np.int64),
        "text": Strings.pack(removed.text for removed in rows),
    })  # fmt: skip
    return table.take(np.argsort(unit, kind="stable")), steps


def run_outcomes(_task: Words, ledger: Ledger) -> RunOutcomes:
    """Words by their places in the truth; without the words themselves their labels are empty."""
    truth, found = ledger.table("truth"), ledger.table("found")
    unit = truth.array(UNIT)
    place = positions(ledger.offsets("truth"), unit)
    right = truth.array("found").tolist()
    kinds = ["tp" if one else "fn" for one in right]
    truths = TruthOutcomes(unit.tolist(), place, truth.array("page").tolist(), place, _words(ledger, truth), kinds, right)
    documents = ledger.table("documents")
    held = documents.array("status") == Status.HELD_OUT
    scores = np.where(held, share(documents.array("matches"), documents.array("n_ref")), np.nan)
    if "match" not in found:
        return RunOutcomes(truths, FalsePositives((), (), ()), scores)
    alone = np.flatnonzero(found.array("match") < 0)
    words = _words(ledger, found)
    alarms = FalsePositives(found.array(UNIT)[alone].tolist(), [0] * len(alone), [words[row] for row in alone.tolist()])
    return RunOutcomes(truths, alarms, scores)


def _words(ledger: Ledger, table: Table) -> list[str]:
    if "word" not in table:
        return [""] * table.height
    vocabulary = ledger.names["word"]
    return [vocabulary[code] for code in table.array("word").tolist()]
