"""Tables of a result for notebooks and frames: its documents, its fields, its wrong values."""

from __future__ import annotations

from calque.core.columns import Table
from calque.core.result import Result
from calque.fields import failures
from calque.fields.task import Fields


def document_table(result: Result) -> Table:
    """One row for each document: its score, how many values are wrong, and in which fields.

    >>> from calque import Evaluator
    >>> truth = [{"id": "a", "total": 5}, {"id": "b", "total": 7}]
    >>> result = Evaluator(Fields()).update(truth, [{"id": "a", "total": 5}, {"id": "b", "total": 8}]).compute()
    >>> [(row["document"], row["wrong"], row["wrong_fields"]) for row in document_table(result).rows()]
    [('a', 0, ''), ('b', 1, 'total')]
    """
    return failures.documents(_checked(result).ledger)


def error_table(result: Result) -> Table:
    """One row for each wrong value, side by side with the true one."""
    return failures.errors(_checked(result).ledger)


def field_table(result: Result) -> Table:
    """One row for each field: its counts and ratios, and how it fails."""
    return failures.fields(_checked(result).numbers)


def _checked(result: Result) -> Result:
    if not isinstance(result, Result) or not isinstance(result.task, Fields):
        given = f"one of {result.task.name}" if isinstance(result, Result) else repr(result)[:60]
        raise TypeError(f"result must be a result of fields, not {given}")
    return result
