"""What can be looked at in a ledger of words beside its numbers: one document, and what clean-up took out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from calque.core.errors import ConfigError, did_you_mean
from calque.core.ledger import Ledger
from calque.words.presentation import side_by_side


def shown(ledger: Ledger, document: str, name: str) -> Iterator[str]:
    """Truth and prediction of one document side by side, below a line that says which they are."""
    ref, pred, pairs = _texts(ledger, document)
    yield f"{document}: truth (left), {name} (right); {len(pairs):,} of {len(ref):,} words match"
    yield from side_by_side(ref, pred, pairs)


def _texts(ledger: Ledger, document: str) -> tuple[list[str], list[str], list[tuple[int, int]]]:
    """One document's words on both sides, and which go together."""
    names = {str(unit): row for row, unit in enumerate(ledger.units)}
    if document not in names:
        raise ConfigError(f"--show: there is no document {document!r}. {did_you_mean(document, names)}".strip())
    row, vocabulary = names[document], ledger.names["word"]
    spans = {side: slice(*ledger.offsets(side)[row : row + 2].tolist()) for side in ("truth", "found")}
    words = {
        side: [vocabulary[code] for code in ledger.table(side).array("word")[span].tolist()] for side, span in spans.items()
    }
    partners = ledger.table("truth").array("match")[spans["truth"]].tolist()
    return words["truth"], words["found"], [(i, j) for i, j in enumerate(partners) if j >= 0]


def removed(ledger: Ledger) -> Iterator[dict[str, Any]]:
    """Each thing that clean-up took out of the truth."""
    steps = ledger.names["step"]
    for row in ledger.table("removed").rows():
        yield {"document": ledger.units[row["unit"]], "step": steps[row["step"]], "amount": row["words"], "text": row["text"]}
