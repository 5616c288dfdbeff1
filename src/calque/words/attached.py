"""Files that are settings of words, as the text that a task keeps: lattices, what pages show, and lists of documents."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from calque.base.errors import ConfigError, ContractError
from calque.corpus.boxes import UnitId, canonical
from calque.corpus.words import Block, Edge, Lattice, TextCorpus
from calque.readers.sources.json_tree import parse, read_bytes
from calque.readers.text.lattices import read_lattices
from calque.readers.text.text_files import TextReading, decoded
from calque.readers.text.texts import is_single, read_texts

_ALONE = "\0"
"""Stands for the document of a file with a single lattice while it is read; no document is called that."""


def listed(given: Any) -> tuple[str, ...]:
    """The ids in a file, one a line, or in any list."""
    if not isinstance(given, str | os.PathLike):
        if not isinstance(given, Iterable):
            raise ConfigError(f"holdout must be a file or a list of document ids, not {given!r}")
        return tuple(str(unit) for unit in given)
    path = os.fspath(given)
    lines = decoded(read_bytes(path), path).splitlines()
    return tuple(line.strip() for line in lines if line.strip())


def substitutions(given: Any) -> tuple[tuple[str, str], ...]:
    """What is written for what: from a file with a pair a line (or an object as JSON), a mapping, or pairs."""
    if isinstance(given, Mapping):
        return tuple((str(old), str(new)) for old, new in given.items())
    if not isinstance(given, str | os.PathLike):
        try:
            return tuple((str(old), str(new)) for old, new in given)
        except (TypeError, ValueError):
            raise ConfigError(f"substitute must be a file, a mapping or pairs of texts, not {given!r}") from None
    if not os.fspath(given):
        return ()
    path = os.fspath(given)
    text = decoded(read_bytes(path), path)
    if text.lstrip().startswith("{"):
        tree = parse(text.encode(), path)
        if not isinstance(tree, Mapping) or not all(isinstance(value, str) for value in tree.values()):
            raise ContractError.single("wrong-substitution", "is not an object of texts", file=path)
        return tuple(tree.items())
    pairs = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        old, mark, new = line.partition("\t")
        if not mark or not old:
            help = "write what is read, a tab, and what to write for it"
            raise ContractError.single("wrong-substitution", "is no pair", file=path, pointer=f"line {number}", help=help)
        pairs.append((old, new))
    return tuple(pairs)


def lattice_text(given: Any, separator: str = "auto") -> str:
    """Lattices by document as JSON text, from a file, a folder or a mapping; such text is itself."""
    if isinstance(given, Mapping):
        return _text(((unit, _tree(lattice)) for unit, lattice in given.items()), single=False)
    if not isinstance(given, str | os.PathLike):
        raise ConfigError(f"lattice must be a file, a folder or a mapping, not {given!r}")
    path: str = os.fspath(given)
    if path.startswith("{"):
        return path
    made = read_lattices(path, _ALONE, separator)
    stem = os.path.splitext(os.path.basename(path))[0]
    return _text(((stem if unit == _ALONE else unit, _tree(made[unit])) for unit in made), single=_ALONE in made)


def _tree(lattice: Lattice) -> dict[str, Any]:
    if not isinstance(lattice, Lattice):
        raise TypeError(f"a lattice is made by build_lattice, or read from a file; this is a {type(lattice).__name__}")
    edges = [[edge.start, edge.end, edge.words, edge.sources, edge.candidate] for edge in lattice.edges]
    finals = sorted(lattice.finals, key=lambda node: (isinstance(node, str), node))
    return {"edges": edges, "start": lattice.start, "finals": finals, "slots": lattice.slots}


def lattices_of(text: str, only_document: UnitId | None) -> dict[UnitId, Lattice]:
    """The lattices that `lattice_text` wrote; a single one belongs to the only document, where there is but one."""
    return {
        unit: Lattice(
            tuple(
                Edge(start, end, tuple(words), tuple(sources), number) for start, end, words, sources, number in tree["edges"]
            ),
            tree["start"],
            frozenset(tree["finals"]),
            tree["slots"],
        )
        for unit, tree in _documents(text, only_document)
    }


def page_text(given: Any, reading: TextReading) -> str:
    """The texts of documents, block by block, as JSON text, from all that `read_texts` takes; such text is itself."""
    if isinstance(given, str) and given.startswith("{"):
        return given
    try:
        corpus = read_texts(given, reading)
    except TypeError as error:
        raise TypeError(f"page_text: {error}") from None
    texts: dict[UnitId, list[str]]
    if isinstance(corpus, TextCorpus):
        texts = {unit: [block.text for block in blocks] for unit, blocks in corpus.texts.items()}
    else:
        texts = {unit: list(words) for unit, words in corpus.by_document()}
    return _text(texts.items(), single=is_single(given, reading))


def page_texts(text: str, only_document: UnitId | None) -> TextCorpus:
    """The texts that `page_text` wrote; a single one belongs to the only document, where there is but one."""
    return TextCorpus(texts={unit: tuple(map(Block, texts)) for unit, texts in _documents(text, only_document)})


def _text(documents: Iterable[tuple[UnitId, Any]], *, single: bool) -> str:
    ordered = sorted(documents, key=lambda item: canonical(item[0]))
    return json.dumps({"documents": ordered, "single": single}, separators=(",", ":"))


def _documents(text: str, only_document: UnitId | None) -> list[tuple[UnitId, Any]]:
    tree = json.loads(text)
    if tree["single"] and only_document is not None:
        return [(only_document, content) for _, content in tree["documents"]]
    return [(unit, content) for unit, content in tree["documents"]]
