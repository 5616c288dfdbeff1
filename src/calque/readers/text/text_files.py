"""One file of text: what format it is in, by what it holds rather than by its name, and its blocks."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from calque.core.corpora.words import Block
from calque.core.errors import ConfigError, ContractError
from calque.readers.sources import json_tree, xml_tree
from calque.readers.sources.compression import strange
from calque.readers.text import alto, hocr, html, page_xml, tesseract_tsv, word_table
from calque.readers.text.page_xml import Level

LARGEST = 256 << 20
"""Bytes of one document. No text that people read is as long, and a larger file would fill the memory."""
HEAD = 4096
"""Bytes that tell what a file holds."""

TEXT, MARKUP, TABLES = (".txt", ".text"), (".html", ".htm", ".xhtml", ".hocr", ".xml"), (".tsv", ".csv", ".parquet")
WORD_LISTS = (".seq",)
"""One word a line, as the OCR application that the protocol comes from writes its truth."""
KNOWN = (*TEXT, *MARKUP, *WORD_LISTS, *TABLES, ".json")

Format: TypeAlias = Literal["auto", "text", "words", "table", "json", "html", "hocr", "alto", "page", "tesseract"]
FORMATS: tuple[Format, ...] = ("auto", "text", "words", "table", "json", "html", "hocr", "alto", "page", "tesseract")
SIDE_MARKS = ("gt", "ocr", "pred", "page", "alto", "hocr")
"""What people write between a document's name and the suffix to tell its files apart."""


@dataclass(frozen=True, slots=True)
class Stems:
    """How a file's name becomes the name of its document. A pattern has one ``*``, which stands for the document.

    >>> Stems().of("b/x.gt.txt"), Stems("scan_*.txt").of("scan_7.txt"), Stems("scan_*.txt").of("x.txt")
    ('b/x', '7', None)
    """

    pattern: str = ""

    def __post_init__(self) -> None:
        if self.pattern and self.pattern.count("*") != 1:
            raise ConfigError(f"stem_pattern: {self.pattern!r} needs one *, which stands for the document, as in *.gt.txt")

    def of(self, name: str) -> str | None:
        """The document of a file, named from its folder on; nothing where the pattern does not hold."""
        if not self.pattern:
            stem = os.path.splitext(name)[0]
            before, _, mark = stem.rpartition(".")
            return before if mark.lower() in SIDE_MARKS and os.path.basename(before) else stem
        first, _, last = self.pattern.partition("*")
        fits = name.startswith(first) and name.endswith(last) and len(name) > len(first) + len(last)
        return name[len(first) : len(name) - len(last)] if fits else None


def is_truth_file(name: str) -> bool:
    """Whether a file calls itself the ground truth: ``x.gt.txt``."""
    return os.path.splitext(name)[0].lower().endswith(".gt")


@dataclass(frozen=True, slots=True)
class TextReading:
    """How the files of one side are read, where they do not say it themselves."""

    format: str = "auto"
    level: Level = "region"
    columns: tuple[str, ...] = ()
    """The columns of tables without a head."""
    stems: Stems = field(default_factory=Stems)
    truth: bool = False
    """Whether this is the side of the truth, so that ``x.gt.txt`` beside ``x.ocr.txt`` is what is read."""
    alto_hyphens: str = "joined"
    lines: bool = False
    """Whether line breaks matter, so that spaces around them and the last one must not."""
    unordered: bool = True
    """Whether regions of PAGE that a reading order leaves out are read."""


def format_of(path: str, reading: TextReading) -> str:
    """The format that the settings name, or the one that the file begins like."""
    if reading.format != "auto":
        return reading.format
    suffix = os.path.splitext(path)[1].lower()
    if suffix in (".parquet", ".json"):
        return "table" if suffix == ".parquet" else "json"
    if suffix in WORD_LISTS:
        return "words"
    try:
        with open(path, "rb") as file:
            head = file.read(HEAD)
    except OSError:
        return "text"  # reading it says what is wrong
    return _format_of_beginning(head.removeprefix(b"\xef\xbb\xbf"), suffix, reading.columns)


def _format_of_beginning(head: bytes, suffix: str, columns: Sequence[str]) -> str:
    if suffix in MARKUP or (suffix not in TEXT and head.lstrip().startswith(b"<")):
        return "markup"
    text = head.decode("utf-8", "replace")
    if tesseract_tsv.looks_like(text):
        return "tesseract"
    if suffix in (".tsv", ".csv") or word_table.looks_like(text, columns, comma=False):
        return "table"
    return "text"


def is_binary(path: str) -> bool:
    """Whether a file of an unknown kind does not begin as text does."""
    with open(path, "rb") as file:
        head = file.read(HEAD)
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 3:  # a character that the beginning cuts is no fault
            return True
        text = head[: error.start].decode("utf-8-sig")
    return any(ord(char) < 32 and char not in "\t\n\r\f" for char in text)


def listed_words(path: str) -> list[str]:
    """One word a line; empty lines are none."""
    return [line.strip() for line in decoded(bytes_of(path), path).splitlines() if line.strip()]


def blocks_of(path: str, kind: str, reading: TextReading) -> Sequence[Block]:
    """The blocks of one document's file, which is in a format that `format_of` names."""
    data = bytes_of(path)
    if kind in ("text", "tesseract"):
        text = decoded(data, path)
        if kind == "tesseract":
            return tesseract_tsv.blocks_of(text, path)
        return plain("\n".join(line.strip() for line in text.splitlines()) if reading.lines else text)
    head = data[:HEAD].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    is_xml = path.lower().endswith(".xml") and b"<html" not in head
    if kind in ("alto", "page") or (kind == "markup" and is_xml):
        return _xml_blocks(data, path, reading)
    text = decoded(data, path)
    return hocr.blocks_of(text) if kind == "hocr" or (kind == "markup" and hocr.looks_like(text)) else html.blocks_of(text)


def plain(text: str) -> Sequence[Block]:
    """One block for each page; a form feed begins a new one."""
    if "\f" not in text:
        return (Block(text),)
    return tuple(Block(part, page=number) for number, part in enumerate(text.split("\f")) if part.strip())


def _xml_blocks(data: bytes, path: str, reading: TextReading) -> Sequence[Block]:
    root = xml_tree.parse(data, path)
    readers: dict[Callable[[Any], bool], Callable[[], Sequence[Block]]] = {
        alto.looks_like: lambda: alto.blocks_of(root, reading.alto_hyphens),
        page_xml.looks_like: lambda: page_xml.blocks_of(root, reading.level, unordered=reading.unordered),
    }
    for looks_like, blocks in readers.items():
        if looks_like(root):
            return blocks()
    raise ContractError.single(
        "unknown-format", f"has the root element <{xml_tree.name(root)}>, which is neither ALTO nor PAGE", file=path
    )


def bytes_of(path: str) -> bytes:
    """The file's bytes, of which there may be no end; an empty one holds no document unless it is plain text."""
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
    if not data and path.lower().endswith((*MARKUP, *TABLES, ".json")):
        raise ContractError.single("empty-file", "the file is empty", file=path)
    if (known := strange(data)) is not None:
        raise ContractError.single("not-text", f"is no text: it {known[0]}", file=path, help=known[1])
    return data


def decoded(data: bytes, path: str) -> str:
    """UTF-8 text; `ContractError` with the place of the first byte that is none."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = f"byte {error.start:,}"
        help = "save it as UTF-8" if b"\0" not in data[:64] else "this looks like UTF-16: save it as UTF-8"
        raise ContractError.single("not-utf8", "is not UTF-8 text", file=path, pointer=place, help=help) from None
