"""XML without its dangers (no entities, no DTD, no network, no unbounded trees), and the values of its elements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from calque.base.errors import ContractError, MissingExtra
from calque.readers.boxes import page_names
from calque.readers.sources.source import LOOKED_AT, Source

if TYPE_CHECKING:
    from lxml.etree import _Element


def parse(data: bytes, file: str) -> _Element:
    """The root element; `ContractError` when the bytes are not XML or declare entities of their own."""
    try:
        from lxml import etree
    except ImportError as error:
        raise MissingExtra("lxml", "xml", "reading ALTO and PAGE XML") from error
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False, remove_comments=True
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        line, column = error.position
        reason = (error.msg or "it cannot be parsed").rstrip()
        raise ContractError.single(
            "not-xml", f"is not XML: {reason}", file=file, pointer=f"line {line} column {column}"
        ) from None
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and _has_entities(declared):
        raise ContractError.single(
            "xml-entities", "declares entities, which are not read", file=file, help="remove the <!DOCTYPE ...> from the file"
        )
    return root


def _has_entities(declared: Any) -> bool:
    return next(iter(declared.iterentities()), None) is not None


def name(element: _Element) -> str:
    """An element's name without its namespace."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def children(element: _Element, *names: str) -> Iterator[_Element]:
    """The children with one of these names, in order."""
    return (child for child in element if name(child) in names)


def descendants(element: _Element, *names: str) -> Iterator[_Element]:
    """Everything inside with one of these names, in document order."""
    return (inner for inner in element.iter() if name(inner) in names)


_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
LARGEST = 256 * 1024 * 1024
"""No XML file of a page is larger than this many bytes."""


def root_of(file: Source) -> _Element:
    """The root element of a file of bounded size."""
    if len(file.data) > LARGEST:
        message = f"is larger than {LARGEST // 2**20} MB"
        raise ContractError.single("file-too-large", message, file=file.path, help="split it into pages")
    return parse(file.data, file.path)


def root_name(source: Source) -> str:
    """The name of the root element of a file, or of the first file of a folder that is XML, told from its first bytes."""
    for file in source.files(".xml")[:LOOKED_AT]:
        if file.is_xml:
            return _first_tag(file.head)
    return ""


def _first_tag(head: bytes) -> str:
    text = head.decode("utf-8", "replace")
    at = 0
    while (at := text.find("<", at)) >= 0:
        if text.startswith("<!--", at):
            at = max(text.find("-->", at), at + 1)
        elif text[at + 1 : at + 2] in ("?", "!"):
            at += 1
        else:
            break
    words = text[at + 1 :].replace(">", " ").replace("/", " ").split() if at >= 0 else []
    return words[0].rpartition(":")[2] if words else ""


def pages_of(source: Source) -> Iterator[tuple[Source, str, tuple[str, int]]]:
    """Each XML file with the start of its pointers and the page that its name stands for."""
    for file in source.files(".xml"):
        where = f"{file.name}: " if source.is_folder else ""
        yield file, where, page_names.place(page_names.bare(file.stem.removesuffix(".page").removesuffix(".gt")))


def number(text: str | None) -> float | None:
    """A decimal number; underscores, infinities and hexadecimals are none.

    >>> number(" 12.5 "), number("1_0"), number("inf"), number(None)
    (12.5, None, None, None)
    """
    try:
        value = float(text) if text is not None and "_" not in text else float("nan")
    except ValueError:
        return None
    return value if abs(value) < 1e300 else None


def line(element: _Element) -> str:
    """Where an element stands."""
    return f"line {element.sourceline}"


def attributes(**values: object) -> str:
    """Attributes in XML, escaped; those that are ``None`` are left out.

    >>> attributes(id="a<b", WIDTH=3, x=None)
    ' id="a&lt;b" WIDTH="3"'
    """
    return "".join(f' {key}="{escaped(str(value))}"' for key, value in values.items() if value is not None)


def escaped(text: str) -> str:
    """Text as it stands in XML, within quotes too; the standard library's own escape would bring all of urllib with it.

    >>> escaped('R&D "<1"')
    'R&amp;D &quot;&lt;1&quot;'
    """
    return clean(text).translate(_ESCAPES)


def clean(text: str) -> str:
    r"""Text without the characters that XML cannot hold.

    >>> clean("a\x00b")
    'a�b'
    """
    return _FORBIDDEN.sub("\ufffd", text)


def shown(value: float) -> str:
    """A number as XML files hold it: as short as it can be read back."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
