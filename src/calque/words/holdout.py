"""Which documents are held out for the test: listed, a hashed share, or one fold of several; always whole documents."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from calque.base.errors import ConfigError
from calque.corpus.boxes import UnitId

if TYPE_CHECKING:
    from calque.base.columns import Bytes

_FOLD = re.compile(r"([0-9]{1,18})/([0-9]{1,18})")


def parse_fold(text: str) -> tuple[int, int]:
    """``i/K``, with folds counted from 0.

    >>> parse_fold("0/5")
    (0, 5)
    """
    match = _FOLD.fullmatch(text.strip())
    if match is None or not 0 <= int(match[1]) < int(match[2]):
        raise ConfigError(f"fold {text!r} is not i/K with i from 0 to K − 1, such as 0/5")
    return int(match[1]), int(match[2])


def place(unit: UnitId, seed: int) -> int:
    """A number from 0 to 2**64 − 1 that depends on the document's id and the seed alone.

    Documents that are added or taken away move no other document in or out of the test.
    """
    return int.from_bytes(hashlib.blake2b(f"{seed}:{unit}".encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def second_halves(units: Sequence[UnitId], seed: int, splits: int) -> Bytes:
    """For each seed from the first on, and each document, its half: 0 or 1, as its place is even or odd.

    >>> second_halves(["a.pdf", 7], 3, 2).tolist() == [[place(unit, seed) % 2 for unit in ("a.pdf", 7)] for seed in (3, 4)]
    True
    """
    import numpy as np

    halves = [[place(unit, seed + split) % 2 for unit in units] for split in range(splits)]
    return np.array(halves, np.uint8).reshape(splits, len(units))


def held_out(
    units: Iterable[UnitId], *, listed: tuple[str, ...] | None, fraction: float | None, fold: str, seed: int
) -> set[UnitId]:
    """The documents of the test; without any rule, all of them.

    >>> sorted(held_out(["a", "b", "c"], listed=("a", "x"), fraction=None, fold="", seed=0))
    ['a']
    """
    known = list(units)
    if listed is not None:
        wanted = set(listed)
        return {unit for unit in known if str(unit) in wanted}
    if fraction is not None:
        limit = int(fraction * 2**64)
        return {unit for unit in known if place(unit, seed) < limit}
    if fold:
        number, folds = parse_fold(fold)
        return {unit for unit in known if place(unit, seed) % folds == number}
    return set(known)


def digest(listed: tuple[str, ...]) -> str:
    """A short name for a list of documents, the same for any order."""
    return hashlib.blake2b("\n".join(sorted(listed)).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
