"""Texts of documents: a file, a folder of files, or Python values; the format is found out for each file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from calque.base.errors import ContractError, Issue, Severity
from calque.base.wording import counted
from calque.corpus.boxes import Corpus, UnitId
from calque.corpus.words import Block, TextCorpus, WordCorpus
from calque.readers.sources import json_tree
from calque.readers.text import word_table
from calque.readers.text.text_files import KNOWN, TextFile, TextReading, bytes_of, is_binary, is_truth_file

AS_USUAL = TextReading()
CANDIDATES = (".cand_word",)
"""Lattices of the OCR application that the protocol comes from."""


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
        return _from_folder(path, reading)
    return _from_file(path, reading)


def is_single(source: Any, reading: TextReading = AS_USUAL) -> bool:
    """Whether a source is one file that holds one document, so that its name need not match the other side's."""
    if not isinstance(source, str | os.PathLike) or not os.path.isfile(source):
        return False
    return TextFile(os.fspath(source), reading).format not in ("table", "json")


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
    json_tree.check_readable(path)
    file = TextFile(path, reading)
    if file.format == "json":
        return _from_json(path)
    if file.format == "table":
        return word_table.read(path, reading.columns)
    stem = reading.stems.of(os.path.basename(path)) or os.path.splitext(os.path.basename(path))[0]
    if file.format == "words":
        return WordCorpus.of({stem: file.words()}, source=path, model=os.path.basename(path))
    return TextCorpus(texts={stem: file.blocks()}, source=path, model=os.path.basename(path))


def _from_json(path: str) -> TextCorpus | WordCorpus:
    tree = json_tree.parse(bytes_of(path), path)
    if not isinstance(tree, Mapping):
        help = "write an object with one text or list of words for each document"
        raise ContractError.single("wrong-words", f"holds {json_tree.a_kind(tree)}", file=path, help=help)
    return _from_mapping(tree, path)


def _from_folder(path: str, reading: TextReading) -> TextCorpus | WordCorpus:
    """The documents of all files in a folder and in the folders inside it."""
    found = _Folder(path, reading)
    chosen = found.chosen()
    for name, unit in chosen.items():
        found.take(name, unit)
    if not chosen and not found.errors:
        help = f"it should have files that end in {', '.join(KNOWN)}"
        raise ContractError.single("no-documents", found.nothing(), file=path, help=found.hint or help)
    if found.errors:
        raise ContractError(found.errors)
    return found.corpus()


@dataclass
class _Folder:
    """What is found in a folder while its files are read one by one."""

    path: str
    reading: TextReading
    texts: dict[UnitId, Sequence[Block]] = field(default_factory=dict)
    lists: dict[UnitId, list[str]] = field(default_factory=dict)
    tables: list[WordCorpus] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    errors: list[Issue] = field(default_factory=list)
    hint: str = ""

    def chosen(self) -> dict[str, str]:
        """The files that are read, each with its document; of several files of one document the one of this side."""
        by_unit: dict[str, list[str]] = {}
        for name in _files(self.path):
            unit = self._document_of(name)
            if unit is not None:
                by_unit.setdefault(unit, []).append(name)
        return {name: unit for unit, names in by_unit.items() for name in self._of_this_side(unit, names)}

    def _document_of(self, name: str) -> str | None:
        """The document of a file; nothing, and a note, for files that hold none."""
        suffix, given = os.path.splitext(name)[1].lower(), self.reading.format != "auto"
        if suffix in CANDIDATES:
            self.hint = f"{name} holds candidates: give the folder as --lattice"
        unit = self.reading.stems.of(name)
        if unit is None:
            self._not_read(name, "does not fit the stem pattern")
        elif suffix in CANDIDATES or not (given or self._may_hold_text(name, suffix)):
            self._not_read(name, "is in no format that holds a document")
        else:
            return unit
        return None

    def _may_hold_text(self, name: str, suffix: str) -> bool:
        """Files of unknown kinds are looked into; JSON is one file for many documents."""
        return suffix != ".json" and (suffix in KNOWN or not is_binary(os.path.join(self.path, name)))

    def _not_read(self, name: str, why: str) -> None:
        self.issues.append(Issue("not-read", f"{name} {why}", self.path, severity=Severity.NOTE))

    def _of_this_side(self, unit: str, names: list[str]) -> list[str]:
        """``x.gt.txt`` is the truth and ``x.ocr.txt`` is not; files of unknown kinds give way; what is left must be one."""
        kept = names
        if len(kept) > 1:
            sides = [name for name in kept if is_truth_file(name) == self.reading.truth]
            kept = sides or kept
        if len(kept) > 1:
            usual = [name for name in kept if os.path.splitext(name)[1].lower() in KNOWN]
            kept = usual or kept
        for name in names:
            if name not in kept and is_truth_file(name) == self.reading.truth:
                self._not_read(name, f"is another file of document {unit!r}")
        if len(kept) == 1:
            return kept
        help = "a document is a file and is named by its stem; --stem-pattern says which files are meant"
        self.errors.append(Issue("same-document", f"{kept[0]} and {kept[1]} are both document {unit!r}", self.path, "", help))
        return []

    def take(self, name: str, unit: str) -> None:
        """Read one file."""
        try:
            file = TextFile(os.path.join(self.path, name), self.reading)
            if file.format == "table":
                self.tables.append(word_table.read(file.path, self.reading.columns, document=unit))
            elif file.format == "words":
                self.lists[unit] = file.words()
            else:
                self.texts[unit] = file.blocks()
        except ContractError as error:
            self.errors += error.issues

    def nothing(self) -> str:
        """Why no file was read."""
        unfit = sum("stem pattern" in issue.message for issue in self.issues)
        return f"none of its {counted(unfit, 'file')} fits the stem pattern" if unfit else "the folder has no documents"

    def corpus(self) -> TextCorpus | WordCorpus:
        """All documents as one corpus: texts where any file is a text, else lists of words with their ids."""
        model = os.path.basename(os.path.abspath(self.path))
        words = [*([WordCorpus.of(self.lists)] if self.lists else []), *self.tables]
        if not self.texts:
            joined = WordCorpus.joined(words, source=self.path, model=model)
            return joined.with_issues((*self.issues, *joined.issues))
        for corpus in words:
            for unit, listed in corpus.by_document():
                if unit in self.texts:
                    text = f"document {unit!r} is a text file and stands in a table, too"
                    raise ContractError.single("same-document", text, file=self.path)
                self.texts[unit] = (Block("\n".join(listed)),)
        issues = (*self.issues, *(issue for corpus in words for issue in corpus.issues))
        return TextCorpus(texts=self.texts, source=self.path, model=model, issues=issues)


def _files(path: str) -> Iterator[str]:
    """The files below a folder in the order of their names, each by its path from there; hidden ones are left alone."""
    seen: set[str] = set()  # folders may lead back to themselves
    for folder, inner, names in os.walk(path, followlinks=True):
        real = os.path.realpath(folder)
        inner[:] = sorted(name for name in inner if not name.startswith(".")) if real not in seen else []
        if real in seen:
            continue
        seen.add(real)
        below = os.path.relpath(folder, path)
        for name in sorted(names):
            if not name.startswith(".") and os.path.isfile(os.path.join(folder, name)):
                yield name if below == "." else f"{below}/{name}".replace(os.sep, "/")
