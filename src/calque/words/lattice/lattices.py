"""Lattices of words: made of what several engines read, candidates where readings part, and the oracle of each document."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from calque.base.arguments import check_type, check_words
from calque.base.columns import Codes, Column, Strings, Table
from calque.base.errors import ContractError
from calque.corpus.boxes import UnitId
from calque.corpus.words import Edge, Lattice, WordCorpus
from calque.engines import thread_engine
from calque.evaluation.ledger import UNIT
from calque.words.alignment import align
from calque.words.lattice.best_path import Oracle, oracle
from calque.words.text.prepare import Sides

if TYPE_CHECKING:
    from calque.words.task import Words

COLUMNS = ("choice", "first", "last", "taken", "text", "sources")
"""What viewers alone need, all but the document."""


def candidates_table(best: Sequence[Oracle | None], units: Codes) -> Table:
    """One row for each candidate of each choice on the best path of each document.

    ``choice`` counts within a document; from ``first`` to before ``last`` are the true words that can lie there: those between
    the nearest words before and behind it that the path has right.
    """
    unit: list[int] = []
    numbers: list[tuple[int, int, int, bool]] = []
    texts: list[str] = []
    sources: list[str] = []
    for code, one in zip(units.tolist(), best, strict=True):
        for choice, (first, last, taken, offered) in enumerate(() if one is None else _choices(one)):
            for edge in offered:
                unit.append(code)
                numbers.append((choice, first, last, edge is taken))
                texts.append(" ".join(edge.words))
                sources.append(", ".join(edge.sources))
    table = np.array(numbers, dtype=np.int64).reshape(-1, 4)
    return Table({
        UNIT: np.array(unit, dtype=np.int32),
        "choice": table[:, 0].astype(np.int32),
        "first": table[:, 1].astype(np.int32),
        "last": table[:, 2].astype(np.int32),
        "taken": table[:, 3].astype(np.bool_),
        "text": Strings.pack(texts),
        "sources": Strings.pack(sources),
    })  # fmt: skip


def _choices(best: Oracle) -> Iterator[tuple[int, int, Edge, list[Edge]]]:
    """Each place of the path that several candidates leave: its true words, what is taken, and all that is offered."""
    leaving: dict[object, list[Edge]] = {}
    for edge in best.edges:
        leaving.setdefault(edge.start, []).append(edge)
    truths = [truth for truth, _ in best.pairs]
    words = [word for _, word in best.pairs]
    at = 0
    for edge in best.taken:
        begin, at = at, at + len(edge.words)
        offered = leaving[edge.start]
        if len(offered) < 2:
            continue
        before, behind = bisect_left(words, begin), bisect_left(words, at)
        first = truths[before - 1] + 1 if before else 0
        last = truths[behind] if behind < len(truths) else best.n_ref
        yield first, last, edge, offered


def build_lattice(readings: Mapping[str, Sequence[str]]) -> Lattice:
    """Build a lattice from several readings of one text. Every reading is a path through it.

    A word that all readings have in common, in order, is a slot of its own. The words between two such words are one slot, in
    which each reading is a candidate. Equal candidates are merged. The order of the readings does not matter.

    Args:
        readings: The words of each reading, by its name.

    Returns:
        The lattice, for `oracle`.

    >>> lattice = build_lattice({"a": ["the", "cat", "sat"], "b": ["the", "cot", "sat"], "c": ["the", "sat"]})
    >>> [(edge.words, edge.sources) for edge in lattice.edges if edge.start == 1]
    [(('cat',), ('a',)), (('cot',), ('b',)), ((), ('c',))]
    """
    check_type("build_lattice", "readings", readings, Mapping, "a mapping of names to lists of words")
    check_words("build_lattice", **{f"readings[{name!r}]": words for name, words in readings.items()})
    if not readings:
        raise ValueError("build_lattice: readings must have at least one reading, got none")
    names = sorted(readings, key=lambda name: (list(readings[name]), name))
    places = _anchors([readings[name] for name in names])
    slots: list[list[Sequence[str]]] = []
    sources: list[list[list[str]]] = []
    begins = tuple(0 for _ in names)
    for anchor in [*places, None]:
        ends = tuple(len(readings[name]) for name in names) if anchor is None else anchor
        segments = [tuple(readings[name][begin:end]) for name, begin, end in zip(names, begins, ends, strict=True)]
        if any(segments):
            distinct = list(dict.fromkeys(segments))
            slots.append(list(distinct))
            read = list(zip(names, segments, strict=True))
            sources.append([sorted(name for name, mine in read if mine == kept) for kept in distinct])
        if anchor is not None:
            slots.append([(readings[names[0]][anchor[0]],)])
            sources.append([sorted(names)])
            begins = tuple(place + 1 for place in anchor)
    return Lattice.from_slots(slots, sources)


def _anchors(readings: Sequence[Sequence[str]]) -> list[tuple[int, ...]]:
    """Positions, one for each reading, of words that all share in order."""
    shared: list[tuple[int, ...]] = [(position,) for position in range(len(readings[0]))]
    for reading in readings[1:]:
        words = [readings[0][place[0]] for place in shared]
        shared = [(*shared[mine], theirs) for mine, theirs in align(words, reading).pairs]
    return shared


_NOTHING = Lattice.from_slots([])
COUNTS = ("matches", "n_words", "slots", "candidates", "flat_bound", "pruned")


def oracle_tables(
    task: Words, sides: Sides, found: WordCorpus, unit_rows: Codes, jobs: int
) -> tuple[dict[str, Table], dict[str, tuple[str, ...]]]:
    """Tables ``oracle``, ``sources``, ``path``, ``chosen``, ``irreducible``, ``candidates``, and the names of the sources."""
    rows = list(range(len(sides.documents))) if task.lattice != "none" else []
    best = _all_best(sides, found.lattices, rows, jobs)
    used = [found.lattices[unit] for row in rows if (unit := sides.documents[row]) in found.lattices]
    sources = tuple(sorted({name for lattice in used for name in lattice.sources}))
    tables = {
        "oracle": _oracle_table(best, unit_rows[rows]),
        "sources": _source_table(sides, found.lattices, rows, unit_rows, sources, best),
        "path": _path_table(best, unit_rows[rows]),
        "chosen": _chosen_table(best, unit_rows[rows]),
        "irreducible": _irreducible_table(sides, found.lattices, rows, unit_rows),
        "candidates": candidates_table(best, unit_rows[rows]),
    }
    return tables, {"source": sources}


def _reference(sides: Sides, row: int) -> list[str]:
    codes = sides.truth_word[sides.truth_offsets[row] : sides.truth_offsets[row + 1]]
    return [sides.vocabulary[code] for code in codes.tolist()]


def _all_best(sides: Sides, lattices: Mapping[UnitId, Lattice], rows: list[int], jobs: int) -> list[Oracle | None]:
    """The oracle of each document; nothing for those without a lattice."""

    def best(row: int) -> Oracle | None:
        unit = sides.documents[row]
        lattice = lattices.get(unit)
        if lattice is None:
            return None
        try:
            return oracle(_reference(sides, row), lattice=lattice)
        except ContractError as error:
            issue = error.issues[0]
            raise ContractError.single(issue.code, f"document {unit!r}: {issue.message}", help=issue.help) from None

    return list(thread_engine(jobs).map(best, rows))


def _oracle_table(best: list[Oracle | None], units: Codes) -> Table:
    counted = [
        (0,) * len(COUNTS) if one is None
        else (one.matches, len(one.words), one.n_slots, one.n_candidates, one.flat_bound, one.pruned)
        for one in best
    ]  # fmt: skip
    numbers = np.array(counted, dtype=np.int64).reshape(-1, len(COUNTS))
    columns: dict[str, Column] = {UNIT: units, "has_lattice": np.array([one is not None for one in best], dtype=np.bool_)}
    columns |= {name: np.ascontiguousarray(numbers[:, column]) for column, name in enumerate(COUNTS)}
    columns["log10_paths"] = np.array([0.0 if one is None else one.log10_paths for one in best], dtype=np.float64)
    return Table(columns)


SOURCE_COUNTS = ("matches", "n_words", "taken", "alone", "gain")


def _source_table(
    sides: Sides,
    lattices: Mapping[UnitId, Lattice],
    rows: list[int],
    unit_rows: Codes,
    sources: tuple[str, ...],
    best: list[Oracle | None],
) -> Table:
    """What each source alone would have, its candidates slot by slot; and what the best path takes from it."""
    entries = []
    for row, one in zip(rows, best, strict=True):
        lattice = lattices.get(sides.documents[row], _NOTHING)
        taken = {} if one is None else _taken(one)
        for source in sorted(lattice.sources):
            code, words = sources.index(source), lattice.read_by(source)
            matches = align(_reference(sides, row), words).matches
            entries.append((unit_rows[row], code, matches, len(words), *taken.get(source, (0, 0, 0))))
    table = np.array(entries, dtype=np.int64).reshape(-1, 2 + len(SOURCE_COUNTS))
    counts = {name: np.ascontiguousarray(table[:, column]) for column, name in enumerate(SOURCE_COUNTS, start=2)}
    return Table({UNIT: table[:, 0].astype(np.int32), "source": table[:, 1].astype(np.int32), **counts})


def _taken(best: Oracle) -> dict[str, tuple[int, int, int]]:
    """For each source the slots with a choice in which the path takes what it read.

    Beside them those in which no other source read that, and how many words match in those.
    """
    sizes = Counter(edge.start for edge in best.edges)
    matched = {word for _, word in best.pairs}
    counts: dict[str, list[int]] = {}
    at = 0
    for edge in best.taken:
        hits = sum(word in matched for word in range(at, at + len(edge.words)))
        at += len(edge.words)
        if sizes[edge.start] == 1:
            continue
        alone = len(edge.sources) == 1
        for source in edge.sources:
            mine = counts.setdefault(source, [0, 0, 0])
            mine[0] += 1
            mine[1] += alone
            mine[2] += hits if alone else 0
    return {source: (slots, alone, gain) for source, (slots, alone, gain) in counts.items()}


def _irreducible_table(sides: Sides, lattices: Mapping[UnitId, Lattice], rows: list[int], unit_rows: Codes) -> Table:
    """The true words that no candidate has, wherever it stands: no choice can give them."""
    units: list[int] = []
    words: list[str] = []
    for row in rows:
        lattice = lattices.get(sides.documents[row], _NOTHING)
        known = {word for edge in lattice.edges for word in edge.words}
        missing = [word for word in _reference(sides, row) if word not in known]
        units += [int(unit_rows[row])] * len(missing)
        words += missing
    return Table({UNIT: np.array(units, dtype=np.int32), "text": Strings.pack(words)})


def _path_table(best: list[Oracle | None], units: Codes) -> Table:
    paths = [[] if one is None else one.path for one in best]
    unit = np.repeat(units, [len(path) for path in paths]).astype(np.int32)
    return Table({UNIT: unit, "candidate": np.array([pick for path in paths for pick in path], dtype=np.int32)})


def _chosen_table(best: list[Oracle | None], units: Codes) -> Table:
    """The words of the best path that match, as pairs of a true word and a word of the path."""
    pairs = [[] if one is None else one.pairs for one in best]
    unit = np.repeat(units, [len(listed) for listed in pairs]).astype(np.int32)
    flat = np.array([pair for listed in pairs for pair in listed], dtype=np.int32).reshape(-1, 2)
    return Table({UNIT: unit, "truth": np.ascontiguousarray(flat[:, 0]), "word_of_path": np.ascontiguousarray(flat[:, 1])})
