"""What only a process of its own shows: start-up, streams, colour, interrupts and pipes."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from calque import __version__
from calque.kernels import native_built
from tests.conftest import Run

Process = Callable[..., Run]
Files = tuple[str, str]
HEAVY = ("numpy", "pydantic", "scipy", "rapidfuzz", "regex", "lxml", "pandas", "polars", "yaml", "msgspec", "rich", "xxhash")
WATCH = """
import sys
from calque.cli.app import main
sys.argv = ["calque", *sys.argv[1:]]
try:
    main()
finally:
    print([name for name in {heavy} if name in sys.modules], file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments", [["--version"], ["--help"], ["-h"], ["detect", "--help"], ["explain", "--help"], ["nonsense"]]
)
def test_start_up_imports_nothing_heavy(arguments: list[str]) -> None:
    heavy = tuple(name for name in HEAVY if name != "rich" or not {"-h", "--help"} & {*arguments})
    done = subprocess.run(
        [sys.executable, "-c", WATCH.format(heavy=heavy), *arguments], capture_output=True, text=True, check=False
    )
    assert done.stderr.splitlines()[-1] == "[]"


SELDOM = (
    "csv",
    "difflib",
    "html",
    "numpy.ma",
    "numpy.typing",
    "calque.readers.boxes.snapshot",
    "calque.readers.boxes.formats",
)


@pytest.mark.skipif(not native_built(), reason="without the compiled scanner, formats are looked for")
def test_a_plain_run_imports_nothing_that_only_others_need(tmp_path: Path) -> None:
    category, image = {"id": 1, "name": "Table"}, {"id": 1, "width": 10, "height": 10}
    box = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 5, 5]}
    truth, found = tmp_path / "truth.json", tmp_path / "found.json"
    truth.write_text(json.dumps({"images": [image], "categories": [category], "annotations": [{**box, "id": 1}]}))
    found.write_text(json.dumps([{**box, "score": 0.5}]))
    arguments = ["detect", str(truth), str(found), "--format", "json"]
    environment = {**os.environ, "CALQUE_KERNELS": ""}
    watching = [sys.executable, "-c", WATCH.format(heavy=SELDOM), *arguments]
    done = subprocess.run(watching, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["metrics"]["0.5"]["micro"]["tp"] == 1
    assert done.stderr.splitlines()[-1] == "[]"


def test_importing_calque_imports_nothing_heavy() -> None:
    code = f"import sys, calque; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("kernels", ["reference", ""])
def test_version_tells_version_kernels_and_python(process: Process, kernels: str) -> None:
    run = process("--version", CALQUE_KERNELS=kernels)
    assert run.code == 0
    assert run.out.startswith(f"calque {__version__} (kernels: {kernels or ''}")
    assert f"Python {sys.version_info.major}.{sys.version_info.minor}" in run.out


def test_unknown_kernels_are_refused(process: Process, files: Files) -> None:
    for arguments in (("--version",), ("detect", *files)):
        run = process(*arguments, CALQUE_KERNELS="quantum")
        assert (run.code, run.out) == (2, "")
        assert "CALQUE_KERNELS='quantum' is not known; it can be 'native' or 'reference'" in run.err


def test_help_lists_the_verbs(process: Process) -> None:
    run = process("--help")
    assert run.code == 0
    for verb in ("detect", "validate", "merge", "explain", "demo"):
        assert f"\n  {verb} " in run.out


def test_results_go_to_stdout_and_remarks_to_stderr(process: Process, files: Files) -> None:
    run = process("detect", *files)
    assert (run.code, run.err) == (0, "")
    assert run.out.endswith("maxdets:1,10,100\n")
    run = process("detect", *files, "-o", "x.json")
    assert (run.out, run.err) == ("", "wrote x.json\n")


PATIENT = """
import sys
from calque.__main__ import main
from calque.cli import progress
progress.PATIENCE = 100_000
sys.argv = ["calque", *sys.argv[1:]]
main()
"""
"""The command on a machine that is never slow: a sign of life is a test of its own."""


def on_a_terminal(folder: Path, *arguments: str, script: str = PATIENT, **environment: str) -> str:
    """What a person sees: stdout and stderr of a process that stands on a terminal."""
    ours, theirs = pty.openpty()
    environ = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments], cwd=folder, stdout=theirs, stderr=theirs, env={**environ, **environment}
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # how Linux says that the other side is closed
            break
        if not part:
            break
        seen += part
    os.close(ours)
    process.wait()
    return seen.decode().replace("\r\n", "\n")


RARELY = [("demo",), ("validate", "gt.json"), ("explain", "recall")]
COMMANDS = [
    pytest.param(arguments, id=" ".join(arguments), marks=[pytest.mark.long] if arguments in RARELY else [])
    for arguments in (*RARELY, ("detect", "gt.json", "pred.json"), ("detect", "x", "y"))
]


@pytest.mark.parametrize("arguments", COMMANDS)
def test_colour_only_on_a_terminal_and_never_with_no_color(
    arguments: tuple[str, ...], process: Process, files: Files, tmp_path: Path
) -> None:
    assert "\x1b" in on_a_terminal(tmp_path, *arguments)
    plain = on_a_terminal(tmp_path, *arguments, NO_COLOR="1", COLUMNS="1000")
    piped = process(*arguments)
    assert "\x1b" not in plain
    assert plain == piped.out + piped.err


def test_output_that_cannot_be_encoded_is_spelt_out(process: Process, files: Files) -> None:
    run = process("detect", *files, PYTHONIOENCODING="latin-1")
    assert run.code == 0
    assert "IoU \\u2265 0.5" in run.out


LISTENING = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.executable, [sys.executable, "-m", "calque", *sys.argv[1:]])
"""
"""The command as a shell starts it in the foreground; under nohup and the like children inherit that interrupts are ignored."""


@pytest.mark.parametrize("ours", [signal.default_int_handler, signal.SIG_IGN], ids=["foreground", "background"])
def test_an_interrupt_ends_with_130_and_writes_nothing(files: Files, tmp_path: Path, ours: signal.Handlers) -> None:
    """Whatever the tests themselves were started from."""
    os.mkfifo(tmp_path / "slow.yaml")
    names = ["--class-map", "slow.yaml"]
    before = signal.signal(signal.SIGINT, ours)
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", LISTENING, "detect", *files, *names, "-o", "result.json", "--save", "state"],
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    with open(tmp_path / "slow.yaml", "w"):  # opens once calque has begun to read
        err = _interrupted(process)
    assert (process.returncode, err) == (130, "error: interrupted; nothing was written\n")
    assert set(os.listdir(tmp_path)) == {*files, "slow.yaml"}


def _interrupted(process: subprocess.Popen[str]) -> str:
    """Press Ctrl-C, and again as people do: the system may deliver it just before a read begins, and then nobody looks."""
    while True:
        process.send_signal(signal.SIGINT)
        try:
            return process.communicate(timeout=10)[1]
        except subprocess.TimeoutExpired:
            continue


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "calque", "demo"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 0
    assert err == b""


AROUND = """
import atexit, sys, threading, time
def late():
    time.sleep(0.2)
    print("thread ended")
if "thread" in sys.argv[1]:
    threading.Thread(target=late).start()
if "registered" in sys.argv[1]:
    atexit.register(print, "end was told")
if "daemon" in sys.argv[1]:
    threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
from calque.__main__ import main
sys.argv = ["calque", *sys.argv[2:]]
main()
"""


@pytest.mark.parametrize(
    ("around", "told"),
    [
        ("registered", ["end was told"]),
        ("thread", ["thread ended"]),
        ("thread registered", ["thread ended", "end was told"]),
        ("daemon registered", ["end was told"]),
        ("nothing", []),
    ],
)
@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["detect", "absent.json", "absent.json"], 2)])
def test_what_others_wait_for_at_the_end_of_the_process_is_done(
    around: str, told: list[str], arguments: list[str], code: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", AROUND, around, *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == code
    assert [line for line in done.stdout.splitlines() if not line.startswith("calque ")] == told


@pytest.mark.parametrize(
    "watching", [["cProfile", "-m", "calque"], ["trace", "--count", "--coverdir", ".", "--module", "calque"]]
)
def test_a_profiler_around_the_command_comes_to_its_own_end(watching: list[str], tmp_path: Path) -> None:
    process = [sys.executable, "-m", *watching, "--version"]
    done = subprocess.run(process, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.startswith(f"calque {__version__}")
    assert "function calls" in done.stdout or list(tmp_path.glob("*.cover"))
