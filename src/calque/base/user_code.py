"""Code of people's own, by the name that they give it: ``file.py:name`` or ``package.module:name``. No other is ever run."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from functools import lru_cache
from types import ModuleType
from typing import Any

from calque.base.digests import digest
from calque.base.errors import ConfigError, did_you_mean
from calque.base.regular_files import MB, read_regular, reason

SOURCE = ".py"
LARGEST = 16 * MB
"""Bytes of a Python file that somebody names."""


def code_named(place: str, name: str, *, what: str, fits: Callable[[Any], bool]) -> Any:
    """What a file (its name ends in .py) or a module calls by a name; ``what`` it should be is said where it is not there.

    >>> code_named("calque.base.errors", "ConfigErorr", what="class", fits=lambda value: isinstance(value, type))
    Traceback (most recent call last):
    calque.base.errors.ConfigError: calque.base.errors: has no class 'ConfigErorr'; did you mean 'ConfigError'?
    """
    module = of_file(place) if place.endswith(SOURCE) else of_module(place)
    found = getattr(module, name, None)
    if not fits(found):
        known = [key for key, value in vars(module).items() if fits(value)]
        raise ConfigError(f"{place}: has no {what} {name!r}; {did_you_mean(name, known)}".rstrip("; "))
    return found


def of_module(name: str) -> ModuleType:
    """A module that is installed, or stands in the folder that the user stands in."""
    with _own_code(os.getcwd()):
        try:
            return importlib.import_module(name)
        except (Exception, SystemExit) as error:  # the user's own code, which may fail in any way
            if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
                there = f"there is no module {error.name!r}, neither installed nor in this folder"
                raise ConfigError(f"{name}: cannot be imported: {there}; a file has its ending: path/to/file.py") from None
            raise _failed(name, error) from error


def of_file(file: str) -> ModuleType:
    """A file as a module. It is run once for each of its versions."""
    return _run(file, digest(source_of(file), 64))


def source_of(file: str) -> bytes:
    """Return the text of a Python file; `ConfigError` when it is not a regular file, or too large."""
    try:
        return read_regular(file, LARGEST)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file}: {reason(error)}") from None


@lru_cache(maxsize=64)
def _run(file: str, content: str) -> ModuleType:
    stem = os.path.splitext(os.path.basename(file))[0]
    unique = digest(f"{os.path.abspath(file)}\n{content}")
    spec = importlib.util.spec_from_file_location(f"calque_own_{stem}_{unique}", file)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{file}: is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # where classes look for what their annotations name
    with _own_code(os.path.dirname(os.path.abspath(file))):
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:  # as above
            del sys.modules[module.__name__]
            raise _failed(file, error) from error
    return module


@contextmanager
def _own_code(folder: str) -> Iterator[None]:
    """Code in the block finds what stands in a folder, after all that is installed, and prints where it disturbs nobody."""
    added = folder not in sys.path
    if added:
        sys.path.append(folder)
    try:
        with prints_to_stderr():
            yield
    finally:
        if added and folder in sys.path:  # the code may have seen to that itself
            sys.path.remove(folder)


def _failed(name: str, error: BaseException) -> ConfigError:
    return ConfigError(f"{name}: cannot be loaded: {type(error).__name__}: {error}")


def prints_to_stderr() -> AbstractContextManager[Any]:
    """Within the block ``print`` does not write between results, which programs read."""
    return redirect_stdout(sys.stderr)
