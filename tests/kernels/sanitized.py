"""``make sanitize``: random calls of every kernel of a module that was built with sanitizers, sound ones and broken ones."""

from __future__ import annotations

import faulthandler
import importlib.util
import sys
import time
from types import ModuleType

import numpy as np

from tests.kernels.random_calls import CALLS, broken

NAME = "calque.kernels._native"


def loaded(path: str) -> ModuleType:
    """The module in a file, in the place of the installed one."""
    spec = importlib.util.spec_from_file_location(NAME, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    spec.loader.exec_module(module)
    return module


def main(path: str, seconds: float) -> None:
    """Call for so long; the first fault ends the process, after the name and the seed of the call."""
    faulthandler.enable()
    native = loaded(path)
    until, seed, calls = time.monotonic() + seconds, 0, 0
    while time.monotonic() < until or seed < 2:
        for name, call in CALLS.items():
            rng = np.random.default_rng([seed, *name.encode()])
            arguments = call(rng)
            sys.stderr.write(f"{name} {seed}\n")
            for given in (arguments, broken(rng, arguments), broken(rng, arguments)):
                calls += 1
                try:
                    getattr(native, name)(*given)
                except (TypeError, ValueError, MemoryError):
                    continue
        seed += 1
    print(f"{calls:,} calls of {len(CALLS)} kernels, and no fault")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
