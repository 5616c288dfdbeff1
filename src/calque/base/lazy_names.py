"""Public names of a package that are imported on first use."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def lazily(
    module: str, homes: Mapping[str, str], *, own: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The ``__getattr__``, ``__dir__`` and ``__all__`` of a module: ``homes`` says which module defines each of its names.

    >>> load, listed, names = lazily("calque", {"Issue": "calque.base.errors"}, own=["__version__"])
    >>> load("Issue").__name__, names
    ('Issue', ['__version__', 'Issue'])
    """
    names = [*own, *sorted(homes)]

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}{_suggestion(name, names)}")
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[module], name, value)
        return value

    return load, lambda: names, names


def _suggestion(name: str, known: list[str]) -> str:
    if name.startswith("_"):
        return ""  # Python and its tools ask for such names often
    import difflib  # only to explain

    close = difflib.get_close_matches(name, known, n=1)
    return f". Did you mean {close[0]!r}?" if close else ""
