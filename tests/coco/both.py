"""Runs a script twice, with pycocotools and with calque in its place, in this process."""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

from calque.coco import init_as_pycocotools

NAMES = ("pycocotools", "faster_coco_eval")


@contextlib.contextmanager
def as_pycocotools() -> Iterator[None]:
    """Let ``pycocotools`` mean calque for a while."""
    kept = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in NAMES}
    try:
        init_as_pycocotools()
        yield
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] in NAMES]:
            del sys.modules[name]
        sys.modules.update(kept)


def printed(script: Path, *arguments: str, calque: bool) -> str:
    """What a script prints."""
    said, kept = io.StringIO(), sys.argv
    sys.argv = [str(script), *arguments]
    try:
        with contextlib.redirect_stdout(said), as_pycocotools() if calque else contextlib.nullcontext():
            runpy.run_path(str(script), run_name="__main__")
    finally:
        sys.argv = kept
    return said.getvalue()
