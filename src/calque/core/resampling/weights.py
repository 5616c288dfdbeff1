"""How often each document occurs in each replicate: Poisson weights that depend on nothing but the document and the seed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from calque.core.columns import Codes, Ints
from calque.core.corpus import UnitId
from calque.kernels import kernels

POISSON_THRESHOLDS = (
    6786177901268885274, 13572355802537770549, 16965444753172213186, 18096474403383694065, 18379231815936564285,
    18435783298447138329, 18445208545532234003, 18446555009401533385, 18446723317385195808, 18446742018272269410,
    18446743888360976771, 18446744058369041076, 18446744072536379768, 18446744073626175052, 18446744073704017573,
    18446744073709207074, 18446744073709531418, 18446744073709550497, 18446744073709551557, 18446744073709551613,
)  # fmt: skip
"""Where a random number of 64 bits means one occurrence more: the distribution of Poisson(1), times 2**64."""

MOST_SEED = 2**64 - 1


def document_key(unit: UnitId) -> int:
    """The number that stands for a document, the same in every corpus, shard and process.

    >>> document_key(1) == document_key("1")
    False
    """
    text = f"s:{unit}" if isinstance(unit, str) else f"i:{unit}"
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def document_keys(units: Sequence[UnitId]) -> Ints:
    """The numbers that stand for some documents, written as signed ones."""
    return np.array([document_key(unit) for unit in units], dtype=np.uint64).view(np.int64)


def poisson_weights(keys: Ints, replicates: int, seed: int = 0, *, first: int = 0, jobs: int = 1) -> Codes:
    """The weight of each document (a row) in each replicate (a column), from the ``first`` on.

    >>> poisson_weights(document_keys(["d01", 1]), 6, seed=0).tolist()
    [[1, 1, 1, 2, 1, 2], [0, 2, 3, 2, 1, 1]]
    """
    if not 0 <= seed <= MOST_SEED:
        raise ValueError(f"the seed must be a whole number from 0 to {MOST_SEED}, not {seed}")
    thresholds = np.array(POISSON_THRESHOLDS, dtype=np.uint64).view(np.int64)
    return kernels().poisson_weights(keys, thresholds, seed, first, replicates, jobs)
