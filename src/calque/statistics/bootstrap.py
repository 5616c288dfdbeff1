"""The numbers of weighted documents, for every measure that a result knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.arguments import names_arguments
from calque.base.columns import Codes
from calque.base.errors import ConfigError
from calque.engines import meter
from calque.evaluation.document_sums import MOST_SEED, Counted, Repeated, Replicates, Resampled, document_keys, poisson_weights
from calque.evaluation.ledger import Ledger
from calque.evaluation.measures import settle
from calque.evaluation.result import Result
from calque.statistics.comparability import measure_named

if TYPE_CHECKING:
    import numpy.typing as npt

FEWEST_REPLICATES = 100
BLOCK_BYTES = 1 << 23
"""How many bytes of weights are there at a time."""


@dataclass(frozen=True, slots=True)
class Resampling:
    """How often documents are drawn again, from which seed, and how sure an interval is to be."""

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
        """What the signature of a result says of it."""
        return {
            "intervals": "bc-t",
            "confidence": repr(self.confidence),
            "replicates": str(self.replicates),
            "resample-seed": str(self.seed),
        }


class Parts:
    """The ways to all numbers of a result: those that its task declares, and for the rest the one that always works."""

    def __init__(self, result: Result) -> None:
        self._units = result.ledger.units
        declared: list[Resampled] = list(result.task.resampled(result.ledger))
        known = {name for part in declared for name in part.measures()}
        rest = [name for name in result.task.names(result.numbers) if name not in known]
        self._parts = [*declared, Repeated(result.ledger, rest, _values_of(result, rest))] if rest else declared
        self.counted: dict[str, Counted] = {name: counted for part in self._parts for name, counted in part.measures().items()}
        """For every measure the documents that it is about."""

    def replicates(self, weights: Codes, names: Iterable[str], jobs: int = 1) -> Replicates:
        """The numbers of these names for weights by document and replicate."""
        wanted = set(names)
        found: Replicates = {}
        for part in self._parts:
            asked = wanted & part.measures().keys()
            if asked:
                numbers = part.replicates(weights, asked, jobs)
                found.update((name, numbers[name]) for name in asked)
        return found

    def drawn(self, resampling: Resampling, names: Iterable[str], jobs: int = 1) -> Replicates:
        """The numbers of these names in every replicate of a resampling."""
        wanted = list(names)
        progress = meter()
        progress.expect(progress.done + resampling.replicates, "replicate")
        blocks = []
        for weights in self._blocks(resampling):
            blocks.append(self.replicates(weights, wanted, jobs))
            progress.advance(weights.shape[1])
        return {name: np.concatenate([block[name] for block in blocks]) for name in wanted}

    def _blocks(self, resampling: Resampling) -> Iterator[Codes]:
        """The weights, some replicates at a time: a multiple of those that kernels work on side by side."""
        keys = document_keys(self._units)
        size = max(1, BLOCK_BYTES // (64 * max(len(keys), 1))) * 16
        for first in range(0, resampling.replicates, size):
            count = min(size, resampling.replicates - first)
            yield poisson_weights(keys, count, resampling.seed, first=first)


def _values_of(result: Result, names: list[str]) -> Any:
    """What makes the numbers of these names of a ledger."""

    def values(ledger: Ledger) -> Mapping[str, float | None]:
        numbers, undefined = settle(result.task.measure(ledger))
        measured = Result(result.task, ledger, numbers, undefined)
        return {name: _perhaps(measured, name) for name in names}

    return values


def _perhaps(result: Result, name: str) -> float | None:
    """A number, or nothing where a class is absent."""
    try:
        return result[name]
    except KeyError:
        return None


@names_arguments
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
    given = np.asarray(weights)
    units = len(result.ledger.units)
    if given.ndim != 2 or given.shape[1] != units:
        raise ValueError(f"weights must have a row for each replicate and a column for each of {units} documents")
    if given.dtype.kind not in "iu":
        raise ValueError(f"weights must be whole numbers, not {given.dtype}")
    if given.size and (given.min() < 0 or given.max() > np.iinfo(np.int32).max):
        raise ValueError("weights must be whole numbers from 0 to 2147483647")
    parts = Parts(result)
    by_document = np.ascontiguousarray(given.T.astype(np.int32))
    names = result.task.names(result.numbers)
    wanted = names if measures is None else [measure_named([result], name) for name in measures]
    found = parts.replicates(by_document, wanted)
    return {name: found[name] for name in wanted}
