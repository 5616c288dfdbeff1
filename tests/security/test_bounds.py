"""The page of limits states the bounds that the code has, and what is beyond one of them is refused or left out by name."""

from __future__ import annotations

import csv
import json
import math
import random
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from calque import CalqueError, ConfigError, ContractError, Detection, Evaluator, Fields, read
from calque.base import user_code, yaml_tree
from calque.checks import evaluator
from calque.checks.evaluators import commands, custom, patterns, schema_work, schemas
from calque.checks.shapes import regions
from calque.checks.suites import named_files
from calque.comparators import written_numbers
from calque.corpus import class_map
from calque.corpus import tables as table_corpus
from calque.detection.auditing import audit
from calque.evaluation.boxes import crowding
from calque.evaluation.storage import state
from calque.fields.comparison import cells
from calque.fields.schemas import json_schema, plain_form
from calque.kernels.reference import masks, slabs
from calque.readers import records
from calque.readers.orders import building
from calque.readers.orders.files import read_orders
from calque.readers.page_rows import ndjson
from calque.readers.sources import compression, json_tree, parquet_files, source, xml_tree
from calque.readers.tables import placing
from calque.readers.tables.files import read_tables
from calque.readers.text import text_files, word_table
from calque.readers.text.texts import read_texts
from calque.report import build, images
from calque.tables import pairing
from tests.conftest import Run

PAGE = (Path(__file__).parents[2] / "docs/reference/limits.md").read_text()
ROWS = dict(re.findall(r"^\| (.*?) \| (.*?) \| .*?\|$", PAGE, re.MULTILINE))
MB = 2**20
PACKED = f"{compression.MOST_TIMES} times its size, or {compression.ALWAYS_FINE // MB} MB"
STATED: dict[str, str] = {
    "records of `calque fields`": f"{records.DEEPEST} levels",
    "schemas of fields": f"{plain_form.DEEPEST} levels",
    "places of a JSON Schema of fields, references followed": f"{json_schema.MOST_NODES:,}",
    "JSON Schemas of checks, references followed": f"{schemas.DEEPEST} levels",
    "YAML (suites, class maps, YOLO's `data.yaml`)": f"{yaml_tree.DEEPEST} levels",
    "values that all aliases of a YAML file stand for": f"{yaml_tree.UNFOLDED:,}",
    "groups in a reading order": f"{building.DEEPEST} levels",
    "structures of a Parquet file": f"{parquet_files.DEEPEST} levels",
    "digits of a whole number": f"{json_tree.ENDLESS:,}",
    "the text or XML of one document": f"{text_files.LARGEST // MB} MB",
    "a page of NDJSON": f"{ndjson.LONGEST_LINE // MB} MB",
    "a line of a table of words": f"{word_table.LONGEST_LINE // MB} MB",
    "a cell of CSV (metadata, cases of a suite)": f"{csv.field_size_limit():,} characters",
    "a class map": f"{class_map.LARGEST // MB} MB",
    "a suite file": f"{named_files.LARGEST_SUITE // MB} MB",
    "a JSON Schema that a suite names": f"{named_files.LARGEST_SCHEMA // MB} MB",
    "a Python file with evaluators or a schema": f"{user_code.LARGEST // MB} MB",
    "a JSON array with cases": f"{named_files.LARGEST_ARRAY // MB} MB",
    "any other file with cases, unpacked": f"{named_files.LARGEST_DATA // MB:,} MB",
    "a line of a file with cases": f"{named_files.LONGEST_LINE // MB} MB",
    "files that match a pattern of a suite": f"{named_files.MOST_FILES:,}",
    "files and folders that are listed for a pattern of a suite": f"{named_files.MOST_ENTRIES:,}",
    "a pattern of a check": f"{patterns.LONGEST:,} characters, {schema_work.SECONDS:g} s a text",
    "all searches with patterns in one case": f"{patterns.TEXTS} times the time for one text",
    "steps of a JSON Schema of checks on one case": f"{schema_work.MOST_STEPS:,}",
    "a formatted number that a comparator reads": f"{written_numbers.LONGEST} characters",
    "vertices of a polygon in checks": f"{regions.MOST_VERTICES:,}",
    "edges times crossings of a polygon in checks that crosses itself": f"{regions.MOST_CUTS:,}",
    "steps of work on the outlines of one page": f"{slabs.BASE_ALLOWANCE:,} and {slabs.EDGE_ALLOWANCE:,} for each edge",
    "overlapping pairs of boxes on one page": f"{crowding.MOST_PAIRS:,}",
    "findings of an audit": f"{audit.MOST_FINDINGS:,}",
    "columns of pixels that the ring of a mask crosses": f"{masks.MOST_TOGGLES:,}",
    "pixels of a page with masks": f"{masks.MOST_PLACES - 1:,}",
    "items of a list in a record": f"{cells.MOST_ITEMS:,}",
    "rows times columns of a table": f"{table_corpus.MOST_SLOTS:,}",
    "steps of work on the tables of one document": f"{pairing.MOST_STEPS:,}",
    "columns of one cell": f"{placing.MOST_COLUMNS_OF_A_CELL:,}",
    "files of a folder": f"{source.MOST_FILES:,}",
    "pixels of a page image": f"{images.MOST_PIXELS:,}",
    "page images in a report": f"{build.MOST_IMAGES // 1_000_000} MB (`--report-size`)",
    "what a gzip or Zstandard file unpacks to": PACKED,
    "what the columns of a Parquet file unfold to": PACKED,
    "names in a state that no row uses": f"{state.UNUSED_NAMES:,}",
    "an evaluator of one's own, for one case": f"{custom.SECONDS:g} s (`timeout`)",
    "a program of a suite, for one case": f"{commands.SECONDS:g} s (`timeout`)",
}


@pytest.mark.parametrize("what", STATED)
def test_the_page_states_the_bounds(what: str) -> None:
    assert ROWS[what] == STATED[what]
    assert xml_tree.LARGEST == text_files.LARGEST


# Nesting.


def nested(levels: int, inside: str = "1") -> str:
    return "[" * levels + inside + "]" * levels


def test_records_nested_beyond_the_limit_are_named(tmp_path: Path) -> None:
    for name in ("t.jsonl", "p.jsonl"):
        (tmp_path / name).write_text('{"id": 1, "x": ' + nested(records.DEEPEST + 5) + ', "y": 2}\n')
    result = (
        Evaluator(Fields(schema={"fields": {"x": {"type": "any"}, "y": {"type": "int"}}}))
        .update(tmp_path / "t.jsonl", tmp_path / "p.jsonl")
        .compute()
    )
    assert any("nested" in issue.message for issue in result.issues)


@pytest.mark.parametrize("levels", [building.DEEPEST, building.DEEPEST + 5])
def test_groups_of_an_order(tmp_path: Path, levels: int) -> None:
    path = tmp_path / "o.ndjson"
    path.write_text('{"doc_id": "d", "order": ' + nested(levels, '"a"') + "}\n")
    if levels <= building.DEEPEST:
        assert len(read_orders(path).pages["d"]) == 1
        return
    with pytest.raises(ContractError, match=rf"o\.ndjson.*nested more than {building.DEEPEST} deep"):
        read_orders(path)


@pytest.mark.parametrize("word", ["properties", "anyOf"])
def test_a_schema_that_doubles_with_every_reference(word: str) -> None:
    """Forty lines that would unfold to a million million fields."""
    names = [f"n{level}" for level in range(40)]
    defined: dict[str, Any] = {names[0]: {"type": "string"}}
    for name, below in pairwise(names):
        inner = {"$ref": f"#/$defs/{name}"}
        defined[below] = {word: {"a": inner, "b": inner} if word == "properties" else [inner, inner]}
    tree = {"$defs": defined, "properties": {"x": {"$ref": f"#/$defs/{names[-1]}"}}}
    with pytest.raises(ConfigError, match=r"unfolds to more than 20,000 places|references lead in a circle"):
        Fields(schema=tree)


@pytest.mark.parametrize(
    "node",
    [{"type": ["number", [1]]}, {"type": ["object", "string"]}, {"type": "string", "enum": 5}, {"properties": [1]}, {"$ref": 5},
     {"allOf": [{"properties": 3}, {"type": "object"}]}, {"anyOf": [{"enum": 7}, {"type": "string"}]},
     {"format": []}, {"type": {}}],
    ids=str,
)  # fmt: skip
def test_places_that_no_schema_has(node: dict[str, Any]) -> None:
    try:
        Fields(schema={"properties": {"x": node}})
    except ConfigError as error:
        assert "schema.properties.x" in str(error)


XML = {
    "voc": "<annotation>{}</annotation>",
    "page": "<PcGts><Page imageWidth='9' imageHeight='9'>{}</Page></PcGts>",
    "alto": "<alto><Layout>{}</Layout></alto>",
    "cvat": "<annotations>{}</annotations>",
}


def xml_readers(path: Path, kind: str) -> list[Callable[[], Any]]:
    """Everything that reads this kind of XML."""
    readers: list[Callable[[], Any]] = [lambda: read(path, format=kind)]
    if kind in ("page", "alto"):
        readers.append(lambda: read_texts(str(path)))
    if kind == "page":
        readers.append(lambda: read_orders(path))
    if kind == "voc":
        readers.append(lambda: read_tables(path))
    return readers


@pytest.mark.parametrize("kind", XML)
def test_xml_nested_without_end(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "deep.xml"
    path.write_text(XML[kind].format("<a>" * 50_000))
    for reading in xml_readers(path, kind):
        with pytest.raises(CalqueError, match=r"deep\.xml"):
            reading()


TENFOLD = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True))
ENTITIES = {
    "a bomb": f'<!DOCTYPE x [<!ENTITY a "ha">{TENFOLD}]>',
    "a file": '<!DOCTYPE x [<!ENTITY i SYSTEM "file:///etc/hostname">]>',
    "a host": '<!DOCTYPE x [<!ENTITY i SYSTEM "http://example.invalid/x">]>',
    "a parameter": '<!DOCTYPE x [<!ENTITY % p SYSTEM "file:///etc/hostname"> %p;]>',
    "a subset elsewhere": '<!DOCTYPE x SYSTEM "http://example.invalid/x.dtd">',
}  # fmt: skip


@pytest.mark.parametrize("kind", XML)
@pytest.mark.parametrize("danger", ENTITIES)
def test_entities_of_every_xml_format(tmp_path: Path, kind: str, danger: str) -> None:
    path = tmp_path / "x.xml"
    inside = "" if danger in ("a parameter", "a subset elsewhere") else "<a>&i;</a>"
    path.write_text(ENTITIES[danger] + XML[kind].format(inside))
    for reading in xml_readers(path, kind):
        try:
            found = reading()
        except CalqueError as error:
            assert "x.xml" in str(error)
            continue
        assert not inside, found


def test_a_bomb_of_aliases(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    path = tmp_path / "map.yaml"
    path.write_text("\n".join(lines))
    with pytest.raises(CalqueError, match=r"map\.yaml"):
        class_map.class_map(path)


# Shapes.


def star(corners: int, seed: int = 1) -> list[list[float]]:
    """A ring that crosses itself about as often as it can."""
    draw = random.Random(seed)
    return [[draw.uniform(0, 1000), draw.uniform(0, 1000)] for _ in range(corners)]


def circle(corners: int) -> list[list[float]]:
    return [
        [500 + 400 * math.cos(2 * math.pi * i / corners), 500 + 400 * math.sin(2 * math.pi * i / corners)]
        for i in range(corners)
    ]


CHECK = {"type": "iou_score", "bbox_path": "p", "expected_bbox_path": "p", "format": "polygon"}


@pytest.mark.parametrize(
    ("ring", "told"), [(circle(regions.MOST_VERTICES + 1), "may have 10,000 vertices"), (star(1200), "crosses itself so often")]
)
def test_polygons_of_checks(ring: list[list[float]], told: str) -> None:
    outcome = evaluator(CHECK).evaluate({"p": ring}, {"p": circle(8)})
    assert told in outcome.reasoning
    assert outcome.score == 0.0


@pytest.mark.long
def test_a_polygon_that_crosses_itself_often_is_still_measured() -> None:
    ring = star(60)
    assert evaluator(CHECK).evaluate({"p": ring}, {"p": ring}).score == pytest.approx(1.0)


def test_outlines_that_cross_without_end(tmp_path: Path) -> None:
    for name, seed in (("t.json", 1), ("p.json", 2)):
        (tmp_path / name).write_text(json.dumps([{"poly": star(700, seed), "category": "a", "doc_id": "d", "score": 0.5}]))
    with pytest.raises(ContractError, match=r"t\.json and .*p\.json: outlines cross each other too often"):
        Evaluator(Detection()).update(tmp_path / "t.json", tmp_path / "p.json")
    Evaluator(Detection(on="boxes")).update(tmp_path / "t.json", tmp_path / "p.json").compute()


def test_masks_on_a_page_of_two_thousand_million_columns(tmp_path: Path) -> None:
    """Drawn, such a ring would take sixteen gigabytes."""
    truth = {
        "images": [{"id": 1, "file_name": "a", "width": 2**31 - 1, "height": 1}],
        "categories": [{"id": 1, "name": "x"}],
        "annotations": [
            {
                "id": 1,
                "image_id": 1,
                "category_id": 1,
                "bbox": [0, 0, 2e8, 1],
                "segmentation": [[0, 0, 3e8, 0, 3e8, 1, 0, 1]],
                "area": 1,
                "iscrowd": 0,
            }
        ],
    }
    (tmp_path / "t.json").write_text(json.dumps(truth))
    result = Evaluator(Detection(on="masks", lenient=True)).update(tmp_path / "t.json", tmp_path / "t.json").compute()
    assert any(issue.code == "mask-ring" for issue in result.issues)


# Lists and lengths.


def test_a_list_of_a_record_that_nobody_writes() -> None:
    listed = ["x"] * (cells.MOST_ITEMS + 1)
    result = (
        Evaluator(Fields(schema={"fields": {"l": {"type": "list[str]"}, "n": {"type": "int"}}}))
        .update([{"l": listed, "n": 1}], [{"l": listed, "n": 1}])
        .compute()
    )
    assert any("100,000" in issue.message for issue in result.issues)


def test_a_long_text_in_every_row_of_a_table_of_words(tmp_path: Path) -> None:
    """Unfolded it would be a hundred gigabytes."""
    pa = pytest.importorskip("pyarrow")
    import numpy as np
    import pyarrow.parquet as pq

    rows = 50_000
    word = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), ["n" * 1_000_000])
    table = pa.table({"docid": pa.array(["d"] * rows), "wordid": pa.array(np.arange(rows)), "word": word})
    pq.write_table(table, tmp_path / "w.parquet", store_schema=False)
    corpus = read_texts(str(tmp_path / "w.parquet"))
    assert len(corpus.vocabulary) == 1  # type: ignore[union-attr]  # a corpus of words


@pytest.mark.parametrize("verb", ["fields", "detect", "words", "tables", "order"])
def test_numbers_with_more_digits_than_python_prints(verb: str, calque: Callable[..., Run], tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('[{"id": 1, "a": ' + "7" * (json_tree.ENDLESS + 100) + "}]")
    run = calque(verb, "x.json", "x.json")
    assert run.code == 2
    assert "x.json" in run.err


@pytest.mark.parametrize("over", [0, 1])
def test_a_cell_of_metadata(over: int, calque: Callable[..., Run], tmp_path: Path) -> None:
    """At the limit it is read, beyond it refused with its line."""
    (tmp_path / "t.json").write_text(json.dumps([{"bbox": [0, 0, 1, 1], "category": "a", "doc_id": "d", "score": 0.5}]))
    (tmp_path / "about.csv").write_text(f"doc_id,kind\nd,{'x' * (csv.field_size_limit() + over)}\n")
    run = calque("detect", "t.json", "t.json", "--metadata", "about.csv", "--by", "kind", "--format", "json")
    assert run.code == (2 if over else 0), run.err[:500]
    assert ("about.csv: line 2" in run.err) == bool(over)
