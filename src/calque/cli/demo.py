"""``calque demo``: two imaginary models on built-in sample data, and what the numbers say."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calque.cli import exits
from calque.cli.help import GroupedCommand
from calque.cli.options import PAGE, brief_option
from calque.cli.outputs import Written, settle

if TYPE_CHECKING:
    from calque.evaluation.result import Result


@click.command("demo", cls=GroupedCommand)
@brief_option
@click.option("--report", type=PAGE, metavar="FILE", help="Write an HTML report that compares both models.")
@click.option("--keep", type=Written(file_okay=False), metavar="DIR", help="Write the sample files to a folder.")
def command(keep: str | None, report: str | None, brief: bool) -> int:
    """Evaluate two example models on built-in sample data."""
    from calque.cli.render import coloured
    from calque.detection.task import Detection
    from calque.evaluation.evaluator import Evaluator
    from calque.evaluation.presentation.sections import printable, to_text
    from calque.sample import sample

    settle()
    files = sample()
    if keep is not None:
        _write(files, Path(keep))
    results = {}
    for model in ("finder", "cropper"):
        results[model] = Evaluator(Detection()).update(files["truth"], files[model]).compute()
        sections = results[model].brief() if brief else results[model].sections()
        click.echo(coloured(sections) if sys.stdout.isatty() else to_text(sections))
        click.echo()
    click.echo(click.style("What the numbers show", bold=True))
    for line in _story(results["finder"], results["cropper"]):
        click.echo(f"  {line}")
    folder = printable(keep or "DIR")
    click.echo(f"\nTry it yourself: calque demo --keep {folder} && calque detect {folder}/truth.json {folder}/finder.json")
    if report is not None:
        _report(results, files["truth"], report)
    return exits.FINE


def _report(results: Mapping[str, Result], truth: Mapping[str, Any], path: str) -> None:
    """Compare the two models in a page, over pages drawn for it where that is possible."""
    import tempfile

    from calque.base.errors import MissingExtra
    from calque.evaluation.presentation.sections import printable
    from calque.report import write_comparison
    from calque.sample_pages import draw_pages
    from calque.statistics.comparison import compare

    with tempfile.TemporaryDirectory() as folder:
        images = None
        try:
            draw_pages(truth, Path(folder))
            images = folder
        except MissingExtra as missing:
            click.echo(f"note: the page has boxes on white: {missing}", err=True)
        write_comparison(compare(list(results.values()), list(results)), path, images=images, jobs=os.cpu_count() or 1)
    click.echo(f"\nA page about both models, to open in a browser: {printable(os.path.abspath(path))}")


def _write(files: Mapping[str, object], folder: Path) -> None:
    from calque.base.errors import ConfigError
    from calque.base.files import write_whole
    from calque.evaluation.presentation.sections import printable

    content = {folder / f"{name}.json": json.dumps(tree, indent=1).encode() for name, tree in files.items()}
    for path, data in content.items():
        if os.path.lexists(path) and not (path.is_file() and path.read_bytes() == data):
            raise ConfigError(f"{path}: is there already, and is no sample; name a folder without it")
    folder.mkdir(exist_ok=True)
    for path, data in content.items():
        write_whole(path, data)
    click.echo(printable(f"wrote {len(files)} files to {folder}"), err=True)


def _story(finder: Result, cropper: Result) -> list[str]:
    from calque.base.wording import percent as share

    def percent(result: Result, name: str) -> str:
        value = result[name]
        return "–" if value is None else share(value)

    return [
        f"finder finds {percent(finder, 'recall@0.5')} of all figures and tables, "
        f"cropper only {percent(cropper, 'recall@0.5')}:",
        "by recall at IoU 0.5 alone, finder is the better model.",
        f"But finder's crops hold {percent(finder, 'mean_coverage@0.5')} of the object where cropper's hold "
        f"{percent(cropper, 'mean_coverage@0.5')}: it cuts titles off.",
        f"At IoU 0.75 finder drops to {percent(finder, 'recall@0.75')} recall; "
        f"cropper stays at {percent(cropper, 'recall@0.75')}.",
        "To lift figures out of reports, look at coverage; to count them, look at recall.",
    ]
