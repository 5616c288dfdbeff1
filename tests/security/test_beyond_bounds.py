"""Every limit that the page states is held by a test that goes beyond it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import ConfigError, ContractError, Detection, Evaluator, Fields, read
from calque.checks import evaluator
from calque.comparators import written_numbers
from calque.corpus import class_map
from calque.fields.schemas import plain_form
from calque.kernels.reference import masks
from calque.readers.orders.files import read_orders
from calque.readers.sources import parquet_files, source
from calque.readers.tables import placing
from calque.readers.tables.files import read_tables
from calque.readers.text import word_table
from calque.readers.text.texts import read_texts
from calque.report import images
from calque.tables import parse
from tests.conftest import Run
from tests.security.test_bounds import ROWS
from tests.security.test_promises import ROOT, named_in

HERE, BOUNDS = "tests/security/test_beyond_bounds.py", "tests/security/test_bounds.py"
NAMED = "tests/unit/test_suite_named_files.py"
BEYOND = {
    "records of `calque fields`": f"{BOUNDS}::test_records_nested_beyond_the_limit_are_named",
    "schemas of fields": f"{HERE}::test_schemas_of_fields",
    "places of a JSON Schema of fields, references followed": f"{BOUNDS}::test_a_schema_that_doubles_with_every_reference",
    "JSON Schemas of checks, references followed": f"{HERE}::test_json_schemas_of_checks",
    "YAML (suites, class maps, YOLO's `data.yaml`)": "tests/unit/test_yaml_tree.py::"
    "test_a_hundred_levels_are_read_and_one_more_is_refused",
    "values that all aliases of a YAML file stand for": f"{BOUNDS}::test_a_bomb_of_aliases",
    "groups in a reading order": f"{BOUNDS}::test_groups_of_an_order",
    "structures of a Parquet file": f"{HERE}::test_structures_of_a_parquet_file",
    "other JSON, and XML": f"{HERE}::test_json_nested_without_end",
    "HTML, hOCR, Markdown": "tests/fuzz/test_linear_markup.py::test_four_times_the_text_is_about_four_times_the_work",
    "digits of a whole number": f"{BOUNDS}::test_numbers_with_more_digits_than_python_prints",
    "the text or XML of one document": "tests/unit/test_text_readers.py::"
    "test_a_sparse_file_of_500_megabytes_is_refused_at_once",
    "a page of NDJSON": "tests/unit/test_page_row_files.py::test_a_line_has_a_bound",
    "a line of a table of words": f"{HERE}::test_a_line_of_a_table_of_words",
    "a class map": f"{HERE}::test_a_class_map",
    "a cell of CSV (metadata, cases of a suite)": f"{BOUNDS}::test_a_cell_of_metadata",
    "a suite file": f"{NAMED}::test_suite_or_code_that_is_not_a_regular_file_is_refused",
    "a JSON Schema that a suite names": f"{NAMED}::test_suite_that_names_what_is_not_a_regular_file_is_refused",
    "a Python file with evaluators or a schema": f"{NAMED}::test_suite_or_code_that_is_not_a_regular_file_is_refused",
    "a JSON array with cases": f"{NAMED}::test_data_beyond_its_limit_is_refused",
    "any other file with cases, unpacked": f"{NAMED}::test_suite_that_names_what_is_not_a_regular_file_is_refused",
    "a line of a file with cases": f"{NAMED}::test_data_beyond_its_limit_is_refused",
    "files that match a pattern of a suite": f"{NAMED}::test_pattern_that_matches_too_many_files_is_refused",
    "files and folders that are listed for a pattern of a suite": f"{NAMED}::test_pattern_whose_walk_does_not_end_is_refused",
    "a pattern of a check": "tests/unit/test_check_assertions.py::test_settings_are_checked_at_load",
    "all searches with patterns in one case": "tests/unit/test_check_schema_bounds.py::"
    "test_pattern_that_backtracks_stops_after_its_time_for_all_texts_of_a_case",
    "steps of a JSON Schema of checks on one case": "tests/unit/test_check_schema_bounds.py::"
    "test_json_schema_that_takes_exponential_time_is_an_error_of_its_case",
    "a formatted number that a comparator reads": f"{HERE}::test_a_formatted_number",
    "vertices of a polygon in checks": f"{BOUNDS}::test_polygons_of_checks",
    "edges times crossings of a polygon in checks that crosses itself": f"{BOUNDS}::test_polygons_of_checks",
    "steps of work on the outlines of one page": f"{BOUNDS}::test_outlines_that_cross_without_end",
    "overlapping pairs of boxes on one page": "tests/security/test_crowded_pages.py::"
    "test_crowded_page_is_refused_by_name_with_bounded_memory",
    "findings of an audit": "tests/security/test_crowded_pages.py::"
    "test_audit_with_very_many_findings_is_refused_with_bounded_memory",
    "columns of pixels that the ring of a mask crosses": f"{BOUNDS}::test_masks_on_a_page_of_two_thousand_million_columns",
    "pixels of a page with masks": f"{HERE}::test_pixels_of_a_page_with_masks",
    "items of a list in a record": f"{BOUNDS}::test_a_list_of_a_record_that_nobody_writes",
    "rows times columns of a table": "tests/tables/test_documents.py::test_tables_beyond_measure_are_refused",
    "steps of work on the tables of one document": "tests/security/test_bounds_of_tables.py::"
    "test_tables_that_take_hours_are_named_and_the_rest_is_evaluated",
    "columns of one cell": f"{HERE}::test_columns_of_one_cell",
    "files of a folder": f"{HERE}::test_files_of_a_folder",
    "pixels of a page image": f"{HERE}::test_pixels_of_a_page_image",
    "page images in a report": "tests/report/test_images.py::test_images_go_into_the_file_worst_pages_first",
    "what a gzip or Zstandard file unpacks to": "tests/unit/test_compression.py::test_bombs_are_refused",
    "what the columns of a Parquet file unfold to": "tests/fuzz/test_damaged_parquet.py::"
    "test_a_file_that_unfolds_to_a_thousand_times_its_size",
    "names in a state that no row uses": "tests/security/test_forged_states.py::test_state_many_names_without_rows_are_refused",
    "an evaluator of one's own, for one case": f"{HERE}::test_an_evaluator_that_does_not_come_to_an_end",
    "a program of a suite, for one case": "tests/unit/test_check_commands.py::test_a_program_that_breaks_is_an_error",
}
LIMITS = [what for what in ROWS if what not in ("what", "---")]


@pytest.mark.parametrize("what", LIMITS)
def test_each_limit_has_a_test_beyond_it(what: str) -> None:
    file, _, name = BEYOND[what].partition("::")
    assert name in named_in(ROOT / file)


def test_no_test_is_for_a_limit_that_is_not_stated() -> None:
    assert set(BEYOND) == set(LIMITS)


# Nesting.


def object_of(levels: int) -> dict[str, Any]:
    inner: dict[str, Any] = {"type": "str"}
    for _ in range(levels - 1):
        inner = {"type": "object", "fields": {"a": inner}}
    return {"fields": {"a": inner}}


@pytest.mark.parametrize("levels", [plain_form.DEEPEST, plain_form.DEEPEST + 1])
def test_schemas_of_fields(levels: int) -> None:
    if levels <= plain_form.DEEPEST:
        Fields(schema=object_of(levels))
        return
    with pytest.raises(ConfigError, match=f"a schema may be {plain_form.DEEPEST} levels deep"):
        Fields(schema=object_of(levels))


@pytest.mark.parametrize(("levels", "score"), [(40, 1.0), (250, 0.0)])
def test_json_schemas_of_checks(levels: int, score: float) -> None:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    either = [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/a"}}]
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": either}}}
    outcome = evaluator({"type": "json_schema", "schema": schema}).evaluate(value, None)
    assert outcome.score == score
    assert ("nested too deeply" in str(outcome.misses)) == (score == 0.0)


@pytest.mark.parametrize("levels", [3, parquet_files.DEEPEST + 6])
def test_structures_of_a_parquet_file(tmp_path: Path, levels: int) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    deep: Any = pa.int32()
    for _ in range(levels):
        deep = pa.struct([("a", deep)])
    names = ["doc_id", "page_index", "boxes", "labels", "deep"]
    columns = [["d"], [0], [[[0.0, 0.0, 1.0, 1.0]]], [["x"]], pa.array([None], deep)]
    pq.write_table(pa.table(columns, names=names), tmp_path / "p.parquet")
    if levels < parquet_files.DEEPEST:
        assert len(read(tmp_path / "p.parquet")) == 1
        return
    with pytest.raises(ContractError, match=r"p\.parquet"):
        read(tmp_path / "p.parquet")


READERS: dict[str, Callable[[Path], Any]] = {
    "boxes": read,
    "texts": lambda path: read_texts(str(path)),
    "orders": read_orders,
    "tables": read_tables,
    "records": lambda path: Evaluator(Fields(schema={"fields": {"x": {"type": "any"}}})).update(path, path),
}


@pytest.mark.parametrize("kind", READERS)
def test_json_nested_without_end(tmp_path: Path, kind: str) -> None:
    (tmp_path / "deep.json").write_text('[{"id": 1, "x": ' + "[" * 200_000 + "]" * 200_000 + "}]")
    with pytest.raises(ContractError, match=r"deep\.json"):
        READERS[kind](tmp_path / "deep.json")


# Length.


@pytest.mark.parametrize("over", [-100, 1])
def test_a_line_of_a_table_of_words(tmp_path: Path, over: int) -> None:
    head, row = "docid\twordid\tword\n", "d\t1\t"
    word = "x" * (word_table.LONGEST_LINE - len(row) - 1 + over)
    (tmp_path / "w.tsv").write_text(f"{head}{row}{word}\n")
    if over < 0:
        assert read_texts(str(tmp_path / "w.tsv")).units() == ("d",)
        return
    with pytest.raises(ContractError, match=f"a line is longer than {word_table.LONGEST_LINE:,} bytes"):
        read_texts(str(tmp_path / "w.tsv"))


def test_a_class_map(tmp_path: Path) -> None:
    (tmp_path / "map.json").write_text(json.dumps({"a": "x" * class_map.LARGEST}))
    with pytest.raises(ConfigError, match=r"map\.json: is larger than 4 MB"):
        class_map.class_map(tmp_path / "map.json")


def test_a_formatted_number() -> None:
    longest = "1" * written_numbers.LONGEST
    assert written_numbers.written(longest) is not None
    assert written_numbers.written(longest + "1") is None


# Shapes, lists, images, time.


def test_pixels_of_a_page_with_masks(tmp_path: Path) -> None:
    image = {"id": 1, "file_name": "a", "width": masks.MOST_PLACES // 1024, "height": 1024}
    counts = {"size": [1024, masks.MOST_PLACES // 1024], "counts": [0, 5]}
    annotation = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 5], "area": 5, "iscrowd": 0}
    truth = {"images": [image], "categories": [{"id": 1, "name": "x"}], "annotations": [{**annotation, "segmentation": counts}]}
    (tmp_path / "t.json").write_text(json.dumps(truth))
    with pytest.raises(ContractError, match=f"fewer than {masks.MOST_PLACES}") as refused:
        Evaluator(Detection(on="masks")).update(tmp_path / "t.json", tmp_path / "t.json")
    assert "t.json" in str(refused.value)


def test_columns_of_one_cell() -> None:
    wide = parse(f"<table><tr><td colspan={placing.MOST_COLUMNS_OF_A_CELL + 1}>a</td></tr></table>")
    assert list(wide.colspan) == [placing.MOST_COLUMNS_OF_A_CELL]


def test_files_of_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(source, "MOST_FILES", 3)
    for number in range(4):
        (tmp_path / f"{number}.xml").write_text("<annotation/>")
    with pytest.raises(ContractError, match="holds more than 3 files"):
        read(tmp_path, format="voc")


@pytest.mark.parametrize("height", [4000, 5001])
def test_pixels_of_a_page_image(tmp_path: Path, height: int) -> None:
    image = pytest.importorskip("PIL.Image")
    image.new("1", (10_000, height)).save(tmp_path / "a-0.png")
    found = images.Folder(str(tmp_path)).find(images.Wanted("", "a", 0))
    assert found is not None
    assert (images.Darkroom().picture(0, found) is None) == (10_000 * height > images.MOST_PIXELS)


def test_an_evaluator_that_does_not_come_to_an_end(tmp_path: Path, calque: Callable[..., Run]) -> None:
    (tmp_path / "own.py").write_text("def judge(output, expected):\n    while True:\n        pass\n")
    cases = "cases:\n  - {id: a, output: 1, expected: 1}\n"
    (tmp_path / "suite.yaml").write_text("evaluators:\n  - {type: mine, timeout: 0.2}\n" + cases)
    run = calque("check", "suite.yaml", "--evaluator", "mine=own.py:judge", "--format", "json")
    assert run.code == 3
    [row] = json.loads(run.out)["results"]
    assert row["status"] == "error"
    assert "0.2 s" in row["reasoning"]
