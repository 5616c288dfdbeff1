"""How a file is to be read: which side it stands on, and what is forgiven."""

from __future__ import annotations

from dataclasses import dataclass

from calque.core.corpus import Side


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings that every reader knows."""

    side: Side | None = None
    lenient: bool = False
    allow_missing_scores: bool = False
    document_key: str | None = None
    """The key of an image entry that says which document it belongs to (COCO)."""
