"""What commands print, where, and in which format."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from calque import __version__
from calque.cli.render import EXTENSIONS
from tests.conftest import Run
from tests.snapshots import predictions, truth, valid_truth, write

Command = Callable[..., Run]
Files = tuple[str, str]
GOLDEN = Path(__file__).parent / "golden"


def assert_golden(name: str, text: str) -> None:
    """The text is what the golden file holds. CALQUE_WRITE_GOLDEN=1 writes it anew: read it before you commit it."""
    path = GOLDEN / f"{name}.txt"
    shown = text.replace(__version__, "VERSION")
    if os.environ.get("CALQUE_WRITE_GOLDEN"):
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("detect", ()),
        ("detect-one-threshold", ("--iou", "0.9")),
        ("detect-intersect", ("--missing", "intersect")),
        ("detect-options", ("--labels", "Figure", "--min-area", "0.02", "--min-score", "0.35", "--class-weight", "Figure=2")),
        ("detect-views", ("--crops", "--confusion", "--recall-floor", "0.9", "--page-view")),
        ("detect-markdown", ("--format", "markdown")),
        ("detect-csv", ("--format", "csv")),
        ("detect-jsonl", ("--format", "jsonl")),
        ("detect-json", ("--format", "json")),
    ],
)
def test_detect(name: str, options: tuple[str, ...], calque: Command, files: Files) -> None:
    run = calque("detect", *files, *options)
    assert run.code == 0
    assert run.err == ""
    assert_golden(name, run.out)


def test_a_truth_of_which_nothing_counts_is_told_first(calque: Command, files: Files) -> None:
    run = calque("detect", *files, "--labels", "Table")
    assert (run.code, run.out, run.err.split(": ")[0]) == (3, "", "error")


def test_detect_with_remarks(calque: Command, tmp_path: Path) -> None:
    expected = valid_truth()
    expected["remark"] = "hello"
    expected["predictions"][0]["objects"][0].update(label="Stamp")
    expected["predictions"][0]["objects"][1]["bbox"][2] = 1.0000000000000002
    write(tmp_path / "gt.json", expected)
    write(tmp_path / "pred.json", predictions({("a.pdf", 0): [("表", (0.1, 0.6, 0.9, 0.9), 0.9)]}))
    for name in ("gt.json", "pred.json"):
        tree = json.loads((tmp_path / name).read_text())
        write(tmp_path / name, {**tree, "label_map": {"1": "Figure", "2": "Table", "3": "表"}})
    run = calque("detect", "gt.json", "pred.json", "--lenient")
    assert run.code == 3
    assert_golden("detect-remarks", run.out)


def test_demo(calque: Command) -> None:
    run = calque("demo")
    assert (run.code, run.err) == (0, "")
    assert_golden("demo", run.out)


def test_demo_keeps_its_files_when_asked(calque: Command, tmp_path: Path) -> None:
    run = calque("demo", "--keep", "sample")
    assert run.code == 0
    assert "wrote 3 files to sample" in run.err
    assert sorted(os.listdir(tmp_path / "sample")) == ["cropper.json", "finder.json", "truth.json"]
    assert calque("validate", "sample/truth.json", "sample/finder.json").code == 0
    printed = calque("detect", "sample/truth.json", "sample/finder.json").out
    assert printed.splitlines()[:12] == run.out.splitlines()[:12]


@pytest.mark.parametrize("measure", ["recall@0.5", "macro_documents.mean_coverage@0.75", "precision@0.5/Table", "tp", "f1"])
def test_explain(measure: str, calque: Command) -> None:
    run = calque("explain", measure)
    assert run.code == 0
    assert_golden("explain-" + re.sub(r"\W", "-", measure), run.out)


@pytest.mark.parametrize(
    ("name", "scope"),
    [
        ("teds", "mean: the mean over truth tables; a missed one counts 0"),
        ("with_spurious.teds", "with_spurious: the same, with one more 0 for each spurious table"),
        ("pages.teds", "pages: the mean of the means of pages with truth tables"),
        ("simple.exact", "simple: the mean over truth tables without spans"),
        ("complex.exact", "complex: the mean over truth tables with spans"),
        ("micro.teds", "micro: nodes and slots of all tables together"),
        ("micro.grits_con", "micro: nodes and slots of all tables together"),
        ("cells_f1", "micro: counts are added up over all tables, missed and spurious ones too"),
        ("AP75", "macro_classes: the mean of the classes that have truths"),
        ("AR100", "macro_classes: the mean of the classes that have truths"),
        ("macro.wer", "macro: the mean of the documents that have a value"),
    ],
)
def test_explain_says_over_what(name: str, scope: str, calque: Command) -> None:
    assert f"\n  scope       {scope}\n" in calque("explain", name).out


def test_explain_says_which_scopes_there_are(calque: Command) -> None:
    told = "error: exact has no scope that is named 'micro'; it is one of mean, with_spurious, pages, simple, complex\n"
    assert calque("explain", "micro.exact").err == told


def test_explain_lists_all_measures(calque: Command) -> None:
    run = calque("explain")
    assert run.code == 0
    for name in ("precision", "recall", "f1", "mean_iou", "mean_coverage", "mean_purity", "tp", "fp", "fn"):
        assert f"\n  {name} " in run.out


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("recal@0.5", "the nearest are 'recall', "),
        ("xyzzy", "no measure or column is named 'xyzzy'; the nearest are "),
        ("makro.recall", "has no scope that is named 'makro'; did you mean 'macro'?"),
        ("zzz.recall", "it is one of micro, macro_classes"),
        ("recall@half", "is not a measure name; write"),
        ("recall@0.5.5", "'0.5.5' in 'recall@0.5.5' is not a number"),
    ],
)
def test_explain_what_is_not_there(measure: str, message: str, calque: Command) -> None:
    run = calque("explain", measure)
    assert (run.code, run.out) == (2, "")
    assert message in run.err


def test_validate(calque: Command, files: Files, tmp_path: Path) -> None:
    run = calque("validate", *files)
    assert (run.code, run.err) == (0, "")
    assert_golden("validate", run.out)


def test_validate_says_everything_that_is_wrong(calque: Command, files: Files, tmp_path: Path) -> None:
    tree = json.loads((tmp_path / "pred.json").read_text())
    tree["info"]["schema_version"] = "1.2"
    tree["predictions"][0]["objects"][0].update(bbox=[10, 20, 60, 70], label="2")
    write(tmp_path / "pred.json", tree)
    run = calque("validate", *files, "nowhere.json")
    assert run.code == 2
    assert_golden("validate-wrong", run.out)


def test_validate_compares_two_files(calque: Command, files: Files, tmp_path: Path) -> None:
    tree = json.loads((tmp_path / "pred.json").read_text())
    write(tmp_path / "pred.json", {**tree, "label_map": {"1": "Figure"}})
    run = calque("validate", *files, "--format", "json")
    assert run.code == 2
    reports = run.json["files"]
    assert [report["valid"] for report in reports] == [True, True, False]
    assert run.out == json.dumps(run.json, indent=2, ensure_ascii=False) + "\n"
    assert reports[2]["issues"][0]["code"] == "label-maps-differ"


def test_validate_shows_notes(calque: Command, tmp_path: Path) -> None:
    write(tmp_path / "gt.json", truth({("a", 0): [("Figure", (0, 0, 1.0000000000000002, 1))]}))
    run = calque("validate", "gt.json")
    assert run.code == 0
    assert "note: /predictions/0/objects/0/bbox/2: 1.0000000000000002 was clipped to 1.0" in run.out


def test_validate_takes_the_options_of_the_reader(calque: Command, tmp_path: Path) -> None:
    tree = predictions({("a", 0): [("Figure", (0, 0, 1, 1), None)]})
    write(tmp_path / "pred.json", {**tree, "extra": 1})
    assert calque("validate", "pred.json").code == 2
    assert calque("validate", "pred.json", "--lenient").code == 2
    assert calque("validate", "pred.json", "--lenient", "--allow-missing-scores").code == 0


# Formats and files.


def test_json_is_what_the_python_interface_gives(calque: Command, files: Files) -> None:
    from calque import Detection, Evaluator

    wanted = Evaluator(Detection()).update(*files).compute()
    assert calque("detect", *files, "--format", "json").json == json.loads(wanted.to_json())


def test_jsonl_has_one_line_for_each_object(calque: Command, files: Files) -> None:
    rows = [json.loads(line) for line in calque("detect", *files, "--format", "jsonl").out.splitlines()]
    assert [row["outcome"] for row in rows] == ["tp", "tp", "tp", "fn", "tp", "tp", "fp", "tp", "fp"]
    assert rows[0]["box"] == [0.1, 0.1, 0.9, 0.5]
    assert rows[3]["iou"] is None


def test_csv_agrees_with_json(calque: Command, files: Files) -> None:
    rows = list(csv.DictReader(io.StringIO(calque("detect", *files, "--format", "csv").out)))
    metrics = calque("detect", *files, "--format", "json").json["metrics"]
    for row in (row for row in rows if row["threshold"]):
        block = metrics[repr(float(row["threshold"]))]
        values = block["per_class"][row["class"]] if row["scope"] == "class" else block[row["scope"]]
        for name in ("tp", "precision", "mean_purity"):
            assert row[name] == ("NA" if values.get(name, "") is None else str(values.get(name, "")))


@pytest.mark.parametrize(("extension", "format"), EXTENSIONS.items())
def test_the_extension_chooses_the_format(extension: str, format: str, calque: Command, files: Files, tmp_path: Path) -> None:
    printed = calque("detect", *files, "--format", format).out
    run = calque("detect", *files, "-o", f"result{extension.upper()}")
    assert (run.code, run.out, run.err) == (0, "", f"wrote result{extension.upper()}\n")
    assert (tmp_path / f"result{extension.upper()}").read_text(encoding="utf-8") == printed


def test_the_format_wins_over_the_extension(calque: Command, files: Files, tmp_path: Path) -> None:
    assert calque("detect", *files, "-o", "result.txt", "--format", "json").code == 0
    assert json.loads((tmp_path / "result.txt").read_text())["task"] == "detection"


def test_quiet_says_nothing(calque: Command, files: Files) -> None:
    run = calque("detect", *files, "-o", "result.json", "--quiet")
    assert (run.out, run.err) == ("", "")


def test_a_file_that_is_there_is_replaced_whole(calque: Command, files: Files, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text("x" * 100_000)
    calque("detect", *files, "-o", "result.json")
    assert json.loads((tmp_path / "result.json").read_text())["task"] == "detection"
    assert set(os.listdir(tmp_path)) == {*files, "result.json"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-o", "result.xyz"), "the extension '.xyz' names no format; use .txt, .json"),
        (("-o", "result"), "names no format"),
        (("-o", "no/where/result.json"), "the folder no/where does not exist; make it"),
        (("--save", "no/where/state"), "the folder no/where does not exist; make it"),
        (("-o", "gt.json/result.json"), "the folder gt.json does not exist"),
        (("-o", "."), "is a directory"),
        (("--save", "x.json", "-o", "x.json"), "cannot be the same file"),
        (("-o", "x" * 300 + ".json"), "x.json: file name too long"),
    ],
)
def test_output_that_cannot_be_written(
    options: tuple[str, ...], message: str, calque: Command, files: Files, tmp_path: Path
) -> None:
    run = calque("detect", *files, *options)
    assert (run.code, run.out) == (2, "")
    assert message in run.err.replace("\n", " ")
    assert set(os.listdir(tmp_path)) == set(files)


def test_half_characters_survive_in_every_format(calque: Command, tmp_path: Path) -> None:
    for name, tree in (("gt.json", truth({("a\ud800", 0): []})), ("pred.json", predictions({("b", 0): []}, model="m\udfff"))):
        write(tmp_path / name, tree)
    for format in ("table", "json", "jsonl", "csv", "markdown"):
        assert calque("detect", "gt.json", "pred.json", "--format", format).code == 3
    assert calque("detect", "gt.json", "pred.json", "-o", "result.json").code == 3
    result = json.loads((tmp_path / "result.json").read_bytes())
    assert result["documents"]["only_truth"] == ["a\ud800"]


def test_names_from_files_cannot_command_the_terminal(calque: Command, tmp_path: Path) -> None:
    write(tmp_path / "gt.json", truth({("doc\x1b[2J", 0): []}))
    write(tmp_path / "pred.json", predictions({("b", 0): []}, model="\x9b31mred"))
    for format in ("table", "markdown"):
        run = calque("detect", "gt.json", "pred.json", "--format", format)
        assert run.out.replace("\n", "").isprintable()


# Merging.


@pytest.fixture
def shards(calque: Command, tmp_path: Path) -> list[str]:
    """Three states of one document each, and the files of all three together."""
    boxes = [("Figure", (0.1 * k, 0.1, 0.1 * k + 0.3, 0.7)) for k in range(3)]
    found = [[(label, (b[0], b[1], b[2], b[3] - 0.05 * k), 0.5)] for k, (label, b) in enumerate(boxes)]
    names = ["c", "a", "b"]
    for name, box, prediction in zip(names, boxes, found, strict=True):
        write(tmp_path / f"{name}-gt.json", truth({(name, 0): [box]}))
        write(tmp_path / f"{name}-pred.json", predictions({(name, 0): prediction}))
        assert calque("detect", f"{name}-gt.json", f"{name}-pred.json", "--save", f"{name}.state").code == 0
    write(tmp_path / "gt.json", truth({(n, 0): [box] for n, box in zip(names, boxes, strict=True)}))
    write(tmp_path / "pred.json", predictions({(n, 0): p for n, p in zip(names, found, strict=True)}))
    return [f"{name}.state" for name in names]


def without_sources(tree: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in tree.items() if key != "sources"}


def test_merge_in_any_order_prints_what_one_run_prints(calque: Command, shards: list[str]) -> None:
    whole = without_sources(calque("detect", "gt.json", "pred.json", "--format", "json").json)
    for order in (shards, shards[::-1], [shards[1], shards[2], shards[0]]):
        run = calque("merge", *order, "--format", "json")
        assert run.code == 0
        assert without_sources(run.json) == whole


def test_merge_keeps_the_merged_state(calque: Command, shards: list[str], tmp_path: Path) -> None:
    assert calque("merge", *shards[:2], "--save", "two.state").code == 0
    assert calque("merge", shards[2], "two.state", "--save", "all.state", "-o", "all.json").code == 0
    assert calque("merge", *shards, "--save", "again.state").code == 0
    assert (tmp_path / "all.state").read_bytes() == (tmp_path / "again.state").read_bytes()
    assert calque("merge", "all.state").out == calque("merge", *shards).out


def test_merge_prints_one_state_as_detect_would(calque: Command, files: Files) -> None:
    printed = calque("detect", *files, "--save", "state").out
    assert calque("merge", "state").out == printed


def test_merge_refuses_a_document_seen_twice(calque: Command, shards: list[str]) -> None:
    run = calque("merge", *shards, shards[0], "-o", "x.json")
    assert (run.code, run.out) == (2, "")
    assert "seen twice: document 'c'" in run.err


def test_merge_refuses_other_settings_and_says_which(calque: Command, shards: list[str]) -> None:
    calque("detect", "c-gt.json", "c-pred.json", "--iou", "0.9", "--min-score", "0.1", "--save", "other.state")
    run = calque("merge", "a.state", "other.state")
    assert (run.code, run.out) == (2, "")
    assert "iou: 0.5,0.75 and 0.9" in run.err
    assert "min-score: none and 0.1" in run.err
