"""Layout: which blocks of a page were found, and whether their category is right."""

from __future__ import annotations

from typing import Any

from calque.layout.task import Layout

__all__ = ["Layout", "bbox_iou", "evaluate_layout"]


def __getattr__(name: str) -> Any:
    # The functions need numpy; the task, which the command line builds, does not.
    if name in ("bbox_iou", "evaluate_layout"):
        from calque.layout import api

        return getattr(api, name)
    raise AttributeError(f"module 'calque.layout' has no attribute {name!r}")
