"""What a comparator is: a similarity of two values in [0, 1], for one pair or for whole lists at once."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from calque.core.errors import ConfigError

if TYPE_CHECKING:
    from calque.core.columns import Floats


@dataclass(frozen=True)
class BaseComparator(ABC):
    """How alike two values are. Subclasses say so in `_compare`; a registered name makes them usable in schemas.

    Both values absent are alike (1.0), one absent is not (0.0); `_compare` never sees ``None``. What costs time and
    depends on one value only belongs in `prepare`: lists compare every value many times and prepare it once.
    """

    name: ClassVar[str] = ""

    threshold: float | None = None
    """From where on two values count as the same, for fields that do not say."""

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise ConfigError(f"{type(self).__name__}: threshold must be from 0 to 1, not {self.threshold!r}")

    def prepare(self, value: Any) -> Any:
        """The form of a value that `_compare` and `matrix` take."""
        return value

    def prepare_all(self, values: Sequence[Any]) -> Sequence[Any]:
        """Many values at once, for `matrix`; override it where that is faster than one by one."""
        return [self.prepare(value) for value in values]

    @abstractmethod
    def _compare(self, truth: Any, found: Any) -> float:
        """The similarity of two prepared values, neither of them ``None``."""

    def compare(self, truth: Any, found: Any) -> float:
        """The similarity of two values."""
        if truth is None or found is None:
            return 1.0 if truth is found else 0.0
        return self._compare(self.prepare(truth), self.prepare(found))

    def __call__(self, truth: Any, found: Any) -> float:
        """The same as `compare`."""
        return self.compare(truth, found)

    def matrix(self, truths: Sequence[Any], founds: Sequence[Any]) -> Floats:
        """The similarity of every prepared truth with every prepared found value."""
        import numpy as np

        rows = [[self._compare(truth, found) for found in founds] for truth in truths]
        return np.array(rows, dtype=np.float64).reshape(len(truths), len(founds))

    def binary_compare(self, truth: Any, found: Any) -> tuple[int, int]:
        """``(1, 0)`` for two values that count as the same, else ``(0, 1)``."""
        same = self.compare(truth, found) >= (0.5 if self.threshold is None else self.threshold)
        return (1, 0) if same else (0, 1)

    def params(self) -> dict[str, Any]:
        """The options that differ from their defaults, by name; the threshold is not one of them."""
        return {
            field.name: value
            for field in dataclasses.fields(self)
            if field.name != "threshold" and (value := getattr(self, field.name)) != field.default
        }


@dataclass(frozen=True)
class FunctionComparator(BaseComparator):
    """A plain function of two values as a comparator."""

    name: ClassVar[str] = "function"

    function: Callable[[Any, Any], float] = lambda truth, found: float(truth == found)
    label: str = "function"
    """The name under which the function is registered."""

    def _compare(self, truth: Any, found: Any) -> float:
        score = float(self.function(truth, found))
        if not 0 <= score <= 1:
            raise ConfigError(f"comparator {self.label!r}: a similarity is from 0 to 1, not {score!r}")
        return score

    def params(self) -> dict[str, Any]:
        """None: the registered name stands for the function."""
        return {}
