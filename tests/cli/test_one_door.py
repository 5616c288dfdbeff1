"""The command line builds a task from settings and hands it two paths: Python that does the same gets the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import ContractError, Evaluator, Fields, MergeError, Task, Words
from calque.evaluation.storage.state import pack, unpack
from calque.words import build_lattice
from tests.conftest import Run

Calque = Callable[..., Run]

RECORDS = {
    "gt.jsonl": [{"a": 1, "b": 2, "total": 5.0}, {"a": 2, "b": 1, "total": 7.0}],
    "pred.jsonl": [{"a": 1, "b": 1, "total": 5.0}, {"a": 2, "b": 2, "total": 6.0}],
}
LATTICE = {"d1": [[["the"]], [["cot"], ["cat"]], [["sat", "on", "the", "mat"]]]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, records in RECORDS.items():
        (tmp_path / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    (tmp_path / "schema.json").write_text(json.dumps({"fields": {"total": {"type": "float"}}}))
    (tmp_path / "t.html").write_text("<p>alpha beta gamma</p><p>only on the web</p>")
    (tmp_path / "p.txt").write_text("alpha beta gamma")
    (tmp_path / "page.txt").write_text("alpha beta gamma only on the web")
    (tmp_path / "same").mkdir()
    (tmp_path / "same" / "page.txt").write_text("alpha beta gamma only on the web")
    (tmp_path / "other.txt").write_text("alpha beta gamma")
    (tmp_path / "lattice.json").write_text(json.dumps(LATTICE))
    (tmp_path / "again.json").write_text(json.dumps(LATTICE, indent=1))
    (tmp_path / "listed.txt").write_text("d1\nd9\n")
    for name, text in {
        "truth/d1": "the cat sat on the mat",
        "truth/d2": "to be",
        "one/d1": "the cot sat",
        "one/d2": "to",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.txt").write_text(text)
    return tmp_path


def fields(**settings: Any) -> tuple[Task, str, str]:
    return Fields(**settings), "gt.jsonl", "pred.jsonl"


def words(truth: str = "truth", found: str = "one", **settings: Any) -> tuple[Task, str, str]:
    return Words(**settings), truth, found


SAME: dict[str, tuple[tuple[str, ...], Callable[[], tuple[Task, str, str]]]] = {
    "a schema and an id": (
        ("--schema", "schema.json", "--id", "a"),
        lambda: fields(schema="schema.json", id="a"),
    ),
    "another id": (("--schema", "schema.json", "--id", "b"), lambda: fields(schema="schema.json", id="b")),
    "a schema from the truth": (("--id", "a"), lambda: fields(id="a")),
    "words": ((), words),
    "a lattice": (("--lattice", "lattice.json"), lambda: words(lattice="lattice.json")),
    "a built lattice": (("--build-lattice",), lambda: words(build_lattice=True)),
    "a list": (("--holdout", "listed.txt"), lambda: words(holdout="listed.txt")),
    "a share": (("--holdout-fraction", "0.7", "--seed", "3"), lambda: words(holdout_fraction=0.7, seed=3)),
    "a fold": (("--fold", "0/2"), lambda: words(holdout_fold="0/2")),
    "steps": (("--clean", "fold=quotes", "--clean", "keep_unknown=no"), lambda: words(fold=("quotes",), keep_unknown=False)),
    "confusions": (("--errors", "3"), lambda: words(errors=3)),
    "what pages show": (
        ("--min-block-recall", "0.5", "--page-text", "page.txt"),
        lambda: words("t.html", "p.txt", min_block_recall=0.5, page_text="page.txt"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_python_and_the_command_line_say_the_same(calque: Calque, folder: Path, name: str) -> None:
    options, make = SAME[name]
    task, truth, found = make()
    said = calque(task.name, truth, found, *options, "--format", "json").json
    assert Evaluator(task, keep="numbers").update(truth, found).compute().to_dict() == said


def test_another_id_key_is_another_signature(folder: Path) -> None:
    one, other = (Evaluator(Fields(schema="schema.json", id=key)).update("gt.jsonl", "pred.jsonl") for key in "ab")
    assert one.compute()["cm_f1"] != other.compute()["cm_f1"]
    with pytest.raises(MergeError, match="id: a and b"):
        one.merge(other)


def test_the_content_of_a_file_counts_and_not_its_name(folder: Path) -> None:
    same = [
        (Words(page_text="page.txt"), Words(page_text="same/page.txt")),
        (Words(lattice="lattice.json"), Words(lattice="again.json")),
    ]
    for one, other in same:
        assert one.signature() == other.signature()
    assert Words(holdout="listed.txt") == Words(holdout=("d9", "d1"))
    assert Words(page_text={"page": "alpha beta gamma"}).signature() != Words(page_text="page.txt").signature()
    apart = Words(page_text="page.txt").signature().differences(Words(page_text="other.txt").signature())
    assert len(apart) == 1
    assert apart[0].startswith("page-text: given (")


def test_what_pages_show_is_in_the_signature(calque: Calque, folder: Path) -> None:
    arguments = ("words", "t.html", "p.txt", "--min-block-recall", "0.5", "--format", "json")
    without, given = calque(*arguments).json, calque(*arguments, "--page-text", "page.txt").json
    assert (without["micro"]["recall"], given["micro"]["recall"]) == (1.0, 3 / 7)
    assert without["signature"] != given["signature"]


def test_lattices_may_come_from_python(folder: Path) -> None:
    lattice = build_lattice({"one": ["the", "cot"], "two": ["the", "cat"]})
    result = Evaluator(Words(lattice={"d1": lattice, "d2": lattice})).update("truth", "one").compute()
    beside = Evaluator(Words(lattice="built")).update({"d1": "the cat"}, {"d1": "the cot"}).compute()
    assert result["oracle_recall"] == 2 / 8
    assert beside.numbers["oracle"]["sources"] == {"prediction": 0.5}
    with pytest.raises(TypeError, match="build_lattice"):
        Words(lattice={"d1": [[["a"]]]})


@pytest.mark.parametrize("task", [Words(lattice="built"), Words(clean=("drop-zero-width",)), Words(holdout=("d1",), errors=2)])
def test_states_of_words_hold_data(folder: Path, task: Words) -> None:
    evaluator = Evaluator(task).update("truth", "one")
    assert Evaluator.from_state(evaluator.state()).task == task


@pytest.mark.parametrize("name", ["lattice", "holdout", "page_text"])
def test_files_of_words_are_kept_as_content(folder: Path, name: str) -> None:
    file = {"lattice": "lattice.json", "holdout": "listed.txt", "page_text": "page.txt"}[name]
    settings: dict[str, Any] = {name: file}
    evaluator = Evaluator(Words(**settings)).update("truth", "one")
    state = evaluator.state()
    Path(file).unlink()
    again = Evaluator.from_state(state)
    assert again.compute().to_dict() == evaluator.compute().to_dict()
    header, ledger = unpack(state, "")
    header["fields"][name] = file
    with pytest.raises(ContractError, match=f"the setting {name} is '{file}'"):
        Evaluator.from_state(pack(header, ledger))
