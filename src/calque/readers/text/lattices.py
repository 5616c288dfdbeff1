"""Lattices of words: sausages as TSV or JSON, graphs as JSON, one file for all documents or a folder with one each."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, TypeAlias

from calque.base.errors import ContractError, Issue, IssueLog, Severity
from calque.corpus.boxes import UnitId
from calque.corpus.words import Lattice
from calque.readers.sources import json_tree
from calque.readers.text import word_table

COLUMNS = ("docid", "varid", "candid", "source", "wordid", "word")
SEPARATORS = ("|", ",")
"""What stands between the names of several sources of one candidate, unless the settings say otherwise."""
TABLES = (".tsv", ".csv", ".cand_word", ".txt")


def read_lattices(path: str, only_document: UnitId | None = None, separator: str = "auto") -> dict[UnitId, Lattice]:
    """The lattices by document; a JSON file with a single one belongs to ``only_document``, else to its stem.

    ``separator`` stands between the names of several sources: characters, ``letters`` where each letter is a source, or
    ``none``; by itself it is found out.
    """
    if not os.path.isdir(path):
        if path.lower().endswith(".json"):
            return _from_json(path, only_document)
        if path.lower().endswith(TABLES) or _begins_as_table(path):
            return _from_tables([path], separator)
        return _from_json(path, only_document)
    files = [str(file) for file in sorted(Path(path).rglob("*")) if file.is_file() and not file.name.startswith(".")]
    made: dict[UnitId, Lattice] = {}
    for file in files:
        if file.lower().endswith(".json"):
            made |= _from_json(file, None)
    tables = [file for file in files if not file.lower().endswith(".json") and _begins_as_table(file)]
    made |= _from_tables(tables, separator)
    if not made:
        text = f"the folder has no .json files, and no tables {', '.join(COLUMNS)}"
        raise ContractError.single("no-lattices", text, file=path)
    return made


def _begins_as_table(path: str) -> bool:
    """Whether a file begins with the head of a table of candidates, or with such a row."""
    try:
        with open(path, "rb") as file:
            line = file.read(4096).decode("utf-8-sig", "replace").split("\n", 1)[0]
    except OSError:
        return False
    cells = line.rstrip("\r").split("\t" if "\t" in line else ",")
    return {cell.strip().lower() for cell in cells}.issuperset(COLUMNS) or _is_row(cells)


def _is_row(cells: Sequence[str]) -> bool:
    """Whether cells are those of a table without a head: slot, candidate and word are numbers there."""
    return len(cells) >= len(COLUMNS) and all(word_table.whole_number(cells[place]) is not None for place in (1, 2))


def _from_json(path: str, only_document: UnitId | None) -> dict[UnitId, Lattice]:
    tree = json_tree.parse(json_tree.read_bytes(path), path)
    if isinstance(tree, list) or (isinstance(tree, Mapping) and "edges" in tree):
        unit = Path(path).stem if only_document is None else only_document
        return {unit: _lattice(tree, path, "")}
    if not isinstance(tree, Mapping):
        raise ContractError.single("wrong-lattice", f"holds {json_tree.a_kind(tree)}, not slots or edges", file=path)
    return {unit: _lattice(node, path, json_tree.pointer(unit)) for unit, node in tree.items()}


def _lattice(node: Any, file: str, place: str) -> Lattice:
    """``[[["a", "b"], ["ab"], []], ...]`` or ``{"edges": [[from, to, [words]], ...], "start": ..., "finals": [...]}``."""
    if isinstance(node, Mapping) and "edges" in node:
        return _graph(node, file, place)
    slots = node["slots"] if isinstance(node, Mapping) and "slots" in node else node
    if not isinstance(slots, list):
        raise _wrong(file, place, f"expected slots or edges, not {json_tree.shown(node)}")
    for number, slot in enumerate(slots):
        if not isinstance(slot, list) or not all(_is_words(candidate) for candidate in slot):
            raise _wrong(file, f"{place}/{number}", "a slot is a list of candidates, and a candidate a list of words")
    return _placed(lambda: Lattice.from_slots(slots), file, place)


def _graph(node: Mapping[str, Any], file: str, place: str) -> Lattice:
    edges = node["edges"]
    if not isinstance(edges, list):
        raise _wrong(file, f"{place}/edges", "edges is a list of [from, to, [words]]")
    for number, edge in enumerate(edges):
        fine = isinstance(edge, list) and len(edge) == 3 and _is_words(edge[2])
        if not fine or not all(isinstance(end, str | int) for end in edge[:2]):
            raise _wrong(file, f"{place}/edges/{number}", f"an edge is [from, to, [words]], not {json_tree.shown(edge)}")
    finals = node.get("finals")
    if finals is not None and not isinstance(finals, list):
        finals = [finals]
    if not all(isinstance(end, str | int | None) for end in (node.get("start"), *(finals or ()))):
        raise _wrong(file, place, "start and finals are names or numbers of nodes")
    return _placed(lambda: Lattice.from_edges([tuple(edge) for edge in edges], node.get("start"), finals), file, place)


def _placed(make: Any, file: str, place: str) -> Lattice:
    try:
        lattice: Lattice = make()
    except ContractError as error:
        issue = error.issues[0]
        raise ContractError.single(issue.code, issue.message, file=file, pointer=place, help=issue.help) from None
    return lattice


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _wrong(file: str, place: str, message: str) -> ContractError:
    return ContractError.single("wrong-lattice", message, file=file, pointer=place)


Slots: TypeAlias = "dict[int, dict[int, _Candidate]]"


def _from_tables(paths: Sequence[str], separator: str) -> dict[UnitId, Lattice]:
    """Rows of words; slots (varid), candidates (candid) and words (wordid) stand in the order of their numbers.

    A row with an empty word and wordid makes an empty candidate. The first row may name the columns; where it does not, they
    are those of the OCR application that the lattice comes from.
    """
    candidates: dict[str, Slots] = {}
    issues: list[Issue] = []
    for path in paths:
        log = IssueLog(path)
        places: Sequence[int] = ()
        for line, cells in word_table.table_rows(path, log):
            if places:
                _add_row(candidates, cells, places, line, log)
            elif _is_row(cells):
                places = range(len(COLUMNS))
                _add_row(candidates, cells, places, line, log)
            elif not (places := word_table.column_places(cells, COLUMNS, log, line)):
                break
        issues += [issue for issue in log if issue.severity is Severity.ERROR]
    if issues:
        raise ContractError(issues)
    named = {
        name for slots in candidates.values() for slot in slots.values() for each in slot.values() for name in each.sources
    }
    split = _splitter(named, separator)
    return {docid: _sausage(slots, split) for docid, slots in candidates.items()}


def _splitter(named: Set[str], separator: str) -> Callable[[str], Sequence[str]]:
    """How the cell that names sources becomes names. Without a separator, ``CT`` is C and T where each is a source alone."""
    if separator == "auto":
        separator = next((mark for mark in SEPARATORS if any(mark in name for name in named)), "none")
        letters = {name for name in named if len(name) == 1}
        if separator == "none" and letters and all(letters.issuperset(name) for name in named):
            separator = "letters"
    if separator == "letters":
        return list
    if separator == "none":
        return lambda name: [name]
    return lambda name: [part.strip() for part in name.split(separator)]


class _Candidate:
    """The words and sources of a candidate while its rows are read."""

    def __init__(self) -> None:
        self.words: dict[int, str] = {}
        self.sources: dict[str, None] = {}


def _add_row(candidates: dict[str, Slots], cells: list[str], places: Sequence[int], line: int, log: IssueLog) -> None:
    if len(cells) <= max(places):
        log.add("wrong-row", f"line {line}", f"has {len(cells)} columns, too few for {', '.join(COLUMNS)}")
        return
    docid, varid, candid, source, wordid, word = (cells[place] for place in places)
    empty = not word and not wordid.strip()
    numbers = [varid, candid] if empty else [varid, candid, wordid]
    if any(word_table.whole_number(number) is None for number in numbers):
        log.add("wrong-number", f"line {line}", "varid, candid and wordid are whole numbers from 0 with up to 18 digits")
        return
    slot = candidates.setdefault(docid, {}).setdefault(int(varid), {})
    candidate = slot.setdefault(int(candid), _Candidate())
    if source.strip():
        candidate.sources[source.strip()] = None
    if empty:
        return
    if int(wordid) in candidate.words:
        log.add(
            "duplicate-word", f"line {line}", f"document {docid!r}, slot {varid}, candidate {candid} has word {wordid} twice"
        )
    candidate.words[int(wordid)] = word


def _sausage(slots: Slots, split: Callable[[str], Sequence[str]]) -> Lattice:
    ordered = [[slots[varid][candid] for candid in sorted(slots[varid])] for varid in sorted(slots)]
    return Lattice.from_slots(
        [[[candidate.words[number] for number in sorted(candidate.words)] for candidate in slot] for slot in ordered],
        [
            [list(dict.fromkeys(name for cell in candidate.sources for name in split(cell) if name)) for candidate in slot]
            for slot in ordered
        ],
    )
