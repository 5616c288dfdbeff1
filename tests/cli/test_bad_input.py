"""Bad input: exit code 2, no traceback, nothing written, and a message that says what, where and what to do."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import ContractError, Detection, Evaluator
from calque.evaluation.storage.state import FAMILY, MAGIC
from tests.conftest import Run
from tests.snapshots import BOX, predictions, valid_predictions, valid_truth, write

Tree = dict[str, Any]
OBJECT = "/predictions/0/objects/0"


def edited(change: Callable[[Tree], object]) -> Tree:
    """The valid predictions after a change."""
    tree = valid_predictions()
    change(tree)
    return tree


def thing(**values: object) -> Tree:
    """The valid predictions with other values in their first object."""
    return edited(lambda t: t["predictions"][0]["objects"][0].update(values))


def box(*numbers: object) -> Tree:
    return thing(bbox=list(numbers))


def nested(levels: int) -> Any:
    value: Any = 0.1
    for _ in range(levels):
        value = [value]
    return value


TEXT = json.dumps(valid_predictions())

BAD: dict[str, tuple[Any, list[str]]] = {
    # name: (the predictions file, what the message must hold)
    "not JSON": ("doc_id,page\na.pdf,0\n", ["line 1 column 1", "is not JSON", "give a JSON file"]),
    "JSON cut off in the middle": (TEXT[: len(TEXT) // 2], ["line 1 column", "ends too early", "may be cut off"]),
    "JSON cut off in a string": (TEXT[: TEXT.index("model-a") + 3], ["line 1 column", "ends too early", "may be cut off"]),
    "not UTF-8": (TEXT.replace("model-a", "modèle").encode("latin-1"), ["byte ", "is not UTF-8", "save it as UTF-8"]),
    "wrong top-level type: array": ([valid_predictions()], ["contains a list", "label_map"]),
    "wrong top-level type: string": ('"hello"', ['contains "hello"']),
    "wrong top-level type: number": ("17", ["contains 17"]),
    "missing key": (edited(lambda t: t.pop("documents")), ["'documents' is missing", "add it"]),
    "misspelt key": (
        edited(lambda t: t["predictions"][0]["objects"][0].update(lable=t["predictions"][0]["objects"][0].pop("label"))),
        [OBJECT, "'label' is missing", "did you mean 'lable'?"],
    ),
    "unknown key": (edited(lambda t: t.update(zzz="hi")), ["/zzz", "'zzz' is not known", "--lenient"]),
    "schema 1.2": (
        edited(lambda t: t["info"].update(schema_version="1.2")),
        ["/info/schema_version", "expected '1.3', not \"1.2\"", "convert the file"],
    ),
    "label maps that differ": (
        edited(lambda t: t.update(label_map={"1": "Figure", "2": "Table", "3": "Formula"})),
        ["/label_map/3", "'Formula' here and not there", "same label_map"],
    ),
    "unknown doc_id": (
        edited(lambda t: t["predictions"][0].update(doc_id="c.pdf")),
        ["/predictions/0/doc_id", "'c.pdf' is not in this file's documents", "did you mean"],
    ),
    "box outside": (box(0.1, 0.1, 1.2, 0.5), [f"{OBJECT}/bbox/2", "1.2 is greater than 1", "from 0 to 1"]),
    "box below 0": (box(-0.1, 0.1, 0.2, 0.5), [f"{OBJECT}/bbox/0", "-0.1 is below 0", "from 0 to 1"]),
    "box in pixels": (box(100, 200, 900, 2381), [f"{OBJECT}/bbox/0", "hint: values up to 2381 look like pixels"]),
    "box inverted": (box(0.5, 0.1, 0.1, 0.5), [f"{OBJECT}/bbox", "x1 = 0.5 is not below x2 = 0.1", "[left, top, right"]),
    "box with zero area": (box(0.1, 0.1, 0.1, 0.5), [f"{OBJECT}/bbox", "not below", "the area is not 0"]),
    "box with NaN": (box(0.1, 0.1, float("nan"), 0.5), [f"{OBJECT}/bbox/2", "NaN is not a finite number", "four finite"]),
    "box with Infinity": (box(0.1, 0.1, float("inf"), 0.5), [f"{OBJECT}/bbox/2", "Infinity is not a finite number"]),
    "box of strings": (box("0.1", "0.1", "0.5", "0.5"), [f"{OBJECT}/bbox/3", 'not string "0.5"', "four finite numbers"]),
    "box is a string": (thing(bbox="0.1,0.1,0.5,0.5"), [f"{OBJECT}/bbox", "expected four numbers", "[x1, y1, x2, y2]"]),
    "box with a number beyond floats": (box(0.1, 0.1, 10**400, 0.5), [f"{OBJECT}/bbox/2", "greater than 1"]),
    "score missing": (
        edited(lambda t: t["predictions"][0]["objects"][0].pop("score")),
        [f"{OBJECT}/score", "has no score", "--allow-missing-scores"],
    ),
    "score null": (thing(score=None), [f"{OBJECT}/score", "has no score", "--allow-missing-scores"]),
    "score 1.5": (thing(score=1.5), [f"{OBJECT}/score", "1.5 is not from 0 to 1", "give a number from 0 to 1"]),
    "score in percent": (thing(score=90), [f"{OBJECT}/score", "90 is not from 0 to 1", "look like percent"]),
    "unknown label": (thing(label="Figur"), [f"{OBJECT}/label", "'Figur' is not in label_map", "did you mean 'Figure'?"]),
    "label number": (thing(label=1), [f"{OBJECT}/label", "1 is a label number", "'Figure'"]),
    "duplicate pages": (
        edited(lambda t: t["predictions"].append({**t["predictions"][0], "objects": []})),
        ["/predictions/2", "page 0 of 'a.pdf' occurs more than once", "--lenient"],
    ),
    "duplicate ids": (
        edited(lambda t: t["predictions"][0]["objects"].append(copy.deepcopy(t["predictions"][0]["objects"][0]))),
        ["/predictions/0/objects/1", "'a.pdf:0:0' occurs more than once", "an id of its own"],
    ),
    "duplicate documents": (
        edited(lambda t: t["documents"].append(t["documents"][0])),
        ["/documents/2", "'a.pdf' occurs more than once", "once"],
    ),
    "duplicate keys": (TEXT[:-1] + ', "predictions": []}', ["'predictions' occurs more than once", "keep one"]),
    "surprise nesting in a box": (thing(bbox=nested(10)), [f"{OBJECT}/bbox", "a deeply nested array", "[x1, y1, x2, y2]"]),
    "surprise nesting of objects": (
        edited(lambda t: t["predictions"][0].update(objects=nested(10))),
        ["/predictions/0/objects/0", "expected an object, not array a deeply nested array"],
    ),
    "nesting beyond reading": ("[" * 100_000, ["too deeply", "a few levels"]),
    "an object that means to be a snapshot": (
        '{"label_map": {"1": "Figure"}}',
        ["'info' is missing", "'predictions' is missing"],
    ),
    "an empty file": ("", ["the file is empty", "check what"]),
    "a file of spaces": (" \n\t ", ["the file is empty"]),
    "an empty object": ("{}", ["contains {}"]),
}


def assert_refused(run: Run, folder: Path, before: set[str]) -> None:
    assert run.code == 2
    assert run.out == ""
    assert run.err.startswith("error: ")
    assert "should not happen" not in run.err
    assert set(os.listdir(folder)) == before


@pytest.fixture
def gt(tmp_path: Path) -> str:
    write(tmp_path / "gt.json", valid_truth())
    return "gt.json"


@pytest.mark.parametrize("name", BAD)
def test_bad_predictions(name: str, calque: Callable[..., Run], gt: str, tmp_path: Path) -> None:
    content, wanted = BAD[name]
    write(tmp_path / "pred.json", content)
    before = set(os.listdir(tmp_path))
    run = calque("detect", gt, "pred.json", "-o", "result.json", "--save", "state")
    assert_refused(run, tmp_path, before)
    assert "pred.json" in run.err
    for part in wanted:
        assert part in run.err


@pytest.mark.parametrize("name", BAD)
def test_bad_predictions_are_not_valid(name: str, calque: Callable[..., Run], gt: str, tmp_path: Path) -> None:
    content, wanted = BAD[name]
    write(tmp_path / "pred.json", content)
    run = calque("validate", gt, "pred.json")
    assert run.code == 2
    assert "pred.json" in run.out
    assert "not valid" in run.out
    for part in wanted:
        assert part in run.out


def test_swapped_ground_truth_and_prediction(calque: Callable[..., Run], gt: str, tmp_path: Path) -> None:
    write(tmp_path / "pred.json", valid_predictions())
    before = set(os.listdir(tmp_path))
    run = calque("detect", "pred.json", gt, "-o", "result.json")
    assert_refused(run, tmp_path, before)
    assert 'pred.json: /info/type: the file says it is "prediction" but was given as ground truth' in run.err
    assert "give the ground truth first" in run.err


def test_a_score_in_ground_truth(calque: Callable[..., Run], tmp_path: Path) -> None:
    tree = valid_truth()
    tree["predictions"][0]["objects"][0]["score"] = 0.5
    write(tmp_path / "gt.json", tree)
    write(tmp_path / "pred.json", valid_predictions())
    run = calque("detect", "gt.json", "pred.json")
    assert run.code == 2
    assert "ground truth has no score, and this is 0.5; remove it" in run.err


def test_a_directory(calque: Callable[..., Run], gt: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    run = calque("detect", gt, "folder", "-o", "result.json")
    assert_refused(run, tmp_path, {"gt.json", "folder"})
    assert "folder: contains no files" in run.err


def test_a_file_that_does_not_exist(calque: Callable[..., Run], gt: str, tmp_path: Path) -> None:
    run = calque("detect", gt, "nowhere.json", "-o", "result.json")
    assert_refused(run, tmp_path, {"gt.json"})
    assert "nowhere.json: does not exist; check the path" in run.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_in_python(gt: str, tmp_path: Path) -> None:
    """What is read only once cannot be looked into, then read; the command line keeps it for that, a program can do so, too."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(
        ContractError, match="pipe: is a pipe or a device, which can be read only once; write it to a file first"
    ):
        Evaluator(Detection()).update(tmp_path / gt, tmp_path / "pipe")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the administrator may read everything")
def test_no_permission(calque: Callable[..., Run], gt: str, tmp_path: Path) -> None:
    write(tmp_path / "pred.json", valid_predictions()).chmod(0)
    run = calque("detect", gt, "pred.json", "-o", "result.json")
    assert_refused(run, tmp_path, {"gt.json", "pred.json"})
    assert "pred.json: cannot be read: permission denied; check" in run.err


def test_a_file_that_the_system_refuses_to_read(calque: Callable[..., Run], gt: str, tmp_path: Path) -> None:
    """A loop of links fails for the administrator too, by the same path as a missing permission."""
    (tmp_path / "pred.json").symlink_to("pred.json")
    run = calque("detect", gt, "pred.json", "-o", "result.json")
    assert_refused(run, tmp_path, {"gt.json", "pred.json"})
    assert "pred.json: cannot be read" in run.err
    assert "check the file and its permissions" in run.err


def test_100_000_issues_in_one_file(calque: Callable[..., Run], gt: str, tmp_path: Path) -> None:
    write(tmp_path / "pred.json", edited(lambda t: t["predictions"][0].update(objects=[0] * 100_000)))
    run = calque("detect", gt, "pred.json", "-o", "result.json")
    assert_refused(run, tmp_path, {"gt.json", "pred.json"})
    lines = run.err.splitlines()
    assert sum("expected an object, not number 0" in line for line in lines) == 50
    assert "… and 99,950 more (100,000 issues in all):" in lines
    assert any(line.split() == ["100,000", "×", "wrong-type"] for line in lines)


def test_errors_are_shown_before_remarks(calque: Callable[..., Run], gt: str, tmp_path: Path) -> None:
    clipped = [("Figure", (0.1, 0.1, 1.0000000000000002, 0.5), 0.5)] * 60
    write(tmp_path / "pred.json", predictions({("a.pdf", 0): [*clipped, ("Figure", BOX, 1.5)]}))
    run = calque("detect", gt, "pred.json")
    assert run.code == 2
    assert "1.5 is not from 0 to 1" in run.err.splitlines()[0]


@pytest.mark.parametrize("odd", ["\x1b[31mred", "\x9b31m", "\ud800", "a\u2028b\nc"])
def test_what_a_file_holds_cannot_command_the_terminal(odd: str, calque: Callable[..., Run], gt: str, tmp_path: Path) -> None:
    # A line end in a key may break a line; nothing else gets through.
    tree = thing(score=odd)
    tree[odd] = tree["predictions"][0][odd] = 1
    tree["predictions"][0]["objects"][0]["label"] = odd
    write(tmp_path / "pred.json", tree)
    for run in (calque("detect", gt, "pred.json"), calque("validate", "pred.json")):
        assert run.code == 2
        text = (run.err + run.out).replace("\n", "")
        assert text.isprintable()
        assert "should not happen" not in text


@pytest.mark.parametrize("name", ["foreign", "cut off", "other version", "empty", "folder", "missing"])
def test_states_that_cannot_be_merged(name: str, calque: Callable[..., Run], gt: str, tmp_path: Path) -> None:
    write(tmp_path / "pred.json", valid_predictions())
    assert calque("detect", gt, "pred.json", "--save", "state").code == 0
    good = (tmp_path / "state").read_bytes()
    contents = {
        "foreign": (b"PK\x03\x04 something else", "not a calque state"),
        "cut off": (good[:-20], "cut off or damaged"),
        "other version": (good.replace(MAGIC, FAMILY + b"9\n", 1), "version"),
        "empty": (b"", "not a calque state"),
    }
    if name == "folder":
        (tmp_path / "bad").mkdir()
        message = "directory"
    elif name == "missing":
        message = "no such file"
    else:
        content, message = contents[name]
        (tmp_path / "bad").write_bytes(content)
    before = set(os.listdir(tmp_path))
    run = calque("merge", "bad", "-o", "result.json", "--save", "merged")
    assert_refused(run, tmp_path, before)
    assert "bad" in run.err
    assert message in run.err
