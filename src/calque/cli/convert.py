"""``calque convert``: from one format to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from calque.cli import exits
from calque.cli.help import GroupedCommand
from calque.cli.options import PATH, completing, reading_options, reading_rules
from calque.cli.outputs import STDOUT, Written, put_bytes, settle, spelt
from calque.evaluation.boxes.reading import BOX_FORMATS
from calque.evaluation.presentation.sections import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from calque.base.errors import Issue
    from calque.corpus.boxes import BoxCorpus
    from calque.readers.boxes.formats import Format

EXTENSIONS = {".ndjson": "ndjson", ".jsonl": "ndjson", ".parquet": "parquet", ".pq": "parquet"}
"""Extensions that name one format. ``.json`` and ``.xml`` name many."""


@click.command("convert", cls=GroupedCommand)
@click.argument("source", metavar="IN", type=PATH)
@click.argument("target", metavar="OUT", type=Written(allow_dash=True))
@click.option(
    "--to",
    metavar="FORMAT",
    shell_complete=completing(BOX_FORMATS),
    help="Format to write; default: from the extension of OUT.",
)
@click.option(
    "--from",
    "format",
    metavar="FORMAT",
    shell_complete=completing(BOX_FORMATS),
    help="Format of IN; default: detected.",
)
@click.option("--as", "side", type=click.Choice(("truth", "predictions")), help="Side of IN, if the file does not say it.")
@reading_options
@click.option("--class-map", type=PATH, default="", metavar="FILE", help="Class map: YAML or JSON with label: new name.")
@click.option("--strict", is_flag=True, help="Refuse NDJSON and Parquet files with a page that cannot be read.")
@click.option("--quiet", is_flag=True, help="No notes on stderr.")
def command(
    source: str, target: str, to: str | None, side: str | None, class_map: str, strict: bool, quiet: bool, **values: Any
) -> int:
    """Convert boxes to another format, and report what it cannot carry.

    OUT is a file, or a new folder for formats with one file per page (yolo, dota, voc, page, alto, labelme); - is stdin or
    stdout. The exit code is 3 if the conversion loses something that can change a metric. Formats: alto, coco, coco-results,
    cvat, docling, dota, label-studio, labelme, ndjson, omnidocbench, page, parquet, plain, snapshot, voc, yolo.

    \b
    calque convert labels/ truth.json --to coco --page-size 1700,2200
    calque convert export.json truth.json --to snapshot
    """
    from calque.base.errors import Severity, summarize
    from calque.cli.inputs import taken_in
    from calque.cli.progress import working
    from calque.readers.boxes import formats

    chosen = formats.named(to or _by_extension(target))
    settle()
    (source,) = taken_in(source)
    with working(f"converting {source}", quiet=quiet, steps=3) as converting:
        rules = {**reading_rules(values), "strict": strict, "format": values["format"], "class_map": class_map}
        corpus = _read(source, side, rules)
        converting.advance()
        files, lost = _converted(corpus, chosen, target, rules["page_size"])
        converting.advance()
        _write(files, chosen, target)
        converting.advance()
    if not quiet:
        _tell((*summarize(corpus.issues), *lost), f"wrote {spelt(target)} ({chosen.name}): {corpus.contents()}")
    losses = any(issue.severity is Severity.LOSS for issue in (*corpus.issues, *lost))
    return exits.INCOMPLETE if losses else exits.FINE


def _read(source: str, side: str | None, rules: dict[str, Any]) -> BoxCorpus:
    """The boxes of a file, with everything known of them."""
    from calque.base.errors import ConfigError, ContractError
    from calque.corpus.boxes import BoxCorpus, Side
    from calque.readers import read

    known = {None: None, "truth": Side.TRUTH, "predictions": Side.FOUND}[side]
    corpus = read(source, side=known, allow_missing_scores=True, metadata=True, **rules)
    if not isinstance(corpus, BoxCorpus):
        raise ContractError.single("not-boxes", "holds no boxes", file=source)
    if not len(corpus.documents):
        raise ConfigError(f"{source}: there is nothing to write")
    return corpus


def _converted(
    corpus: BoxCorpus, chosen: Format, target: str, page_size: tuple[float, ...] | None
) -> tuple[Mapping[str, bytes], Sequence[Issue]]:
    """The files of the format, read back once, and what it cannot carry."""
    from calque.readers.boxes.convert import converted

    try:
        return converted(corpus, chosen, page_size)
    except OSError as error:  # what is read back first finds no room: neither would the file that was asked for
        raise OSError(error.errno, error.strerror, spelt(target)) from None


def _write(files: Mapping[str, bytes], chosen: Format, target: str) -> None:
    """Write one file, or a folder of them."""
    from calque.base.errors import ConfigError
    from calque.base.files import write_folder

    if set(files) == {""}:
        put_bytes(target, files[""])
    elif target == STDOUT:
        raise ConfigError(f"-: {chosen.name} is a folder with a file for each page; name a folder that does not exist")
    else:
        write_folder(target, files)


def _tell(issues: Iterable[Issue], done: str) -> None:
    from calque.cli.inputs import told

    for issue in issues:
        click.echo(told(printable(f"{issue.severity}: {issue}")), err=True)
    click.echo(printable(done), err=True)


def _by_extension(target: str) -> str:
    from pathlib import Path

    from calque.base.errors import ConfigError

    extension = Path(target).suffix.lower()
    if extension not in EXTENSIONS:
        raise ConfigError(f"{target}: the name does not tell the format; pass --to FORMAT")
    return EXTENSIONS[extension]
