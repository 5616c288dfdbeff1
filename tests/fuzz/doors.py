"""Every door through which data comes in: sound files for each, and the commands that read them.

`test_doors` compares this table with the registries of formats, with the parameters of all verbs and with the modules
that open files, so that nothing new is read without being attacked here.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from tests.formats.conftest import ALTO, DOCLING, OLD_PAGE, OMNI, OMNI_RESULTS, PAGE, TASKS, VOC, jpeg, png
from tests.formats.test_annotation_tools import CVAT, DOTA, LABELME
from tests.fuzz.door import Door, Files, laid_out, run
from tests.fuzz.test_hostile_values import COCO, LATTICE, PLAIN, RECORD, RESULTS, ROWS, SCHEMA, SUITE, WORDS
from tests.fuzz.test_text_readers import ORIGINALS as TEXTS
from tests.pages import write_parquet
from tests.snapshots import valid_predictions, valid_truth
from tests.tables import test_readers as tables
from tests.unit.test_check_tasks import SAMPLES


def _json(tree: Any) -> bytes:
    return json.dumps(tree).encode()


def _lines(rows: list[Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _sides(truth: bytes, found: bytes, suffix: str = "json") -> Callable[[], Files]:
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
        "snapshot": (_sides(_json(valid_truth()), _json(valid_predictions())), *one),
        "coco": (_sides(_json(COCO), _json(RESULTS)), *one),
        "coco-results": (_sides(_json(COCO), _json(RESULTS)), *one),
        "plain": (_sides(_json(PLAIN), _json(PLAIN[:1])), *one),
        "label-studio": (_sides(_json(TASKS), _json(TASKS)), *one),
        "omnidocbench": (_sides(_json(OMNI), _json(OMNI_RESULTS)), *one),
        "docling": (_sides(_json(DOCLING), _json(DOCLING)), *one),
        "labelme": (_sides(_json(LABELME), _json(LABELME)), *one),
        "voc": (_sides(VOC.encode(), VOC.encode(), "xml"), *xml),
        "page": (_sides(PAGE.encode(), OLD_PAGE.encode(), "xml"), *xml),
        "alto": (_sides(ALTO.encode(), ALTO.encode(), "xml"), *xml),
        "cvat": (_sides(CVAT.encode(), CVAT.encode(), "xml"), *xml),
        "ndjson": (_sides(_lines(ROWS), _lines(ROWS[:1]), "ndjson"), "truth.ndjson", "found.ndjson"),
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
        lambda: {"truth.json": _json({"d": ["a", "b"], "e": ["a", "b"]}), "lattice.json": _json(LATTICE)},
        ("words truth.json truth.json --lattice lattice.json --format json", "words truth.json --lattice lattice.json"),
        ("lattices: JSON",),
    ),
    Door(
        "lattices: table",
        lambda: {
            "truth.json": _json({"d": ["a", "b"]}),
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
    "cells": ("t.json", _json([{"id": "t", "page": 1, "box": [0, 0, 5, 5], "cells": tables.listed()}])),
    "pubtabnet": ("t.jsonl", _lines([tables.PUBTABNET, tables.PUBTABNET])),
    "docling": ("t.json", _json(tables.DOCLING)),
    "omnidocbench": ("t.json", _json(tables.OMNIDOCBENCH)),
    "icdar": ("t.xml", tables.ICDAR_2013.encode()),
    "icdar 2019": ("t.xml", tables.ICDAR_2019.encode()),
    "table-transformer": ("t.json", _json(tables.TRANSFORMER)),
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

ORDER_ROWS = [
    {
        "doc_id": "d",
        "page_index": 0,
        "boxes": [[0, 0, 5, 5], [0, 6, 5, 9], [6, 0, 9, 9]],
        "labels": ["Text", "Page-footer", "Text"],
        "ids": ["a", "b", "c"],
        "order": ["a", {"unordered": ["b", ["c"]]}],
    },
    {"doc_id": "d", "page_index": 1, "order": ["x", "y", ["z"]]},
]
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
    "rows": ("o.ndjson", lambda: _lines(ORDER_ROWS)),
    "rows of JSON": ("o.json", lambda: _json(ORDER_ROWS)),
    "rows of Parquet": ("o.parquet", lambda: _parquet([{**row, "order": json.dumps(row["order"])} for row in ORDER_ROWS])),
    "plain": ("o.json", lambda: _json(PLAIN[:1])),
    "page_xml": ("o.xml", lambda: ORDER_PAGE),
    "omnidocbench": ("o.json", lambda: _json(OMNI)),
    "docling": ("o.json", lambda: _json(ORDER_DOCLING)),
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

# Records and schemas.

JSON_SCHEMA = {
    "$defs": {"Line": {"type": "object", "properties": {"text": {"type": "string"}, "amount": {"type": ["number", "null"]}}}},
    "type": "object",
    "properties": {
        "total": {"anyOf": [{"type": "number"}, {"type": "null"}], "x-calque-comparator": "numeric"},
        "name": {"type": "string", "enum": ["acme", "b"]},
        "day": {"type": "string", "format": "date"},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["total"],
}
PLAIN_SCHEMA = {
    "type": "object",
    "properties": {"t": {"type": "string", "pattern": "f.x"}, "n": {"$ref": "#/$defs/n"}},
    "$defs": {"n": {}},
}
TRUTH_RECORDS, FOUND_RECORDS = [RECORD, RECORD | {"doc_id": "e"}], [RECORD | {"name": "b"}]
FIELD_LINES = (
    "fields {0} {1} --format json --report r.html --documents d.csv",
    "fields {0} {1} --accounting paired --format jsonl",
    "validate {0} {1}",
)
RECORDS = (
    Door(
        "records: lines",
        _sides(_lines(TRUTH_RECORDS), _lines(FOUND_RECORDS), "jsonl"),
        tuple(line.format("truth.jsonl", "found.jsonl") for line in FIELD_LINES),
        ("records: lines",),
    ),
    Door(
        "records: one",
        _sides(_json(RECORD), _json(RECORD)),
        tuple(line.format("truth.json", "found.json") for line in FIELD_LINES),
        ("records: one",),
    ),
    Door(
        "records: list",
        _sides(_json(TRUTH_RECORDS), _json(FOUND_RECORDS)),
        tuple(line.format("truth.json", "found.json") for line in FIELD_LINES),
        ("records: list",),
    ),
    Door(
        "records: folder",
        lambda: {f"{side}/{name}.json": _json(RECORD) for side in ("truth", "found") for name in "ab"},
        tuple(line.format("truth", "found") for line in FIELD_LINES),
        ("records: folder",),
    ),
    Door(
        "records: packed lines",
        lambda: {f"{side}.jsonl.gz": gzip.compress(_lines(TRUTH_RECORDS), mtime=0) for side in ("truth", "found")},
        tuple(line.format("truth.jsonl.gz", "found.jsonl.gz") for line in FIELD_LINES),
        ("records: packed lines",),
    ),
    *(
        Door(
            f"schema: {kind}",
            lambda tree=tree: {
                "truth.jsonl": _lines(TRUTH_RECORDS),
                "found.jsonl": _lines(FOUND_RECORDS),
                "schema.json": _json(tree),
            },  # type: ignore[misc]  # bound now
            (
                "fields truth.jsonl found.jsonl --schema schema.json --format json --write-schema s.json",
                "fields truth.jsonl found.jsonl --schema schema.json --accounting paired",
                "validate truth.jsonl found.jsonl --schema schema.json",
            ),
            (f"schema: {kind}",),
            kept=("truth.jsonl", "found.jsonl"),
        )
        for kind, tree in {"plain form": SCHEMA, "JSON Schema": JSON_SCHEMA}.items()
    ),
)

# What stands beside boxes.

BESIDE = (
    Door(
        "ceiling",
        lambda: {
            "truth.json": _json(COCO),
            "one.json": _json(RESULTS),
            "two.json": _json(RESULTS[:1]),
            "map.yaml": b"Table: Figure\n",
        },
        (
            "ceiling truth.json one.json two.json --format json --report r.html",
            "ceiling truth.json one.json two.json --class-map map.yaml",
            "ceiling truth.json one.json two.json --class-map-truth map.yaml --class-map-pred map.yaml --format csv",
        ),
        ("ceiling",),
    ),
    Door(
        "ceiling of fields",
        lambda: {
            "truth.jsonl": _lines(TRUTH_RECORDS),
            "one.jsonl": _lines(FOUND_RECORDS),
            "two.jsonl": _lines(TRUTH_RECORDS),
            "schema.json": _json(SCHEMA),
        },
        ("ceiling truth.jsonl one.jsonl two.jsonl --schema schema.json --format json",),
        ("ceiling",),
    ),
    Door(
        "class map",
        lambda: {
            "map.json": b'{"Figure": ["Picture"], "Table": null}',
            "map.yaml": b"Picture: Figure\ndrop: [x]\n",
            "truth.json": _json(valid_truth()),
            "found.json": _json(valid_predictions()),
        },
        (
            *(
                f"{verb} truth.json found.json --class-map {name}"
                for verb, name in (("detect", "map.json"), ("layout", "map.yaml"), ("audit", "map.json"))
            ),
            *(
                f"{verb} truth.json found.json --class-map-pred map.yaml --class-map-truth map.yaml"
                for verb in ("detect", "layout", "audit")
            ),
            "validate truth.json found.json --class-map map.yaml",
            "convert truth.json o.json --to coco --page-size 9,9 --class-map map.yaml",
            "compare truth.json found.json found.json --class-map map.json --replicates 100",
            "compare truth.json found.json found.json --class-map-pred map.yaml --class-map-truth map.yaml --replicates 100",
        ),
        ("class map",),
        kept=("truth.json", "found.json"),
    ),
    Door(
        "metadata",
        lambda: {
            "about.csv": b'doc_id,kind,"a, b"\na,x,"1\n2"\nb,y,\n',
            "truth.ndjson": _lines(ROWS),
            "found.ndjson": _lines(ROWS),
            "t.html": tables.HTML.encode(),
        },
        (
            "detect truth.ndjson found.ndjson --metadata about.csv --by kind --format json",
            "tables t.html t.html --metadata about.csv --by kind",
            "ceiling truth.ndjson found.ndjson --metadata about.csv --by kind",
            "compare truth.ndjson found.ndjson found.ndjson --metadata about.csv --by kind --replicates 100",
        ),
        ("metadata",),
        kept=("truth.ndjson", "found.ndjson", "t.html"),
    ),
    Door(
        "compressed",
        lambda: {"truth.json.gz": gzip.compress(_json(COCO), mtime=0), "found.json.gz": gzip.compress(_json(RESULTS), mtime=0)},
        ("detect truth.json.gz found.json.gz --format json", "validate truth.json.gz found.json.gz"),
        ("compressed",),
    ),
)

# Suites.

EVERY_EVALUATOR: dict[str, Any] = {
    "name": "all",
    "evaluators": [
        *SUITE["evaluators"],
        {"type": "coordinate_distance", "point_path": "p", "expected_point_path": "p", "threshold": 5},
        {"type": "equals", "path": "a.b[0]", "expected_path": "a.b[0]", "ignore_case": True},
        {"type": "contains", "path": "t", "value": "fox"},
        {"type": "one_of", "path": "t", "values": ["a", "the fox"]},
        {"type": "regex", "path": "t", "pattern": "f.x$"},
        {"type": "numeric_tolerance", "path": "n", "expected_path": "n", "absolute": 0.5},
        {"type": "json_schema", "schema": {"type": "object", "properties": {"n": {"type": "number", "minimum": 0}}}},
        *({"type": kind, "measure": measure, "path": kind, "threshold": 0.5} for kind, (measure, _, _) in SAMPLES.items()),
    ],
    "gate": {"pass_rate": 0.5},
}
SIDE = {"boxes": [[0, 0, 2, 2]], "quads": [[0, 0, 4, 0, 1, 1, 0, 4]], "p": [1, 2], "a": {"b": ["x"]}, "t": "the fox", "n": 1}
CASES = [
    {
        "id": "c",
        "input": 1,
        "output": SIDE | {kind: found for kind, (_, _, found) in SAMPLES.items()},
        "expected": SIDE | {kind: truth for kind, (_, truth, _) in SAMPLES.items()},
        "tags": ["x"],
    },
    {"id": 2, "output": {}, "expected": SIDE},
]
SMALL_SUITE = {key: value for key, value in SUITE.items() if key != "cases"}
SUITES = (
    Door(
        "suite",
        lambda: {"s.check.yaml": _json(EVERY_EVALUATOR | {"cases": CASES}), "plain.yaml": _yaml_suite()},
        ("check s.check.yaml --format json --report r.html --save one.state", "check plain.yaml --format junit"),
        ("suite",),
    ),
    Door(
        "suite: data",
        lambda: {
            "s.check.yaml": _json(EVERY_EVALUATOR | {"data": "cases.jsonl"}),
            "cases.jsonl": _lines(CASES),
            "cases.csv": b'id,output,expected\nc,"{""boxes"": [[0, 0, 2, 2]]}","{""boxes"": [[0, 0, 2, 3]]}"\n',
        },
        ("check s.check.yaml --format jsonl", "check s.check.yaml --data cases.csv --format csv"),
        ("suite: data",),
        kept=("s.check.yaml",),
    ),
    Door(
        "suite: two files",
        lambda: {
            "s.check.yaml": _json(SMALL_SUITE | {"expected": "e.jsonl", "actual": "a.json", "id": "id"}),
            "e.jsonl": _lines([{"id": "c", **SIDE}]),
            "a.json": _json([{"id": "c", **SIDE}]),
        },
        ("check s.check.yaml --format json", "check s.check.yaml --expected e.jsonl --actual a.json"),
        ("suite: two files",),
        kept=("s.check.yaml",),
    ),
    Door(
        "suite: a schema in a file",
        lambda: {
            "s.check.yaml": _json({"evaluators": [{"type": "json_schema", "schema": "schema.json"}], "cases": CASES[:1]}),
            "schema.json": _json(PLAIN_SCHEMA),
        },
        ("check s.check.yaml",),
        ("suite: a schema in a file",),
        kept=("s.check.yaml",),
    ),
    Door(
        "suite: what failed before",
        lambda: {"s.check.yaml": _json(SMALL_SUITE | {"cases": SUITE["cases"]}), "last.jsonl": _failed()},
        ("check s.check.yaml --rerun-failed last.jsonl",),
        ("suite: what failed before",),
        kept=("s.check.yaml",),
    ),
    Door(
        "suite: a project",
        lambda: {
            "s.check.yaml": _json(SMALL_SUITE | {"cases": SUITE["cases"]}),
            "pyproject.toml": b'[tool.calque.evaluators]\nown = "own.py:judge"\n',
            "own.py": b"def judge(output, expected): return 1\n",
        },
        ("check s.check.yaml",),
        ("suite: a project",),
        kept=("s.check.yaml", "own.py"),
    ),
)


def _yaml_suite() -> bytes:
    import yaml

    return yaml.safe_dump(EVERY_EVALUATOR | {"cases": CASES}, sort_keys=False).encode()


def _failed() -> bytes:
    return _lines([{"suite": "s", "id": "c", "evaluator": "iou_score", "verdict": "fail", "status": "ok", "score": 0.0}])


# States, and the data of reports, which comes from them.

STATE_LINES: dict[str, tuple[Callable[[], Files], str]] = {
    "detection": (_sides(_lines(ROWS), _lines(ROWS[:1]), "ndjson"), "detect truth.ndjson found.ndjson"),
    "masks": (_sides(_json(COCO), _json(RESULTS)), "detect truth.json found.json"),
    "ceiling": (
        lambda: {"truth.json": _json(COCO), "one.json": _json(RESULTS), "two.json": _json(RESULTS[:1])},
        "ceiling truth.json one.json two.json",
    ),
    "layout": (_sides(_json(PLAIN), _json(PLAIN)), "layout truth.json found.json"),
    "fields": (_sides(_lines(TRUTH_RECORDS), _lines(FOUND_RECORDS), "jsonl"), "fields truth.jsonl found.jsonl"),
    "paired fields": (
        _sides(_lines(TRUTH_RECORDS), _lines(FOUND_RECORDS), "jsonl"),
        "fields truth.jsonl found.jsonl --accounting paired",
    ),
    "words": (lambda: {"t.txt": b"the cat sat on", "p.txt": b"the cot sat"}, "words t.txt p.txt --cer"),
    "tables": (
        lambda: {"t.html": tables.HTML.encode(), "p.html": tables.HTML.replace("Head", "x").encode()},
        "tables t.html p.html",
    ),
    "order": (lambda: {"t.ndjson": _lines(ORDER_ROWS), "p.ndjson": _lines(ORDER_ROWS[:1])}, "order t.ndjson p.ndjson"),
    "checks": (lambda: {"s.check.yaml": _json(EVERY_EVALUATOR | {"cases": CASES})}, "check s.check.yaml"),
}


@cache
def state_of(task: str) -> bytes:
    """A state of a task, as its verb saves it."""
    make, command = STATE_LINES[task]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        laid_out(make())
        run(f"{command} --save one.state", {})
        return Path("one.state").read_bytes()


def _states(task: str) -> Callable[[], Files]:
    def make() -> Files:
        files, _ = STATE_LINES[task]
        return {**files(), "old.state": state_of(task), "new.state": state_of(task)}

    return make


def _state_door(task: str) -> Door:
    make, command = STATE_LINES[task]
    return Door(
        f"state: {task}",
        _states(task),
        (
            "merge new.state --format json --report r.html --save again.state",
            "merge new.state --format jsonl --intervals --replicates 100 --baseline old.state",
            "merge new.state --format csv --baseline old.state --no-broken",
            "report new.state -o r.html",
            "report old.state new.state -o r.html",
            "compare old.state new.state --replicates 100 --format json --report r.html",
            "bless new.state -o base.state",
            f"{command} --baseline new.state --replicates 100",
        ),
        (f"state: {task}", "report"),
        kept=tuple(make()),
    )


CHECKPOINT = "detect truth.ndjson found.ndjson --checkpoint kept --format json"


def _checkpoint() -> Files:
    """Two sides, and the folder that the command before this one left behind."""
    sides = STATE_LINES["detection"][0]()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        laid_out(sides)
        run(CHECKPOINT, sides)
        return {**sides, **{str(path): path.read_bytes() for path in sorted(Path("kept").iterdir())}}


CHECKPOINTS = (Door("checkpoint", _checkpoint, (CHECKPOINT,), ("checkpoint",), kept=("truth.ndjson", "found.ndjson")),)

STATES = tuple(map(_state_door, STATE_LINES))


def picture(kind: str) -> bytes:
    """A small picture of a page."""
    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (60, 40), "white").save(out, kind)
    return out.getvalue()


PICTURES = (
    Door(
        "pictures",
        lambda: {
            "one.state": state_of("detection"),
            "scans/a-0.png": picture("PNG"),
            "scans/a-1.jpg": picture("JPEG"),
            "scans/a/1.webp": picture("WEBP"),
            "scans/a.pdf": picture("PDF"),
        },
        ("report one.state -o r.html --images scans", "report one.state -o s.html --images scans --sidecar"),
        ("pictures",),
        kept=("one.state",),
    ),
)

DOORS: tuple[Door, ...] = (
    *BOXES,
    *WORDS_READ,
    *TABLES_READ,
    *ORDERS_READ,
    *RECORDS,
    *BESIDE,
    *SUITES,
    *STATES,
    *CHECKPOINTS,
    *PICTURES,
)
