"""How a file is to be read: which side it stands on, what its boxes mean, and what is forgiven."""

from __future__ import annotations

from calque.core.corpus import Side
from calque.core.frozen import Frozen
from calque.readers.placement import check


class Rules(Frozen):
    """The settings that every reader knows."""

    side: Side | None = None
    lenient: bool = False
    strict: bool = False
    """Whether a page that cannot be read refuses its whole file (NDJSON, Parquet); else it is left out and counted."""
    allow_missing_scores: bool = False
    document_key: str | None = None
    """The key of an image entry that says which document it belongs to (COCO)."""
    metadata: bool = False
    """Whether what the file says of its documents is wanted; COCO's image entries are then read whole."""
    format: str | None = None
    """The name of the format, when sniffing must not guess."""
    boxes: str = "xyxy"
    """What four numbers of a box mean, for formats that leave it open: xyxy, xywh, cxcywh or polygon."""
    units: str = "pixels"
    """What coordinates are measured in, for formats that leave it open: pixels, normalized, percent or thousand."""
    origin: str = "top_left"
    page_size: tuple[float, float] | None = None
    """Width and height of every page, where the file does not say."""

    def __post_init__(self) -> None:
        check(self.boxes, self.units, self.origin, self.page_size)
