"""How records without ids are paired, and whether one of their fields would pair them better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from calque.core.corpora.records import RecordCorpus
from calque.core.errors import Issue, Severity

MOST_RECORDS = 5_000
"""Files with more records are not searched for a better key."""
SHARED = 0.8
"""The fraction of the values of a key that both sides must have."""


def paired_by_line(truth: RecordCorpus, found: RecordCorpus) -> list[Issue]:
    """Return a note on files whose records are paired by line, with the field that would pair them better, if there is one."""
    if not (truth.source and found.source) or max(len(truth), len(found)) < 2:
        return []
    text = "records have no ids; they are paired by line"
    if len(truth) != len(found):
        text += f", {len(truth):,} of the ground truth with {len(found):,} predictions"
    key = _better_key(truth, found)
    help = "give records a doc_id, or name their id with --id FIELD"
    if key is not None:
        text += f". Their field {key!r} has the same values in another order"
        help = f"use --id {key} to pair by it"
    return [Issue("paired-by-line", text, found.source, help=help, severity=Severity.NOTE)]


def _better_key(truth: RecordCorpus, found: RecordCorpus) -> str | None:
    """Return the first key with unique values that both sides have, for the most part on other lines."""
    if max(len(truth), len(found)) > MOST_RECORDS or min(len(truth), len(found)) < 2:
        return None
    mine, theirs = ([_scalars(side.record(place)) for place in range(len(side))] for side in (truth, found))
    for key in mine[0]:
        first, second = _values(mine, key), _values(theirs, key)
        if first is None or second is None:
            continue
        shared = len({*first} & {*second})
        in_place = sum(one == other for one, other in zip(first, second, strict=False))
        if shared >= SHARED * min(len(first), len(second)) and 2 * in_place < shared:
            return key
    return None


def _scalars(record: Any) -> dict[str, Any]:
    """Return the texts and whole numbers of a record by key."""
    if not isinstance(record, Mapping):
        return {}
    bare = {key: value.get("_value") if isinstance(value, Mapping) else value for key, value in record.items()}
    return {key: value for key, value in bare.items() if type(value) in (str, int) and value != ""}


def _values(records: Sequence[Mapping[str, Any]], key: str) -> list[Any] | None:
    """Return the values of a key, if every record has its own."""
    values = [record[key] for record in records if key in record]
    return values if len(values) == len(records) == len(set(values)) else None
