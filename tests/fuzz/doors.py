"""Every door through which data comes in: sound files for each, and the commands that read them.

`test_doors` compares this table with the registries of formats, with the parameters of all verbs and with the modules
that open files, so that nothing new is read without being attacked here.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fuzz.door import Door, Files, laid_out, run
from tests.fuzz.page_doors import BOXES, ORDER_ROWS, ORDERS_READ, TABLES_READ, WORDS_READ, as_json, as_lines, both_sides
from tests.fuzz.test_hostile_values import COCO, PLAIN, RECORD, RESULTS, ROWS, SCHEMA, SUITE
from tests.kept import Kept
from tests.snapshots import valid_predictions, valid_truth
from tests.tables import test_readers as tables
from tests.unit.test_check_tasks import SAMPLES

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
        both_sides(as_lines(TRUTH_RECORDS), as_lines(FOUND_RECORDS), "jsonl"),
        tuple(line.format("truth.jsonl", "found.jsonl") for line in FIELD_LINES),
        ("records: lines",),
    ),
    Door(
        "records: one",
        both_sides(as_json(RECORD), as_json(RECORD)),
        tuple(line.format("truth.json", "found.json") for line in FIELD_LINES),
        ("records: one",),
    ),
    Door(
        "records: list",
        both_sides(as_json(TRUTH_RECORDS), as_json(FOUND_RECORDS)),
        tuple(line.format("truth.json", "found.json") for line in FIELD_LINES),
        ("records: list",),
    ),
    Door(
        "records: folder",
        lambda: {f"{side}/{name}.json": as_json(RECORD) for side in ("truth", "found") for name in "ab"},
        tuple(line.format("truth", "found") for line in FIELD_LINES),
        ("records: folder",),
    ),
    Door(
        "records: packed lines",
        lambda: {f"{side}.jsonl.gz": gzip.compress(as_lines(TRUTH_RECORDS), mtime=0) for side in ("truth", "found")},
        tuple(line.format("truth.jsonl.gz", "found.jsonl.gz") for line in FIELD_LINES),
        ("records: packed lines",),
    ),
    *(
        Door(
            f"schema: {kind}",
            lambda tree=tree: {
                "truth.jsonl": as_lines(TRUTH_RECORDS),
                "found.jsonl": as_lines(FOUND_RECORDS),
                "schema.json": as_json(tree),
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
            "truth.json": as_json(COCO),
            "one.json": as_json(RESULTS),
            "two.json": as_json(RESULTS[:1]),
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
            "truth.jsonl": as_lines(TRUTH_RECORDS),
            "one.jsonl": as_lines(FOUND_RECORDS),
            "two.jsonl": as_lines(TRUTH_RECORDS),
            "schema.json": as_json(SCHEMA),
        },
        ("ceiling truth.jsonl one.jsonl two.jsonl --schema schema.json --format json",),
        ("ceiling",),
    ),
    Door(
        "class map",
        lambda: {
            "map.json": b'{"Figure": ["Picture"], "Table": null}',
            "map.yaml": b"Picture: Figure\ndrop: [x]\n",
            "truth.json": as_json(valid_truth()),
            "found.json": as_json(valid_predictions()),
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
            "truth.ndjson": as_lines(ROWS),
            "found.ndjson": as_lines(ROWS),
            "t.html": tables.HTML.encode(),
            "w.json": b'{"a": ["x", "y"]}',
            "o.json": b'[{"doc_id": "a", "order": ["x", "y"]}]',
            "r.jsonl": b'{"id": "a", "total": 1}\n',
            "s.check.yaml": b"evaluators: [{type: equals}]\ncases: [{id: a, expected: 1, output: 1}]\n",
        },
        (
            "detect truth.ndjson found.ndjson --metadata about.csv --by kind --format json",
            "layout truth.ndjson found.ndjson --metadata about.csv --by kind",
            "words w.json w.json --metadata about.csv --by kind",
            "order o.json o.json --metadata about.csv --by kind",
            "fields r.jsonl r.jsonl --metadata about.csv --by kind",
            "check s.check.yaml --metadata about.csv --by kind",
            "tables t.html t.html --metadata about.csv --by kind",
            "ceiling truth.ndjson found.ndjson --metadata about.csv --by kind",
            "compare truth.ndjson found.ndjson found.ndjson --metadata about.csv --by kind --replicates 100",
        ),
        ("metadata",),
        kept=("truth.ndjson", "found.ndjson", "t.html", "w.json", "o.json", "r.jsonl", "s.check.yaml"),
    ),
    Door(
        "compressed",
        lambda: {
            "truth.json.gz": gzip.compress(as_json(COCO), mtime=0),
            "found.json.gz": gzip.compress(as_json(RESULTS), mtime=0),
        },
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
        lambda: {"s.check.yaml": as_json(EVERY_EVALUATOR | {"cases": CASES}), "plain.yaml": _yaml_suite()},
        ("check s.check.yaml --format json --report r.html --save one.state", "check plain.yaml --format junit"),
        ("suite",),
    ),
    Door(
        "suite: data",
        lambda: {
            "s.check.yaml": as_json(EVERY_EVALUATOR | {"data": "cases.jsonl"}),
            "cases.jsonl": as_lines(CASES),
            "cases.csv": b'id,output,expected\nc,"{""boxes"": [[0, 0, 2, 2]]}","{""boxes"": [[0, 0, 2, 3]]}"\n',
        },
        ("check s.check.yaml --format jsonl", "check s.check.yaml --data cases.csv --format csv"),
        ("suite: data",),
        kept=("s.check.yaml",),
    ),
    Door(
        "suite: two files",
        lambda: {
            "s.check.yaml": as_json(SMALL_SUITE | {"expected": "e.jsonl", "actual": "a.json", "id": "id"}),
            "e.jsonl": as_lines([{"id": "c", **SIDE}]),
            "a.json": as_json([{"id": "c", **SIDE}]),
        },
        ("check s.check.yaml --format json", "check s.check.yaml --expected e.jsonl --actual a.json"),
        ("suite: two files",),
        kept=("s.check.yaml",),
    ),
    Door(
        "suite: a schema in a file",
        lambda: {
            "s.check.yaml": as_json({"evaluators": [{"type": "json_schema", "schema": "schema.json"}], "cases": CASES[:1]}),
            "schema.json": as_json(PLAIN_SCHEMA),
        },
        ("check s.check.yaml",),
        ("suite: a schema in a file",),
        kept=("s.check.yaml",),
    ),
    Door(
        "suite: what failed before",
        lambda: {"s.check.yaml": as_json(SMALL_SUITE | {"cases": SUITE["cases"]}), "last.jsonl": _failed()},
        ("check s.check.yaml --rerun-failed last.jsonl",),
        ("suite: what failed before",),
        kept=("s.check.yaml",),
    ),
    Door(
        "suite: a project",
        lambda: {
            "s.check.yaml": as_json(SMALL_SUITE | {"cases": SUITE["cases"]}),
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
    return as_lines([{"suite": "s", "id": "c", "evaluator": "iou_score", "verdict": "fail", "status": "ok", "score": 0.0}])


# States, and the data of reports, which comes from them.

STATE_LINES: dict[str, tuple[Callable[[], Files], str]] = {
    "detection": (both_sides(as_lines(ROWS), as_lines(ROWS[:1]), "ndjson"), "detect truth.ndjson found.ndjson"),
    "masks": (both_sides(as_json(COCO), as_json(RESULTS)), "detect truth.json found.json"),
    "ceiling": (
        lambda: {"truth.json": as_json(COCO), "one.json": as_json(RESULTS), "two.json": as_json(RESULTS[:1])},
        "ceiling truth.json one.json two.json",
    ),
    "layout": (both_sides(as_json(PLAIN), as_json(PLAIN)), "layout truth.json found.json"),
    "fields": (both_sides(as_lines(TRUTH_RECORDS), as_lines(FOUND_RECORDS), "jsonl"), "fields truth.jsonl found.jsonl"),
    "paired fields": (
        both_sides(as_lines(TRUTH_RECORDS), as_lines(FOUND_RECORDS), "jsonl"),
        "fields truth.jsonl found.jsonl --accounting paired",
    ),
    "words": (lambda: {"t.txt": b"the cat sat on", "p.txt": b"the cot sat"}, "words t.txt p.txt --cer"),
    "tables": (
        lambda: {"t.html": tables.HTML.encode(), "p.html": tables.HTML.replace("Head", "x").encode()},
        "tables t.html p.html",
    ),
    "order": (lambda: {"t.ndjson": as_lines(ORDER_ROWS), "p.ndjson": as_lines(ORDER_ROWS[:1])}, "order t.ndjson p.ndjson"),
    "checks": (lambda: {"s.check.yaml": as_json(EVERY_EVALUATOR | {"cases": CASES})}, "check s.check.yaml"),
}


_SAVED: Kept[bytes] = Kept()


def state_of(task: str) -> bytes:
    """A state of a task, as its verb saves it."""
    return _SAVED(f"state of {task}", lambda: _saved(*STATE_LINES[task]))


def _saved(make: Callable[[], Files], command: str) -> bytes:
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


def _checkpoint_door(name: str, command: str, make: Callable[[], Files]) -> Door:
    """What a command reads, and the folder that the same command before this one left behind."""

    def left_behind() -> Files:
        sound = make()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            laid_out(sound)
            run(command, sound)
            return {**sound, **{str(path): path.read_bytes() for path in sorted(Path("kept").iterdir())}}

    return Door(name, left_behind, (command,), (name,), kept=tuple(make()))


CHECKPOINTS = (
    _checkpoint_door(
        "checkpoint", "detect truth.ndjson found.ndjson --checkpoint kept --format json", STATE_LINES["detection"][0]
    ),
    _checkpoint_door(
        "checkpoint: check",
        "check s.check.yaml --checkpoint kept --format json",
        lambda: {"s.check.yaml": as_json(EVERY_EVALUATOR | {"cases": CASES[:1]})},  # nothing is kept of cases with errors
    ),
)

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
