"""DoclingDocument JSON: the boxes (``prov``) of texts, tables, pictures, forms and key-value items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calque.base.errors import Severity
from calque.corpus.boxes import BoxCorpus
from calque.readers.boxes import page_names
from calque.readers.boxes.conventions import Rules
from calque.readers.boxes.objects import Rows, Traced, by_page, size_of
from calque.readers.sources.json_tree import dumped, entries, index, missing, number, pointer, shown, text, whole
from calque.readers.sources.source import Source

FORMAT = "docling"
CARRIES = frozenset({"page sizes", "empty pages"})
ITEMS = ("texts", "tables", "pictures", "key_value_items", "form_items", "field_regions", "field_items")
SCHEMA = "DoclingDocument"
_BOTTOM = "BOTTOMLEFT"


def looks_like(tree: Any) -> bool:
    """Whether parsed JSON is a DoclingDocument."""
    if not isinstance(tree, Mapping):
        return False
    return tree.get("schema_name") == SCHEMA or {"body", "texts", "tables", "pictures"} <= tree.keys()


def recognise(source: Source) -> bool:
    """Whether a file, or the first JSON file of a folder, is a DoclingDocument."""
    return source.begins_with(looks_like)


def load(source: Source, rules: Rules) -> BoxCorpus:
    """One document for each file; an item that lies on two pages, or in two columns, has a box on each."""
    rows = Rows(source.path, rules)
    for file in source.files(".json"):
        if isinstance(file.tree, Mapping):
            _read(file, file.tree, rows)
        else:
            rows.log.add("wrong-type", _place(file, source), f"expected a {SCHEMA}, not {shown(file.tree)}")
    shares = bool(rows.page_sizes) and all(size == (1.0, 1.0) for size in rows.page_sizes)
    return rows.corpus(FORMAT, units="normalized" if shares else "pixels")


def _place(file: Source, source: Source) -> str:
    return file.name if source.is_folder else ""


def _read(file: Source, tree: Mapping[str, Any], rows: Rows) -> None:
    origin = tree.get("origin")
    named = text(origin.get("filename")) if isinstance(origin, Mapping) else None
    document = named or text(tree.get("name")) or file.stem or "document"
    where = "" if rows.log.file == file.path else f"{file.name}: "
    rows.document(document)
    heights = _pages(tree.get("pages"), document, where, rows)
    for key in ITEMS:
        for place, item in entries(tree.get(key, []), where + pointer(key), rows.log):
            for prov_place, prov in entries(item.get("prov", []), place + pointer("prov"), rows.log):
                _read_prov(item, prov, prov_place, document, heights, rows)


def _pages(pages: Any, document: str, where: str, rows: Rows) -> dict[int, float]:
    """Enters the pages; their heights by page number (from 1)."""
    heights = {}
    for key, page in pages.items() if isinstance(pages, Mapping) else ():
        size = page.get("size") if isinstance(page, Mapping) else None
        number_of = index(whole(key))
        width, height = (number(size.get(side)) for side in ("width", "height")) if isinstance(size, Mapping) else (None, None)
        if not number_of:
            rows.log.add("wrong-type", where + pointer("pages", key), "expected a page number from 1")
        elif width is not None and height is not None:
            rows.page(document, number_of - 1, size=(width, height))
            heights[number_of] = height
        else:
            rows.page(document, number_of - 1)
    return heights


def _read_prov(
    item: Mapping[str, Any], prov: Mapping[str, Any], where: str, document: str, heights: dict[int, float], rows: Rows
) -> None:
    page_no, box = index(prov.get("page_no")), prov.get("bbox")
    if not page_no:
        missing(prov, "page_no", where, "a page number from 1", rows.log)
        return
    sides = [number(box.get(side)) for side in "ltrb"] if isinstance(box, Mapping) else []
    if len(sides) < 4 or None in sides or not isinstance(box, Mapping):
        rows.log.add("box-shape", where + pointer("bbox"), f"expected l, t, r and b, not {shown(box)}")
        return
    left, top, right, bottom = (side for side in sides if side is not None)
    if box.get("coord_origin", "TOPLEFT") == _BOTTOM:
        if page_no not in heights:
            message = f"the box is counted from the bottom of page {page_no}, whose height the file does not give"
            rows.log.add("page-size", where, message, severity=Severity.ERROR)
            return
        top, bottom = heights[page_no] - top, heights[page_no] - bottom
    rows.add(rows.page(document, page_no - 1), text(item.get("label")), [left, top, right, bottom], where)


def write(corpus: BoxCorpus) -> dict[str, bytes]:
    """The corpus (corners in pixels) as documents: one file where there is one document, else a folder of files."""
    documents: dict[int, dict[str, Any]] = {code: _empty(str(name)) for code, name in enumerate(corpus.documents)}
    for page, items in by_page(corpus):
        tree, number_of = documents[int(corpus.page_document[page])], int(corpus.page_index[page]) + 1
        size = size_of(corpus, page)
        if size is not None:
            sides = {"width": size[0], "height": size[1]}
            tree["pages"][str(number_of)] = {"size": sides, "page_no": number_of}
        for item in items:
            _append(tree, item, number_of)
    names = [page_names.stem_of(document, 0, single=True) + ".json" for document in corpus.documents]
    page_names.check_distinct(names, corpus.documents, corpus.source)
    files = {name: _encoded(tree) for name, tree in zip(names, documents.values(), strict=True)}
    return files if len(files) > 1 else {"": next(iter(files.values()), b"{}")}


def _encoded(tree: dict[str, Any]) -> bytes:
    return dumped(tree)


def _empty(name: str) -> dict[str, Any]:
    root = {"children": [], "name": "_root_", "label": "unspecified"}
    layers = {
        layer: {"self_ref": f"#/{layer}", "content_layer": layer, **root, "children": []} for layer in ("furniture", "body")
    }
    lists: dict[str, Any] = {key: [] for key in ("groups", *ITEMS[:5])}
    return {"schema_name": SCHEMA, "version": "1.3.0", "name": name, **layers, **lists, "pages": {}}


def _append(tree: dict[str, Any], item: Traced, page_no: int) -> None:
    key = {"table": "tables", "document_index": "tables", "picture": "pictures", "chart": "pictures"}.get(item.label, "texts")
    left, top, right, bottom = item.box
    box = {"l": left, "t": top, "r": right, "b": bottom, "coord_origin": "TOPLEFT"}
    reference = f"#/{key}/{len(tree[key])}"
    entry: dict[str, Any] = {"self_ref": reference, "parent": {"$ref": "#/body"}, "children": [], "content_layer": "body"}
    entry |= {"label": item.label, "prov": [{"page_no": page_no, "bbox": box, "charspan": [0, 0]}]}
    if key == "texts":
        entry |= {"orig": "", "text": ""}
    else:
        entry |= {"captions": [], "references": [], "footnotes": []}
    if key == "tables":
        entry["data"] = {"table_cells": [], "num_rows": 0, "num_cols": 0}
    tree[key].append(entry)
    tree["body"]["children"].append({"$ref": reference})
