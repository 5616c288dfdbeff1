"""``calque ceiling`` as people use it: what is refused, what is remarked, how systems are called, gates, shards and states."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from calque import Ceiling, ConfigError, Corpus, Evaluator
from tests.conftest import Run

Command = Callable[..., Run]
SCHEMA = {"fields": {"total": {"type": "float"}, "lines": {"type": "list[object]", "fields": {"name": {"type": "str"}}}}}


def rows(*documents: tuple[str, list[list[float]]], label: str = "Table", scores: bool = True) -> str:
    pages = [
        {"doc_id": name, "boxes": boxes, "labels": [label] * len(boxes), **({"scores": [0.5] * len(boxes)} if scores else {})}
        for name, boxes in documents
    ]
    return "".join(json.dumps(page) + "\n" for page in pages)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    one, two = [0.0, 0.0, 40.0, 40.0], [100.0, 0.0, 140.0, 40.0]
    (tmp_path / "truth.ndjson").write_text(rows(("d1", [one, two]), ("d2", [one]), scores=False))
    (tmp_path / "a.ndjson").write_text(rows(("d1", [one]), ("d2", [one])))
    (tmp_path / "b.ndjson").write_text(rows(("d1", [two]), ("d2", [])))
    (tmp_path / "records.jsonl").write_text('{"doc_id": "d1", "total": 5, "lines": []}\n')
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "text.txt").write_text("to be")
    return tmp_path


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("truth.ndjson",), "Missing argument 'PREDICTIONS...'"),
        (("truth.ndjson", "a.ndjson", "a.ndjson"), "a.ndjson: is given twice"),
        (("truth.ndjson", "a.ndjson", "./a.ndjson"), "./a.ndjson: is given twice as a.ndjson"),
        (("truth.ndjson", "a.ndjson", "gone.ndjson"), "gone.ndjson: does not exist"),
        (("gone.ndjson", "a.ndjson"), "gone.ndjson: does not exist"),
        (("truth.ndjson", "a.ndjson", "--iou", "0"), "iou must be above 0 and at most 1"),
        (("truth.ndjson", "a.ndjson", "--iou", "1.01"), "iou must be above 0 and at most 1"),
        (("truth.ndjson", "a.ndjson", "--fuse-iou", "0"), "fuse_iou must be above 0 and at most 1"),
        (("truth.ndjson", "a.ndjson", "--splits", "0"), "splits must be a whole number from 1"),
        (("truth.ndjson", "a.ndjson", "--seed", str(2**63)), "seed must leave room for the splits"),
        (("truth.ndjson", "a.ndjson", "--task", "words"), "calque words --build-lattice"),
        (("truth.ndjson", "a.ndjson", "--task", "box"), "task can be boxes, layout, fields, not 'box'"),
        (("text.txt", "a.ndjson"), "calque words --build-lattice"),
        (("truth.ndjson", "a.ndjson", "text.txt"), "calque words --build-lattice"),
        (("truth.ndjson", "a.ndjson", "records.jsonl"), "records.jsonl: line 1: the key 'boxes' is missing"),
        (("records.jsonl", "a.ndjson", "--schema", "schema.json"), "a.ndjson: holds boxes, and not records"),
        (("truth.ndjson", "a.ndjson", "--schema", "schema.json"), "truth.ndjson: holds boxes, and not records"),
        (("truth.ndjson", "a.ndjson", "--schema", "schema.json", "--task", "layout"), "a schema is for fields"),
        (("truth.ndjson", "a.ndjson", "--names", "x,y"), "there are 1 systems and 2 names"),
        (("truth.ndjson", "a.ndjson", "b.ndjson", "--names", "x,x"), "two systems are named 'x'"),
        (("truth.ndjson", "a.ndjson", "--by", "kind"), "no document has 'kind'"),
    ],
)
def test_what_is_refused(here: Path, calque: Command, given: tuple[str, ...], said: str) -> None:
    run = calque("ceiling", *given)
    assert (run.code, run.out) == (2, "")
    assert said in run.err


def test_sixteen_systems_and_no_more(here: Path, calque: Command) -> None:
    for place in range(17):
        (here / f"s{place}.ndjson").write_text((here / "ab"[place % 2]).with_suffix(".ndjson").read_text())
    names = [f"s{place}.ndjson" for place in range(17)]
    run = calque("ceiling", "truth.ndjson", *names)
    assert (run.code, run.out) == (2, "")
    assert "1 to 16 systems, not 17" in run.err
    level = calque("ceiling", "truth.ndjson", *names[:16], "--iou", "0.5", "--format", "json").json["levels"]["0.5"]
    assert level["select"]["matches"] == 3
    assert level["votes"]["8"] == {"tp": 3, "found": 3, "recall": 1.0, "precision": 1.0, "f1": 1.0}
    assert [row["gain"] for row in level["order"]] == [2, 1, *[0] * 14]


def test_a_system_that_cannot_help_is_remarked_on(here: Path, calque: Command) -> None:
    (here / "far.ndjson").write_text(rows(("d9", [[0.0, 0.0, 40.0, 40.0]])))
    (here / "odd.ndjson").write_text(rows(("d1", [[0.0, 0.0, 40.0, 40.0]]), label="Logo"))
    (here / "still.ndjson").write_text(rows(("d1", [])))
    files = ("ceiling", "truth.ndjson", "a.ndjson", "far.ndjson", "odd.ndjson", "still.ndjson")
    for extra in ((), ("--task", "layout")):
        result = calque(*files, *extra, "--format", "json")
        assert result.code == 0
        said = {issue["code"]: issue["message"] for issue in result.json["issues"]}
        assert said["system-without-documents"] == "far has no document of the truth"
        assert said["system-without-labels"] == "odd, still have none of the labels of the truth"


def test_a_system_of_records_that_cannot_help_is_remarked_on(here: Path, calque: Command) -> None:
    (here / "far.jsonl").write_text(jsonl({"doc_id": "d9", "total": 5}))
    (here / "odd.jsonl").write_text(jsonl({"doc_id": "d1", "sum": 5}))
    files = ("ceiling", "records.jsonl", "far.jsonl", "odd.jsonl", "records.jsonl")
    said = calque(*files, "--schema", "schema.json", "--format", "json").json["issues"]
    assert [(issue["code"], issue["message"]) for issue in said] == [
        ("system-without-documents", "far has no document of the truth"),
        ("system-without-labels", "odd has none of the fields of the truth"),
    ]


def test_losses_end_with_3(here: Path, calque: Command) -> None:
    (here / "torn.ndjson").write_text((here / "a.ndjson").read_text() + "{torn\n")
    run = calque("ceiling", "truth.ndjson", "torn.ndjson", "b.ndjson", "--format", "json")
    assert run.code == calque("detect", "truth.ndjson", "torn.ndjson").code == 3
    assert run.json["levels"]["0.5"]["select"]["matches"] == 3


def test_systems_are_called_as_their_files(here: Path, calque: Command) -> None:
    for folder, name in (("old", "a"), ("new", "b")):
        (here / folder).mkdir()
        (here / folder / "run.ndjson").write_text((here / f"{name}.ndjson").read_text())
    given = ("truth.ndjson", "old/run.ndjson", "new/run.ndjson", "a.ndjson")
    assert calque("ceiling", *given, "--format", "json").json["systems"] == ["old/run.ndjson", "new/run.ndjson", "a"]
    assert calque("ceiling", *given, "--names", "x,y,z", "--format", "json").json["systems"] == ["x", "y", "z"]


def test_single_systems_are_what_detect_and_layout_say(here: Path, calque: Command) -> None:
    for verb, extra in (("detect", ()), ("layout", ("--task", "layout"))):
        ceiling = calque("ceiling", "truth.ndjson", "a.ndjson", "b.ndjson", "--iou", "0.5", *extra, "--format", "json").json
        for name, single in ceiling["levels"]["0.5"]["single"].items():
            own = calque(verb, "truth.ndjson", f"{name}.ndjson", "--iou", "0.5", "--format", "json").json
            if verb == "detect":
                micro = own["metrics"]["0.5"]["micro"]
                assert (single["tp"], single["found"], single["f1"]) == (micro["tp"], micro["tp"] + micro["fp"], micro["f1"])
                assert ceiling["ap"]["single"][name] == own["coco"]["AP"]
            else:
                assert single["matched"] == own["layout_matched_blocks"]
                assert single["recall"] == own["layout_accuracy_over_total"]


@pytest.mark.parametrize(("verb", "extra"), [("detect", ()), ("layout", ("--task", "layout"))])
def test_what_is_broken_counts_for_a_system_as_it_does_alone(
    here: Path, calque: Command, verb: str, extra: tuple[str, ...]
) -> None:
    one, two, three = [0.0, 0.0, 40.0, 40.0], [100.0, 0.0, 140.0, 40.0], [200.0, 0.0, 240.0, 40.0]
    backwards = [90.0, 0.0, 50.0, 40.0]
    labels = {"Table": 3, "Figure": 1}
    truth = [
        {"doc_id": "d1", "boxes": [one, two, three, backwards], "labels": [n for n, k in labels.items() for _ in range(k)]}
    ]
    found = [{**truth[0], "boxes": [one, backwards, two, three], "labels": ["Table", "Table", "Figure", "Table"]}]
    for name, pages in (("truth", truth), ("a", [found[0] | {"scores": [0.9, 0.8, 0.7, 0.6]}])):
        (here / f"{name}.ndjson").write_text("".join(json.dumps(page) + "\n" for page in pages))
    given = ("--iou", "0.5", "--format", "json")
    together, alone = (
        calque("ceiling", "truth.ndjson", "a.ndjson", *extra, *given),
        calque(verb, "truth.ndjson", "a.ndjson", *given),
    )
    assert together.code == alone.code == 3
    single = together.json["levels"]["0.5"]["single"]["a"]
    if verb == "detect":
        micro = alone.json["metrics"]["0.5"]["micro"]
        assert (
            (single["tp"], single["found"], single["f1"])
            == (micro["tp"], micro["tp"] + micro["fp"], micro["f1"])
            == (2, 3, 2 / 3)
        )
    else:
        own = [alone.json[f"layout_{key}"] for key in ("matched_blocks", "accuracy_over_total")]
        assert [single["matched"], single["recall"]] == own == [3, 2 / 3]


def test_what_is_wrong_with_values_is_told_with_its_document_and_side(here: Path, calque: Command) -> None:
    (here / "odd.jsonl").write_text('{"doc_id": "d1", "total": {"_value": 5, "_confidence": 7}, "lines": []}\n')
    run = calque("ceiling", "records.jsonl", "odd.jsonl", "--schema", "schema.json", "--format", "json")
    told = [(issue["code"], issue["file"], issue["pointer"]) for issue in run.json["issues"]]
    assert told == [("odd-confidence", "odd.jsonl", "document d1: total")]


def test_one_unit_a_line_with_its_mask(here: Path, calque: Command) -> None:
    lines = calque("ceiling", "truth.ndjson", "a.ndjson", "b.ndjson", "--iou", "0.5", "--format", "jsonl").out.splitlines()
    units = [json.loads(line) for line in lines]
    assert [(unit["document"], unit["levels"]["0.5"]["mask"]) for unit in units] == [("d1", 1), ("d1", 2), ("d2", 1)]
    assert units[1]["levels"]["0.5"] == {"outcome": "found", "mask": 2, "hits": 2, "systems": ["b"]}


def test_states_of_other_systems_are_compared_and_not_added_up(here: Path, calque: Command) -> None:
    for name, systems in (("one", ("a.ndjson",)), ("two", ("a.ndjson", "b.ndjson"))):
        calque("ceiling", "truth.ndjson", *systems, "--save", f"{name}.state")
    merged = calque("merge", "one.state", "two.state")
    assert merged.code == 2
    assert "systems: a and a, b (name them with --names)" in merged.err
    compared = calque("compare", "one.state", "two.state", "--format", "json").json
    assert compared["measures"]["recall@0.5"]["two"]["value"] == 1.0
    assert calque("compare", "--task", "ceiling", "truth.ndjson", "a.ndjson", "b.ndjson").code == 2


def test_gates_hold_rungs(here: Path, calque: Command) -> None:
    files = ("truth.ndjson", "a.ndjson", "b.ndjson")
    assert calque("ceiling", *files, "--fail-under", "recall@0.5=1").code == 0
    assert calque("ceiling", *files, "--fail-under", "best.recall@0.5=0.9").code == 1
    assert calque("ceiling", *files, "--fail-over", "unfound@0.5=0").code == 0


def test_suspects_are_listed_on_demand(here: Path, calque: Command) -> None:
    (here / "b.ndjson").write_text(rows(("d1", [[100.0, 0.0, 140.0, 40.0]]), label="Figure"))
    shown = calque("ceiling", "truth.ndjson", "a.ndjson", "b.ndjson", "--iou", "0.5", "--suspects", "5").out
    assert "Table, found as Figure" in shown
    assert "found as" not in calque("ceiling", "truth.ndjson", "a.ndjson", "b.ndjson", "--iou", "0.5").out


def test_in_python_systems_come_by_name() -> None:
    truth = Corpus.from_arrays([[0, 0, 10, 10]], ["Table"])
    found = Corpus.from_arrays([[0, 0, 10, 9]], ["Table"], scores=[0.5])
    by_name = Evaluator(Ceiling()).update(truth, {"x": found}).compute()
    assert by_name.numbers["systems"] == ["x"]
    assert Evaluator(Ceiling()).update(truth, [found, found]).compute().numbers["systems"] == ["system 1", "system 2"]
    with pytest.raises(TypeError, match="a mapping of names to systems"):
        Evaluator(Ceiling()).update(truth, {1: found})
    with pytest.raises(ConfigError, match="1 to 16 systems"):
        Evaluator(Ceiling()).update(truth, {})


def test_records_without_ids_are_counted_on(here: Path, calque: Command) -> None:
    for part, totals in (("one", (1, 2)), ("two", (3,))):
        text = "".join(json.dumps({"total": total}) + "\n" for total in totals)
        for side in ("truth", "a", "b"):
            (here / f"{side}.jsonl").write_text(text)
        calque("ceiling", "truth.jsonl", "a.jsonl", "b.jsonl", "--schema", "schema.json", "--save", f"{part}.state")
    merged = calque("merge", "one.state", "two.state", "--format", "json").json
    assert merged["levels"]["value"]["select"]["matches"] == 3


def ignoring(folder: Path, *kept: list[float]) -> tuple[str, ...]:
    """A truth that need not be found beside others that must be, and a system with a box half of which lies on it."""
    ignored = [{"image": "p", "category": "a", "bbox": [0, 0, 10, 10], "ignore": 1}]
    must = [{"image": "p", "category": "a", "bbox": box} for box in kept]
    found = [{"image": "p", "category": "a", "bbox": box, "score": 0.5} for box in ([5, 0, 15, 10], *kept)]
    (folder / "t.json").write_text(json.dumps([*ignored, *must]))
    (folder / "s.json").write_text(json.dumps(found))
    return "ceiling", "t.json", "s.json", "--boxes", "xyxy", "--units", "pixels"


def test_a_box_is_excused_from_the_level_on_and_not_above_it(calque: Command, tmp_path: Path) -> None:
    levels = calque(*ignoring(tmp_path, [50, 0, 60, 10]), "--iou", "0.5", "--iou", "0.500001", "--format", "json").json[
        "levels"
    ]
    assert [block["single"]["s"]["found"] for block in levels.values()] == [1, 2]


def test_a_class_of_which_nothing_counts_at_a_level_has_no_best_system(calque: Command, tmp_path: Path) -> None:
    """The only one there is need not be found, and whoever finds half of it is excused up to one half."""
    arguments = ignoring(tmp_path, [50, 0, 60, 10])
    for side in ("t.json", "s.json"):
        rows = json.loads((tmp_path / side).read_text())
        (tmp_path / side).write_text(json.dumps([*rows, {**rows[0], "category": "b"}]))
    levels = calque(*arguments, "--iou", "0.5", "--iou", "0.500001", "--format", "json").json["levels"]
    choices = [list(block["route"]["class"]["choice"]) for block in levels.values()]
    assert choices == [["a"], ["a", "b"]]


def test_a_truth_of_which_nothing_counts_is_told(calque: Command, tmp_path: Path) -> None:
    done = calque(*ignoring(tmp_path))
    assert done.code == 3
    assert done.err.count("the truth is empty: none of its 1 object counts") == 1


def test_a_key_that_the_schema_declares_is_no_id(tmp_path: Path, calque: Command) -> None:
    """Of two records with an id that was misread, the records are the same ones, and one of four values is wrong."""
    (tmp_path / "schema.json").write_text(json.dumps({"fields": {"id": {"type": "str"}, "total": {"type": "float"}}}))
    for side, second in (("truth", "b7"), ("a", "b9")):
        rows = [{"id": "a5", "total": 1}, {"id": second, "total": 2}]
        (tmp_path / f"{side}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    block = calque("ceiling", "truth.jsonl", "a.jsonl", "--schema", "schema.json", "--format", "json").json["levels"]["value"]
    assert (block["truth"], block["single"]["a"]["tp"], block["single"]["a"]["found"]) == (4, 3, 4)


def jsonl(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def test_records_are_routed_by_a_file_of_metadata(here: Path, calque: Command) -> None:
    one, two, wrong = {"doc_id": "d1", "total": 1}, {"doc_id": "d2", "total": 2}, {"total": 9}
    (here / "t.jsonl").write_text(jsonl(one, two))
    (here / "a.jsonl").write_text(jsonl(one, {**two, **wrong}))
    (here / "b.jsonl").write_text(jsonl({**one, **wrong}, two))
    (here / "more.csv").write_text("doc_id,tongue\nd1,de\nd2,en\nd9,fr\n")
    files = "ceiling", "t.jsonl", "a.jsonl", "b.jsonl", "--schema", "schema.json", "--metadata", "more.csv", "--format", "json"
    made = calque(*files, "--by", "tongue").json
    route = made["levels"]["value"]["route"]["by:tongue"]
    assert (route["recall"], list(route["choice"].items())) == (1.0, [("de", "a"), ("en", "b")])
    assert [issue["message"] for issue in made["issues"]] == ["1 document that neither side has, such as 'd9'"]
    refused = calque(*files, "--by", "tonge")
    assert (refused.code, refused.out) == (2, "")
    assert "no document has 'tonge'; did you mean 'tongue'?" in refused.err.lower()


def test_who_lacks_an_object_in_an_item_votes_for_none_of_its_values(here: Path, calque: Command) -> None:
    """Once two of three have a colour, which the best system lacks; once it alone has one."""
    fields = {"name": {"type": "str"}, "paint": {"type": "object", "fields": {"colour": {"type": "str"}}}}
    (here / "schema.json").write_text(json.dumps({"fields": {"total": {"type": "float"}, "lines": {"type": "list[object]",
        "match_threshold": 0.4, "fields": fields}}}))  # fmt: skip
    red, plain = {"name": "chair", "paint": {"colour": "red"}}, {"name": "chair"}

    def record(*lines: object, total: int = 1) -> str:
        return jsonl({"doc_id": "d", "total": total, "lines": lines})

    (here / "t.jsonl").write_text(record(red))
    for name, line, total in (("a", plain, 1), ("b", red, 2), ("c", red, 3)):
        (here / f"{name}.jsonl").write_text(record(line, total=total))
    made = calque("ceiling", "t.jsonl", "a.jsonl", "b.jsonl", "c.jsonl", "--schema", "schema.json", "--format", "json").json
    level = made["levels"]["value"]
    assert level["best"]["system"] == "a"
    assert (level["votes"]["majority"]["tp"], level["votes"]["majority"]["found"]) == (3, 3)
    (here / "t.jsonl").write_text(record(plain))
    for name, line, total in (("a", red, 1), ("b", plain, 2), ("c", plain, 3)):
        (here / f"{name}.jsonl").write_text(record(line, total=total))
    made = calque("ceiling", "t.jsonl", "a.jsonl", "b.jsonl", "c.jsonl", "--schema", "schema.json", "--format", "json").json
    assert made["levels"]["value"]["votes"]["majority"]["found"] == 2
