"""Nothing counts on a global lock: kernels and readers that run in many threads at once give the bits that they give alone."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import calque
from calque.kernels import TWINS
from calque.sample import sample
from tests.kernels.box_cases import random_case
from tests.kernels.scan_samples import SAMPLES, write
from tests.kernels.scan_twin import comparable

THREADS = 8


def in_threads(work: Callable[[], Hashable]) -> list[Hashable]:
    """What the work returned in each of the threads, which all begin at the same moment."""
    begin = threading.Barrier(THREADS)

    def one(_: int) -> Hashable:
        begin.wait()
        return work()

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, range(THREADS)))


def test_kernels(kernels: ModuleType) -> None:
    case = random_case(5, pages=40, classes=3, most=12)

    def work() -> Hashable:
        arrays = (*case.greedy(kernels, 0.3, 2), *case.coco(kernels, 2))
        return tuple(array.tobytes() for array in arrays)

    assert set(in_threads(work)) == {work()}


def test_one_scan_that_many_wait_for(native: ModuleType) -> None:
    for tree in SAMPLES.values():
        data = write(tree)
        scan = native.Scan(data * 1)
        columns = in_threads(lambda scan=scan: id(scan.columns()))
        assert len(set(columns)) == 1
        assert comparable(scan.columns(), data) == comparable(native.Scan(data).columns(), data)


def test_readers(tmp_path: Path) -> None:
    for name, tree in sample().items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(tree))
        alone = calque.read(path)
        for corpus in in_threads(lambda path=path: calque.read(path)):
            assert corpus.units() == alone.units()
            assert np.array_equal(corpus.boxes, alone.boxes)


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a global lock")
def test_the_compiled_kernels_do_not_bring_the_lock_back(native: ModuleType) -> None:
    code = f"import sys, warnings; warnings.simplefilter('error'); import {TWINS['native']}; print(sys._is_gil_enabled())"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip() == "False"
