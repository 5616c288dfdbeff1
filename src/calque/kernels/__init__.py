"""The kernels: plain arrays in, plain arrays out. ``CALQUE_KERNELS`` chooses which twin runs.

``reference`` is clear NumPy and the specification; a compiled twin has the same signatures and gives the same bits.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType

VARIABLE = "CALQUE_KERNELS"


def chosen() -> str:
    """The name of the kernels in use: ``reference``."""
    wanted = os.environ.get(VARIABLE, "reference")
    if wanted != "reference":
        raise ValueError(f"{VARIABLE}={wanted!r} is not known; it can be 'reference'")
    return wanted


def kernels() -> ModuleType:
    """The module that holds the kernels in use."""
    return importlib.import_module(f"calque.kernels.{chosen()}")
