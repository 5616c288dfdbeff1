"""DoclingDocument: the body tree, an item before its children; each of its boxes is a block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from calque.base.errors import ContractError, IssueLog, Severity
from calque.corpus.boxes import UnitId
from calque.corpus.orders import Group, OrderPage
from calque.readers.boxes.docling import ITEMS
from calque.readers.orders.building import Blocks
from calque.readers.sources.json_tree import entries, index, number, pointer, shown, text, whole

REFERENCES = "children are references to items of the document"


def pages_of(tree: Mapping[str, Any], stem: str, log: IssueLog) -> Iterator[tuple[UnitId, int, OrderPage]]:
    """Each page with its blocks; what is in other layers than the body, or not in its tree, has no order."""
    origin = tree.get("origin")
    named = text(origin.get("filename")) if isinstance(origin, Mapping) else None
    document = named or text(tree.get("name")) or stem
    sizes = _sizes(tree.get("pages"), log)
    heights = {page: height for page, (_, height) in sizes.items()}
    pages: dict[int, Blocks] = {page - 1: Blocks() for page in sizes}
    for known, size in sizes.items():
        pages[known - 1].sized(*size)
    at: dict[str, list[tuple[int, int]]] = {}
    for key in ITEMS:
        for where, item in entries(tree.get(key, []), pointer(key), log):
            reference = f"#{where}"
            for place, prov in entries(item.get("prov", []), where + pointer("prov"), log):
                page, box = index(prov.get("page_no")), _box(prov, heights, place, log)
                if page and box is not None:
                    blocks = pages.setdefault(page - 1, Blocks())
                    block = blocks.add(f"{reference}/{len(at.get(reference, []))}", box, text(item.get("label")) or "")
                    at.setdefault(reference, []).append((page - 1, block))
    orders: dict[int, list[int]] = {page: [] for page in pages}
    for reference in _walk(tree, log):
        for page, block in at.get(reference, []):
            orders[page].append(block)
    for page, blocks in sorted(pages.items()):
        yield document, page, blocks.page(Group(tuple(orders[page])))


def _walk(tree: Mapping[str, Any], log: IssueLog) -> Iterator[str]:
    """References of the body's items, depth first; of a picture's children only its captions.

    What leads nowhere, and what comes again, is left out and told; a group inside itself is no tree.
    """
    seen: set[str] = set()
    above: set[str] = set()
    waiting: list[tuple[str, bool]] = [("#/body", False)]
    while waiting:
        reference, left = waiting.pop()
        if left:
            above.discard(reference)
            continue
        item = _resolved(tree, reference)
        if reference in above:
            text = f"{reference} is inside itself in the body tree"
            raise ContractError.single("order-shape", text, file=log.file, pointer=reference)
        if reference in seen or item is None:
            if reference != "#/body":
                _left_out(reference, log, twice=reference in seen)
            continue
        seen.add(reference)
        above.add(reference)
        if reference != "#/body" and item.get("content_layer", "body") == "body":
            yield reference
        below = _references(item.get("children"))
        _tell_others(item.get("children"), f"{reference}/children", log)
        if reference.startswith("#/pictures/"):
            captions = set(_references(item.get("captions")))
            below = [each for each in below if each in captions]
        waiting += [(reference, True), *((each, False) for each in reversed(below))]


def _tell_others(children: Any, where: str, log: IssueLog) -> None:
    """Children that refer to nothing at all."""
    for place, child in enumerate(children if isinstance(children, list) else ()):
        if not _refers(child):
            text = f"{shown(child)} among the children is no reference, and is left out of the order"
            log.add("unknown-block", where + pointer(place), text, help=REFERENCES, severity=Severity.LOSS)


def _left_out(reference: str, log: IssueLog, *, twice: bool) -> None:
    if twice:
        log.add(
            "block-twice",
            reference,
            f"{reference} comes twice in the body tree; its first place counts",
            severity=Severity.LOSS,
        )
        return
    text = f"{reference} in the body tree leads to nothing, and is left out of the order"
    log.add("unknown-block", reference, text, help=REFERENCES, severity=Severity.LOSS)


def _references(children: Any) -> list[str]:
    if not isinstance(children, list):
        return []
    return [child["$ref"] for child in children if _refers(child)]


def _refers(child: Any) -> bool:
    return isinstance(child, Mapping) and isinstance(child.get("$ref"), str)


def _resolved(tree: Mapping[str, Any], reference: str) -> Mapping[str, Any] | None:
    if reference == "#/body":
        node: Any = tree.get("body")
    else:
        _, _, path = reference.partition("#/")
        key, _, place = path.partition("/")
        listed = tree.get(key)
        at = whole(place)
        node = listed[at] if isinstance(listed, list) and at is not None and at < len(listed) else None
    return node if isinstance(node, Mapping) else None


def _sizes(pages: Any, log: IssueLog) -> dict[int, tuple[float | None, float | None]]:
    found: dict[int, tuple[float | None, float | None]] = {}
    for key, page in pages.items() if isinstance(pages, Mapping) else ():
        size = page.get("size") if isinstance(page, Mapping) else None
        known = index(whole(key))
        if not known:
            log.add("wrong-type", pointer("pages", key), "expected a page number from 1")
        else:
            told = size if isinstance(size, Mapping) else {}
            found[known] = number(told.get("width")), number(told.get("height"))
    return found


def _box(prov: Mapping[str, Any], heights: Mapping[int, float | None], where: str, log: IssueLog) -> list[float] | None:
    box, page = prov.get("bbox"), index(prov.get("page_no"))
    sides = [number(box.get(side)) for side in "ltrb"] if isinstance(box, Mapping) else []
    left, top, right, bottom = sides if len(sides) == 4 else (None,) * 4
    if not page or left is None or top is None or right is None or bottom is None or not isinstance(box, Mapping):
        log.add("box-shape", where, f"expected page_no and a bbox with l, t, r and b, not {shown(prov)}")
        return None
    if box.get("coord_origin", "TOPLEFT") == "BOTTOMLEFT":
        height = heights.get(page)
        if height is None:
            log.add(
                "page-size", where, f"the box is counted from the bottom of page {page}, whose height the file does not give"
            )
            return None
        top, bottom = height - top, height - bottom
    return [left, top, right, bottom]
