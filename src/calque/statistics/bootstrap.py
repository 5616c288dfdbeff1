"""The bootstrap: weights of documents, and the metrics of a result for each draw of weights."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.arguments import check_type, checked_list
from calque.base.columns import Array, Codes, Ints, Table
from calque.base.errors import ConfigError
from calque.corpus.boxes import UnitId
from calque.engines import current_progress
from calque.evaluation.document_sums import Replicates, Support, WeightedMetrics
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.measures import settle
from calque.evaluation.metric_names import MetricNames, value_or_none
from calque.evaluation.result import Result

if TYPE_CHECKING:
    import numpy.typing as npt

FEWEST_REPLICATES = 100
BLOCK_BYTES = 1 << 23
"""How many bytes of weights are in memory at a time."""


POISSON_THRESHOLDS = (
    6786177901268885274, 13572355802537770549, 16965444753172213186, 18096474403383694065, 18379231815936564285,
    18435783298447138329, 18445208545532234003, 18446555009401533385, 18446723317385195808, 18446742018272269410,
    18446743888360976771, 18446744058369041076, 18446744072536379768, 18446744073626175052, 18446744073704017573,
    18446744073709207074, 18446744073709531418, 18446744073709550497, 18446744073709551557, 18446744073709551613,
)  # fmt: skip
"""The cumulative distribution of Poisson(1) times 2**64. A weight is the number of entries up to a random 64-bit number."""

MOST_SEED = 2**64 - 1
PHILOX_BLOCK = 4
"""How many numbers Philox makes for each value of its counter."""


def document_key(unit: UnitId) -> int:
    """Return the random key of a document, which is the same in every corpus, shard and process.

    >>> document_key(1) == document_key("1")
    False
    """
    text = f"s:{unit}" if isinstance(unit, str) else f"i:{unit}"
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def document_keys(units: Sequence[UnitId]) -> Ints:
    """Return the random keys of documents as signed integers."""
    return np.array([document_key(unit) for unit in units], dtype=np.uint64).view(np.int64)


def poisson_weights(keys: Ints, replicates: int, seed: int = 0, *, first: int = 0) -> Codes:
    """Return the weight of each document (a row) in each replicate (a column), beginning with replicate ``first``.

    Each document has its own random stream: NumPy's Philox with the seed and the document's key. Replicate ``r`` uses the
    ``r``-th number of the stream; the weight is the number of thresholds that this number reaches.

    >>> poisson_weights(document_keys(["d01", 1]), 6, seed=0).tolist()
    [[1, 1, 1, 2, 1, 2], [0, 2, 3, 2, 1, 1]]
    """
    if not 0 <= seed <= MOST_SEED:
        raise ValueError(f"the seed must be a whole number from 0 to {MOST_SEED}, not {seed}")
    thresholds = np.array(POISSON_THRESHOLDS, dtype=np.uint64)
    weights = np.empty((len(keys), replicates), dtype=np.int32)
    counter, skipped = divmod(first, PHILOX_BLOCK)
    stream = np.random.Philox(key=np.array([seed, 0], dtype=np.uint64))
    state: Any = stream.advance(counter).state
    # One stream that changes its key: building a stream for each document takes five times as long.
    for row, key in enumerate(keys.view(np.uint64)):
        state["state"]["key"][1] = key
        stream.state = state
        drawn = stream.random_raw(skipped + replicates)[skipped:]
        weights[row] = thresholds.searchsorted(drawn, side="right")
    return weights


@dataclass(frozen=True, slots=True)
class Resampling:
    """The number of bootstrap replicates, the seed, and the confidence level of intervals."""

    replicates: int = 2000
    seed: int = 0
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if not isinstance(self.replicates, int) or self.replicates < FEWEST_REPLICATES:
            raise ConfigError(f"replicates must be a whole number from {FEWEST_REPLICATES}, not {self.replicates}")
        if not isinstance(self.seed, int) or not 0 <= self.seed <= MOST_SEED:
            raise ConfigError(f"the seed of resampling must be a whole number from 0 to {MOST_SEED}, not {self.seed}")
        if not 0 < self.confidence < 1:
            raise ConfigError(f"confidence must be between 0 and 1, and neither, not {self.confidence}")

    def signature(self) -> dict[str, str]:
        """Return the entries of the signature."""
        return {
            "intervals": "bc-t",
            "confidence": repr(self.confidence),
            "replicates": str(self.replicates),
            "resample-seed": str(self.seed),
        }


def repeat_documents(ledger: Ledger, weights: Array) -> Ledger:
    """Return the ledger in which document i occurs ``weights[i]`` times. Copies follow each other and get new ids."""
    documents = np.repeat(np.arange(len(ledger.units)), weights)
    tables = {}
    for name in ledger.tables:
        offsets = ledger.offsets(name)
        count = (offsets[1:] - offsets[:-1])[documents]
        begin = np.cumsum(count) - count
        rows = np.repeat(offsets[:-1][documents] - begin, count) + np.arange(count.sum())
        unit = np.repeat(np.arange(len(documents), dtype=np.int32), count)
        tables[name] = Table({**ledger.tables[name].take(rows).columns, UNIT: unit})
    return Ledger(units=tuple(range(len(documents))), tables=tables, names=ledger.names, details=ledger.details)


class BruteForce(WeightedMetrics):
    """Metrics that a task does not declare: repeat each document as often as its weight says, and measure again."""

    def __init__(self, result: Result, names: Collection[str]) -> None:
        self._result = result
        self._names = tuple(names)

    def measures(self) -> Mapping[str, Support]:
        """Return the support of each metric by its name: all documents, because the task does not declare it."""
        everything = Support(np.ones(len(self._result.ledger.units), np.bool_))
        return dict.fromkeys(self._names, everything)

    def replicates(self, weights: Codes, names: Collection[str], jobs: int = 1) -> Replicates:  # noqa: ARG002  # one by one
        """Return the metrics of each replicate's own ledger; NaN where a class is absent."""
        found = {name: np.full(weights.shape[1], np.nan) for name in self._names if name in names}
        task = self._result.task
        for replicate in range(weights.shape[1]):
            ledger = repeat_documents(self._result.ledger, weights[:, replicate])
            measured = Result(task, ledger, *settle(task.measure(ledger)))
            for name, column in found.items():
                value = value_or_none(measured, name)
                column[replicate] = math.nan if value is None else value
        return found


class Bootstrap:
    """All metrics of a result for weighted documents: those that its task declares, and the others by brute force."""

    def __init__(self, result: Result) -> None:
        self._documents = result.ledger.units
        declared: list[WeightedMetrics] = list(result.task.resampled(result.ledger))
        known = {name for metrics in declared for name in metrics.measures()}
        rest = [name for name in result.task.names(result.numbers) if name not in known]
        self._metrics = [*declared, BruteForce(result, rest)] if rest else declared
        self.support: dict[str, Support] = {
            name: support for metrics in self._metrics for name, support in metrics.measures().items()
        }
        """The documents that count in each metric."""

    def replicates(self, weights: Codes, names: Iterable[str], jobs: int = 1) -> Replicates:
        """Return these metrics for weights with one row per document and one column per replicate."""
        wanted = set(names)
        found: Replicates = {}
        for metrics in self._metrics:
            own = wanted & metrics.measures().keys()
            if own:
                values = metrics.replicates(weights, own, jobs)
                found.update((name, values[name]) for name in own)
        return found

    def draw(self, resampling: Resampling, names: Iterable[str], jobs: int = 1) -> Replicates:
        """Return these metrics in every replicate of a resampling."""
        wanted = list(names)
        progress = current_progress()
        progress.expect(progress.done + resampling.replicates, "replicate")
        blocks = []
        for weights in self._blocks(resampling):
            blocks.append(self.replicates(weights, wanted, jobs))
            progress.advance(weights.shape[1])
        return {name: np.concatenate([block[name] for block in blocks]) for name in wanted}

    def _blocks(self, resampling: Resampling) -> Iterator[Codes]:
        """Yield the weights of some replicates at a time, in multiples of the 16 that kernels process side by side."""
        keys = document_keys(self._documents)
        size = max(1, BLOCK_BYTES // (64 * max(len(keys), 1))) * 16
        for first in range(0, resampling.replicates, size):
            count = min(size, resampling.replicates - first)
            yield poisson_weights(keys, count, resampling.seed, first=first)


def resample(result: Result, weights: npt.ArrayLike, measures: Iterable[str] | None = None) -> Replicates:
    """Compute the metrics of a result for other weights of its documents.

    Args:
        result: The result.
        weights: One row per replicate and one column per document, in the order of ``result.ledger.units``. A weight says
            how often the document occurs.
        measures: The names of the metrics to compute. By default all.

    Returns:
        One value per replicate for each metric, by its name; NaN where the metric has no value.

    Raises:
        ValueError: The weights have the wrong shape, or are not whole numbers from 0.
        ConfigError: A metric is unknown.

    >>> from calque import Corpus, Detection, Evaluator
    >>> truth = Corpus.from_arrays([[0, 0, 9, 9], [0, 0, 9, 9]], ["Table", "Table"], documents=["a", "b"])
    >>> predictions = Corpus.from_arrays([[0, 0, 9, 9]], ["Table"], documents=["a"], scores=[0.8])
    >>> result = Evaluator(Detection()).update(truth, predictions).compute()
    >>> resample(result, [[1, 1], [2, 1], [0, 0]])["recall@0.5"]
    array([0.5       , 0.66666667,        nan])
    """
    check_type("resample", "result", result, Result, "a Result")
    given = np.asarray(weights)
    units = len(result.ledger.units)
    if given.ndim != 2 or given.shape[1] != units:
        raise ValueError(f"weights must have a row for each replicate and a column for each of {units} documents")
    if given.dtype.kind not in "iu":
        raise ValueError(f"weights must be whole numbers, not {given.dtype}")
    if given.size and (given.min() < 0 or given.max() > np.iinfo(np.int32).max):
        raise ValueError("weights must be whole numbers from 0 to 2147483647")
    by_document = np.ascontiguousarray(given.T.astype(np.int32))
    names = result.task.names(result.numbers)
    if measures is None:
        wanted = list(names)
    else:
        listed = checked_list("resample", "measures", measures, str, "a list of texts")
        wanted = list(map(MetricNames(result).resolve, listed))
    found = Bootstrap(result).replicates(by_document, wanted)
    return {name: found[name] for name in wanted}
