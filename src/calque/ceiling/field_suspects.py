"""Suspects among fields as they are listed: by how many systems agree, then by kind, document and path."""

from __future__ import annotations

from typing import Any

from calque.ceiling.field_scoring import KINDS
from calque.ceiling.listing import LISTED
from calque.ceiling.units import Level
from calque.core.ledger import UNIT


def field_suspects(level: Level) -> dict[str, Any]:
    """How many there are of each kind, and the first of them."""
    table = level.ledger.table("suspects")
    columns = [table.array(name).tolist() for name in ("systems", "kind", UNIT)]
    every = sorted((-systems, kind, unit, path) for systems, kind, unit, path in zip(*columns, table["path"], strict=True))
    rows = every[: max(LISTED, level.task.suspects)]
    listed = [
        {"document": level.ledger.units[unit], "path": path, "kind": KINDS[kind], "systems": -systems}
        for systems, kind, unit, path in rows
    ]
    return {name: sum(kind == place for _, kind, _, _ in every) for place, name in enumerate(KINDS)} | {"listed": listed}
