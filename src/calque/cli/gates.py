"""Gates on the command line: their options, and what servers are told of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from calque.cli.outputs import Named

if TYPE_CHECKING:
    from calque.evaluation.presentation.ci_servers import CiTestCase
    from calque.evaluation.result import Result
    from calque.statistics.gates import Gates

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

EVERYWHERE = "\0"
"""What stands for ``--no-broken`` without a name: no name that can be typed."""


def limit_options(command: Decorated) -> Decorated:
    """``--fail-under`` and ``--fail-over``, what may be lost, and ``--annotations``."""
    for option in (
        click.option("--annotations", is_flag=True, help="Print GitHub annotations of failures."),
        click.option(
            "--no-broken",
            multiple=True,
            is_flag=False,
            flag_value=EVERYWHERE,
            metavar="[NAME]",
            help="Exit with 1 if an item that --baseline has right is wrong (in NAME).",
        ),
        click.option(
            "--tolerance",
            multiple=True,
            metavar="METRIC=VALUE",
            help="Allowed loss against --baseline (AP=0.01 or AP=significant).",
        ),
        click.option(
            "--fail-over",
            multiple=True,
            metavar="METRIC=VALUE",
            help="Exit with 1 if an error metric is higher (wer=0.1).",
        ),
        click.option(
            "--fail-under",
            multiple=True,
            metavar="METRIC=VALUE",
            help="Exit with 1 if a metric is lower (AP=0.9).",
        ),
    ):
        command = option(command)
    return command


def gate_options(command: Decorated) -> Decorated:
    """Everything that a result can be held to, as on every verb that has numbers."""
    for option in (
        click.option("--primary", multiple=True, metavar="METRIC", help="Metric to test against --baseline. Repeatable."),
        click.option(
            "--baseline",
            type=Named(allow_dash=True),
            metavar="STATE",
            help="Exit with 1 if significantly worse than STATE.",
        ),
        limit_options,
    ):
        command = option(command)
    return command


def gates_from(values: dict[str, Any]) -> Gates | None:
    """The gates that the options describe, taken out of their values; none where none are given.

    How documents are resampled stays among the values: intervals are made in the same way.
    """
    under, over, tolerances, places = (values.pop(name) for name in ("fail_under", "fail_over", "tolerance", "no_broken"))
    baseline, primary = values.pop("baseline", None), values.pop("primary", ())
    if not any((under, over, tolerances, places, baseline, primary)):
        return None
    from calque.cli.options import resampling_from
    from calque.statistics.gates import ANYWHERE, OVER, UNDER, Gates, Limit, NoBroken, Tolerance, load_baseline

    against = {}
    if baseline:
        accepted, name = load_baseline(baseline)
        against = {"baseline": accepted, "baseline_name": name, "resampling": resampling_from(dict(values))}
    return Gates(
        tuple(Limit.parse(text, flag) for flag, texts in ((UNDER, under), (OVER, over)) for text in texts),
        tuple(map(Tolerance.parse, tolerances)),
        tuple(NoBroken(ANYWHERE if place == EVERYWHERE else place) for place in places),
        primary=tuple(primary),
        **against,
    )


FOR_SERVERS = ("junit", "github")
"""Formats that tell servers what passed and what did not."""


OF_RUNS = ("fail_under", "fail_over", "tolerance", "no_broken")
"""What runs of a comparison can be held to; the first is their baseline."""


def for_servers(results: Mapping[str, Result], kind: str) -> Iterator[str]:
    """What gates say of results, and what could not be evaluated; the keys tell several apart."""
    named = ((f"{name}: " if len(results) > 1 else "", result) for name, result in results.items())
    tests = [replace(test, name=name + test.name) for name, result in named for test in result.tests()]
    return told_servers(tests, f"calque {next(iter(results.values())).task.name}", kind)


def told_servers(tests: Sequence[CiTestCase], suite: str, kind: str) -> Iterator[str]:
    """JUnit XML, or GitHub's workflow commands for what failed."""
    if kind == "junit":
        from calque.evaluation.presentation.ci_servers import to_junit

        yield to_junit(tests, suite)
    else:
        yield from (f"{line}\n" for line in workflow_commands(tests))


def workflow_commands(tests: Iterable[CiTestCase]) -> Iterator[str]:
    """One workflow command for each test that failed or could not be decided."""
    from calque.evaluation.presentation.ci_servers import annotation
    from calque.evaluation.verdict import some_failures

    for test in tests:
        if test.kind:
            lines = some_failures([test.message, *test.lines])
            yield annotation(f"{test.group}: {test.name}", "\n".join(lines))
