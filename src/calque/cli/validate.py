"""``calque validate``: files against their contract, and two files as the verb that evaluates them would take them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from calque.base.wording import counted
from calque.cli import exits
from calque.cli.help import GroupedCommand
from calque.cli.inputs import taken_in, told
from calque.cli.options import PATH, completing, reading_options, reading_rules
from calque.evaluation.boxes.reading import BOX_FORMATS
from calque.evaluation.presentation.sections import Section, printable, printable_json, printable_lines, to_markdown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from calque.base.errors import ContractError, Issue
    from calque.corpus.boxes import Corpus
    from calque.evaluation.task import Task
    from calque.words.task import Words

FORMATS = ("table", "json", "csv", "markdown")
FOR_PEOPLE = ("table", "markdown")
KINDS = ("detect", "layout", "fields", "words", "tables", "order", "check")
"""The commands whose files can be validated."""
Verdict = dict[str, Any]
"""What is said of a file, or of two together: ``file``, ``valid``, ``total``, ``message``, ``issues``."""


@click.command("validate", cls=GroupedCommand)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=PATH)
@click.option("--as", "verb", type=click.Choice(KINDS), help="Command to validate for; default: detected from the first file.")
@click.option(
    "--from",
    "formats",
    multiple=True,
    metavar="FORMAT",
    shell_complete=completing(BOX_FORMATS),
    help="Format of boxes; twice for one per file; default: detected.",
)
@reading_options
@click.option("--class-map", multiple=True, type=PATH, metavar="FILE", help="Class map; twice for one per file.")
@click.option("--allow-missing-scores", is_flag=True, help="Accept predictions without scores.")
@click.option("--strict", is_flag=True, help="Refuse NDJSON and Parquet files with a page that cannot be read.")
@click.option("--schema", default="", metavar="SCHEMA", help="Schema of records, as for calque fields.")
@click.option("--id", "id_key", default="", metavar="KEY", help="Key of a record's id (fields).")
@click.option("--format", type=click.Choice(FORMATS), default="table", help="Output format.")
@click.option("--brief", is_flag=True, help="Print one sentence and the verdict on each file.")
@click.option("--quiet", is_flag=True, help="No progress on stderr.")
def command(files: tuple[str, ...], verb: str | None, format: str, brief: bool, quiet: bool, **values: Any) -> int:
    """Check files as the command that evaluates them does.

    Reports all problems at once: what, where and how to fix them. With two files, also what the command would refuse, skip or
    note. Exit code: 0 if all is well, 3 if the command would skip something, else 2. Formats of boxes: alto, coco,
    coco-results, cvat, docling, dota, label-studio, labelme, ndjson, omnidocbench, page, parquet, plain, snapshot, voc, yolo.

    \b
    calque validate truth.json predictions.json
    calque validate truth.jsonl predictions.jsonl --as fields
    """
    from calque.base.errors import ConfigError
    from calque.cli.progress import working
    from calque.readers.sides.one_file import verb_of

    if brief and format not in FOR_PEOPLE:
        raise ConfigError(f"--brief is for what people read ({', '.join(FOR_PEOPLE)}); {format} is always whole")
    files = taken_in(*files)
    chosen = verb or ("detect" if values["formats"] else verb_of(files[0]))
    known = _each(values.pop("formats"), files, "--from")
    maps = _each(values.pop("class_map"), files, "--class-map")
    reports: list[Verdict] = []
    steps = len(files) + (len(files) == 2)
    with working("validating", quiet=quiet, steps=steps) as validating:
        for position, (name, read_as) in enumerate(zip(files, known, strict=True)):
            truth = position == 0 or len(files) != 2
            reports.append(_suite(name) if chosen == "check" else _alone(name, chosen, read_as, values, truth=truth))
            validating.advance()
        if len(files) == 2 and chosen != "check":
            reports += _together(chosen, files, _task(chosen, known, maps, values), reports)
            validating.advance()
    first = sentence(reports, len(files), chosen)
    click.echo(rendered(reports, first, format, brief=brief, told=told), nl=False)
    if not all(report["valid"] for report in reports):
        return exits.REFUSED
    losses = any(issue["severity"] == "loss" for report in reports for issue in report["issues"])
    return exits.INCOMPLETE if losses else exits.FINE


def _each(given: tuple[str, ...], files: tuple[str, ...], flag: str) -> tuple[str, ...]:
    """One value for each file: none, the same for all, or as many as there are files."""
    if len(given) not in (0, 1, len(files)):
        raise click.BadParameter(f"is given {len(given)} times for {len(files)} files", param_hint=flag)
    return given if len(given) == len(files) else (given or ("",)) * len(files)


def _alone(name: str, verb: str, format: str, values: Mapping[str, Any], *, truth: bool) -> Verdict:
    """Return the verdict on one file."""
    from calque.base.errors import ContractError
    from calque.readers.sides.kinds import reworded

    try:
        corpus = _read(name, verb, format, values, truth=truth)
    except ContractError as error:
        error = reworded(error, verb)
        return _refused(name, error, error.issues)
    return _accepted(name, corpus.contents(), corpus.issues)


def _suite(name: str) -> Verdict:
    """Return the verdict on a suite of checks."""
    from pathlib import Path

    from calque.base.errors import CalqueError, ContractError, Issue, Severity
    from calque.checks.evaluators.custom import named_evaluators
    from calque.checks.suites.suite import Suite

    evaluators: dict[str, Any] = dict(named_evaluators(Path()))
    try:
        suite = Suite.load(name, evaluators=evaluators)
        cases = list(suite.cases())
        if not cases:
            raise ContractError.single("no-cases", "the suite has no cases", file=name)
    except ContractError as error:
        return _refused(name, error, error.issues)
    except CalqueError as error:
        wrong = ContractError.single("suite-invalid", str(error).removeprefix(f"{name}: "), file=name)
        return _refused(name, wrong, wrong.issues)
    issues = [Issue("case-error", case.trouble, name, str(case.id), severity=Severity.LOSS) for case in cases if case.trouble]
    return _accepted(name, f"a suite with {counted(len(cases), 'case')}", issues)


def _read(name: str, verb: str, format: str, values: Mapping[str, Any], *, truth: bool) -> Corpus:
    if verb == "fields":
        return _records(name, values)
    if verb == "words":
        from calque.readers.text.texts import read_texts

        return read_texts(name, _words().reading(truth=truth))
    if verb == "order":
        from calque.readers.orders.files import read_orders

        return read_orders(name, truth=truth)
    if verb == "tables":
        from calque.readers.tables.files import read_tables

        return read_tables(name, lenient=bool(values["lenient"]))
    from dataclasses import replace

    from calque.corpus.boxes import BoxCorpus
    from calque.readers import read
    from calque.readers.sides.one_file import remarks

    allowed = values["allow_missing_scores"] or verb == "layout"
    rules = reading_rules(dict(values))
    corpus = read(name, format=format or None, strict=values["strict"], allow_missing_scores=allowed, **rules)
    return replace(corpus, issues=(*corpus.issues, *remarks(corpus))) if isinstance(corpus, BoxCorpus) else corpus


def _records(name: str, values: Mapping[str, Any]) -> Corpus:
    """Read records, with everything that calque fields says of them under the schema."""
    from dataclasses import replace

    from calque.base.errors import ConfigError
    from calque.fields.task import Fields
    from calque.readers.records import read_records

    task = Fields(schema=values["schema"], id=values["id_key"])
    try:
        task = task.resolved(name).numbers_only()
    except ConfigError:  # no value is there to make a schema from
        return read_records(name, id_key=task.id or None)
    corpus = read_records(name, declared=frozenset(task.plan().keys), id_key=task.id or None)
    nothing = replace(corpus, records=[{}] * len(corpus), rows=None, source="", issues=())
    return replace(corpus, issues=(*corpus.issues, *task.score(corpus, nothing).issues))


def _task(verb: str, formats: tuple[str, ...], maps: tuple[str, ...], values: Mapping[str, Any]) -> Task:
    """The task of a verb, with everything that says how its files are read."""
    if verb == "fields":
        from calque.fields.task import Fields

        return Fields(schema=values["schema"], id=values["id_key"])
    if verb == "words":
        return _words()
    if verb == "order":
        from calque.order.task import Order

        return Order()
    if verb == "tables":
        from calque.tables.task import Tables

        return Tables(lenient=bool(values["lenient"]))
    rules = {name: value for name, value in reading_rules(dict(values)).items() if value is not None}
    sides = {"from_truth": formats[0], "from_pred": formats[1], "class_map_truth": maps[0], "class_map_pred": maps[1]}
    rules |= {name: value for name, value in sides.items() if value} | {"strict": values["strict"]}
    if verb == "layout":
        from calque.layout.task import Layout

        return Layout(**rules)
    from calque.detection.task import Detection

    return Detection(allow_missing_scores=values["allow_missing_scores"], **rules)


def _words() -> Words:
    from calque.words.task import Words

    return Words()


def _together(verb: str, files: tuple[str, ...], task: Task, told: list[Verdict]) -> list[Verdict]:
    """What the verb says of two files, beyond what was said of each: it is run, for nothing else knows all of it."""
    from calque.base.errors import ContractError
    from calque.evaluation.evaluator import Evaluator

    pair = f"{files[0]} and {files[1]}"
    known = {(issue["code"], issue["file"]) for report in told for issue in report["issues"]}
    try:
        result = Evaluator(task, keep="numbers").update(*files).compute()
    except ContractError as error:
        left = [issue for issue in error.issues if (issue.code, issue.file) not in known]
        return [_refused(pair, ContractError(left, hints=error.hints), left)] if left else []
    left = [issue for issue in result.issues if (issue.code, issue.file) not in known]
    if not left:
        return []
    message = f"calque {verb} would leave something out" if result.incomplete else f"calque {verb} would note something"
    return [_accepted(pair, message, left)]


def _accepted(name: str, message: str, issues: Iterable[Issue]) -> Verdict:
    return {"file": name, "valid": True, "total": 0, "message": message, "issues": [issue.to_dict() for issue in issues]}


def _refused(name: str, error: ContractError, issues: Iterable[Issue]) -> Verdict:
    listed = [issue.to_dict() for issue in issues]
    return {"file": name, "valid": False, "total": error.total, "message": str(error), "issues": listed}


def sentence(reports: Sequence[Verdict], files: int, verb: str) -> str:
    """How many files are valid, and what the verb would do with two.

    >>> fine = {"file": "a", "valid": True, "issues": [], "message": "1 document"}
    >>> sentence([fine], 1, "detect"), sentence([fine, {**fine, "valid": False, "total": 3}], 2, "detect")
    ('The file is valid.', '1 of 2 files is not valid: 3 issues.')
    """
    alone, together = reports[:files], reports[files:]
    if not all(report["valid"] for report in alone):
        return _how_many_are_wrong(alone)
    those = "The file is" if files == 1 else "Both files are" if files == 2 else f"All {files:,} files are"
    severities = {issue["severity"] for report in reports for issue in report["issues"]}
    if not all(report["valid"] for report in together):
        return f"{those} valid alone, and calque {verb} refuses them together."
    if "loss" in severities:
        return f"{those} valid, but {f'calque {verb}' if together else 'an evaluation'} would leave something out."
    if any(report["message"].startswith("0 documents") for report in alone):
        return f"{those} valid, but {'it holds' if files == 1 else 'one holds'} nothing."
    return f"{those} valid{', with something to note' if severities else ''}."


def _how_many_are_wrong(alone: Sequence[Verdict]) -> str:
    wrong = [report for report in alone if not report["valid"]]
    total = counted(sum(report["total"] for report in wrong), "issue")
    if len(alone) == 1:
        return f"The file is not valid: {total}."
    if len(wrong) == len(alone):
        return f"None of the {len(alone):,} files is valid: {total}."
    return f"{len(wrong):,} of {len(alone):,} files {'is' if len(wrong) == 1 else 'are'} not valid: {total}."


def rendered(reports: Sequence[Verdict], first: str, format: str, *, brief: bool, told: Callable[[str], str]) -> str:
    """The reports in a format, after the sentence where people read; ``told`` spells names as they were given."""
    if format == "json":
        return told(printable_json(json.dumps({"files": list(reports)}, indent=2, ensure_ascii=False))) + "\n"
    if format == "csv":
        from calque.cli.render import as_csv

        return told(as_csv(_rows(reports)))
    if format == "markdown":
        return told(_markdown(reports, first, brief=brief))
    lines = [first, ""]
    for report in reports:
        lines += _lines(report, brief=brief)
    return told("\n".join(lines)) + "\n"


def _lines(report: Verdict, *, brief: bool) -> list[str]:
    name, message = printable(report["file"]), printable_lines(report["message"])
    if not report["valid"]:
        head = f"{name}: " + click.style("not valid", fg="red") + f", {counted(report['total'], 'issue')}"
        return [head] if brief else [head, "  " + message.replace("\n", "\n  ")]
    head = f"{name}: " + click.style("valid", fg="green") + f", {message}"
    return [head] if brief else [head, *(printable(f"  {_told(issue)}") for issue in _counted_alike(report["issues"]))]


def _counted_alike(issues: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One issue for those that say the same, at the first of their places, with how often it is said."""
    alike: dict[tuple[str, ...], dict[str, Any]] = {}
    for issue in issues:
        key = tuple(issue[name] for name in ("severity", "code", "message", "help", "file"))
        known = alike.get(key)
        alike[key] = issue if known is None else {**known, "count": known["count"] + issue["count"]}
    return list(alike.values())


def _told(issue: dict[str, Any]) -> str:
    line = ": ".join(part for part in (issue["severity"], issue["pointer"], issue["message"]) if part)
    times = f" ({issue['count']:,} times)" if issue["count"] > 1 else ""
    return f"{line}{times}" + (f"; {issue['help']}" if issue["help"] else "")


def _rows(reports: Sequence[Verdict]) -> list[dict[str, Any]]:
    """One row for each issue, and one for a file that has none."""
    keys = ("severity", "code", "pointer", "message", "help", "count")
    rows = []
    for report in reports:
        head = {"file": report["file"], "valid": report["valid"]}
        rows += [{**head, **{key: issue[key] for key in keys}} for issue in report["issues"]]
        rows += [] if report["issues"] else [{**head, "count": 0}]
    return rows


def _markdown(reports: Sequence[Verdict], first: str, *, brief: bool) -> str:
    verdicts = [(report["file"], "valid" if report["valid"] else "not valid", len(report["issues"])) for report in reports]
    sections = [Section(title="", notes=[first]), Section(title="", head=("file", "verdict", "issues"), rows=verdicts)]
    issues = [
        (report["file"], issue["severity"], issue["code"], issue["pointer"], issue["message"], issue["help"], issue["count"])
        for report in reports
        for issue in report["issues"]
    ]
    if issues and not brief:
        head = ("file", "severity", "code", "place", "message", "what to do", "count")
        sections.append(Section(title="Issues", head=head, rows=issues))
    return to_markdown(sections)
