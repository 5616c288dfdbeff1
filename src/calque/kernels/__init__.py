"""The kernels: plain arrays in, plain arrays out. ``CALQUE_KERNELS`` chooses which twin runs.

``reference`` is clear NumPy and the specification; ``native`` is compiled, has the same signatures and gives the same bits.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from typing import TYPE_CHECKING

from calque.core.errors import ConfigError

if TYPE_CHECKING:
    from calque.kernels.protocol import Kernels

VARIABLE = "CALQUE_KERNELS"
TWINS = {"native": "calque.kernels._native", "reference": "calque.kernels.reference"}


def chosen() -> str:
    """The name of the kernels in use: ``native`` where they were built, else ``reference``."""
    wanted = os.environ.get(VARIABLE) or ("native" if native_built() else "reference")
    if wanted not in TWINS:
        raise ConfigError(f"{VARIABLE}={wanted!r} is not known; it can be 'native' or 'reference'")
    if wanted == "native" and not native_built():
        raise ConfigError(
            f"{VARIABLE}=native, but calque was installed without a compiler: install it again where there is one"
        )
    return wanted


@cache
def native_built() -> bool:
    """Whether the compiled kernels are part of this installation."""
    try:
        importlib.import_module(TWINS["native"])
    except ModuleNotFoundError:
        return False
    return True


def kernels() -> Kernels:
    """The module that holds the kernels in use."""
    if chosen() == "native":
        from calque.kernels import _native

        return _native
    from calque.kernels import reference

    return reference


def keep_freed_memory() -> None:
    """For a process that ends soon: what arrays free is kept for the next ones, where the compiled kernels can ask for it."""
    if chosen() == "native":
        from calque.kernels import _native

        _native.keep_freed_memory()
