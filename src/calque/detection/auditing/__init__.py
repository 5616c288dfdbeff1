"""Audits of ground truth: what is suspicious in it, and how far two annotators agree.

From where on something is suspicious stands here, without NumPy: settings are checked while commands start.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from calque.base.errors import ConfigError
from calque.evaluation.task import setting


@dataclass(frozen=True, kw_only=True)
class AuditRules:
    """From where on something is suspicious; every threshold is inclusive, but tiny is less than."""

    near: float = setting(0.9, kind="number", key="near", help="IoU threshold of near duplicates.")
    nested: float = setting(0.95, kind="number", key="nested", help="Fraction of a nested box inside another.")
    tiny: float = setting(0.01, kind="number", key="tiny", help="Fraction of the class's median area that is tiny.")
    score: float = setting(0.9, kind="number", key="score", help="Score threshold of a confident prediction.")
    iou: float = setting(0.5, kind="number", key="iou", help="IoU threshold of a match.")

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not 0 <= value <= 1 or (name in ("near", "iou") and value == 0):
                raise ConfigError(f"{name} must be a share from 0 to 1, not {value}")
