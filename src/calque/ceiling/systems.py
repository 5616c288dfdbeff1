"""Several systems as one side of an evaluation: a corpus of corpora, each under its name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from calque.base.errors import ConfigError, Issue
from calque.base.short_repr import short_repr
from calque.corpus.boxes import Corpus, UnitId
from calque.kernels.scanning import Scanned

MOST = 16
"""How many systems there may be: a mask has a bit for each."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Systems(Corpus):
    """What each system found, in the order in which they were given."""

    names: tuple[str, ...]
    parts: tuple[Any, ...]
    """Corpora of one kind."""
    issues: tuple[Issue, ...] = ()

    __repr__ = short_repr

    def __len__(self) -> int:
        """The number of objects or records of all systems."""
        return sum(map(len, self.parts))

    def units(self) -> tuple[UnitId, ...]:
        """The documents of any system."""
        return tuple(dict.fromkeys(unit for part in self.parts for unit in part.units()))

    def select(self, units: Iterable[UnitId]) -> Systems:
        """Only these documents, whole."""
        wanted = set(units)
        return replace(self, parts=tuple(part.select(wanted) for part in self.parts))

    def origins(self) -> tuple[tuple[str, str], ...]:
        """The file and the model of each system."""
        return tuple(origin for part in self.parts for origin in part.origins())


def system_names(sources: Sequence[str]) -> tuple[str, ...]:
    """Each file by its name without extension; by its path where two would be called the same.

    >>> system_names(["runs/finder.json", "cropper.json"]), system_names(["old/a.json", "new/a.json", "b.json"])
    (('finder', 'cropper'), ('old/a.json', 'new/a.json', 'b'))
    """
    stems = [os.path.splitext(os.path.basename(os.path.normpath(path)))[0] or path for path in sources]
    return tuple(path if stems.count(stem) > 1 else stem for path, stem in zip(sources, stems, strict=True))


def by_name(found: Any, names: Sequence[str]) -> dict[str, Any]:
    """The sources of the systems under their names: those of a mapping, those that were given, or those of their files."""
    if isinstance(found, Systems):
        return dict(zip(found.names, found.parts, strict=True))
    if isinstance(found, Mapping):
        if not all(isinstance(name, str) for name in found):
            raise TypeError("found must be a mapping of names to systems, or a sequence of systems")
        given, sources = tuple(found), tuple(found.values())
    else:
        single = isinstance(found, str | os.PathLike | Scanned | Corpus)
        sources = (found,) if single else tuple(found)
        paths = [os.fspath(getattr(source, "path", source)) if _is_path(source) else "" for source in sources]
        given = system_names(paths) if all(paths) else tuple(f"system {place}" for place in range(1, len(sources) + 1))
    named = tuple(names) or given
    check_names(named)
    if len(named) != len(sources):
        raise ConfigError(f"names: there are {len(sources)} systems and {len(named)} names")
    return dict(zip(named, sources, strict=True))


def _is_path(source: Any) -> bool:
    return isinstance(source, str | os.PathLike | Scanned)


def check_names(names: Sequence[str]) -> None:
    """Refuse no system at all, too many, and two of one name."""
    if not 1 <= len(names) <= MOST:
        raise ConfigError(f"a ceiling is of 1 to {MOST} systems, not {len(names)}")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"two systems are named {twice!r}; give each a name of its own")
