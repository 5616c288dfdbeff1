"""Chunks of cases that were judged before: kept in a folder, under the digest of all that their outcomes depend on."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from calque.checks.evaluators import commands
from calque.checks.evaluators.outcome import Outcome, Status, Verdict
from calque.checks.evaluators.registry import KNOWN
from calque.checks.suites.cases import Case
from calque.checks.suites.runner import Judged, Row
from calque.core.digests import digest
from calque.core.errors import CalqueError, ContractError
from calque.core.ledger import Ledger
from calque.core.shards.checkpoint import not_used
from calque.core.storage.files import open_entry
from calque.core.storage.state import pack, unpack, well_formed

if TYPE_CHECKING:
    from calque.checks.suites.runner import Bench
    from calque.core.task import Task


DIGESTED = frozenset(KNOWN) - {commands.TYPE}
"""Types of evaluators whose results depend on nothing but the settings and the case."""
FIELDS = tuple(field.name for field in dataclasses.fields(Case))


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
        told = None if any(uses_own_code(case.evaluators) for case in cases) else _told(cases)
        if told is None:
            return self._judging(cases)
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


def _told(cases: Sequence[Case]) -> str | None:
    """Return all that cases hold as text; ``None`` where they are nested too deeply."""
    try:
        return json.dumps([[getattr(case, name) for name in FIELDS] for case in cases], default=str)
    except RecursionError:
        return None


def settings_of(bench: Bench, task: Task) -> str:
    """Return a digest of all that the outcomes depend on beside the cases; `uses_own_code` says where there is more."""
    return digest(
        json.dumps([task.signature().to_dict(), dataclasses.asdict(task), bench.drawn], sort_keys=True, default=str), 64
    )


def uses_own_code(configs: Iterable[Any]) -> bool:
    """Whether any of these evaluators is a program or code of the user's own.

    What they import, read and ask cannot be digested, so their results cannot be kept.
    """
    kinds = (config.get("type") for config in configs if isinstance(config, Mapping))
    return any(isinstance(kind, str) and kind not in DIGESTED for kind in kinds)


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
