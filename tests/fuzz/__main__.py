"""``make fuzz``: attack every door for a bounded time, each in a process of its own with bounded memory.

What is found is written to build/fuzz/findings, laid out as in tests/fuzz/findings: once it is mended it is moved there,
and is a test from then on. ``python -m tests.fuzz --seconds 600 --door state`` attacks the doors whose names hold a word.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.door import Door, Files
from tests.fuzz.doors import DOORS
from tests.fuzz.hunt import Hunt

OUT = Path("build/fuzz")
MEMORY = 3 << 30
"""What a process that reads small files may ask for, in bytes; Arrow and OpenBLAS reserve most of it without using it."""
PATIENCE = 30
"""After so many seconds of the processor (others may be busy, too) work on files of at most 60 kB is taken for endless."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Attack the doors one after the other; the number of findings decides about the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for all doors together")
    parser.add_argument("--door", default="", help="only doors whose name holds this")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--here", metavar="DOOR", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.here:
        return hunted(next(door for door in DOORS if door.name == given.here), given.seconds, given.seed)
    doors = [door for door in DOORS if given.door in door.name]
    found = sum(watched(door, given.seconds / len(doors), given.seed) for door in doors)
    print(f"{len(doors)} doors, seed {given.seed}: {f'{found} findings in {OUT}/findings' if found else 'nothing found'}")
    return 1 if found else 0


def watched(door: Door, seconds: float, seed: int) -> int:
    """Attack a door in another process; how much was found there. One that ended by itself was ended by its last files."""
    here = OUT / "now" / slug(door.name)
    shutil.rmtree(here, ignore_errors=True)
    command = [sys.executable, "-m", "tests.fuzz", "--here", door.name, "--seconds", str(seconds), "--seed", str(seed)]
    done = subprocess.run(command, check=False, text=True, capture_output=True)
    tally = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None
    if tally is None:
        files = {str(path.relative_to(here)): path.read_bytes() for path in here.rglob("*") if path.is_file()}
        keep(door, files, f"the process ended with {done.returncode}:\n{done.stderr[-3000:]}")
        tally = {"found": 1, "tried": "?", "lines": "?"}
    print(f"{door.name:<28} {tally['tried']:>7} files, {tally['lines']:>6} lines, {tally['found']} findings", flush=True)
    return int(tally["found"])


def hunted(door: Door, seconds: float, seed: int) -> int:
    """Attack a door in this process; every kind of trouble is kept once."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("error")
    here = OUT.absolute() / "now" / slug(door.name)
    until = time.monotonic() + seconds
    seen: set[str] = set()
    hunt, count = Hunt(door, seed, guided=True), 0
    faulthandler.register(signal.SIGPROF, chain=True)  # tells where, and ends the process
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    for files, said in _noted(hunt, here):
        count += 1
        if said and kind_of(said) not in seen:
            seen.add(kind_of(said))
            keep(door, files, said)
        if time.monotonic() > until:
            break
        signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    signal.setitimer(signal.ITIMER_PROF, 0)
    print(json.dumps({"found": len(seen), "tried": count, "lines": hunt.lines.reached}))
    return 0


def _noted(hunt: Hunt, here: Path) -> Hunt:
    """The same hunt, with the files that are being read on disk, in case that they end the process."""
    inner = hunt.changed

    def changed(*arguments: object) -> Files:
        files = inner(*arguments)  # type: ignore[arg-type]  # whatever it is given
        _write(here, files)
        return files

    hunt.changed = changed  # type: ignore[method-assign]  # one object's own
    return hunt


def keep(door: Door, files: Files, said: str) -> None:
    """Write a finding as a folder that tests can try again."""
    digest = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:8]
    folder = OUT.absolute() / "findings" / slug(door.name) / digest
    # No tool that walks the tree takes them for files of the project.
    _write(folder, {f"{name}.found": data for name, data in files.items() if data != door.files.get(name)})
    (folder / "SAID").write_text(said)


def _write(folder: Path, files: Files) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def kind_of(said: str) -> str:
    """What two findings have in common that are the same: the type of the error and its place."""
    name, _, rest = said.partition(":")
    return name + rest.rpartition("(")[2] if name != "Trouble" else "".join(filter(str.isalpha, said))[:60]


def slug(name: str) -> str:
    """The name of a door as that of a folder."""
    return "-".join("".join(char if char.isalnum() else " " for char in name).split()).lower()


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(main())
