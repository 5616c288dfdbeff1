"""From settings to an evaluator."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from calque.checks.evaluators import assertions, boxes, commands, custom, points, tasks
from calque.checks.evaluators.commands import FORBIDDEN, Permission
from calque.checks.evaluators.outcome import Outcome
from calque.checks.evaluators.settings import Complaints
from calque.checks.shapes.coordinates import shown


class Check(Protocol):
    """What every evaluator is: a name, a weight, and a pure function from a case to an outcome."""

    @property
    def name(self) -> str:
        """How results call it."""

    @property
    def weight(self) -> float:
        """Its weight in the mean over evaluators."""

    @property
    def threshold(self) -> float | None:
        """What a case is held to, where the suite says so; then passing in part is failing, unless the suite allows it."""

    def evaluate(self, output: Any, expected: Any) -> Outcome:
        """What it says of a case."""

    def renamed(self, name: str) -> Check:
        """The same evaluator under another name."""


BUILT_IN: Mapping[str, Callable[[Mapping[str, Any], Complaints], Check]] = {
    boxes.TYPE: boxes.BoxCheck.from_config,
    points.TYPE: points.PointCheck.from_config,
    **{kind.type: kind.from_config for kind in assertions.KINDS},
}
KNOWN = (*BUILT_IN, *tasks.TYPES, commands.TYPE)
"""The types that come with calque."""


def evaluator(config: Mapping[str, Any], *, allow_commands: bool = False) -> Check:
    """Make a check from its configuration, as a suite file has it.

    Args:
        config: The ``type`` of the check and its settings.
        allow_commands: Allow ``type: command``, which runs a program.

    Returns:
        The check. ``check.evaluate(output=..., expected=...)`` returns its `Outcome` for one case.

    Raises:
        ConfigError: The configuration is not valid. The error lists every problem.
        TypeError: ``config`` is not a mapping.

    >>> check = evaluator({"type": "iou_score", "bbox_path": "box", "expected_bbox_path": "box", "threshold": 0.7})
    >>> outcome = check.evaluate(output={"box": [0, 0, 20, 20]}, expected={"box": [0, 0, 20, 15]})
    >>> outcome.score, str(outcome.verdict), outcome.hits
    (0.75, 'pass', ['bbox matches above 0.7'])
    """
    if not isinstance(config, Mapping):
        raise TypeError(f"an evaluator is described by a mapping, not by a {type(config).__name__}")
    complaints = Complaints()
    check = build(config, complaints, permission=Permission(allowed=allow_commands))
    complaints.raise_all()
    assert check is not None  # noqa: S101  # without a complaint there is one
    return check


def build_all(
    configs: Sequence[Any],
    complaints: Complaints,
    registry: Mapping[str, custom.Reference] | None = None,
    permission: Permission = FORBIDDEN,
    *,
    from_suite: int | None = None,
) -> tuple[Check, ...]:
    """The evaluators of a list; a name that occurs again is numbered, so that every result can be told apart.

    ``from_suite`` is how many of them the suite names; the others come from a file of data, and bring neither programs
    nor files nor code.
    """
    trusted = len(configs) if from_suite is None else from_suite
    named = {str(config.get("type")) for config in configs[:trusted] if isinstance(config, Mapping)}
    places = getattr(configs, "places", None) or [complaints.place] * len(configs)
    seen: dict[str, int] = {}
    checks = []
    for position, (config, place) in enumerate(zip(configs, places, strict=True)):
        if not isinstance(config, Mapping):
            complaints.add_at(place, f"an evaluator is a mapping with a type, not {shown(config)}")
            continue
        if position >= trusted and (told := _beyond_data(config, {*named, *(registry or {})})):
            complaints.add(config, "type", told)
            continue
        check = build(config, complaints, registry, permission)
        if check is not None:
            seen[check.name] = count = seen.get(check.name, 0) + 1
            checks.append(check if count == 1 else check.renamed(f"{check.name} {count}"))
    return tuple(checks)


def _beyond_data(config: Mapping[str, Any], named: Collection[str]) -> str:
    """Return why a line of data may not describe this evaluator; empty where it may.

    ``named`` are the types that the suite uses, and the evaluators that the user names.
    """
    kind = config.get("type")
    if kind == commands.TYPE:
        return "a file of data may not name a program. Name it in the suite"
    if kind == assertions.JsonSchema.type and isinstance(config.get("schema"), str):
        return "a file of data may not name a schema file. Write the schema here, or name the file in the suite"
    if isinstance(kind, str) and kind not in KNOWN and kind not in named and kind in custom.installed():
        return f"a file of data may not choose {shown(kind)} from an installed package. Use it in the suite"
    return ""


def build(
    config: Mapping[str, Any],
    complaints: Complaints,
    registry: Mapping[str, custom.Reference] | None = None,
    permission: Permission = FORBIDDEN,
) -> Check | None:
    """The evaluator, or ``None`` and a complaint about what keeps it from being built."""
    kind = config.get("type")
    if not isinstance(kind, str):
        what = "an evaluator needs a type" if kind is None else f"unknown evaluator type {shown(kind)}"
        complaints.add(config, "type", what, help=f"known are {', '.join(KNOWN)}")
        return None
    if kind in BUILT_IN:
        return BUILT_IN[kind](config, complaints)
    if kind in tasks.TYPES:
        return tasks.build(config, complaints)
    if kind == commands.TYPE:
        return commands.build(config, complaints, permission)
    return custom.build(config, registry or {}, complaints, KNOWN)
