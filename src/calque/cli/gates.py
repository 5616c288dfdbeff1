"""Gates on the command line: their options, and what servers are told of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from calque.core.gates import Gates
    from calque.core.presentation.junit import Judged
    from calque.core.result import Result

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def gate_options(command: Decorated) -> Decorated:
    """``--fail-under``, ``--fail-over`` and ``--annotations``, as on every verb that has numbers."""
    for option in (
        click.option("--annotations", is_flag=True, help="Also print GitHub annotations for what failed."),
        click.option(
            "--fail-over",
            multiple=True,
            metavar="MEASURE=VALUE",
            help="Exit with 1 when a measure of which less is better (wer, ece …) is above a value.",
        ),
        click.option(
            "--fail-under",
            multiple=True,
            metavar="MEASURE=VALUE",
            help="Exit with 1 when a measure is below a value (recall@0.5=0.9); repeat for several.",
        ),
    ):
        command = option(command)
    return command


def gates_from(values: dict[str, Any]) -> Gates | None:
    """The gates that the options describe, taken out of their values; none where none are given."""
    under, over = values.pop("fail_under"), values.pop("fail_over")
    if not under and not over:
        return None
    from calque.core.gates import OVER, UNDER, Gates, Limit

    return Gates(tuple(Limit.parse(text, flag) for flag, texts in ((UNDER, under), (OVER, over)) for text in texts))


FOR_SERVERS = ("junit", "github")
"""Formats that tell servers what passed and what did not."""


def for_servers(results: Mapping[str, Result], kind: str) -> Iterator[str]:
    """JUnit XML, or GitHub's workflow commands for what failed or could not be evaluated; the keys tell several apart."""
    named = ((f"{name}: " if len(results) > 1 else "", result) for name, result in results.items())
    tests = [test.replaced(name=name + test.name) for name, result in named for test in result.tests()]
    if kind == "junit":
        from calque.core.presentation.junit import to_junit

        yield to_junit(tests, f"calque {next(iter(results.values())).task.name}")
        return
    yield from (f"{line}\n" for line in workflow_commands(tests))


def workflow_commands(tests: Iterable[Judged]) -> Iterator[str]:
    """One workflow command for each test that failed or could not be decided."""
    from calque.core.presentation.annotations import annotation
    from calque.core.verdict import some_failures

    for test in tests:
        if test.kind:
            lines = some_failures([test.message, *test.lines])
            yield annotation(f"{test.group}: {test.name}", "\n".join(lines))
