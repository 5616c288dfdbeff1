"""Items that a baseline had right and a run has not: none of them, none of a class, of a field, or of a document."""

from __future__ import annotations

import re
from collections.abc import Sequence

from calque.core.comparison.changes import Changed
from calque.core.comparison.compare import Comparison
from calque.core.comparison.naming import nearest
from calque.core.errors import ConfigError
from calque.core.presentation.wording import counted
from calque.core.verdict import Condition

NO_BROKEN = "--no-broken"
ANYWHERE = ""


def unbroken(comparison: Comparison, run: str, where: Sequence[str]) -> list[Condition]:
    """Whether nothing is broken in each of these places; an empty name is everywhere."""
    broken = _broken(comparison, run)
    places = Places.of(comparison)
    for name in where:
        places.check(name)
    return [_judged(name, [one for one in broken if places.holds(name, one)], comparison.base) for name in where]


def _broken(comparison: Comparison, run: str) -> list[Changed]:
    base = comparison.results[comparison.base]
    if run not in comparison.changes:
        raise ConfigError(f"{NO_BROKEN}: {base.task.name} does not tell what became of single items")
    for name in (comparison.base, run):
        ledger = comparison.results[name].ledger
        if ledger.units and not ledger.details:
            raise ConfigError(f"{NO_BROKEN}: {name} has numbers only, and nothing of single items; keep outcomes")
    return [one for one in comparison.changes[run].changed if one.change == "broken"]


class Places:
    """The classes, fields and documents of a comparison.

    >>> places = Places({"items[].price", "a.b", "a"}, {"a.pdf"})
    >>> item = Changed("run", "a.pdf", None, "items[2].price", "items[].price", "broken", "tp", "fd")
    >>> [places.holds(name, item) for name in ("", "a.pdf", "items[].price", "items.price", "items", "a")]
    [True, True, True, True, True, False]
    """

    def __init__(self, labels: set[str], documents: set[str]) -> None:
        self.known = labels | documents
        self.above = set[str]().union(*map(_above, labels)) - self.known
        """Fields that only hold others."""

    @classmethod
    def of(cls, comparison: Comparison) -> Places:
        """Where anything could be broken: the documents, and the classes or fields of their truths."""
        base = comparison.results[comparison.base]
        standing = base.task.standing(base.ledger)
        labels = set() if standing is None else set(standing.truths.label)
        return cls(labels, {str(unit) for unit in comparison.documents})

    def holds(self, name: str, one: Changed) -> bool:
        """Whether an item is in the place of that name."""
        return name == ANYWHERE or name in (str(one.document), one.label) or (name in self.above and name in _above(one.label))

    def check(self, name: str) -> None:
        """Refuse a name that is no class, field or document, and name the three nearest."""
        if name != ANYWHERE and name not in self.known and name not in self.above:
            raise ConfigError(
                f"{NO_BROKEN} {name}: is no class, field or document here; {nearest(name, self.known | self.above)}"
            )


def _above(path: str) -> set[str]:
    """What a path of fields stands in: itself without the marks of lists, and the fields that hold it."""
    steps = re.sub(r"\[\d*\]", "", path).split(".")
    return {".".join(steps[:count]) for count in range(1, len(steps) + 1)}


def _judged(where: str, broken: list[Changed], base: str) -> Condition:
    place = f" in {where}" if where else ""
    name = f"nothing that {base} had right is broken{place}"
    if not broken:
        return Condition(name, name)
    first = f"{counted(len(broken), 'item')} that {base} had right {'is' if len(broken) == 1 else 'are'} broken{place}"
    return Condition(name, failures=(first, *map(item_line, broken)))


def item_line(one: Changed) -> str:
    """A broken item in words."""
    parts = [str(one.document), *([] if one.page is None else [f"page {one.page}"]), one.label]
    parts += [str(one.id)] if str(one.id) != one.label else []
    return f"broken: {', '.join(parts)}: {one.before} → {one.after}"
