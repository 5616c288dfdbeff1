"""The kernels: functions of plain arrays. ``CALQUE_KERNELS`` chooses the native or the reference ones.

``reference`` is clear NumPy and the specification. ``native`` is compiled, has the same signatures and returns the same bits.
"""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable
from functools import cache, wraps
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from calque.base.errors import ConfigError

if TYPE_CHECKING:
    from calque.kernels.protocol import Kernels

VARIABLE = "CALQUE_KERNELS"
TWINS = {"native": "calque.kernels._native", "reference": "calque.kernels.reference"}
INSTALL_AGAIN = "install calque again where there is a C++20 compiler, with CALQUE_REQUIRE_NATIVE=1 to see what fails"


def chosen() -> str:
    """The name of the kernels in use: ``native`` where they were built, else ``reference``."""
    wanted = os.environ.get(VARIABLE) or ("native" if native_built() else "reference")
    if wanted not in TWINS:
        raise ConfigError(f"{VARIABLE}={wanted!r} is not known; it can be 'native' or 'reference'")
    if wanted == "native" and (failure := native_failure()) is not None:
        raise ConfigError(f"{VARIABLE}=native, but {failure}")
    return wanted


def native_built() -> bool:
    """Whether the compiled kernels are part of this installation, and can be loaded."""
    return native_failure() is None


@cache
def native_failure() -> str | None:
    """Why the compiled kernels do not run here and what to do, or ``None`` where they do.

    calque can be installed without compiled kernels. If compiled kernels cannot be loaded, a warning says so once.
    """
    try:
        importlib.import_module(TWINS["native"])
    except ModuleNotFoundError as error:
        if error.name == TWINS["native"]:
            return f"this installation has no compiled kernels: {INSTALL_AGAIN}"
        failure = f"the compiled kernels cannot be loaded ({error}): {INSTALL_AGAIN}"
    except ImportError as error:
        failure = f"the compiled kernels cannot be loaded ({error}): {INSTALL_AGAIN}"
    else:
        return None
    warnings.warn(f"{failure}; until then the reference kernels do the work, slower", RuntimeWarning, stacklevel=2)
    return failure


def kernels() -> Kernels:
    """The kernels in use; each checks its arguments before it runs."""
    return cast("Kernels", checked_kernels(chosen()))


@cache
def checked_kernels(name: str) -> ModuleType:
    """The module of this name, with each kernel behind the check of its arguments."""
    from calque.kernels import checks

    module = importlib.import_module(TWINS[name])
    checked = ModuleType(module.__name__)
    for attribute, value in vars(module).items():
        check = getattr(checks, attribute, None) if callable(value) else None
        setattr(checked, attribute, value if check is None else _behind(check, value))
    return checked


def _behind(check: Callable[..., None], kernel: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(kernel)
    def checked(*arguments: Any, **named: Any) -> Any:
        check(*arguments, **named)
        return kernel(*arguments, **named)

    return checked
