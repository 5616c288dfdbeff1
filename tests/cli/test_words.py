"""``calque words``: from files to numbers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run

Calque = Callable[..., Run]


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A truth of two documents and two engines, one of which did not read the second."""
    texts = {
        "truth/d1.txt": "the cat sat on the mat",
        "truth/d2.txt": "to be or not to be",
        "one/d1.txt": "the cot sat on the mat",
        "one/d2.txt": "to be or nat to be",
        "one/extra.txt": "nobody asked",
        "two/d1.txt": "the cat sat ok mat",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_json(calque: Calque, folders: Path) -> None:
    found = calque("words", "truth", "one", "--format", "json").json
    assert found["task"] == "words"
    assert found["micro"]["recall"] == 10 / 12
    assert found["documents"]["d1"] | {"recall": 5 / 6, "missing_pred": False, "n_ref": 6} == found["documents"]["d1"]
    assert (found["counts"]["ignored_predictions"], found["counts"]["ignored_words"]) == (1, 2)
    assert list(found)[:7] == ["task", "version", "signature", "settings", "sources", "micro", "macro"]


def test_a_document_without_prediction_is_missed(calque: Calque, folders: Path) -> None:
    found = calque("words", "truth", "two", "--format", "json").json
    assert found["documents"]["d2"]["recall"] == 0.0
    assert found["documents"]["d2"]["missing_pred"] is True
    assert found["undefined"]["documents.d2.precision"] == "no predicted words"


@pytest.mark.parametrize("jobs", [1, 2])
def test_several_predictions_and_their_lattice(calque: Calque, folders: Path, jobs: int) -> None:
    found = calque("words", "truth", "one", "two", "--build-lattice", "--format", "json", "--jobs", jobs).json
    assert list(found["runs"]) == ["one", "two"]
    assert found["runs"]["one"]["micro"]["recall"] == 10 / 12
    oracle = found["oracle"]
    assert oracle["sources"] == {"one": 10 / 12, "two": 4 / 12}
    assert oracle["recall"] == 11 / 12
    assert oracle["repairable"] == pytest.approx(0.5)
    assert oracle["documents"]["d1"]["matches"] == 6


@pytest.mark.parametrize("format", ["table", "markdown", "csv", "jsonl"])
def test_formats_of_one_and_of_several(calque: Calque, folders: Path, format: str) -> None:
    for predictions in (["one"], ["one", "two"]):
        run = calque("words", "truth", *predictions, "--format", format)
        assert run.code == 0
        assert "0.8333" in run.out or format in ("csv", "jsonl")
    if format == "csv":
        rows = list(csv.DictReader(io.StringIO(run.out)))
        assert {row["run"] for row in rows} == {"one", "two"}
    if format == "jsonl":
        assert {json.loads(line)["run"] for line in run.out.splitlines()} == {"one", "two"}


def test_output_files(calque: Calque, folders: Path) -> None:
    assert calque("words", "truth", "one", "two", "-o", "out.json").err == "wrote out.json\n"
    assert json.loads(Path("out.json").read_text())["runs"]
    assert calque("words", "truth", "one", "two", "-o", "out.json", "--quiet").err == ""


def test_show(calque: Calque, folders: Path) -> None:
    run = calque("words", "truth", "one", "--show", "d1")
    assert run.out.splitlines() == [
        "d1: truth (left), one (right); 5 of 6 words match",
        "the               the",
        "cat             | cot",
        "sat on the mat    sat on the mat",
    ]
    assert "did you mean 'd1'?" in calque("words", "truth", "one", "--show", "d11").err


def test_errors(calque: Calque, folders: Path) -> None:
    run = calque("words", "truth", "one", "--errors", "--format", "json")
    assert run.json["errors"]["words"] == [
        {"truth": "cat", "predicted": "cot", "count": 1},
        {"truth": "not", "predicted": "nat", "count": 1},
    ]
    assert run.json["errors"]["characters"][0] == {"truth": "a", "predicted": "o", "count": 1}
    assert "Most frequent confusions of words" in calque("words", "truth", "one", "--errors", "1").out


def test_hold_out(calque: Calque, folders: Path) -> None:
    Path("docs.txt").write_text("d2\nunknown\n")
    found = calque("words", "truth", "one", "--holdout", "docs.txt", "--format", "json").json
    assert list(found["documents"]) == ["d2"]
    assert (found["counts"]["not_held_out"], found["counts"]["listed_without_truth"]) == (1, 1)
    assert "held out but not in the truth: 1 document" in calque("words", "truth", "one", "--holdout", "docs.txt").out
    halves = [calque("words", "truth", "one", "--fold", f"{i}/2", "--format", "json").json["documents"] for i in (0, 1)]
    assert sorted([*halves[0], *halves[1]]) == ["d1", "d2"]
    assert calque("words", "truth", "one", "--holdout-fraction", "1", "--seed", "7").code == 0
    assert "both say" in calque("words", "truth", "one", "--holdout", "docs.txt", "--fold", "0/2").err


def test_clean_up_and_what_it_removed(calque: Calque, folders: Path) -> None:
    Path("t.html").write_text("<p>ﬁne “words”</p><table><tr><td>1 2 3</td></tr></table><h2>References</h2><p>Smith</p>")
    Path("p.txt").write_text('fine "words"')
    options = ["--drop", "table,references", "--clean", "fold=ligatures,quotes"]
    found = calque("words", "t.html", "p.txt", *options, "--format", "json").json
    assert found["micro"]["recall"] == 1.0
    assert found["cleanup"]["drop:table"] == {"times": 1, "amount": 3}
    assert found["cleanup"]["drop:references"] == {"times": 2, "amount": 2}
    listed = [json.loads(line) for line in calque("words", "t.html", "p.txt", *options, "--removed").out.splitlines()]
    assert {"document": "t", "step": "drop:table", "amount": 3, "text": "1 2 3"} in listed
    assert "Clean-up of the truth" in calque("words", "t.html", "p.txt", *options).out


def test_blocks_that_are_not_on_the_page(calque: Calque, folders: Path) -> None:
    Path("t.html").write_text("<p>alpha beta gamma</p><p>only on the web</p>")
    Path("p.txt").write_text("alpha gamma")
    Path("full.txt").write_text("alpha beta gamma only on the web")
    few = calque("words", "t.html", "p.txt", "--min-block-recall", "0.5", "--format", "json").json
    assert few["counts"]["words"] == 3
    all_words = calque(
        "words", "t.html", "p.txt", "--min-block-recall", "0.5", "--page-text", "full.txt", "--format", "json"
    ).json
    assert all_words["counts"]["words"] == 7


def test_a_given_lattice(calque: Calque, folders: Path) -> None:
    Path("lattice.json").write_text(json.dumps({"d1": [[["the"]], [["cot"], ["cat"]], [["sat", "on", "the", "mat"]]]}))
    found = calque("words", "truth", "one", "--lattice", "lattice.json", "--format", "json").json
    assert found["oracle"]["documents"]["d1"]["path"] == [0, 1, 0]
    assert found["oracle"]["missing_lattices"] == 1
    several = calque("words", "truth", "one", "two", "--lattice", "lattice.json", "--format", "json").json
    assert several["oracle"]["best_source_recall"] == 10 / 12
    assert "Lattice" in calque("words", "truth", "one", "--lattice", "lattice.json").out


def test_states_merge_to_the_same_numbers(calque: Calque, folders: Path) -> None:
    for number in (1, 2):
        (folders / f"truth{number}").mkdir()
        (folders / f"truth{number}" / f"d{number}.txt").write_text((folders / "truth" / f"d{number}.txt").read_text())
        assert calque("words", f"truth{number}", f"one/d{number}.txt", "--save", f"s{number}", "--quiet").code == 0
    merged = calque("merge", "s2", "s1", "--format", "json")
    assert merged.code == 0
    assert merged.json["counts"]["documents"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--lattice", "x", "--build-lattice"], "both give a lattice"),
        (["--clean", "dropp=table"], "did you mean 'drop'?"),
        (["--clean", "drop"], "needs a value"),
        (["--clean", "drop_zero_width=maybe"], "yes or no"),
        (["--clean", "min_block_recall=x"], "is a number"),
        (["--drop", "tables"], "did you mean 'table'?"),
        (["--lattice", "missing.json"], "does not exist"),
        (["--holdout", "missing.txt"], "does not exist"),
        (["-o", "no/such/folder.json"], "does not exist"),
    ],
)
def test_what_cannot_be_done_is_said(calque: Calque, folders: Path, arguments: list[str], message: str) -> None:
    run = calque("words", "truth", "one", *arguments)
    assert run.code == 2
    assert message in run.err


def test_clean_takes_the_names_of_python(calque: Calque, folders: Path) -> None:
    options = [
        "--clean",
        "unicode=NFKC",
        "--clean",
        "drop-zero-width",
        "--clean",
        "keep_unknown=no",
        "--clean",
        "min_block_recall=0.1",
    ]
    settings = calque("words", "truth", "one", *options, "--format", "json").json["settings"]
    assert (settings["unicode"], settings["zero-width-dropped"], settings["keep-unknown"]) == ("NFKC", "yes", "no")


def test_the_same_prediction_twice_and_save_of_several(calque: Calque, folders: Path) -> None:
    assert "given twice" in calque("words", "truth", "one", "one").err
    assert "one by one" in calque("words", "truth", "one", "two", "--save", "s").err


def test_nothing_heavy_is_imported_for_help(process: Calque) -> None:
    assert process("words", "--help").code == 0


def test_each_of_several_predictions_has_its_own_account(calque: Calque, folders: Path) -> None:
    (folders / "deep").mkdir()
    (folders / "two").rename(folders / "deep" / "two")
    run = calque("words", "truth", "one", "deep/two", "--errors", "3", "--drop-zero-width")
    rows = [line.split() for line in run.out.partition("Documents and words")[2].splitlines()[2:4]]
    assert rows == [["one", "2", "0", "12", "12", "10", "2"], ["two", "2", "1", "12", "5", "4", "0"]]
    for name in ("one", "two"):
        assert f"{name}: most frequent confusions of words" in run.out
    assert "deep" not in run.out  # names, not paths
    found = calque("words", "truth", "one", "deep/two", "--errors", "3", "--format", "json").json["runs"]
    assert [found[name]["counts"]["missing_predictions"] for name in ("one", "two")] == [0, 1]
    assert found["two"]["errors"]["totals"]["missed_words"] == 8


CANDIDATES = "d1\t0\t0\tCT\t0\tthe\nd1\t1\t0\tC\t0\tcot\nd1\t1\t1\tT\t0\tcat\nd1\t2\t0\tC\t0\tsat\nd1\t2\t1\tT\t0\tsot\n"


def test_a_lattice_alone_evaluates_what_its_sources_read(calque: Calque, folders: Path) -> None:
    (folders / "cand").mkdir()
    (folders / "cand/d1.cand_word").write_text(CANDIDATES)
    found = calque("words", "truth", "--lattice", "cand", "--format", "json").json
    assert {name: run["documents"]["d1"]["matches"] for name, run in found["runs"].items()} == {"C": 2, "T": 2}
    assert found["oracle"]["documents"]["d1"]["matches"] == 3
    assert found["oracle"]["taken"] == {"C": {"slots": 1, "alone": 1, "gain": 1}, "T": {"slots": 1, "alone": 1, "gain": 1}}
    listed = {entry["word"]: entry["count"] for entry in found["oracle"]["irreducible"]["listed"]}
    assert (listed["mat"], listed["be"]) == (1, 2)
    shown = calque("words", "truth", "--lattice", "cand", "--show", "d1").out
    assert [line.split() for line in shown.splitlines()[-2:]] == [
        ["1", "cat", "T", "cot", "(C)"],
        ["2", "sat", "C", "sot", "(T)"],
    ]


def test_without_sources_the_best_path_is_evaluated(calque: Calque, folders: Path) -> None:
    Path("lattice.json").write_text(json.dumps({"d1": [[["the"]], [["cot"], ["cat"]]]}))
    found = calque("words", "truth", "--lattice", "lattice.json", "--format", "json").json
    assert found["documents" if "documents" in found else "runs"]
    assert "2 of 6" in calque("words", "truth", "--lattice", "lattice.json", "--show", "d1").out
    run = calque("words", "truth")
    assert (run.code, "give what was read, or --lattice" in run.err) == (2, True)


def test_a_built_lattice_names_its_sources_and_their_order_does_not_matter(calque: Calque, folders: Path) -> None:
    one, other = (
        calque("words", "truth", *order, "--build-lattice", "--format", "json").json
        for order in (("one", "two"), ("two", "one"))
    )
    assert "lattice:built from one, two" in one["signature"]
    assert (one["signature"], one["oracle"]) == (other["signature"], other["oracle"])


def test_how_split_words_of_alto_are_read_is_in_the_settings(calque: Calque, folders: Path) -> None:
    assert calque("words", "truth", "one", "--format", "json").json["settings"]["alto-hyphens"] == "joined"
    told = calque("words", "truth", "one", "--alto-hyphens", "printed", "--format", "json").json["signature"]
    assert "alto-hyphens:printed" in told


@pytest.mark.parametrize(
    ("name", "text"), [("same.tsv", "# letters\n\ncot\tcat\nnat\tnot\n"), ("same.json", '{"cot": "cat", "nat": "not"}')]
)
def test_a_table_of_substitutions(calque: Calque, folders: Path, name: str, text: str) -> None:
    Path(name).write_text(text)
    assert calque("words", "truth", "one", "--substitute", name, "--format", "json").json["micro"]["recall"] == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [("cot cat\n", "line 1: is no pair"), ("\tcat\n", "is no pair"), ('{"a": 1}', "is not an object of texts")],
)
def test_what_is_no_table_of_substitutions(calque: Calque, folders: Path, text: str, told: str) -> None:
    Path("same.tsv").write_text(text)
    run = calque("words", "truth", "one", "--substitute", "same.tsv")
    assert (run.code, told in run.err) == (2, True)


def test_several_readings_share_one_clean_up(calque: Calque, folders: Path) -> None:
    Path("t.html").write_text("<p>fine words</p><table><tr><td>1 2 3</td></tr></table>")
    for name in ("p.txt", "q.txt"):
        Path(name).write_text("fine words")
    out = calque("words", "t.html", "p.txt", "q.txt", "--drop", "table").out
    assert out.count("Clean-up of the truth") == 1
    assert "drop:table" in out


def test_what_all_readings_have_alike_is_no_choice(calque: Callable[..., Run], tmp_path: Path) -> None:
    """Of a document that is shown, only the places are listed at which somebody read something else."""
    (tmp_path / "truth.json").write_text(json.dumps({"d": "one two three"}))
    for name, text in (("a", "one two three"), ("b", "one too three")):
        (tmp_path / f"{name}.json").write_text(json.dumps({"d": text}))
    shown = calque("words", "truth.json", "a.json", "b.json", "--build-lattice", "--show", "d").out
    table = shown[shown.index("d: the choices of the best path") :]
    assert "too (b.json)" in table
    assert "two" in table
    assert "three" not in table
