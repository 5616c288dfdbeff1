"""``make soak``: random evaluations of all tasks, one after the other in one process, in which neither memory nor handles grow.

``python -m tests.soak --rounds 2000`` prints what the process holds as it goes; `tests.laws.test_soak` runs a few rounds.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.door import Door, laid_out, run
from tests.fuzz.doors import DOORS
from tests.fuzz.mutation import mutated

KILOBYTE = 1024


@dataclass(frozen=True)
class Held:
    """What a process holds."""

    memory: int
    """Resident, in kilobytes."""
    handles: int
    """Open files, pipes and sockets."""
    threads: int
    objects: int
    """Python objects that the collector knows of."""

    @classmethod
    def now(cls) -> Held:
        """What this process holds after everything that nobody needs was let go of."""
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        handles = len(os.listdir("/proc/self/fd"))
        return cls(pages * os.sysconf("SC_PAGE_SIZE") // KILOBYTE, handles, threading.active_count(), len(gc.get_objects()))


def rounds(chance: random.Random, doors: tuple[Door, ...] = DOORS) -> Iterator[str]:
    """One random command after the other, on sound files or on damaged ones; what it was, when it has ended."""
    while True:
        door = chance.choice(doors)
        files = dict(door.files)
        if chance.random() < 0.5:
            name = chance.choice(door.attacked)
            files[name] = mutated(name, files[name], chance)
        command = chance.choice(door.commands)
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            laid_out(files)
            run(command, {**files, "": b""})
        yield command


def main() -> int:
    """Run for a time or for some rounds, and say whether it stayed flat: what is held after a third is held at the end."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    begun = time.monotonic()
    count, first, shown = 0, None, 0.0
    for _ in rounds(random.Random(given.seed)):
        count += 1
        spent = time.monotonic() - begun
        if spent > given.seconds / 3 and first is None:
            first = Held.now()
        if spent - shown > given.seconds / 12:
            shown = spent
            print(f"{count:>6} commands  {Held.now()}", flush=True)
        if spent > given.seconds:
            break
    last = Held.now()
    grown = first is not None and (
        last.memory > first.memory * 1.1 + 10_000 or last.handles > first.handles or last.objects > first.objects * 1.02
    )
    print(f"{count} commands, seed {given.seed}: {first} became {last}: {'it grows' if grown else 'flat'}")
    return int(grown)


if __name__ == "__main__":
    sys.exit(main())
