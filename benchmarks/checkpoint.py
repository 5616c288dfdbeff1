"""What a checkpoint costs: the same command with ``--checkpoint`` into an empty folder and without, in turns.

    python benchmarks/checkpoint.py TRUTH PREDICTIONS [--repeats 21] [--calque PROGRAM] [OPTION ...]

Prints the median and the best of both, CPU seconds and seconds by the clock, and their ratio. All other options go to
``calque detect``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def seconds(command: list[str]) -> tuple[float, float]:
    """CPU time of a command and its children, and by the clock."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(command)}: ended with {status}")
    return used.ru_utime + used.ru_stime, time.perf_counter() - start


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth")
    parser.add_argument("predictions")
    parser.add_argument("--repeats", type=int, default=21)
    parser.add_argument("--calque", default=str(Path(sys.executable).with_name("calque")))
    given, options = parser.parse_known_args()
    plain = [given.calque, "detect", given.truth, given.predictions, "--format", "json", *options]
    runs: dict[str, list[tuple[float, float]]] = {"without": [], "with": []}
    with tempfile.TemporaryDirectory(dir=".") as folder:
        kept = os.path.join(folder, "kept")
        for turn in range(given.repeats + 1):
            for name, more in (("without", []), ("with", ["--checkpoint", kept])):
                taken = seconds([*plain, *more])
                shutil.rmtree(kept, ignore_errors=True)
                if turn:  # the first one reads from the disk and writes what Python compiles
                    runs[name].append(taken)
    print(f"{given.repeats} runs each, load {os.getloadavg()[0]:.1f}")
    for place, what in enumerate(("CPU", "clock")):
        columns = {name: [taken[place] for taken in each] for name, each in runs.items()}
        for told, of in (("median", statistics.median), ("best", min)):
            without, with_it = of(columns["without"]), of(columns["with"])
            print(f"{what:5} {told:6} {without:.3f} s without, {with_it:.3f} s with: {100 * (with_it / without - 1):+.1f} %")


if __name__ == "__main__":
    main()
