"""How a cluster's work grows with pages: a simulation of the reduction tree with the sums and rows of synthetic shards.

    python benchmarks/cluster_tree.py [--shards 50000] [--pages 20000]

scores one synthetic shard with calque, weighs what would travel (sums, samples, slices of rows, ids), times how long it takes
to score and to join, adds up copies of its sums in the very tree that the cluster uses, and prints what so many shards come to.
"""

from __future__ import annotations

import argparse
import json
import pickle
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from calque import Corpus, Detection, Evaluator
from calque.detection.average_precision import Facts, ImagePlaces, ranked_rows
from calque.detection.kinds.numbers import Areas, Tallies
from calque.detection.numbers import AtThreshold, Sizes
from calque.engines.on_dask import FAN_IN, Cluster
from calque.evaluation.shards.cluster import MOST_RANGES, join_all
from calque.evaluation.storage.ranking import RANGE_ROWS, sort_rows

BYTES_OF_AN_ID = 110
"""What a document's id of some ten characters takes in a Python process: the string, and its places in tuple and table."""


class Tree:
    """Adds up at once, and counts what would have travelled."""

    def __init__(self) -> None:
        self.joins = 0
        self.moved = 0

    def put(self, add_up: Any, group: list[bytes]) -> bytes:
        self.joins += 1
        self.moved += sum(map(len, group))
        return pickle.dumps(add_up([pickle.loads(part) for part in group]))  # noqa: S301  # made here


def shard(pages: int) -> tuple[Any, float]:
    """The ledger of a synthetic shard with 10 truths and 40 predictions a page, and the seconds to score it."""
    dice = np.random.default_rng(0)

    def side(count: int, *, scored: bool) -> Any:
        corners = dice.random((pages * count, 2)) * 900
        boxes = np.concatenate([corners, corners + 10 + dice.random((pages * count, 2)) * 200], axis=1)
        names = np.repeat([f"d{page:08}" for page in range(pages)], count)
        labels = [f"class {code}" for code in range(11)]
        scores = dice.random(len(boxes)).round(4) if scored else None
        return Corpus.from_arrays(boxes, dice.integers(0, 11, len(boxes)), label_names=labels, documents=names, scores=scores)

    truth, found = side(10, scored=False), side(40, scored=True)
    began = time.process_time()
    evaluator = Evaluator(Detection(), keep="numbers").update(truth, found)
    return evaluator, time.process_time() - began


def sums_of(task: Detection, piece: Any) -> Sequence[Any]:
    """Everything that one shard tells of itself."""
    tallies = Tallies(task.errors, piece)
    at = [AtThreshold(task, threshold, piece) for threshold in task.iou]
    return [Sizes(piece), Facts(piece), tallies, Areas(tallies.largest, piece), *at]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shards", type=int, default=50_000)
    parser.add_argument("--pages", type=int, default=20_000, help="pages of a shard")
    parser.add_argument("--tried", type=int, default=512, help="shards whose sums are really added up")
    arguments = parser.parse_args()
    evaluator, scoring = shard(arguments.pages)
    task, ledger = evaluator.task, evaluator.ledger()
    piece = next(ledger.pieces())
    sums = sums_of(task, piece)
    parts = [pickle.dumps(one) for one in sums]
    tree, began = Tree(), time.process_time()
    for part in parts:
        Cluster.reduced(tree, join_all, [part] * arguments.tried)  # type: ignore[arg-type]  # it only puts
    joining = (time.process_time() - began) / arguments.tried
    began = time.process_time()
    run = sort_rows(partial(ranked_rows, ImagePlaces(ledger))(piece), len(ledger.names["label"]))
    sorting = time.process_time() - began
    rows = sum(column.nbytes for column in run.columns)
    pages = arguments.shards * arguments.pages
    ranges = min(MOST_RANGES, -(-arguments.shards * len(run.columns[0]) // RANGE_ROWS))
    levels = next(level for level in range(1, 40) if FAN_IN**level >= arguments.shards)
    print(json.dumps({
        "pages": pages, "shards": arguments.shards, "levels of the tree": levels,
        "a shard: seconds to score": round(scoring, 2), "a shard: seconds to sort": round(sorting, 2),
        "a shard: bytes of its ledger": sum(c.nbytes for t in ledger.tables.values() for c in t.columns.values()),
        "a shard: bytes of its sums": sum(map(len, parts)), "a shard: bytes of its ranked rows": rows,
        "a shard: milliseconds to join its sums": round(1000 * joining, 3),
        "all: CPU hours to score and sort": round(arguments.shards * (scoring + sorting) / 3600, 1),
        "all: gigabytes of sums that travel": round(tree.moved / arguments.tried * arguments.shards / 1e9, 2),
        "all: gigabytes of rows that travel for AP": round(arguments.shards * rows / 1e9, 1),
        "all: ranges": ranges, "all: slices": ranges * arguments.shards,
        "all: gigabytes of one range": round(arguments.shards * rows / ranges / 1e9, 2),
        "all: megabytes of samples that decide the cuts": round(
            arguments.shards * (len(run.index.sample.label) * 20 + 300) / 1e6, 1
        ),
        "all: gigabytes of ids where the result is made": round(pages * BYTES_OF_AN_ID / 1e9, 1),
    }, indent=2))  # fmt: skip


if __name__ == "__main__":
    main()
