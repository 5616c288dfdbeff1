"""Plain lists of boxes: ``[{"bbox": [...], "category": "Table"}]``, with documents, pages, scores and ids where given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calque.base.errors import ConfigError, IssueLog
from calque.corpus.boxes import BoxCorpus, UnitId
from calque.readers.boxes.conventions import FORM_KEY, UNITS_KEY, Rules, around, as_score, in_form, stated, statement
from calque.readers.boxes.objects import Rows, Traced, traced
from calque.readers.sources.json_tree import dumped, entries, identity, index, missing, number, numbers, pointer, shown
from calque.readers.sources.source import Source

FORMAT = "plain"
BOX_KEYS = ("bbox", "box", "polygon", "poly")
LABEL_KEYS = ("category", "label", "class", "category_name", "type")
DOCUMENT_KEYS = ("doc_id", "doc", "document", "image", "file_name", "image_name", "image_id")
PAGE_KEYS = ("page_index", "page")
SCORE_KEYS = ("score", "confidence")
CARRIES = frozenset({"scores", "ids", "page sizes", "ignored objects", "outlines", "turned boxes"})


def looks_like(tree: Any) -> bool:
    """Whether parsed JSON is a list of objects of which the first has a box and the name of a category."""
    first = tree[0] if isinstance(tree, list) and tree else None
    return (
        isinstance(first, Mapping)
        and _key(first, BOX_KEYS) is not None
        and _key(first, LABEL_KEYS) is not None
        and not {"image_id", "category_id"} <= first.keys()
    )


def load(source: Source, rules: Rules) -> BoxCorpus:
    """The corpus of a list of boxes; what the numbers mean is for the rules to say."""
    rows = Rows(source.path, rules)
    said = _stated(source.tree, rows)
    form = rules.form(said.get(FORM_KEY, rules.listed_form))
    for where, entry in entries(source.tree, "", rows.log):
        _read(entry, where, rows, form)
    return rows.corpus(FORMAT, form=form, units=rules.measure(said.get(UNITS_KEY, "")), origin=rules.origin)


def _stated(tree: Any, rows: Rows) -> dict[str, str]:
    """What the entries say of their boxes; all have to say the same."""
    said: dict[str, str] | None = None
    for number_of, entry in enumerate(tree if isinstance(tree, list) else ()):
        if not isinstance(entry, Mapping):
            continue
        try:
            here = stated(entry)
        except ConfigError as error:
            rows.log.add("box-form", pointer(number_of), str(error))
            continue
        said = here if said is None else said
        if here != said:
            text = "the entries differ in what they say of their boxes"
            rows.log.add("box-form", pointer(number_of), text, help="give each kind a file of its own")
    return said or {}


def _key(entry: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((key for key in keys if entry.get(key) is not None), None)


def _read(entry: Mapping[str, Any], where: str, rows: Rows, form: str) -> None:
    box, outline = _box(entry, where, rows, form)
    label = _label(entry, where, rows.log)
    page = _page(entry, where, rows)
    if box is None or label is None or page is None:
        return
    score_key = _key(entry, SCORE_KEYS)
    given = None if score_key is None else entry[score_key]
    score = number(given)
    if given is not None and score is None:
        missing(entry, score_key or "score", where, "a number from 0 to 1", rows.log)
    name = identity(entry.get("id"))
    rows.add(
        page,
        label,
        box,
        where,
        score=as_score(given, score),
        id="" if name is None else str(name),
        ignored=entry.get("ignore") in (True, 1),
        outline=outline,
    )


def _box(entry: Mapping[str, Any], where: str, rows: Rows, form: str) -> tuple[list[float] | None, list[float]]:
    """The box, and the outline where that is what is drawn."""
    key = _key(entry, BOX_KEYS)
    values = None if key is None else numbers(entry[key])
    polygon = form == "polygon" or key in ("polygon", "poly")
    if values is not None and (len(values) >= 6 and len(values) % 2 == 0 if polygon else len(values) == 4):
        return (in_form(around(values), form), values) if polygon else (values, [])
    what = "a list of points x, y" if polygon else "four numbers"
    if key is None:
        missing(entry, "bbox", where, what, rows.log)
    else:
        help = "" if polygon or values is None or len(values) < 6 else "pass --boxes polygon"
        rows.log.add("box-shape", where + pointer(key), f"expected {what}, not {shown(entry[key])}", help=help)
    return None, []


def _label(entry: Mapping[str, Any], where: str, log: IssueLog) -> str | None:
    key = _key(entry, LABEL_KEYS)
    if key is None and identity(entry.get("category_id")) is not None:
        return str(entry["category_id"])
    value = None if key is None else identity(entry[key])
    if value is None:
        missing(entry, key or "category", where, "the name of a category", log)
    return None if value is None else str(value)


def _page(entry: Mapping[str, Any], where: str, rows: Rows) -> int | None:
    key, page_key = _key(entry, DOCUMENT_KEYS), _key(entry, PAGE_KEYS)
    document: UnitId | None = 0 if key is None else identity(entry[key])
    number_of = 0 if page_key is None else index(entry[page_key])
    if document is None:
        missing(entry, key or "", where, "the id of a document", rows.log)
    if number_of is None:
        missing(entry, page_key or "", where, "a page number from 0", rows.log)
    if document is None or number_of is None:
        return None
    width, height = number(entry.get("width")), number(entry.get("height"))
    return rows.page(document, number_of, size=None if width is None or height is None else (width, height))


def write(corpus: BoxCorpus) -> dict[str, bytes]:
    """The corpus as a list of boxes, as they were read; each says so where they are not corners in pixels."""
    said = statement(corpus)
    objects = [{**_entry(item), **said} for item in traced(corpus)]
    return {"": dumped(objects)}


def _entry(item: Traced) -> dict[str, Any]:
    entry: dict[str, Any] = {"doc_id": item.document, "page_index": item.index, "category": item.label}
    entry |= {"polygon": list(item.outline)} if item.outline else {"bbox": item.box}
    if item.size is not None:
        entry |= {"width": item.size[0], "height": item.size[1]}
    optional = {"score": item.score, "id": item.id, "ignore": item.ignored or None}
    return {**entry, **{key: value for key, value in optional.items() if value is not None}}
