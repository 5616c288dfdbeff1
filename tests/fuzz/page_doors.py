"""The doors of pages: sound files of boxes, words, tables and orders in every format, and the commands that read them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.formats.conftest import ALTO, DOCLING, OLD_PAGE, OMNI, OMNI_RESULTS, PAGE, TASKS, VOC, jpeg, png
from tests.formats.test_annotation_tools import CVAT, DOTA, LABELME
from tests.fuzz.door import Door, Files
from tests.fuzz.test_hostile_values import COCO, LATTICE, ORDER_ROWS, PLAIN, RESULTS, ROWS, WORDS
from tests.fuzz.test_text_readers import ORIGINALS as TEXTS
from tests.pages import write_parquet
from tests.snapshots import valid_predictions, valid_truth
from tests.tables import test_readers as tables


def as_json(tree: Any) -> bytes:
    """A tree as the bytes of a file."""
    return json.dumps(tree).encode()


def as_lines(rows: list[Any]) -> bytes:
    """Trees as lines of JSON."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def both_sides(truth: bytes, found: bytes, suffix: str = "json") -> Callable[[], Files]:
    """Two files, the truth and what was found."""
    return lambda: {f"truth.{suffix}": truth, f"found.{suffix}": found}


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return write_parquet(Path(folder) / "p.parquet", rows).read_bytes()


# Boxes.

TARGETS = (
    "coco",
    "snapshot",
    "yolo",
    "ndjson",
    "plain",
    "voc",
    "label-studio",
    "labelme",
    "page",
    "alto",
    "cvat",
    "dota",
    "docling",
    "omnidocbench",
    "parquet",
    "coco-results",
)


def _boxes(truth: str, found: str, number: int, *more: str) -> tuple[str, ...]:
    """What reads boxes: each door also writes some of the other formats."""
    to = [TARGETS[(3 * number + step) % len(TARGETS)] for step in range(3)]
    return (
        f"detect {truth} {found} --allow-missing-scores --format json --sweep --crops --confusion --report r.html",
        f"layout {truth} {found} --lenient --format csv",
        f"validate {truth} {found}",
        f"audit {truth} {found} --format json",
        *(f"convert {truth} {kind}.out --to {kind} --page-size 1000,1400" for kind in to),
        *more,
    )


def _formats() -> dict[str, tuple[Callable[[], Files], str, str]]:
    """For each format of boxes sound files of both sides, and what they are called."""
    one = ("truth.json", "found.json")
    xml = ("truth.xml", "found.xml")
    folders = ("truth", "found")
    return {
        "snapshot": (both_sides(as_json(valid_truth()), as_json(valid_predictions())), *one),
        "coco": (both_sides(as_json(COCO), as_json(RESULTS)), *one),
        "coco-results": (both_sides(as_json(COCO), as_json(RESULTS)), *one),
        "plain": (both_sides(as_json(PLAIN), as_json(PLAIN[:1])), *one),
        "label-studio": (both_sides(as_json(TASKS), as_json(TASKS)), *one),
        "omnidocbench": (both_sides(as_json(OMNI), as_json(OMNI_RESULTS)), *one),
        "docling": (both_sides(as_json(DOCLING), as_json(DOCLING)), *one),
        "labelme": (both_sides(as_json(LABELME), as_json(LABELME)), *one),
        "voc": (both_sides(VOC.encode(), VOC.encode(), "xml"), *xml),
        "page": (both_sides(PAGE.encode(), OLD_PAGE.encode(), "xml"), *xml),
        "alto": (both_sides(ALTO.encode(), ALTO.encode(), "xml"), *xml),
        "cvat": (both_sides(CVAT.encode(), CVAT.encode(), "xml"), *xml),
        "ndjson": (both_sides(as_lines(ROWS), as_lines(ROWS[:1]), "ndjson"), "truth.ndjson", "found.ndjson"),
        "parquet": (
            lambda: {"truth.parquet": _parquet(ROWS), "found.parquet": _parquet(ROWS[:1])},
            "truth.parquet",
            "found.parquet",
        ),
        "dota": (lambda: _folders("labelTxt/P1.txt", DOTA.encode(), {"images/P1.png": png(4000, 3000)}), *folders),
        "yolo": (
            lambda: _folders(
                "labels/a.txt",
                b"1 0.5 0.5 0.2 0.4 0.9\n0 0.1 0.1 0.3 0.1 0.3 0.5 0.1 0.5\n",
                {"data.yaml": b"names:\n  0: Figure\n  1: Table\n", "images/a.png": png(10, 20), "images/b.jpg": jpeg(30, 40)},
            ),
            *folders,
        ),
    }


def _folders(name: str, data: bytes, more: Files) -> Files:
    return {f"{side}/{path}": content for side in ("truth", "found") for path, content in {name: data, **more}.items()}


BOXES = tuple(
    Door(f"boxes: {name}", make, _boxes(truth, found, number), (f"boxes: {name}",))
    for number, (name, (make, truth, found)) in enumerate(_formats().items())
)

# Texts.

WORD_DOORS = {
    "text": "d.txt",
    "html": "d.html",
    "hocr": "d.hocr",
    "alto": "alto.xml",
    "page": "page.xml",
    "table": "w.tsv",
    "tesseract": "t.tsv",
    "json": "w.json",
}


def _word_sides(name: str) -> Callable[[], Files]:
    return lambda: {f"{side}/{name}": TEXTS[name] for side in ("truth", "found")}


WORDS_READ = (
    *(
        Door(
            f"words: {kind}",
            _word_sides(name),
            (
                f"words truth/{name} found/{name} --cer --errors 3 --format jsonl --report r.html",
                f"words truth/{name} found/{name} --from-truth {kind} --from-pred {kind} --characters graphemes",
                f"validate truth/{name} found/{name}",
                *(() if kind == "json" else ("words truth found --drop figure,table,references,caption --dehyphenate lines",)),
            ),
            (f"words: {kind}",),
        )
        for kind, name in WORD_DOORS.items()
    ),
    Door(
        "words: words",
        lambda: {"t.seq": b"to\nbe\n", "p.seq": b"to\nbe or\n"},
        ("words t.seq p.seq --tokenizer none",),
        ("words: words",),
    ),
    Door(
        "words: Parquet",
        lambda: {"t.parquet": _parquet(WORDS), "p.parquet": _parquet(WORDS)},
        ("words t.parquet p.parquet --format json",),
        ("words: table",),
    ),
    Door(
        "words: what stands beside",
        lambda: {
            "t.txt": b"the cat sat",
            "p.txt": b"the cot sat",
            "listed.txt": b"t\n# x\n",
            "page.txt": b"the cat",
            "swap.tsv": b"c\tk\n",
        },
        (
            "words t.txt p.txt --page-text page.txt --min-block-recall 0.5",
            "words t.txt p.txt --substitute swap.tsv",
            "words t.txt p.txt --holdout listed.txt",
        ),
        ("words: holdout", "words: page text", "words: substitutions"),
    ),
    Door(
        "lattices: JSON",
        lambda: {"truth.json": as_json({"d": ["a", "b"], "e": ["a", "b"]}), "lattice.json": as_json(LATTICE)},
        ("words truth.json truth.json --lattice lattice.json --format json", "words truth.json --lattice lattice.json"),
        ("lattices: JSON",),
    ),
    Door(
        "lattices: table",
        lambda: {
            "truth.json": as_json({"d": ["a", "b"]}),
            "lattice.tsv": TEXTS["lattice.tsv"] + b"d\t0\t1\tt|s\t0\tb\nd\t1\t0\tt\t0\tb\n",
        },
        ("words truth.json --lattice lattice.tsv --format json",),
        ("lattices: table",),
    ),
)

# Tables and orders.

TABLE_FILES: dict[str, tuple[str, bytes]] = {
    "html": ("t.html", tables.HTML.encode()),
    "markdown": ("t.md", b"|a|b|\n|-|-:|\n|1|`x|y`|\n\n~~~\n|no|\n~~~\n"),
    "cells": ("t.json", as_json([{"id": "t", "page": 1, "box": [0, 0, 5, 5], "cells": tables.listed()}])),
    "pubtabnet": ("t.jsonl", as_lines([tables.PUBTABNET, tables.PUBTABNET])),
    "docling": ("t.json", as_json(tables.DOCLING)),
    "omnidocbench": ("t.json", as_json(tables.OMNIDOCBENCH)),
    "icdar": ("t.xml", tables.ICDAR_2013.encode()),
    "icdar 2019": ("t.xml", tables.ICDAR_2019.encode()),
    "table-transformer": ("t.json", as_json(tables.TRANSFORMER)),
}
TABLES_READ = tuple(
    Door(
        f"tables: {kind}",
        lambda name=name, data=data: {f"truth/{name}": data, f"found/{name}": data},  # type: ignore[misc]  # bound now
        (
            f"tables truth/{name} found/{name} --format json --report r.html",
            "tables truth found --lenient --compat omnidocbench",
            f"tables truth/{name} found/{name} --adjacency 2019 --format csv",
            f"validate truth/{name} found/{name}",
        ),
        (f"tables: {kind.split()[0]}",),
    )
    for kind, (name, data) in TABLE_FILES.items()
)

ORDER_PAGE = PAGE.replace(
    '<TextRegion id="r1"',
    '<ReadingOrder><OrderedGroup id="g"><RegionRefIndexed index="0" regionRef="t1"/><UnorderedGroupIndexed index="1" id="u">'
    '<RegionRef regionRef="r1"/></UnorderedGroupIndexed></OrderedGroup></ReadingOrder><TextRegion id="r1"',
).encode()
ORDER_DOCLING = {
    **DOCLING,
    "body": {"self_ref": "#/body", "children": [{"$ref": "#/texts/0"}, {"$ref": "#/groups/0"}]},
    "groups": [{"self_ref": "#/groups/0", "children": [{"$ref": "#/tables/0"}], "label": "list"}],
}
ORDER_FILES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "rows": ("o.ndjson", lambda: as_lines(ORDER_ROWS)),
    "rows of JSON": ("o.json", lambda: as_json(ORDER_ROWS)),
    "rows of Parquet": ("o.parquet", lambda: _parquet([{**row, "order": json.dumps(row["order"])} for row in ORDER_ROWS])),
    "plain": ("o.json", lambda: as_json(PLAIN[:1])),
    "page_xml": ("o.xml", lambda: ORDER_PAGE),
    "omnidocbench": ("o.json", lambda: as_json(OMNI)),
    "docling": ("o.json", lambda: as_json(ORDER_DOCLING)),
}
ORDERS_READ = tuple(
    Door(
        f"orders: {kind}",
        lambda name=name, data=data: {f"truth/{name}": data(), f"found/{name}": data()},  # type: ignore[misc]  # bound now
        (
            f"order truth/{name} found/{name} --format json --report r.html",
            f"order truth/{name} found/{name} --pair id --format csv",
            "order truth found --pair iou",
            f"validate truth/{name} found/{name}",
        ),
        (f"orders: {kind.split()[0]}",),
    )
    for kind, (name, data) in ORDER_FILES.items()
)
