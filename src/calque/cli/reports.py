"""``--report FILE`` and what goes with it, as on every verb that has a result."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from calque.base.errors import ConfigError
from calque.cli.outputs import STDOUT, Named, put_bytes, say_written

if TYPE_CHECKING:
    from calque.evaluation.result import Result
    from calque.statistics.comparison import Comparison

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

PICTURES = Named()
MEGABYTES = 25.0
"""How much of page images a report holds unless somebody asks for more."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A report that was asked for."""

    path: str
    images: str | None
    size: float
    sidecar: bool
    jobs: int = 1


def image_options(command: Decorated) -> Decorated:
    """``--images``, ``--report-size`` and ``--sidecar``: pictures of the pages in a report."""
    for option in (
        click.option("--sidecar", is_flag=True, help="Write the images of all pages to a folder next to the report."),
        click.option(
            "--report-size", type=click.FloatRange(min=0), default=MEGABYTES, metavar="MB",
            help="Megabytes of images in the report, worst pages first. [default: 25]",
        ),
        click.option(
            "--images", type=PICTURES, metavar="DIR", help="Folder with page images for the report: PNG, JPEG, WebP or PDF."
        ),
    ):  # fmt: skip
        command = option(command)
    return command


def wanted(values: dict[str, Any], path: str | None, jobs: int = 1) -> Wanted | None:
    """What the options ask for, taken out of their values; options about a report that nobody wants are refused."""
    images, size, sidecar = (values.pop(name) for name in ("images", "report_size", "sidecar"))
    if path is None:
        if images is not None or sidecar:
            raise ConfigError("--images and --sidecar are about --report FILE")
        return None
    if images is not None and not os.path.isdir(images):
        raise ConfigError(f"{images or '--images'}: is no folder with images; name one")
    if sidecar and (images is None or path == STDOUT):
        raise ConfigError("--sidecar puts the images of --images DIR beside --report FILE; it needs both")
    return Wanted(path, images, size, sidecar, jobs)


def write(shown: Result | Comparison, report: Wanted | None, *, quiet: bool) -> None:
    """Write the report that was asked for, if one was."""
    if report is None:
        return
    from calque import report as reports
    from calque.cli.progress import working
    from calque.evaluation.result import Result
    from calque.report.build import Wish, built, built_comparison

    wish = Wish(report.path, report.images, int(report.size * reports.MEGABYTE), report.sidecar, report.jobs)
    with working("drawing the report", quiet=quiet):
        page, files = built(shown, wish) if isinstance(shown, Result) else built_comparison(shown, wish)
        if files is not None:
            files.write()
    put_bytes(report.path, page)
    say_written(report.path, quiet=quiet)


def write_runs(results: Mapping[str, Result], report: Wanted | None, *, quiet: bool) -> None:
    """Write the report of one result, or of several as a comparison with the first."""
    if report is None:
        return
    from calque.statistics.comparison import compare

    listed = list(results.values())
    write(listed[0] if len(listed) == 1 else compare(listed, list(results), jobs=report.jobs), report, quiet=quiet)
