"""Texts of documents: a file, a folder of files, or Python values; the format is found out for each file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from calque.core.corpora.words import Block, TextCorpus, WordCorpus
from calque.core.corpus import Corpus, UnitId
from calque.core.errors import ContractError
from calque.readers.sources import json_tree
from calque.readers.text import text_files, text_folders, word_table
from calque.readers.text.text_files import TextReading, bytes_of

AS_USUAL = TextReading()


def read_texts(source: Any, reading: TextReading = AS_USUAL) -> TextCorpus | WordCorpus:
    """The texts or words in a file, in a folder (one document a file, named by its stem), or in a mapping by document."""
    if isinstance(source, TextCorpus | WordCorpus):
        return source
    if isinstance(source, Corpus):
        raise TypeError(f"words are compared with words, not with a {type(source).__name__}")
    if isinstance(source, Mapping):
        return _from_mapping(source, "")
    if not isinstance(source, str | os.PathLike):
        raise TypeError(f"cannot read texts from a {type(source).__name__}: give a path, a mapping by document or a corpus")
    path = os.fspath(source)
    if os.path.isdir(path):
        return text_folders.read(path, reading)
    return _from_file(path, reading)


def is_single(source: Any, reading: TextReading = AS_USUAL) -> bool:
    """Whether a source is one file that holds one document, so that its name need not match the other side's."""
    if not isinstance(source, str | os.PathLike) or not os.path.isfile(source):
        return False
    return text_files.format_of(os.fspath(source), reading) not in ("table", "json")


def _from_mapping(source: Mapping[Any, Any], file: str) -> TextCorpus | WordCorpus:
    if source and all(isinstance(value, str) for value in source.values()):
        return TextCorpus(texts={unit: (Block(text),) for unit, text in source.items()}, source=file)
    listed: dict[UnitId, Sequence[str]] = {}
    for unit, words in source.items():
        if isinstance(words, str) or not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
            raise ContractError.single("wrong-words", f"document {unit!r} is neither text nor a list of words", file=file)
        listed[unit] = words
    return WordCorpus.of(listed, source=file)


def _from_file(path: str, reading: TextReading) -> TextCorpus | WordCorpus:
    kind = text_files.format_of(path, reading) if os.path.exists(path) else ""
    if kind == "json":
        return _from_json(path)
    if kind == "table":
        return word_table.read(path, reading.columns)
    stem = reading.stems.of(os.path.basename(path)) or os.path.splitext(os.path.basename(path))[0]
    if kind == "words":
        return WordCorpus.of({stem: text_files.listed_words(path)}, source=path, model=os.path.basename(path))
    return TextCorpus(texts={stem: text_files.blocks_of(path, reading)}, source=path, model=os.path.basename(path))


def _from_json(path: str) -> TextCorpus | WordCorpus:
    tree = json_tree.parse(bytes_of(path), path)
    if not isinstance(tree, Mapping):
        help = "write an object with one text or list of words for each document"
        raise ContractError.single("wrong-words", f"holds {json_tree.a_kind(tree)}", file=path, help=help)
    return _from_mapping(tree, path)
