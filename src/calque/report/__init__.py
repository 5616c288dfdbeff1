"""The report: one HTML file that opens offline and shows a result, or several side by side, down to every object."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from calque.base.files import check_opens_as_page, write_whole

if TYPE_CHECKING:
    from calque.evaluation.result import Result
    from calque.report.images import Beside
    from calque.statistics.comparison import Comparison

MEGABYTE = 1_000_000


def write(result: Result, path: str | os.PathLike[str], **options: Any) -> None:
    """Write the report of a result, whole or not at all."""
    from calque.report.build import Wish, built

    check_opens_as_page(os.fspath(path))
    _keep(path, *built(result, Wish(os.fspath(path), **options)))


def write_comparison(comparison: Comparison, path: str | os.PathLike[str], **options: Any) -> None:
    """Write the report of several runs, whole or not at all."""
    from calque.report.build import Wish, built_comparison

    check_opens_as_page(os.fspath(path))
    _keep(path, *built_comparison(comparison, Wish(os.fspath(path), **options)))


def _keep(path: str | os.PathLike[str], page: bytes, files: Beside | None) -> None:
    if files is not None:
        files.write()
    write_whole(path, page)
