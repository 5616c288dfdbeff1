"""Numbers in words: counts with their nouns, shares that are never rounded to all or nothing, and names cut short."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

LISTED = 5
"""How many names a note lists before it only counts."""


def counted(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun in the form that goes with it.

    >>> counted(1, "document"), counted(1200, "document"), counted(2, "class", "classes")
    ('1 document', '1,200 documents', '2 classes')
    """
    return f"{count:,} {noun if count == 1 else plural or plural_of(noun)}"


def plural_of(noun: str) -> str:
    """Return the plural of a noun; one that ends in a single s is taken for a plural already.

    >>> [plural_of(noun) for noun in ("table", "box", "glossary", "key", "address", "figures")]
    ['tables', 'boxes', 'glossaries', 'keys', 'addresses', 'figures']
    """
    lower = noun.lower()
    if lower.endswith(("ss", "x", "z", "ch", "sh")):
        return f"{noun}es"
    if lower.endswith("s"):
        return noun
    return f"{noun[:-1]}ies" if lower.endswith("y") and lower[-2:-1] not in "aeiou" else f"{noun}s"


def percent(share: float) -> str:
    """A share for a sentence: whole percents, and neither 0 nor 100 unless it is exactly that.

    >>> percent(0.9412), percent(1.0), percent(0.9996), percent(0.0), percent(0.0004)
    ('94 %', '100 %', 'more than 99 %', '0 %', 'less than 1 %')
    """
    rounded = round(share * 100)
    if rounded >= 100 and share < 1:
        return "more than 99 %"
    if rounded <= 0 and share > 0:
        return "less than 1 %"
    return f"{rounded:,} %"


def some(names: Iterable[object], listed: int = LISTED) -> str:
    """The first names, and how many more there are.

    >>> some("abcdefg"), some(["a.pdf"])
    ('a, b, c, d, e and 2 more', 'a.pdf')
    """
    every = [str(name) for name in names]
    shown = ", ".join(every[:listed])
    return shown if len(every) <= listed else f"{shown} and {len(every) - listed:,} more"


def joined(parts: Sequence[str]) -> str:
    """Parts of a sentence as a list.

    >>> joined(["2 wrong", "1 missing", "3 made up"])
    '2 wrong, 1 missing and 3 made up'
    """
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def brief(name: str, most: int = 40) -> str:
    """A name that leaves room for what it names: of a long one both ends, which tell it from others like it.

    >>> brief("model-a"), brief("a-model-with-a-rather-long-name-v7", most=16)
    ('model-a', 'a-model-…name-v7')
    """
    return name if len(name) <= most else f"{name[: most // 2]}…{name[1 - most // 2 :]}"


def short_names(paths: Sequence[str]) -> dict[str, str]:
    """Each path by its name alone, or by as much of its end as tells them all apart.

    >>> short_names(["runs/a/page.txt", "runs/b/page.txt"])
    {'runs/a/page.txt': 'a/page.txt', 'runs/b/page.txt': 'b/page.txt'}
    """
    parts = {path: [step for step in path.replace(os.sep, "/").split("/") if step] or [path] for path in paths}
    for length in range(1, max(map(len, parts.values()), default=1) + 1):
        short = {path: "/".join(steps[-length:]) for path, steps in parts.items()}
        if len(set(short.values())) == len(short):
            return short
    return {path: path for path in paths}


def laid_over(what: str, numbers: Mapping[str, Any]) -> str:
    """What was evaluated, and whose predictions against whose truth, as far as the numbers tell.

    >>> laid_over("Words", {"sources": {"truth": [{"model": "", "file": "a/t"}], "predictions": [{"model": "m", "file": "p"}]}})
    'Words: m against t'
    """
    truth, found = (_behind(numbers.get("sources", {}).get(side, ())) for side in ("truth", "predictions"))
    return f"{what}: {found} against {truth}" if truth and found else what


def _behind(entries: Sequence[Mapping[str, str]]) -> str:
    """The names of the models behind one side, or of their files."""
    short = short_names([entry["file"] for entry in entries])
    return some(sorted({entry["model"] or short[entry["file"]] for entry in entries} - {""}))
