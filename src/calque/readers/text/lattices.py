"""Lattices of words: sausages as TSV or JSON, graphs as JSON, one file for all documents or a folder with one each."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from calque.core.corpus import UnitId
from calque.core.errors import ContractError, IssueLog
from calque.core.word_corpus import Lattice
from calque.readers.sources import json_tree
from calque.readers.text import word_table

COLUMNS = ("docid", "varid", "candid", "source", "wordid", "word")


def read_lattices(path: str, only_document: UnitId | None = None) -> dict[UnitId, Lattice]:
    """The lattices by document; a JSON file with a single one belongs to ``only_document``, else to its stem."""
    if os.path.isdir(path):
        made: dict[UnitId, Lattice] = {}
        for file in sorted(Path(path).glob("*.json")):
            made |= _from_json(str(file), None)
        for file in sorted(Path(path).glob("*.tsv")):
            made |= _from_table(str(file))
        if not made:
            raise ContractError.single("no-lattices", "the folder has no .json or .tsv files", file=path)
        return made
    if path.lower().endswith((".tsv", ".csv")):
        return _from_table(path)
    return _from_json(path, only_document)


def _from_json(path: str, only_document: UnitId | None) -> dict[UnitId, Lattice]:
    tree = json_tree.parse(json_tree.read_bytes(path), path)
    if isinstance(tree, list) or (isinstance(tree, Mapping) and "edges" in tree):
        unit = Path(path).stem if only_document is None else only_document
        return {unit: _lattice(tree, path, "")}
    if not isinstance(tree, Mapping):
        raise ContractError.single("wrong-lattice", f"holds {json_tree.kind(tree)}, not slots or edges", file=path)
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


def _from_table(path: str) -> dict[UnitId, Lattice]:
    """Rows of words; slots (varid), candidates (candid) and words (wordid) stand in the order of their numbers.

    A row with an empty word and wordid makes an empty candidate.
    """
    log = IssueLog(path)
    candidates: dict[str, dict[int, dict[int, _Candidate]]] = {}
    places: Sequence[int] = ()
    for line, cells in word_table.table_rows(path, log):
        if not places:
            places = word_table.column_places(cells, COLUMNS, log, line)
            if not places:
                break
            continue
        _add_row(candidates, cells, places, line, log)
    log.raise_errors()
    return {docid: _sausage(slots) for docid, slots in candidates.items()}


class _Candidate:
    """The words and sources of a candidate while its rows are read."""

    def __init__(self) -> None:
        self.words: dict[int, str] = {}
        self.sources: dict[str, None] = {}


def _add_row(
    candidates: dict[str, dict[int, dict[int, _Candidate]]], cells: list[str], places: Sequence[int], line: int, log: IssueLog
) -> None:
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
    candidate.sources.update(dict.fromkeys(name for name in source.split("|") if name))
    if empty:
        return
    if int(wordid) in candidate.words:
        log.add(
            "duplicate-word", f"line {line}", f"document {docid!r}, slot {varid}, candidate {candid} has word {wordid} twice"
        )
    candidate.words[int(wordid)] = word


def _sausage(slots: dict[int, dict[int, _Candidate]]) -> Lattice:
    ordered = [[slots[varid][candid] for candid in sorted(slots[varid])] for varid in sorted(slots)]
    return Lattice.from_slots(
        [[[candidate.words[number] for number in sorted(candidate.words)] for candidate in slot] for slot in ordered],
        [[list(candidate.sources) for candidate in slot] for slot in ordered],
    )
