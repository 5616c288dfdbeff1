"""Public names of a package that are imported on first use."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any


def lazily(
    module: str, homes: Mapping[str, str], *, own: Iterable[str] = (), packages: Collection[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return the ``__getattr__``, ``__dir__`` and ``__all__`` of a module.

    ``homes`` gives the module that defines each name. ``packages`` are submodules that users reach as attributes.

    >>> load, listed, names = lazily("calque", {"Issue": "calque.base.errors"}, own=["__version__"])
    >>> load("Issue").__name__, names
    ('Issue', ['__version__', 'Issue'])
    """
    names = [*own, *sorted(homes)]

    def load(name: str) -> Any:
        if name in packages:
            return importlib.import_module(f"{module}.{name}")
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[module], name, value)
        return value

    return load, lambda: [*names, *packages], names
