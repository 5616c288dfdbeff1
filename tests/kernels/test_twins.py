"""One table for every kernel: on random calls both twins give the same bits, and calls that make no sense are refused."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.kernels.random_calls import CALLS, broken
from tests.kernels.test_signatures import NAMES

SEEDS = 12
"""Random calls of each kernel with every run of the tests; ``make sanitize`` makes as many as there is time for."""


def test_every_kernel_of_the_protocol_is_in_the_table() -> None:
    assert list(CALLS) == NAMES


def generator(name: str, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, *name.encode()])


def plain(value: Any) -> Any:
    """What came back, so that equal means equal to the bit."""
    if isinstance(value, np.ndarray):
        same = np.where(np.isnan(value), np.nan, value) if value.dtype.kind == "f" else value  # one NaN is as good as another
        return value.dtype.str, value.shape, same.tobytes()
    return tuple(map(plain, value)) if isinstance(value, tuple) else value


@pytest.mark.parametrize("name", CALLS)
def test_twins_agree(native: ModuleType, reference: ModuleType, name: str) -> None:
    for seed in range(SEEDS):
        arguments = CALLS[name](generator(name, seed))
        with np.errstate(all="ignore"):
            expected = getattr(reference, name)(*arguments)
        assert plain(getattr(native, name)(*arguments)) == plain(expected), seed


@pytest.mark.parametrize("name", CALLS)
def test_what_makes_no_sense_is_refused_or_computed(native: ModuleType, name: str) -> None:
    for seed in range(SEEDS):
        rng = generator(name, seed)
        arguments = broken(rng, CALLS[name](rng))
        try:
            getattr(native, name)(*arguments)
        except (TypeError, ValueError):
            continue
