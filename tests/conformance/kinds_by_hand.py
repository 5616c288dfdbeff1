"""The eight steps of the error kinds once more, page by page and box by box, for boxes with whole-number corners."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

T, BACKGROUND, PART, MOST = 0.5, 0.1, 0.5, 0.7


@dataclass(eq=False)
class Thing:
    """A box; truths have no score."""

    box: tuple[int, int, int, int]
    label: str
    score: float = 0.0
    kind: str = ""
    subtype: str = ""
    partner: Thing | None = field(default=None, repr=False)

    @property
    def squares(self) -> frozenset[tuple[int, int]]:
        x1, y1, x2, y2 = self.box
        return frozenset(product(range(x1, x2), range(y1, y2)))


def overlap(one: Thing, other: Thing) -> int:
    return len(one.squares & other.squares)


def iou(p: Thing, g: Thing) -> float:
    shared = overlap(p, g)
    return shared / (len(p.squares) + len(g.squares) - shared) if shared else 0.0


def coverage(p: Thing, g: Thing) -> float:
    return overlap(p, g) / len(g.squares)


def purity(p: Thing, g: Thing) -> float:
    return overlap(p, g) / len(p.squares)


def together(some: list[Thing], g: Thing) -> float:
    return len(frozenset().union(*(p.squares for p in some)) & g.squares) / len(g.squares)


def name_kinds(truths: list[Thing], founds: list[Thing]) -> None:
    """Give every thing of one page its kind and subtype."""
    _pair(truths, founds, "TP", same=True)
    _pair(truths, founds, "CLS", same=False)
    _merge(truths, founds)
    _split(truths, founds)
    _repeat(truths, founds)
    _misplace(truths, founds)
    for p in founds:
        if not p.kind:
            p.kind, p.subtype = "BKG", "" if truths else "empty_page"
    for g in truths:
        if not g.kind:
            g.kind = "MISS" if together(founds, g) < BACKGROUND else "PARTIAL"


def _pair(truths: list[Thing], founds: list[Thing], kind: str, *, same: bool) -> None:
    while True:
        free = [
            (iou(p, g), p.score, -founds.index(p), -truths.index(g), p, g)
            for p in founds
            for g in truths
            if not p.kind and not g.kind and (p.label == g.label) is same and iou(p, g) >= T
        ]
        if not free:
            return
        *_, p, g = max(free, key=lambda entry: entry[:4])
        p.kind = g.kind = kind
        p.partner, g.partner = g, p


def _merge(truths: list[Thing], founds: list[Thing]) -> None:
    held = {id(p): [g for g in truths if coverage(p, g) >= PART] for p in founds}
    merging = [p for p in founds if not p.kind and len(held[id(p)]) >= 2]
    swallowing = [p for p in founds if p.kind and any(not g.kind for g in held[id(p)])]
    merged = [g for g in truths if not g.kind and any(g in held[id(p)] for p in [*merging, *swallowing])]
    for p in merging:
        p.kind = "MERGE"
    for p in swallowing:
        p.subtype = "swallows"
    for g in merged:
        g.kind = "MERGED"


def _split(truths: list[Thing], founds: list[Thing]) -> None:
    pieces = {
        id(g): [p for p in founds if not p.kind and purity(p, g) >= PART and coverage(p, g) < MOST]
        for g in truths
        if not g.kind
    }
    split = [g for g in truths if len(pieces.get(id(g), [])) >= 2 and together(pieces[id(g)], g) >= PART]
    for g in split:
        for p in pieces[id(g)]:
            p.kind = "SPLIT"
            if p.partner is None or purity(p, g) > purity(p, p.partner):
                p.partner = g
    for g in split:
        g.kind = "SPLIT"


def _repeat(truths: list[Thing], founds: list[Thing]) -> None:
    known = [g for g in truths if g.kind in ("TP", "CLS")]
    for p in founds:
        touched = [g for g in known if overlap(p, g)]
        if p.kind or not touched:
            continue
        g = max(touched, key=lambda g: (iou(p, g), p.label == g.label, -truths.index(g)))
        if iou(p, g) >= T:
            p.kind = "DUP" if p.label == g.label else "DUP_CLS"
        elif purity(p, g) >= MOST:
            p.kind = "FRAGMENT"
        elif coverage(p, g) >= MOST:
            p.kind = "ENVELOPE"
        p.partner = g if p.kind else None


def _misplace(truths: list[Thing], founds: list[Thing]) -> None:
    poor = []
    for p in founds:
        if p.kind or not truths:
            continue
        g = max(truths, key=lambda g: (iou(p, g), p.label == g.label, -truths.index(g)))
        if BACKGROUND <= iou(p, g) < T:
            poor.append((p, g))
    for g in truths:
        mine = [p for p, other in poor if other is g]
        if mine and not g.kind:
            nearest = max(mine, key=lambda p: (iou(p, g), p.label == g.label, -founds.index(p)))
            g.kind = "LOC" if nearest.label == g.label else "BOTH"
            g.partner = nearest
    for p, g in poor:
        p.kind, p.partner = ("LOC" if p.label == g.label else "BOTH"), g
        if p.kind == "LOC":
            pure, whole = purity(p, g) >= 0.9, coverage(p, g) >= 0.9
            p.subtype = "TIGHT" if pure and not whole else "LOOSE" if whole and not pure else "SHIFT"
