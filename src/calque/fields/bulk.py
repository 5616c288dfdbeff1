"""Many documents, one after the other: a face with the names that teams know over the shared evaluator."""

from __future__ import annotations

import base64
import warnings
import weakref
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from calque.base.arguments import checked_list
from calque.base.errors import CalqueError, ConfigError, MergeError
from calque.base.short_repr import short_repr
from calque.corpus.boxes import UnitId
from calque.corpus.records import RecordCorpus
from calque.engines import use_engine
from calque.evaluation.evaluator import Evaluator, Keep
from calque.evaluation.result import Result
from calque.evaluation.storage.state import well_formed
from calque.fields.accumulators import LedgerAccumulator, PostComparisonAccumulator
from calque.fields.comparison.one_document import Wanted, compare_documents, compare_pair
from calque.fields.schemas.leaf_types import Accounting
from calque.fields.schemas.sources import schema_text
from calque.fields.task import Fields
from calque.readers.records import as_json

if TYPE_CHECKING:
    from calque.engines.processes import Processes

BUFFER = 1024
"""How many documents wait before they are compared together."""


@dataclass(frozen=True)
class ProcessEvaluation:
    """The numbers of many documents."""

    document_count: int
    metrics: dict[str, Any]
    """All fields together."""
    field_metrics: dict[str, dict[str, Any]]
    accumulator_metrics: dict[str, Any]
    """By the accumulators' names."""
    errors: list[dict[str, Any]]
    result: Result

    __repr__ = short_repr
    """The same as calque's own result: tables, signature, issues."""

    @property
    def confidence_metrics(self) -> dict[str, Any] | None:
        """What the confidence accumulator says, if there is one."""
        return self.accumulator_metrics.get("confidence_metrics")


class BulkStructuredModelEvaluator:
    """Compares pairs of models as they come and adds them up.

    Documents without an id are numbered in the order of their calls. State is plain JSON values; states merge in any
    order to the same digits when documents have ids.
    """

    def __init__(
        self,
        target_schema: Any = None,
        accumulators: Sequence[PostComparisonAccumulator] = (),
        *,
        recall_with_fd: bool = False,
        accounting: Literal["complete", "paired"] = "complete",
        jobs: int = 1,
        **settings: Any,
    ) -> None:
        self._settings = {"recall_with_fd": recall_with_fd, "accounting": accounting, "keep_outcomes": False, **settings}
        self._jobs = jobs
        self._engine: Processes | None = None
        kind, fits = PostComparisonAccumulator, "a list of PostComparisonAccumulator objects"
        self.accumulators = tuple(checked_list("BulkStructuredModelEvaluator", "accumulators", accumulators, kind, fits))
        self._accounting = accounting
        self._schema = schema_text(target_schema, accounting=accounting)
        self._model = target_schema if isinstance(target_schema, type) else None
        self.reset()

    def reset(self) -> None:
        """Forget all documents."""
        self._evaluator: Evaluator | None = None
        self._waiting: list[tuple[UnitId, Any, Any]] = []
        self._waiting_named = False
        self._calls = 0
        self._seen: set[UnitId] = set()
        for accumulator in self.accumulators:
            accumulator.reset()

    def update(self, gt_model: Any, pred_model: Any, doc_id: UnitId | None = None) -> None:
        """Compare one truth with one prediction; models, or JSON objects when the schema was given."""
        truth, found = (self._json(model, side) for model, side in ((gt_model, "truth"), (pred_model, "prediction")))
        named = doc_id is not None
        unit: UnitId = self._calls if doc_id is None else doc_id
        self._calls += 1
        if unit in self._seen:
            raise MergeError(f"seen twice: document {unit!r}; each document may be counted once")
        self._seen.add(unit)
        if self._waiting and named != self._waiting_named:
            self._flush()
        self._waiting_named = named
        self._waiting.append((unit, truth, found))
        own = [each for each in self.accumulators if not isinstance(each, LedgerAccumulator)]
        if own:
            pair = compare_pair(self._schema, truth, found, **{**self._settings, "keep_outcomes": True})
            told = compare_documents(pair, Wanted(document_field_comparisons=True))
            for accumulator in own:
                accumulator.accumulate(told, found)
        if len(self._waiting) >= BUFFER:
            self._flush()

    def _json(self, model: Any, side: str) -> Any:
        """The JSON of one side. What is no model of the class that is evaluated is refused: its fields would be others."""
        if model is None:
            raise TypeError(f"document {self._calls}: the {side} is None; give an empty object for a document without any")
        if isinstance(model, Mapping):
            if not self._schema:
                raise TypeError("JSON objects need a schema: BulkStructuredModelEvaluator(target_schema=...)")
            return model
        if not self._schema:
            self._schema, self._model = schema_text(type(model), accounting=self._accounting), type(model)
        known = self._model or _like(model, self._schema, self._accounting)
        if not isinstance(model, known):
            raise TypeError(f"document {self._calls}: the {side} is a {type(model).__name__}, not a {known.__name__}")
        return as_json(model)

    def evaluate_dataframe(self, frame: Any) -> ProcessEvaluation:
        """Evaluate a frame with the columns ``expected`` and ``predicted`` (JSON text or objects), perhaps with ``doc_id``."""
        from calque.fields.frames import SIDES, from_text, records_of

        self.reset()
        for place, row in enumerate(records_of(frame, "the frame")):
            missing = [name for name in SIDES if name not in row]
            if missing:
                raise ConfigError(f"the frame has no column {missing[0]!r}; it has {', '.join(map(repr, row))}")
            truth, found = (from_text(row[name], f"row {place}: {name}") for name in SIDES)
            self.update(truth, found, row.get("doc_id"))
        return self.compute()

    def update_batch(self, batch: Iterable[Sequence[Any]]) -> None:
        """Compare pairs, or triples with a document id."""
        for entry in batch:
            self.update(*entry)

    def compute(self) -> ProcessEvaluation:
        """The numbers of everything seen so far."""
        result = self._whole().compute()
        self._send_home()
        numbers = result.numbers
        computed = {accumulator.name: accumulator.compute() for accumulator in self.accumulators}
        return ProcessEvaluation(
            document_count=numbers["document_count"],
            metrics=dict(numbers["overall"]),
            field_metrics=dict(numbers["fields"]),
            accumulator_metrics={name: value for name, value in computed.items() if value is not None},
            errors=[issue.to_dict() for issue in result.issues],
            result=result,
        )

    def get_state(self) -> dict[str, Any]:
        """Everything seen so far, as plain JSON values."""
        state = base64.b64encode(self._whole().state()).decode("ascii") if self._calls else ""
        return {
            "schema": self._schema,
            "calls": self._calls,
            "state": state,
            "accumulators": {accumulator.name: accumulator.get_state() for accumulator in self.accumulators},
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Replace everything seen so far by what `get_state` returned.

        Raises:
            MergeError: The state was made with other settings. The evaluator stays as it is.
        """
        other = self._other(state)
        self.reset()
        self._take(other)
        for accumulator in self.accumulators:
            if accumulator.name in state.get("accumulators", {}):
                accumulator.load_state(state.get("accumulators", {})[accumulator.name])

    def merge_state(self, other_state: Mapping[str, Any]) -> None:
        """Add the documents of another evaluator; those without ids are numbered on, in the order of the merges.

        Raises:
            MergeError: The state was made with other settings, or has a document that was seen. The evaluator stays as it is.
        """
        self._take(self._other(other_state))
        for accumulator in self.accumulators:
            if accumulator.name in other_state.get("accumulators", {}):
                accumulator.merge_state(other_state.get("accumulators", {})[accumulator.name])

    def _other(self, state: Mapping[str, Any]) -> Evaluator | None:
        """Return the evaluator that a state describes, or nothing for a state without documents. Refuse other settings."""
        with well_formed("state"):
            data, schema, _ = base64.b64decode(state["state"], validate=True), str(state["schema"]), int(state["calls"])
        if not data:
            return None
        other = Evaluator.from_state(data, file="state")
        self._begun(self._schema or schema).merge(Evaluator(other.task))  # refuses other settings
        self._schema = self._schema or schema
        return other

    def _begun(self, schema: str) -> Evaluator:
        """Return an evaluator without documents."""
        keep: Keep = "outcomes" if self._settings["keep_outcomes"] else "numbers"
        return Evaluator(Fields(schema=schema, **self._settings), keep=keep, jobs=self._jobs)

    def _take(self, other: Evaluator | None) -> None:
        if other is None:
            return
        self._flush()
        if self._evaluator is None:
            self._evaluator = self._begun(self._schema)
        elif (~other.ledger().table("documents").array("named")).any():
            warnings.warn("documents without ids are numbered on in the order of the merges", UserWarning, stacklevel=3)
        self._evaluator.merge(other)
        self._seen.update(self._evaluator.ledger().units)
        self._calls = max([self._calls, len(self._seen), *(unit + 1 for unit in self._seen if isinstance(unit, int))])

    def _whole(self) -> Evaluator:
        self._flush()
        if self._evaluator is None:
            raise ValueError("nothing was evaluated yet: call update() first")
        return self._evaluator

    def _flush(self) -> None:
        if not self._waiting:
            return
        if self._evaluator is None:
            self._evaluator = self._begun(self._schema)
        units = tuple(unit for unit, _, _ in self._waiting)
        truth = RecordCorpus(documents=units, records=[each for _, each, _ in self._waiting], named=self._waiting_named)
        found = RecordCorpus(documents=units, records=[each for _, _, each in self._waiting], named=self._waiting_named)
        self._waiting = []
        with use_engine(self._workers()) if self._jobs > 1 else nullcontext():
            ledger = self._evaluator.task.score(truth, found, jobs=self._jobs)
        self._evaluator.add(ledger)
        for accumulator in self.accumulators:
            if isinstance(accumulator, LedgerAccumulator):
                accumulator.add(ledger)

    def _workers(self) -> Processes:
        """Workers that stay from one round of documents to the next, until the numbers are asked for."""
        if self._engine is None:
            from calque.engines.processes import Processes

            self._engine = Processes(self._jobs).__enter__()
            weakref.finalize(self, self._engine.__exit__)
        return self._engine

    def _send_home(self) -> None:
        if self._engine is not None:
            self._engine.__exit__()
            self._engine = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_engine": None}  # workers stay where they are


def _like(model: Any, schema: str, accounting: Accounting) -> type:
    """The class of a model, if its schema is this one; else a class that it is not of."""
    try:
        same = schema_text(type(model), accounting=accounting) == schema
    except (CalqueError, TypeError):
        same = False
    return type(model) if same else type("model of the schema that is evaluated", (), {})
