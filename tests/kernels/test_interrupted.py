"""Ctrl-C ends kernels that would go on for hours, whatever they are at and however many threads they have."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from types import ModuleType

import numpy as np
import pytest

from tests.kernels.endless_calls import CALLS, both_words
from tests.kernels.test_signatures import NAMES

pytestmark = pytest.mark.skipif(os.name != "posix", reason="no such signals here")
GENEROUS = 120
"""Seconds until a test gives up; nothing is asserted about how long anything takes, but the call itself would take longer."""

BOUNDED = {
    "match_most": "augments along edges that a page has; each step of a search looks up, and no input of hours fits in memory",
    "best_partners": "looks up at each step of a chain; a matrix that takes hours does not fit in memory",
    "coco_match_given": "the same matching as coco_match, of pairs that are given",
    "shape_overlaps": "a page is refused beyond its allowance of steps, and each spends patience as well",
    "mask_pairs": "looks up at each mask; a mask has at most 2**25 changes",
    "mask_facts": "looks up at each mask",
    "polygon_simple": "looks up at each edge; rings have at most 10,000 vertices",
    "polygon_overlaps": "looks up at each pair; rings have at most 10,000 vertices",
    "weighted_precision": "linear in rows times replicates, and looks up at each class",
}
"""Kernels whose work is more than linear, and for which there is no small input that takes hours."""
LINEAR = {
    "score_order", "coco_accumulate", "mask_runs", "mask_counts", "masks_of_runs", "runs_of_masks", "masks_of_rings",
    "mask_overlaps", "split_words", "weighted_auroc", "fraction_parts", "nests_beyond", "record_lines", "repeats_a_key",
}  # fmt: skip
"""Kernels whose work grows as what they are given does, or by the logarithm of it more: seconds for what fits in memory."""


def test_every_kernel_is_known() -> None:
    assert sorted(NAMES) == sorted([*CALLS, *BOUNDED, *LINEAR])


def begun(name: str, jobs: int) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "tests.kernels.endless_calls", name, str(jobs)]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begins\n"
    time.sleep(0.1)  # by now it is in the kernel
    return process


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.usefixtures("native")
def test_a_signal_ends_it(name: str, jobs: int) -> None:
    process = begun(name, jobs)
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=GENEROUS)
    finally:
        process.kill()
    assert (out, process.returncode, err) == ("interrupted\n", 0, "")


class Enough(BaseException):
    """What is raised where somebody has had enough."""


def test_one_thread_ends_the_kernels_of_all(native: ModuleType) -> None:
    raised: list[BaseException] = []
    given = both_words()

    def work() -> None:
        try:
            native.lcs_partners(*given, log_limit=1 << 20, jobs=2)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(0.2)
    native.cancel_all(Enough)
    try:
        for thread in threads:
            thread.join(GENEROUS)
    finally:
        native.cancel_all(None)
    assert [type(error) for error in raised] == [Enough, Enough]
    few, bounds = np.zeros(3, np.int32), np.array([0, 3])
    assert native.lcs_partners(few, bounds, few, bounds, 1, 1 << 20, jobs=2).tolist() == [0, 1, 2]
