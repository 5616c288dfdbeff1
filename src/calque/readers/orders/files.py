"""Reading orders of documents: a file, a folder of files, or Python values; the format is found out for each file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from calque.base.columns import Flags, Floats
from calque.base.errors import ContractError, Issue, IssueLog, Severity, all_read
from calque.corpus.boxes import Corpus, UnitId
from calque.corpus.orders import OrderCorpus, OrderPage
from calque.readers.boxes import docling as docling_boxes
from calque.readers.boxes import page_names
from calque.readers.orders import docling, omnidocbench, page_xml, rows
from calque.readers.orders.building import Blocks, listed
from calque.readers.sources import json_tree, xml_tree
from calque.readers.sources.compression import plain_name
from calque.readers.sources.source import Source

SUFFIXES = (".json", ".jsonl", ".ndjson", ".xml", ".parquet")
NO_BOXES = np.zeros((0, 4))
Found = Iterable[tuple[UnitId, int, OrderPage]]


def read_orders(source: Any, *, truth: bool = False) -> OrderCorpus:
    """The orders in a file, in a folder of files, or in rows as NDJSON holds them."""
    if isinstance(source, OrderCorpus):
        return source
    if isinstance(source, Corpus):
        raise TypeError(f"orders are compared with orders, not with a {type(source).__name__}")
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        return _from_folder(path, truth=truth) if os.path.isdir(path) else _from_file(path, truth=truth)
    if not isinstance(source, list | tuple):
        raise TypeError(f"cannot read orders from a {type(source).__name__}: give a path, a list of rows or a corpus")
    log = IssueLog("")
    return _corpus(_of_tree(list(source), "document", log), log, "")


def read_sides(expected: Any, found: Any) -> tuple[OrderCorpus, OrderCorpus]:
    """Both sides of a comparison; every issue of both in one error."""
    truth, other = all_read([partial(read_orders, expected, truth=True), partial(read_orders, found)])
    one_document = is_single(expected) and is_single(found) and len(truth.pages) == len(other.pages) == 1
    if one_document and not (_has_rows(expected) and _has_rows(found)):
        # Two single files are two readings of one document, whatever they are called. Rows say which one it is.
        other = replace(other, pages=dict(zip(truth.pages, other.pages.values(), strict=True)))
    return truth, other


def is_single(source: Any) -> bool:
    """Whether a source is one file, so that its name need not match the other side's."""
    return isinstance(source, str | os.PathLike) and os.path.isfile(source)


def _has_rows(source: str | os.PathLike[str]) -> bool:
    """Whether a file has rows, which name their documents."""
    return plain_name(os.fspath(source)).lower().endswith((".ndjson", ".jsonl", ".parquet"))


def _from_folder(path: str, *, truth: bool) -> OrderCorpus:
    pages: dict[UnitId, dict[int, OrderPage]] = {}
    folder = Source(path)
    issues = folder.not_read(_holds_orders)
    errors: list[Issue] = []
    read = 0
    for name in filter(_holds_orders, (file.name for file in folder.files())):
        try:
            corpus = _from_file(os.path.join(path, name), truth=truth)
        except ContractError as error:
            errors += error.issues
            continue
        read += 1
        issues += corpus.issues
        for unit, found in corpus.pages.items():
            for number, page in found.items():
                if number in pages.setdefault(unit, {}):
                    errors.append(Issue("same-page", f"page {number} of document {unit!r} is in two files", path, name))
                pages[unit][number] = page
    if errors:
        raise ContractError(errors)
    if not read:
        help = f"it should have files that end in {', '.join(SUFFIXES)}"
        raise ContractError.single("no-documents", "the folder has no orders", file=path, help=help)
    return OrderCorpus(pages=pages, source=path, model=os.path.basename(os.path.abspath(path)), issues=tuple(issues))


def _holds_orders(name: str) -> bool:
    return plain_name(name).lower().endswith(SUFFIXES)


def _from_file(path: str, *, truth: bool) -> OrderCorpus:
    log = IssueLog(path)
    if path.lower().endswith(".parquet"):
        return _corpus(rows.of_parquet(path, log), log, path)
    data = json_tree.read_bytes(path)
    name = plain_name(os.path.basename(path))
    lines = name.lower().endswith((".ndjson", ".jsonl"))
    stem = page_names.bare(os.path.splitext(name)[0] if lines else name)
    if data.lstrip().startswith(b"<"):
        root = xml_tree.parse(data, path)
        if xml_tree.name(root) != "PcGts":
            text = f"has the root element <{xml_tree.name(root)}>, and only PAGE has a reading order"
            raise ContractError.single("unknown-format", text, file=path)
        return _corpus(page_xml.pages_of(root, stem, log, truth=truth), log, path)
    if lines:
        return _corpus(rows.of_lines(data, path, log), log, path)
    return _corpus(_of_tree(json_tree.parse(data, path), stem, log), log, path)


def _of_tree(tree: Any, stem: str, log: IssueLog) -> Found:
    if docling_boxes.looks_like(tree):
        return docling.pages_of(tree, stem, log)
    listed_entries = [tree] if isinstance(tree, Mapping) and ("order" in tree or "boxes" in tree) else tree
    if not isinstance(listed_entries, list):
        help = "give PAGE XML, OmniDocBench, a DoclingDocument, or page rows with order"
        raise ContractError.single("unknown-format", f"holds {json_tree.kind(tree)}, and no order", file=log.file, help=help)
    first = listed_entries[0] if listed_entries else {}
    if isinstance(first, Mapping) and "layout_dets" in first:
        return omnidocbench.pages_of(listed_entries, log)
    if isinstance(first, Mapping) and not {"order", "boxes", "ids"} & first.keys():
        return _of_boxes(listed_entries, log)
    return rows.of_rows(listed_entries, log)


def _of_boxes(entries: list[Any], log: IssueLog) -> Found:
    """A plain list with an object a block: the list is the order."""
    pages: dict[tuple[UnitId, int], Blocks] = {}
    for where, entry in json_tree.entries(entries, "", log):
        box = json_tree.numbers(entry.get("bbox", entry.get("box")))
        document = json_tree.identity(entry.get("doc_id", "document"))
        page = json_tree.index(entry.get("page_index", 0))
        if box is None or len(box) != 4 or document is None or page is None:
            log.add("box-shape", where, f"expected an object with bbox, doc_id and page_index, not {json_tree.shown(entry)}")
            continue
        blocks = pages.setdefault((document, page), Blocks())
        name = json_tree.identity(entry.get("id"))
        blocks.add(len(blocks.ids) if name is None else name, box, json_tree.text(entry.get("label")) or "")
    return [(document, page, blocks.page(listed(len(blocks.ids)))) for (document, page), blocks in pages.items()]


def _corpus(found: Found, log: IssueLog, source: str) -> OrderCorpus:
    pages: dict[UnitId, dict[int, OrderPage]] = {}
    for unit, number, page in found:
        if number in pages.setdefault(unit, {}):
            log.add("same-page", "", f"page {number} of document {unit!r} comes twice")
        pages[unit][number] = page
    log.raise_errors()
    _tell_bad_boxes(pages, log)
    model = os.path.basename(source)
    return OrderCorpus(pages=pages, source=source, model=model, issues=tuple(log))


def _tell_bad_boxes(pages: Mapping[UnitId, Mapping[int, OrderPage]], log: IssueLog) -> None:
    """Boxes that nothing can be compared with."""
    boxed = [page.boxes for found in pages.values() for page in found.values() if page.boxes is not None]
    if not _bad(np.concatenate([NO_BOXES, *boxed])).any():
        return  # all at once: most files have none
    for unit, found in pages.items():
        for number, page in found.items():
            for place in np.flatnonzero(_bad(NO_BOXES if page.boxes is None else page.boxes)).tolist():
                name = json_tree.shown(page.ids[place])
                text = f"the box of block {name} on page {number} of {unit!r} is not finite, or of negative size"
                log.add("box-invalid", "", text, help="give left, top, right and bottom", severity=Severity.LOSS)


def _bad(boxes: Floats) -> Flags:
    return np.asarray(~(np.isfinite(boxes) & np.tile(boxes[:, 2:] >= boxes[:, :2], 2)).all(axis=1))
