"""Texts of documents: a file, a folder of files, or Python values; the format is found out for each file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from calque.core.corpus import Corpus, UnitId
from calque.core.errors import ContractError, Issue, Severity
from calque.core.word_corpus import Block, TextCorpus, WordCorpus
from calque.readers.sources import json_tree, xml_tree
from calque.readers.text import alto, hocr, html, page_xml, tesseract_tsv, word_table
from calque.readers.text.page_xml import Level

LARGEST = 256 << 20
"""Bytes of one document. No text that people read is as long, and a larger file would fill the memory."""

TEXT, MARKUP, TABLES = (".txt", ".text"), (".html", ".htm", ".xhtml", ".hocr", ".xml"), (".tsv", ".csv", ".parquet")
EXTENSIONS = (*TEXT, *MARKUP, *TABLES, ".json")


def read_texts(source: Any, *, level: Level = "region") -> TextCorpus | WordCorpus:
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
        return _from_folder(path, level)
    return _from_file(path, level)


def is_single(source: Any) -> bool:
    """Whether a source is one file that holds one document, so that its name need not match the other side's."""
    return isinstance(source, str | os.PathLike) and os.path.isfile(source) and not _is_table(os.fspath(source))


def _is_table(path: str) -> bool:
    suffix = Path(path).suffix.lower()
    if suffix in (".csv", ".parquet", ".json"):
        return True
    if suffix != ".tsv":
        return False
    with Path(path).open("rb") as file:
        return not tesseract_tsv.looks_like(file.read(256).decode("utf-8", "replace"))


def _from_mapping(source: Mapping[Any, Any], file: str) -> TextCorpus | WordCorpus:
    if source and all(isinstance(value, str) for value in source.values()):
        return TextCorpus(texts={unit: (Block(text),) for unit, text in source.items()}, source=file)
    listed: dict[UnitId, Sequence[str]] = {}
    for unit, words in source.items():
        if isinstance(words, str) or not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
            raise ContractError.single("wrong-words", f"document {unit!r} is neither text nor a list of words", file=file)
        listed[unit] = words
    return WordCorpus.of(listed, source=file)


def _from_folder(path: str, level: Level) -> TextCorpus:
    names = sorted(entry.name for entry in os.scandir(path) if entry.is_file() and not entry.name.startswith("."))
    texts: dict[UnitId, Sequence[Block]] = {}
    files: dict[str, str] = {}
    issues: list[Issue] = []
    errors: list[Issue] = []
    for name in names:
        file, (stem, suffix) = os.path.join(path, name), os.path.splitext(name)
        if suffix.lower() not in (*TEXT, *MARKUP, ".tsv"):
            issues.append(Issue("not-read", f"{name} is in no format that holds a document", path, severity=Severity.NOTE))
            continue
        if stem in files:
            help = "a document is a file and is named by its stem"
            errors.append(Issue("same-document", f"{files[stem]} and {name} are both document {stem!r}", path, "", help))
            continue
        files[stem] = name
        try:
            texts[stem] = _blocks(file, level)
        except ContractError as error:
            errors += error.issues
    if not files and not errors:
        help = f"it should have files that end in {', '.join(EXTENSIONS)}"
        raise ContractError.single("no-documents", "the folder has no documents", file=path, help=help)
    if errors:
        raise ContractError(errors)
    return TextCorpus(texts=texts, source=path, model=os.path.basename(os.path.abspath(path)), issues=tuple(issues))


def _from_file(path: str, level: Level) -> TextCorpus | WordCorpus:
    if os.path.exists(path) and _is_table(path):
        if path.lower().endswith(".json"):
            return _from_json(path)
        return word_table.read(path)
    blocks = _blocks(path, level)
    stem = Path(path).stem
    return TextCorpus(texts={stem: blocks}, source=path, model=os.path.basename(path))


def _from_json(path: str) -> TextCorpus | WordCorpus:
    tree = json_tree.parse(_bytes(path), path)
    if not isinstance(tree, Mapping):
        help = "write an object with one text or list of words for each document"
        raise ContractError.single("wrong-words", f"holds {json_tree.kind(tree)}", file=path, help=help)
    return _from_mapping(tree, path)


def _blocks(path: str, level: Level) -> Sequence[Block]:
    """The blocks of one document's file."""
    data = _bytes(path)
    suffix = os.path.splitext(path)[1].lower()
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if suffix in (*TEXT, ".tsv") or (suffix not in MARKUP and not head.startswith(b"<")):
        text = decoded(data, path)
        return tesseract_tsv.blocks_of(text, path) if tesseract_tsv.looks_like(text) else _plain(text)
    if suffix == ".xml" and b"<html" not in head:
        return _xml_blocks(data, path, level)
    text = decoded(data, path)
    return hocr.blocks_of(text) if hocr.looks_like(text) else html.blocks_of(text)


def _plain(text: str) -> Sequence[Block]:
    """One block for each page; a form feed begins a new one."""
    if "\f" not in text:
        return (Block(text),)
    return tuple(Block(part, page=number) for number, part in enumerate(text.split("\f")) if part.strip())


def _xml_blocks(data: bytes, path: str, level: Level) -> Sequence[Block]:
    root = xml_tree.parse(data, path)
    readers: dict[Callable[[Any], bool], Callable[[], Sequence[Block]]] = {
        alto.looks_like: lambda: alto.blocks_of(root),
        page_xml.looks_like: lambda: page_xml.blocks_of(root, level),
    }
    for looks_like, blocks in readers.items():
        if looks_like(root):
            return blocks()
    raise ContractError.single(
        "unknown-format", f"has the root element <{xml_tree.name(root)}>, which is neither ALTO nor PAGE", file=path
    )


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read() if size <= LARGEST else b""
    except OSError:
        return json_tree.read_bytes(path)  # says what is wrong
    if size > LARGEST:
        raise ContractError.single(
            "too-large",
            f"has {size:,} bytes; one document may have {LARGEST:,}",
            file=path,
            help="split it into documents, or give a table with one row a word",
        )
    # An empty text file is a document without words; only other formats must hold something.
    if not data and not path.lower().endswith(TEXT):
        raise ContractError.single("empty-file", "the file is empty", file=path)
    return data


def decoded(data: bytes, path: str) -> str:
    """UTF-8 text; `ContractError` with the place of the first byte that is none."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = f"byte {error.start:,}"
        help = "save it as UTF-8" if b"\0" not in data[:64] else "this looks like UTF-16: save it as UTF-8"
        raise ContractError.single("not-utf8", "is not UTF-8 text", file=path, pointer=place, help=help) from None
