"""The report: one HTML file that opens offline and shows a result, or several side by side, down to every object."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from calque.core.storage.files import write_whole

if TYPE_CHECKING:
    from calque.core.result import Result

MEGABYTE = 1_000_000


def write(results: Sequence[Result], path: str | os.PathLike[str], **options: Any) -> None:
    """Write the report of a result, or of several that share their truth, whole or not at all."""
    from calque.report.build import built

    page, files = built(results, os.fspath(path), **options)
    if files is not None:
        files.write()
    write_whole(path, page)
