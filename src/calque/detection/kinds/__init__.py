"""Error kinds: why a prediction or a truth is wrong, and what repairing a kind would be worth.

Where one kind ends and the next begins stands here, without NumPy: settings are checked while commands start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calque.base.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Limits:
    """Where one kind ends and the next begins; every limit is inclusive."""

    match: float = 0.5
    """IoU from which boxes are the same object (T)."""
    background: float = 0.1
    """IoU, or covered share, below which boxes have nothing to do with each other (tb)."""
    part: float = 0.5
    """Coverage or purity from which one box belongs to another (ρ)."""
    most: float = 0.7
    """Coverage or purity from which one box is nearly all of another (κ)."""

    @classmethod
    def of(cls, values: Sequence[float]) -> Limits:
        """The four limits, in the order of the fields; `ConfigError` when they make no sense."""
        if len(values) != 4 or not all(0 < value <= 1 for value in values):
            raise ConfigError(f"error_limits must be four numbers above 0 and at most 1, not {list(values)}")
        limits = cls(*values)
        if limits.background > limits.match:
            raise ConfigError(f"error_limits {list(values)}: the background must not begin above the match")
        return limits
