"""CPU milliseconds of one pair of tables, tool by tool and size by size, as a table.

    python benchmarks/per_pair.py [--sets 10x5,40x8,100x10] [--cache FOLDER]

Every tool runs once in its own environment; imports are not counted, reading the HTML is.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
from pathlib import Path

import peers

CACHE = Path(__file__).resolve().parent / ".cache"


def main() -> None:
    """The command line."""
    suite = importlib.import_module("suites.tables").SUITE
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="10x5,40x8,100x10")
    parser.add_argument("--cache", type=Path, default=CACHE)
    arguments = parser.parse_args()
    names = arguments.sets.split(",")
    inputs = {name: suite.prepare(name, arguments.cache, frozenset()) for name in names}
    print(f"| CPU ms a pair | {' | '.join(names)} |\n|---|{'---:|' * len(names)}")
    for tool in suite.tools:
        installed = peers.environment(tool.environment)
        cells = []
        for name in names:
            if isinstance(installed, peers.Missing) or name in tool.skips:
                cells.append("–")
                continue
            command = tool.command(installed.programs, inputs[name])
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            cells.append(f"{json.loads(done.stdout)['ms']:,.1f}")
        print(f"| {tool.name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
