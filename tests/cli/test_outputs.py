"""Nothing that belongs to the user is destroyed: laws for every verb that writes, and for everything that it can write to."""

from __future__ import annotations

import importlib
import io
import json
import os
import resource
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from calque.cli.app import VERBS
from calque.cli.outputs import Written
from calque.engines import Progress, progress_to
from tests.cli.conftest import MadeOnce
from tests.cli.test_check import SUITE
from tests.conftest import Run
from tests.snapshots import BOX, predictions, truth, write

Command = Callable[..., Run]

VERB_LINES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "detect": (("truth.json", "found.json", "--class-map", "map.yaml"), ("-o", "--save", "--report")),
    "layout": (("truth.json", "found.json"), ("-o", "--save", "--report")),
    "fields": (("truth.jsonl", "found.jsonl"), ("-o", "--save", "--report", "--write-schema", "--documents")),
    "tables": (("truth.html", "found.html"), ("-o", "--save", "--report")),
    "order": (("way.ndjson", "read.ndjson"), ("-o", "--save", "--report")),
    "ceiling": (("truth.json", "found.json", "other.json"), ("-o", "--save", "--report")),
    "words": (("truth.txt", "found.txt", "--page-text", "page.txt"), ("-o", "--save", "--report")),
    "check": (("suite.yaml", "--data", "cases.jsonl"), ("-o", "--save", "--report")),
    "merge": (("one.state", "two.state"), ("-o", "--save", "--report")),
    "bless": (("one.state",), ("-o",)),
    "compare": (("truth.json", "found.json", "other.json"), ("-o", "--report")),
    "report": (("one.state",), ("-o",)),
    "audit": (("truth.json", "found.json"), ("-o",)),
    "convert": (("truth.json", "--to", "ndjson"), ("",)),
    "demo": ((), ("--keep", "--report")),
}
"""Each verb that writes: what it reads, and how its outputs are named; the output of one stands among the arguments."""

RESULTS = [verb for verb, (_, outputs) in VERB_LINES.items() if "-o" in outputs and verb not in ("bless", "report")]


@pytest.fixture
def here(made_once: MadeOnce, calque: Command, tmp_path: Path) -> Path:
    """A folder with something to read for every verb."""
    return made_once(_make, calque, tmp_path)


def _make(calque: Command, tmp_path: Path) -> None:
    write(tmp_path / "truth.json", truth({("a", 0): [("Figure", BOX)], ("b", 0): [("Table", BOX)]}))
    write(tmp_path / "found.json", predictions({("a", 0): [("Figure", BOX, 0.9)], ("b", 0): []}))
    write(tmp_path / "other.json", predictions({("a", 0): [], ("b", 0): [("Table", BOX, 0.9)]}))
    (tmp_path / "map.yaml").write_text("Picture: Figure\n")
    for side in ("truth", "found"):
        (tmp_path / f"{side}.jsonl").write_text('{"id": 1, "total": 5}\n{"id": 2, "total": 7}\n')
        (tmp_path / f"{side}.txt").write_text("to be or not to be")
        (tmp_path / f"{side}.html").write_text("<table><tr><td>to</td><td>be</td></tr></table>")
    (tmp_path / "page.txt").write_text("to be")
    for name in ("way", "read"):
        (tmp_path / f"{name}.ndjson").write_text('{"doc_id": "d", "order": ["a", "b", "c"]}\n')
    (tmp_path / "suite.yaml").write_text(SUITE)
    case = {"id": "x", "output": {"box": [0, 0, 1, 1]}, "expected": {"box": [0, 0, 1, 1]}}
    (tmp_path / "cases.jsonl").write_text(json.dumps(case) + "\n")
    for name, document in (("one", "a"), ("two", "b")):
        write(tmp_path / "t.json", truth({(document, 0): [("Figure", BOX)]}))
        write(tmp_path / "p.json", predictions({(document, 0): [("Figure", BOX, 0.9)]}))
        assert calque("detect", "t.json", "p.json", "--save", f"{name}.state").code == 0


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def output(flag: str, path: object) -> tuple[str, ...]:
    return (flag, str(path)) if flag else (str(path),)


def called(verb: str, flag: str, stem: str) -> str:
    """A file as its name must end: a report is called as a page."""
    return f"{stem}.html" if flag == "--report" or verb == "report" else f"{stem}.json"


WRITING = [(verb, flag) for verb, (_, outputs) in VERB_LINES.items() for flag in outputs if verb != "demo"]
"""Every way to write one file."""


def test_every_verb_that_writes_is_under_these_laws() -> None:
    for verb in VERBS:
        command: click.Command = importlib.import_module(f"calque.cli.{verb}").command
        # A folder of checkpoints has laws of its own.
        written = [each for each in command.params if isinstance(each.type, Written) and each.name != "checkpoint"]
        assert len(written) == len(VERB_LINES.get(verb, ((), ()))[1]), verb


def spellings(folder: Path, name: str) -> Iterator[str]:
    yield name
    yield f"./{name}"
    yield str(folder / name)
    yield f"../{folder.name}/{name}"
    os.link(folder / name, folder / f"hard-{name}")
    yield f"hard-{name}"
    os.symlink(name, folder / f"soft-{name}")
    yield f"soft-{name}"


@pytest.mark.parametrize(("verb", "flag"), WRITING)
def test_no_output_is_an_input_however_it_is_spelt(verb: str, flag: str, calque: Command, here: Path) -> None:
    arguments = VERB_LINES[verb][0]
    options = {"--class-map", "--to", "--data", "--page-text", "ndjson"}
    for name in [argument for argument in arguments if argument not in options]:
        for spelling in list(spellings(here, name)):
            before = content(here)
            shape = ("--format", "json") if flag == "-o" and verb in RESULTS else ()
            run = calque(verb, *arguments, *output(flag, spelling), *shape)
            assert (run.code, run.out) == (2, ""), spelling
            assert "read by this command" in run.err
            assert content(here) == before


def test_what_a_suite_reads_is_not_written(calque: Command, here: Path) -> None:
    suite = SUITE[: SUITE.index("cases:")] + "data: cases.jsonl\n"
    (here / "with-data.yaml").write_text(suite)
    assert calque("check", "with-data.yaml").code == 0
    before = content(here)
    run = calque("check", "with-data.yaml", "-o", "./cases.jsonl")
    assert (run.code, content(here)) == (2, before)


@pytest.mark.parametrize("name", ["new.json", "d1.txt", "deeper/new.json"])
def test_nothing_is_written_into_a_folder_that_is_read(name: str, calque: Command, tmp_path: Path) -> None:
    for folder in ("truth", "found", "truth/deeper"):
        (tmp_path / folder).mkdir()
    for folder in ("truth", "found"):
        (tmp_path / folder / "d1.txt").write_text("to be")
    run = calque("words", "truth", "found", "-o", f"truth/{name}", "--format", "json")
    assert run.code == 2
    assert "belongs to the folder truth, which this command reads" in run.err
    assert (tmp_path / "truth/d1.txt").read_text() == "to be"
    (tmp_path / "elsewhere.txt").write_text("mine")
    os.symlink("../elsewhere.txt", tmp_path / "truth/d2.txt")
    assert calque("words", "truth", "found", "-o", "elsewhere.txt").code == 2
    assert (tmp_path / "elsewhere.txt").read_text() == "mine"


@pytest.mark.parametrize("verb", RESULTS)
def test_one_output_is_not_named_twice(verb: str, calque: Command, here: Path) -> None:
    arguments = VERB_LINES[verb][0]
    (here / "there.json").write_text("{}")
    os.link(here / "there.json", here / "again.json")
    os.symlink("there.json", here / "link.json")
    pairs = [
        ("x.json", "./x.json"),
        ("x.json", "X.json"),
        ("there.json", "again.json"),
        ("there.json", "link.json"),
        ("-", "-"),
    ]
    for first, second in pairs:
        before = content(here)
        run = calque(verb, *arguments, "-o", first, "-o", second)
        assert (run.code, run.out, content(here)) == (2, "", before)
        assert "cannot be the same file" in run.err


@pytest.mark.parametrize("verb", RESULTS)
def test_several_outputs_are_what_each_is_alone(verb: str, calque: Command, here: Path) -> None:
    arguments = VERB_LINES[verb][0]
    names = ["a.json", "b.txt"] if verb == "audit" else ["a.json", "b.txt", "c.md", "d.jsonl"]
    code = calque(verb, *arguments).code
    for name in names:
        assert calque(verb, *arguments, "-o", f"alone-{name}").code == code
    run = calque(verb, *arguments, *(part for name in names for part in ("-o", name)), "-o", "-", "--format", "json")
    assert run.code == code
    for name in names:
        assert (here / name).read_bytes() == (here / f"alone-{name}").read_bytes()
    assert run.out == (here / "a.json").read_text()


def test_a_format_for_outputs_that_all_have_one_is_refused(calque: Command, here: Path) -> None:
    run = calque("detect", "truth.json", "found.json", "-o", "a.json", "-o", "b.md", "--format", "csv")
    assert (run.code, "--format csv: each of several outputs has the format of its extension" in run.err) == (2, True)
    assert not (here / "a.json").exists()


@pytest.mark.parametrize(("verb", "flag"), WRITING)
def test_a_pipe_is_written_through_and_stays_a_pipe(verb: str, flag: str, calque: Command, here: Path) -> None:
    arguments = VERB_LINES[verb][0]
    shape = ("--format", "json") if flag == "-o" and verb in RESULTS else ()
    file = called(verb, flag, "file")
    code = calque(verb, *arguments, *output(flag, file), *shape).code
    os.mkfifo(here / "pipe")
    for name in ("pipe", "link"):
        if name == "link":
            os.symlink("pipe", here / "link")
        got: list[bytes] = []
        reader = threading.Thread(target=lambda got=got: got.append((here / "pipe").read_bytes()), daemon=True)
        reader.start()
        assert calque(verb, *arguments, *output(flag, name), *shape).code == code
        reader.join(60)
        assert got == [(here / file).read_bytes()]
        assert stat.S_ISFIFO(os.stat(here / name).st_mode)
    assert (here / "link").is_symlink()


@pytest.mark.skipif(not hasattr(os, "mknod") or os.geteuid() != 0, reason="only root makes devices")
def test_a_device_is_written_through_and_stays_a_device(calque: Command, here: Path) -> None:
    try:
        os.mknod(here / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        (here / "null").write_bytes(b"")
    except OSError:
        pytest.skip("no devices here")
    for arguments in (("-o", "null"), ("--save", "null")):
        assert calque("detect", "truth.json", "found.json", *arguments).code == 0
        assert stat.S_ISCHR(os.lstat(here / "null").st_mode)


@pytest.mark.parametrize(("verb", "flag"), WRITING)
def test_a_link_stays_a_link_and_its_target_is_replaced(verb: str, flag: str, calque: Command, here: Path) -> None:
    arguments = VERB_LINES[verb][0]
    (here / "far").mkdir()
    old = "calque state of old"  # blessing replaces states only
    there, new = called(verb, flag, "there"), called(verb, flag, "not-yet")
    (here / "far" / there).write_text(old)
    (here / "far" / there).chmod(0o640)
    for name in (there, new):
        os.symlink(f"far/{name}", here / f"link-{name}")
        calque(verb, *arguments, *output(flag, f"link-{name}"))
        assert (here / f"link-{name}").is_symlink()
        assert (here / "far" / name).read_bytes() not in (b"", old.encode())
    assert stat.S_IMODE((here / "far" / there).stat().st_mode) == 0o640
    assert sorted(os.listdir(here / "far")) == [new, there]


def test_links_that_lead_nowhere_are_refused_before_the_work(calque: Command, here: Path) -> None:
    os.symlink("no/where.json", here / "dangling.json")
    os.symlink("loop.json", here / "loop.json")
    for name, message in (("dangling.json", "does not exist; make it"), ("loop.json", "too many levels of symbolic links")):
        run = calque("detect", "truth.json", "found.json", "-o", name)
        assert (run.code, message in run.err) == (2, True)
        assert (here / name).is_symlink()


def test_nothing_to_convert_replaces_nothing(calque: Command, here: Path) -> None:
    write(here / "empty.json", {"images": [], "annotations": [], "categories": []})
    (here / "mine.json").write_text("mine")
    run = calque("convert", "empty.json", "mine.json", "--to", "plain")
    assert (run.code, (here / "mine.json").read_text()) == (2, "mine")
    assert "there is nothing to write" in run.err


def test_the_demo_makes_no_parents_and_replaces_nothing(calque: Command, tmp_path: Path) -> None:
    run = calque("demo", "--keep", "no/where")
    assert (run.code, os.listdir(tmp_path)) == (2, [])
    assert "the folder no does not exist" in run.err
    assert calque("demo", "--keep", "sample").code == 0
    assert calque("demo", "--keep", "sample").code == 0
    (tmp_path / "sample/truth.json").write_text("mine")
    (tmp_path / "sample/finder.json").unlink()
    run = calque("demo", "--keep", "sample")
    assert (run.code, run.out) == (2, "")
    assert (tmp_path / "sample/truth.json").read_text() == "mine"
    assert not (tmp_path / "sample/finder.json").exists()


# Standard input and output.


@pytest.fixture
def piped(calque: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs ``calque ARGUMENTS`` with these bytes on standard input."""

    def run(data: bytes, *arguments: object) -> Run:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        return calque(*arguments)

    return run


def numbers(text: str) -> dict[str, object]:
    """A result without the names of its files."""
    named = ("sources", "audit", "predictions", "issues", "documents")
    return {key: value for key, value in json.loads(text).items() if key not in named}


@pytest.mark.parametrize("verb", ["detect", "layout", "fields", "words", "merge", "audit"])
def test_standard_input_is_read_as_the_file_is(verb: str, calque: Command, piped: Command, here: Path) -> None:
    arguments = VERB_LINES[verb][0]
    usual = calque(verb, *arguments, "--format", "json")
    for side in (0, 1):
        given = [*arguments]
        given[side] = "-"
        run = piped((here / arguments[side]).read_bytes(), verb, *given, "--format", "json")
        assert run.code == usual.code
        assert numbers(run.out) == numbers(usual.out)
        assert "calque-" not in run.out + run.err
    run = piped(b"", verb, "-", "-")
    assert (run.code, "standard input can be read once" in run.err) == (2, True)


WORDS = {
    "text": b"to be or not",
    "html": b"<html><body><p>to be or not</p></body></html>",
    "page": b'<?xml version="1.0"?><PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"><Page>'
    b'<TextRegion id="r"><TextEquiv><Unicode>to be or not</Unicode></TextEquiv></TextRegion></Page></PcGts>',
}


@pytest.mark.parametrize("kind", WORDS)
def test_words_on_standard_input_are_told_from_their_beginning(kind: str, piped: Command, here: Path) -> None:
    assert piped(WORDS[kind], "words", "truth.txt", "-", "--format", "json").json["micro"]["recall"] == 4 / 6


@pytest.mark.parametrize("to", ["snapshot", "ndjson", "plain", "parquet"])
def test_convert_reads_and_writes_streams(to: str, calque: Command, piped: Command, here: Path) -> None:
    if to == "parquet":
        pytest.importorskip("pyarrow")
        assert calque("convert", "truth.json", "out", "--to", to).code == 0
        again = piped((here / "out").read_bytes(), "convert", "-", "back.json", "--to", "plain", "--as", "truth")
        assert again.code == 0
        return
    assert calque("convert", "truth.json", "out", "--to", to).code == 0
    run = piped((here / "truth.json").read_bytes(), "convert", "-", "-", "--to", to)
    assert (run.code, run.out) == (0, (here / "out").read_text())
    assert "wrote standard output" in run.err
    assert piped(run.out.encode(), "validate", "-", "--from", to).code == 0


def test_a_format_of_folders_has_no_place_on_standard_output(calque: Command, here: Path) -> None:
    run = calque("convert", "truth.json", "-", "--to", "yolo", "--page-size", "100,100")
    assert (run.code, run.out) == (2, "")
    assert "yolo is a folder" in run.err


def test_a_bad_stream_is_named_as_it_was_called_and_leaves_nothing(
    piped: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(here / "tmp"))
    run = piped(b'{"images": 3, "annotations": [], "categories": []}', "detect", "-", "found.json")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("error: -: /images")
    assert os.listdir(here / "tmp") == []


def test_a_state_goes_through_a_pipe(here: Path) -> None:
    """Bytes on standard output, and back."""
    calque = [sys.executable, "-m", "calque"]
    made = subprocess.run(
        [*calque, "detect", "truth.json", "found.json", "-o", "x.json", "--save", "-"],
        cwd=here,
        capture_output=True,
        check=True,
    )
    merged = subprocess.run(
        [*calque, "merge", "-", "-o", "y.json"], cwd=here, input=made.stdout, capture_output=True, check=True
    )
    assert merged.stdout == b""
    assert (here / "x.json").read_bytes() == (here / "y.json").read_bytes()
    with open(here / "log", "wb") as log:
        clash = subprocess.run(
            [*calque, "detect", "truth.json", "found.json", "--save", "log"], cwd=here, stdout=log, check=False
        )
    assert (clash.returncode, (here / "log").read_bytes()) == (2, b"")


# A disk that is full.

LIMITED = """
import resource, sys
from calque.cli.app import main
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
sys.argv = ["calque", *sys.argv[1:]]
main()
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="no limits here")
@pytest.mark.parametrize(("verb", "flag"), WRITING)
def test_a_file_that_does_not_fit_is_named_and_not_left(verb: str, flag: str, calque: Callable[..., Run], here: Path) -> None:
    before, usual = content(here), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, usual[1]))
    try:
        done = calque(verb, *VERB_LINES[verb][0], *output(flag, called(verb, flag, "large")))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert done.err.splitlines()[-1] == f"error: {called(verb, flag, 'large')}: file too large"
    assert done.code == 2
    assert content(here) == before


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "arguments", [("detect", "truth.json", "found.json"), ("detect", "truth.json", "found.json", "-o", "x.json", "--save", "-")]
)
def test_a_full_standard_output_is_named(arguments: tuple[str, ...], unbuffered: str, here: Path) -> None:
    command = [sys.executable, "-c", LIMITED, *arguments]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with open(here / "out", "wb") as out:
        done = subprocess.run(command, cwd=here, env=environment, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[-1:]) == (2, ["error: standard output: file too large"])


SHORT = {"bless": "copies one state", "report": "draws what is there", "demo": "a sample of a few pages"}
"""Verbs whose work is over before anybody looks."""


@pytest.mark.parametrize("verb", [verb for verb in VERB_LINES if verb not in SHORT])
def test_every_verb_says_how_much_there_is_to_do_and_when_it_is_done(verb: str, calque: Command, here: Path) -> None:
    mine = Progress()
    with progress_to(mine):
        assert calque(verb, *VERB_LINES[verb][0], *(("out.ndjson",) if verb == "convert" else ())).code == 0
    assert mine.done > 0
    # Counting the cases of a suite is work too, and left until somebody sees it.
    assert mine.total == (0 if verb == "check" else mine.done)


def test_several_predictions_are_one_piece_of_work(calque: Command, here: Path) -> None:
    mine = Progress()
    with progress_to(mine):
        assert calque("words", "truth.txt", "found.txt", "page.txt").code == 0
    assert (mine.done, mine.total, mine.noun) == (2, 2, "document")


def test_replicates_are_counted(calque: Command, here: Path) -> None:
    mine = Progress()
    with progress_to(mine):
        assert calque("compare", "truth.json", "found.json", "other.json", "--replicates", "100").code == 0
    assert (mine.done, mine.noun) == (mine.total, "replicate")
