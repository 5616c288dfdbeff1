"""The other tasks as evaluators: ``detect``, ``layout``, ``fields``, ``words`` and others, with a threshold on any measure."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from calque.base.errors import CalqueError, ConfigError, did_you_mean
from calque.checks.evaluators import settings
from calque.checks.evaluators.custom import options
from calque.checks.evaluators.outcome import Outcome, Ranges, Status, Verdict, reaches, unusable, within
from calque.checks.evaluators.paths import Gathered, Missing, Path
from calque.checks.evaluators.settings import PATH_SCHEMA, SHARED_KEYS, Complaints, Key, Keys, choice
from calque.checks.shapes.coordinates import plain, shown
from calque.evaluation.measures import MeasureName
from calque.evaluation.metric_names import direction
from calque.evaluation.task import BUILT_IN, Task, task_class
from calque.evaluation.task import settings as settings_of

VERBS = {"detect": "detection", "layout": "layout", "fields": "fields", "words": "words", "tables": "tables", "order": "order"}
TYPES: Mapping[str, str] = {verb: name for verb, name in VERBS.items() if name in BUILT_IN}
"""The types of evaluators, and the task of each."""
BY_DOCUMENT = ("words", "tables")
"""Tasks that take texts and objects by document."""
UNREADABLE = (CalqueError, ValueError, TypeError, KeyError, OverflowError, RecursionError)
"""What a task raises on data that it cannot evaluate."""
UNIT = "case"
"""What the only document is called."""


def _measure(value: Any) -> MeasureName:
    if not isinstance(value, str):
        raise ValueError(f"measure must be a name such as recall@0.5, not {shown(value)}")
    return MeasureName.parse(value)


def _limit(value: Any) -> float:
    return settings.real(value, "threshold")


def keys(type: str) -> Keys:
    """The settings of such an evaluator."""
    shared = {key.name: key for key in SHARED_KEYS}
    return Keys(
        type,
        (
            *(shared[name] for name in ("type", "name", "weight", "verdict_ranges")),
            Key("measure", _measure, {"type": "string"}, "the measure that is judged, as in calque explain", required=True),
            Key(
                "threshold", _limit, {"type": "number"}, "the value from which a case passes; up to which, where less is better"
            ),
            Key("path", settings.path, PATH_SCHEMA, "where the output has what is evaluated; all of it by default", _ROOT),
            Key("expected_path", settings.path, PATH_SCHEMA, "where the expected data has it; as path by default"),
            Key("options", options, {"type": "object"}, "settings of the task, by their names in Python", {}),
            choice("undefined", ("error", "fail", "pass"), "error", "what a case is of which the measure has no value"),
        ),
    )


_ROOT = Path("$", ())


@dataclass(frozen=True, kw_only=True)
class TaskCheck:
    """Evaluates one case as a document of its own, and judges one measure of the result."""

    name: str
    weight: float
    task: Task
    measure: MeasureName
    threshold: float | None
    ranges: Ranges
    path: Path
    truth_path: Path
    undefined: str

    def renamed(self, name: str) -> TaskCheck:
        """The same evaluator under another name."""
        return replace(self, name=name)

    def evaluate(self, output: Any, expected: Any) -> Outcome:
        """What the measure says of a case. Bad data never raises: it scores 0 and says why."""
        found, truth = self.path.find(plain(output)), self.truth_path.find(plain(expected))
        if isinstance(found, Missing) or isinstance(truth, Missing):
            misses = [f"{side}: {one}" for side, one in (("output", found), ("expected", truth)) if isinstance(one, Missing)]
            return unusable(misses, "; ".join(misses), {}, status=_blame(isinstance(truth, Missing)))
        try:
            return self._judged(self._value(truth), self._value(found))
        except UNREADABLE as error:
            wrong = not self._sound(truth)
            told = f"{'expected' if wrong else 'output'}: {_said(error)}"
            return unusable([told], told, {"measure": str(self.measure)}, status=_blame(wrong))

    def _sound(self, truth: Any) -> bool:
        """Whether the expected data can be evaluated at all, and has this measure: held against itself, it can."""
        from calque.evaluation.evaluator import Evaluator

        task: Any = self.task
        if hasattr(task, "allow_missing_scores"):
            task = replace(task, allow_missing_scores=True)  # ground truth has no scores
        try:
            data = self._value(truth)
            Evaluator(task).update(data, data).compute()[str(self.measure)]
        except UNREADABLE:
            return False
        return True

    def _value(self, value: Any) -> Any:
        """The data of one document as the task takes it; a text is never taken for the name of a file."""
        value = list(value.items) if isinstance(value, Gathered) else plain(value)
        if self.task.name in BY_DOCUMENT:
            return {UNIT: value}
        if isinstance(value, str | bytes) or value is None:
            raise ValueError(f"{shown(value)} is not data that {self.task.name} can evaluate; give it as JSON")
        if self.task.name == "fields":
            from calque.corpus.records import RecordCorpus

            records = value if isinstance(value, list) else [value]
            if not all(isinstance(record, Mapping) for record in records):
                raise ValueError(f"{shown(value)} is neither a record nor a list of records")
            return RecordCorpus(documents=tuple(range(len(records))), records=records)
        return _rows(value) if self.task.name == "order" else value

    def _judged(self, truth: Any, found: Any) -> Outcome:
        from calque.evaluation.evaluator import Evaluator

        result = Evaluator(self.task).update(truth, found).compute()
        value, told = result[str(self.measure)], str(self.measure)
        metadata: dict[str, Any] = {"measure": told, "value": value}
        if notes := [str(issue) for issue in result.issues]:
            metadata["issues"] = notes[:5]
        if value is None or not math.isfinite(value):
            reason = f"{told} has no value: {result.why_undefined(told) or 'nothing was evaluated'}"
            return self._without_value(reason, metadata)
        less = direction(self.task, str(self.measure)) < 0
        verdict, score = self._verdict(value, less=less)
        limit = "no threshold" if self.threshold is None else f"threshold {self.threshold:g}"
        said = f"{told} {value:.4g}"
        hits, misses = ([said], []) if verdict is Verdict.PASS else ([], [said])
        return Outcome(score, verdict, hits, misses, f"{said}: {verdict}, {limit}", metadata)

    def _verdict(self, value: float, *, less: bool) -> tuple[Verdict, float]:
        """The verdict, and a score from 0 to 1: the value, or what is left of it where less is better."""
        share = max(0.0, 1.0 - value) if less else value
        if self.threshold is None:
            return self.ranges.verdict(min(max(share, 0.0), 1.0)), min(max(share, 0.0), 1.0)
        held = within(value, self.threshold) if less else reaches(value, self.threshold)
        score = share if 0.0 <= share <= 1.0 else float(held)
        return (Verdict.PASS if held else Verdict.FAIL), score

    def _without_value(self, reason: str, metadata: Mapping[str, Any]) -> Outcome:
        if self.undefined == "pass":
            return Outcome(1.0, Verdict.PASS, [reason], (), reason, metadata)
        return unusable([reason], reason, metadata, status=_blame(self.undefined == "error"))


def _rows(value: Any) -> Any:
    """The order of one page as rows: its blocks by name, one row, or rows as files have them."""
    if isinstance(value, Mapping):
        return [{"doc_id": UNIT, **value}]
    rows = isinstance(value, list) and any(isinstance(one, Mapping) and "order" in one for one in value)
    return value if rows else [{"doc_id": UNIT, "order": value}]


def build(raw: Mapping[str, Any], complaints: Complaints) -> TaskCheck | None:
    """The evaluator that the settings describe; what is wrong with them goes to the complaints."""
    kind = str(raw["type"])
    values = keys(kind).read(raw, complaints)
    task = _task(kind, raw, values["options"], complaints)
    if values["measure"] is not None:
        _check_measure(kind, raw, values["measure"].name, complaints)
    if task is None or values["measure"] is None:
        return None
    return TaskCheck(
        name=values["name"] or f"{kind} {values['measure']}",
        weight=values["weight"],
        task=task,
        measure=values["measure"],
        threshold=values["threshold"],
        ranges=values["verdict_ranges"],
        path=values["path"],
        truth_path=values["expected_path"] or values["path"],
        undefined=values["undefined"],
    )


def _check_measure(kind: str, raw: Mapping[str, Any], name: str, complaints: Complaints) -> None:
    """Complain of a measure that the task does not have, whatever its settings and its data are."""
    task = task_class(TYPES[kind])
    assert task is not None  # noqa: S101  # it is among the built-in ones
    known = {measure.name for measure in task.measures()}
    if known and task.full_name(MeasureName(name)).name not in {*known, *task.lower_is_better, *task.neutral}:
        hint = did_you_mean(name, known) or f"known are {', '.join(sorted(known))}"
        complaints.add(raw, "measure", f"{kind} has no measure {name!r}", help=hint)


def _task(kind: str, raw: Mapping[str, Any], chosen: Mapping[str, Any], complaints: Complaints) -> Task | None:
    made = task_class(TYPES[kind])
    assert made is not None  # noqa: S101  # it is among the built-in ones
    fields = {field.name for field in dataclasses.fields(made) if field.init}
    where = raw.get("options") if isinstance(raw.get("options"), Mapping) else raw
    unknown = [name for name in chosen if name not in fields]
    for name in unknown:
        hint = did_you_mean(name, fields) or f"known are {', '.join(sorted(fields))}"
        complaints.add(where or raw, name, f"{TYPES[kind]} has no setting {name!r}", help=hint)
    if unknown:
        return None
    try:
        return made(**{name: _given(made, name, value) for name, value in chosen.items()})
    except (CalqueError, TypeError, ValueError) as error:
        complaints.add(raw, "options", str(error))
        return None


def _given(made: type[Task], name: str, value: Any) -> Any:
    """Return a setting as the task takes it; of a file its content, because an evaluator opens no file."""
    note = settings_of(made).get(name)
    if note is None or note.kind not in ("file", "path"):
        return value
    if isinstance(value, Mapping | list):
        return json.loads(json.dumps(value))  # without places in the suite
    if isinstance(value, str) and value in ("", *note.words):
        return value
    raise ConfigError(f"{name}: give its content here, and not the name of a file")


def _blame(author: bool) -> Status:
    return Status.ERROR if author else Status.OK


def _said(error: BaseException) -> str:
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
