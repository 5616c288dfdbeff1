"""One document with very long lists of lines, in another order and partly wrong: ``python benchmarks/long_lists.py [LINES]``.

``told apart`` are lines that have a code, ``alike`` lines without one, and ``hardly told apart`` lines of which many share
their words and amounts. Each runs in a process of its own; no schema is given.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import time
from typing import Any

WORDS = ("bolt", "nut", "washer", "gear", "pipe", "valve", "hose", "clamp", "panel", "cable", "switch", "sensor")
KINDS = ("told apart", "alike", "hardly told apart")


def lines(kind: str, count: int, chance: random.Random) -> list[dict[str, Any]]:
    """True lines."""
    made = []
    for number in range(count):
        words = f"{chance.choice(WORDS)} {chance.choice(WORDS)}"
        line: dict[str, Any] = {"description": f"{words} M{chance.randint(1, 99)}", "quantity": chance.randint(1, 50)}
        if kind == KINDS[2]:
            line |= {"description": f"{words} {chance.choice(WORDS)} steel", "amount": float(chance.randint(1, 50))}
        else:
            line |= {"amount": round(chance.uniform(1, 5000), 2)}
        made.append({**line, "sku": f"SKU-{number:06}"} if kind == KINDS[0] else line)
    return made


def predicted(truth: list[dict[str, Any]], chance: random.Random) -> list[dict[str, Any]]:
    """What was read of them: shuffled, a tenth with a slip, a fiftieth missing."""
    found = [dict(line) for line in truth]
    chance.shuffle(found)
    for line in found:
        slip = chance.random()
        if slip < 0.05:
            line["amount"] = round(line["amount"] + 1, 2)
        elif slip < 0.1:
            line["description"] = line["description"][:-1] + "x"
    return found[: len(found) * 98 // 100]


def measure(kind: str, count: int) -> None:
    """Evaluate one document, and print what it took."""
    from calque import Evaluator, Fields

    chance = random.Random(f"{kind} {count}")  # noqa: S311  # data, not secrets
    truth = lines(kind, count, chance)
    found = predicted(truth, chance)
    start = time.process_time()
    result = Evaluator(Fields()).update([{"lines": truth}], [{"lines": found}]).compute()
    took, peak = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    told = f"{result['tp/lines']:,} right, {result['fd/lines']:,} wrong, {result['fn/lines']:,} missed"
    bound = "; ".join(issue.message for issue in result.issues) or "the optimum"
    print(f"| {kind} | {count:,} × {len(found):,} | {took:.1f} | {peak:,} | {told} | {bound} |", flush=True)


def main() -> None:
    """Measure one kind, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("lines", nargs="?", type=int, default=20_000)
    parser.add_argument("--kind", choices=KINDS)
    given = parser.parse_args()
    if given.kind:
        measure(given.kind, given.lines)
        return
    for kind in KINDS:
        subprocess.run([sys.executable, __file__, str(given.lines), "--kind", kind], check=True)


if __name__ == "__main__":
    main()
