"""XML without its dangers: no entities, no DTD, no network, no unbounded trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from calque.core.errors import ContractError, MissingExtra

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
    if root is None:
        raise ContractError.single("not-xml", "is not XML: it has no elements", file=file)
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
