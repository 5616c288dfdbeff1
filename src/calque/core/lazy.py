"""Public names that are imported when they are first used, so that start-up stays short."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazily(module: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module: ``homes`` says which module defines each of its names.

    >>> load = lazily("calque", {"Issue": "calque.core.errors"})
    >>> load("Issue").__name__
    'Issue'
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[module], name, value)
        return value

    return load
