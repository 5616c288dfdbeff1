"""``calque bless``: a state becomes the accepted baseline, on purpose."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from calque.cli import exits
from calque.cli.help import GroupedCommand
from calque.cli.options import PATH, WRITTEN

if TYPE_CHECKING:
    from calque.evaluation.presentation.sections import Section
    from calque.evaluation.result import Result
    from calque.statistics.changes import Changes


@click.command("bless", cls=GroupedCommand)
@click.argument("state", type=PATH)
@click.option("-o", "--output", required=True, type=WRITTEN, metavar="BASELINE", help="Baseline file to write (-o).")
@click.option("--format", type=click.Choice(("table", "json", "markdown")), default="table", help="Output format.")
@click.option("--quiet", is_flag=True, help="No notes on stderr.")
def command(state: str, output: str, format: str, quiet: bool) -> int:
    """Make STATE the baseline of later runs, and print what changed.

    STATE is a file from --save. Only this command writes a baseline. It does not replace a file that is not a state.

    \b
    calque detect truth.json predictions.json --save new.state
    calque bless new.state -o baseline.state
    calque detect truth.json later.json --baseline baseline.state
    """
    from calque.base.errors import ConfigError
    from calque.base.files import write_whole
    from calque.cli.inputs import taken_in
    from calque.cli.outputs import STDOUT, put, say_written, settle
    from calque.cli.render import laid_out
    from calque.evaluation.evaluator import Evaluator
    from calque.evaluation.presentation.sections import printable_json
    from calque.evaluation.result import strict_json

    if output == STDOUT:
        raise ConfigError("-o -: what changed is printed there; name the file that is to be the baseline")
    settle()
    (path,) = taken_in(state)
    with open(path, "rb") as file:
        data = file.read()
    result = Evaluator.from_state(data, file=path).compute()
    if result.unevaluated is not None:
        raise ConfigError(f"{state}: nothing was evaluated in this state, so that nothing could be held against it")
    old, why = _there(output)
    renewal = Renewal(result, old, why)
    write_whole(output, data)
    text = printable_json(strict_json(renewal.to_dict(output))) + "\n" if format == "json" else None
    put(STDOUT, [text or laid_out(renewal.sections(output), format)])
    say_written(output, quiet=quiet)
    return exits.INCOMPLETE if result.incomplete else exits.FINE


def _there(path: str) -> tuple[Result | None, str]:
    """The baseline that is there, or why its numbers cannot be had; what is no state is not replaced."""
    from calque.base.errors import CalqueError, ConfigError
    from calque.evaluation.evaluator import Evaluator
    from calque.evaluation.storage.state import FAMILY

    if not os.path.isfile(path):
        return None, ""  # nothing, or what is written through and holds nothing: a pipe
    with open(path, "rb") as file:
        data = file.read()
    if data and not data.startswith(FAMILY):
        raise ConfigError(f"{path}: is there already, and is no state; name another file, or remove it")
    try:
        return Evaluator.from_state(data, file=path).compute(), ""
    except CalqueError as error:
        return None, str(error)


class Renewal:
    """What is new against the old baseline."""

    def __init__(self, result: Result, old: Result | None, why: str) -> None:
        self.result = result
        self.old = old
        self.why = why
        """Why the old baseline cannot be compared with; empty where there is none, or where it can."""
        if old is not None and old.task.name != result.task.name:
            self.old, self.why = None, f"it is of another task: {old.task.name}"
        self.changes: Changes | None = None
        if self.old is not None:
            self._compare(self.old)
        now, before = result.measures(), self.old.measures() if self.old is not None else {}
        self.measures = {
            name: (before.get(name), now.get(name))
            for name in dict.fromkeys([*before, *now] if self.old is not None else ())
            if before.get(name) != now.get(name)
        }

    def _compare(self, old: Result) -> None:
        """Item by item, where the two are about the same."""
        from calque.base.errors import MergeError
        from calque.statistics.changes import changes
        from calque.statistics.comparability import check_comparable

        try:
            check_comparable({"the old baseline": old, "the new one": self.result})
        except MergeError as error:
            self.why = str(error)
            return
        sides = [(side, side.task.run_outcomes(side.ledger)) for side in (old, self.result)]
        (base, first), (run, second) = sides
        if first is not None and second is not None:
            self.changes = changes("new", (base, first), (run, second))

    def to_dict(self, path: str) -> dict[str, Any]:
        """The JSON form."""
        listed = [] if self.changes is None else [one.to_dict() for one in self.changes.changed]
        return {
            "baseline": path,
            "signature": str(self.result.signature),
            "documents": len(self.result.ledger.units),
            "replaced": self.old is not None or bool(self.why),
            "incomparable": self.why,
            "measures": {
                name: {"old": before, "new": now, "difference": _difference(before, now)}
                for name, (before, now) in self.measures.items()
            },
            "changed": [{key: value for key, value in row.items() if key != "run"} for row in listed],
        }

    def sections(self, path: str) -> list[Section]:
        """The same for people; numbers of single classes and other scopes are only counted."""
        from calque.base.wording import counted
        from calque.evaluation.presentation.sections import Section

        documents = counted(len(self.result.ledger.units), "document")
        reason = [f"the old baseline cannot be compared item by item: {self.why}"] if self.why else []
        if self.old is None:
            head = Section(title=f"Baseline {path}", notes=[documents, *(reason or ["there was no baseline before"])])
            return [head, Section(title="", notes=[str(self.result.signature)])]
        same = [] if self.measures else ["no number changed"]
        return [
            Section(title=f"Baseline {path}: what changed", notes=[documents, *reason, *same]),
            *self._numbers(),
            *self._items(),
            Section(title="", notes=[str(self.result.signature)]),
        ]

    def _numbers(self) -> list[Section]:
        from calque.base.wording import counted
        from calque.evaluation.presentation.sections import Section

        shown = {name: pair for name, pair in self.measures.items() if _plain(name)}
        rows = [(name, before, now, _difference(before, now)) for name, (before, now) in shown.items()]
        left = len(self.measures) - len(shown)
        more = [f"{counted(left, 'number')} of classes and other means changed, too; --format json lists them"] if left else []
        return [Section(title="", head=("measure", "old", "new", "difference"), rows=rows, notes=more)] if self.measures else []

    def _items(self) -> list[Section]:
        """What is broken now, and how much is fixed."""
        from calque.evaluation.presentation.sections import Section
        from calque.evaluation.verdict import some_failures
        from calque.statistics.gates import broken_line

        if self.changes is None or not self.changes.changed:
            return []
        broken = [broken_line(one) for one in self.changes.changed if one.change == "broken"]
        counts = {change: self.changes.count(change) for change in ("broken", "fixed", "changed")}
        told = ", ".join(f"{count:,} {change}" for change, count in counts.items())
        return [Section(title=f"Items: {told}", notes=some_failures(broken))]


def _plain(name: str) -> bool:
    from calque.evaluation.measures import MeasureName

    measure = MeasureName.parse(name)
    return not measure.scope and measure.label is None


def _difference(before: float | None, now: float | None) -> float | None:
    return None if before is None or now is None else now - before
