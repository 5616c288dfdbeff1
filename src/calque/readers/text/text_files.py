"""One file of text: what format it is in, by what it holds rather than by its name, and its blocks."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from calque.base.errors import ConfigError, ContractError
from calque.corpus.words import Block
from calque.readers.sources import json_tree, xml_tree
from calque.readers.sources.compression import strange
from calque.readers.text import alto, hocr, html, page_xml, tesseract_tsv, word_table
from calque.readers.text.page_xml import Level

LARGEST = 256 << 20
"""Bytes of one document. No text that people read is as long, and a larger file would fill the memory."""
HEAD = 4096
"""Bytes that tell what a file holds."""
SHORT = 1 << 20
"""Bytes of a file that is read at once; of a longer one the beginning, which may show that it is none of ours to read."""

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


class TextFile:
    """One file, opened once where it is short: what is read to find out its format is what its blocks are made of."""

    def __init__(self, path: str, reading: TextReading) -> None:
        self.path = path
        self._reading = reading
        self._data: bytes | None = None
        self.format = self._format()
        """What the settings name, or what the file begins like."""

    def _format(self) -> str:
        if self._reading.format != "auto":
            return self._reading.format
        suffix = os.path.splitext(self.path)[1].lower()
        if suffix in (".parquet", ".json"):
            return "table" if suffix == ".parquet" else "json"
        if suffix in WORD_LISTS:
            return "words"
        return _format_of_beginning(self._beginning().removeprefix(b"\xef\xbb\xbf"), suffix, self._reading.columns)

    def _beginning(self) -> bytes:
        try:
            with open(self.path, "rb", buffering=0) as file:
                size = os.fstat(file.fileno()).st_size
                data = file.read(size if 0 < size <= SHORT else HEAD)
        except OSError:
            return b""  # taken for text, and reading that says what is wrong
        if len(data) == size:
            self._data = data
        return data[:HEAD]

    def bytes(self) -> bytes:
        """All that it holds."""
        return bytes_of(self.path) if self._data is None else _checked(self._data, self.path)

    def words(self) -> list[str]:
        """One word a line; empty lines are none."""
        return [line.strip() for line in decoded(self.bytes(), self.path).splitlines() if line.strip()]

    def blocks(self) -> Sequence[Block]:
        """The blocks of the document that it is."""
        data, kind = self.bytes(), self.format
        if kind in ("text", "tesseract"):
            text = decoded(data, self.path)
            if kind == "tesseract":
                return tesseract_tsv.blocks_of(text, self.path)
            return plain("\n".join(line.strip() for line in text.splitlines()) if self._reading.lines else text)
        head = data[:HEAD].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
        is_xml = self.path.lower().endswith(".xml") and b"<html" not in head
        if kind in ("alto", "page") or (kind == "markup" and is_xml):
            return _xml_blocks(data, self.path, self._reading)
        text = decoded(data, self.path)
        return hocr.blocks_of(text) if kind == "hocr" or (kind == "markup" and hocr.looks_like(text)) else html.blocks_of(text)


def _format_of_beginning(head: bytes, suffix: str, columns: Sequence[str]) -> str:
    if suffix in MARKUP or (suffix not in TEXT and head.lstrip().startswith(b"<")):
        return "markup"
    text = head.decode("utf-8", "replace")
    if tesseract_tsv.looks_like(text):
        return "tesseract"
    if suffix in (".tsv", ".csv") or word_table.looks_like(text, columns):
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
    return _checked(data, path)


def _checked(data: bytes, path: str) -> bytes:
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
