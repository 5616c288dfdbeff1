"""Chunks of cases that were judged before: kept in a folder, under the digest of all that their outcomes depend on."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from calque.checks.evaluators.outcome import Outcome, Status, Verdict
from calque.checks.suites.cases import Case
from calque.checks.suites.runner import Judged, Row
from calque.core.digests import digest
from calque.core.errors import CalqueError, ContractError
from calque.core.ledger import Ledger
from calque.core.shards.checkpoint import not_used
from calque.core.storage.contents import content_digest
from calque.core.storage.files import open_entry
from calque.core.storage.state import pack, unpack, well_formed

if TYPE_CHECKING:
    from calque.checks.suites.runner import Bench
    from calque.core.task import Task


class KeptJudging:
    """Judges chunks of cases as somebody else does, says what is to be kept of each, and does not ask again for what is kept.

    It may run in a worker: nothing is held but the name of the folder, and nothing is written, as workers may be ended at
    any moment.
    """

    def __init__(self, judging: Callable[[Sequence[Case]], Judged], folder: str, settings: str) -> None:
        self._judging = judging
        self._folder = folder
        self._settings = settings

    def __call__(self, cases: Sequence[Case]) -> Judged:
        """The outcomes of all these cases. Where some could not be judged, nothing is kept: they are asked again."""
        told = json.dumps([dataclasses.astuple(case) for case in cases], default=str)
        name = digest(f"{self._settings}\n{told}", 40)
        path = os.path.join(self._folder, f"{name}.state")
        broken = ""
        try:
            if os.path.exists(path):
                return _loaded(path, name, cases)
        except (CalqueError, OSError) as error:
            broken = not_used(path, error)
        judged = self._judging(cases)
        if any(row.outcome.status is Status.ERROR for row in judged.rows):
            return dataclasses.replace(judged, broken=broken)
        header = {"kept": name, "rows": [_written(row) for row in judged.rows], "records": judged.records}
        return dataclasses.replace(judged, broken=broken, state=(path, pack(header, Ledger(units=(), tables={}))))


def settings_of(bench: Bench, task: Task) -> str:
    """All that the outcomes of a suite's cases depend on beside the cases, programs included."""
    named = [argument for config in bench.configs for argument in _arguments(config)]
    named += bench.system.argv if bench.system is not None else ()
    files = (os.path.join(bench.permission.folder, argument) for argument in named)
    programs = {file: content_digest(file) for file in files if os.path.isfile(file)}
    told = [task.signature().to_dict(), dataclasses.asdict(task), str(bench.system), bench.drawn, programs]
    return digest(json.dumps(told, sort_keys=True, default=str), 64)


def _arguments(config: Mapping[str, Any]) -> list[str]:
    command = config.get("command")
    return [part for part in command if isinstance(part, str)] if isinstance(command, list | tuple) else []


def _written(row: Row) -> dict[str, Any]:
    return {
        "position": row.case.position,
        "evaluator": row.evaluator,
        "weight": row.weight,
        "held": row.held,
        "shapes": row.shapes,
        "outcome": row.outcome.to_dict(),
    }


def _loaded(path: str, name: str, cases: Sequence[Case]) -> Judged:
    with open_entry(path) as file:
        header, _ = unpack(file.read(), path)
    if header.get("kept") != name:
        raise ContractError.single("state-damaged", "this is the state of something else", file=path)
    by_position = {case.position: case for case in cases}
    with well_formed(path):
        rows = [_row(by_position[kept.pop("position")], **kept) for kept in header["rows"]]
        return Judged(rows, [(int(level), str(text)) for level, text in header["records"]], known=True)


def _row(case: Case, *, evaluator: str, weight: float, held: bool, shapes: dict[str, Any], outcome: dict[str, Any]) -> Row:
    verdict, status = Verdict(outcome.pop("verdict")), Status(outcome.pop("status"))
    return Row(case, evaluator, weight, Outcome(verdict=verdict, status=status, **outcome), held, shapes)
