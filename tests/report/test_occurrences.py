"""Items and objects are found for all documents at once as a clear walk through each document finds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calque import Evaluator, Fields
from calque.base.columns import Table
from calque.fields.accounting.rows import OUTCOMES
from calque.fields.comparison.cells import class_of
from calque.fields.comparison.records import Outcome
from calque.fields.occurrences import Occurrences, Paths, around, bare
from tests.examples import examples
from tests.report.test_counted import RECORD, SCHEMA


class OneDocument:
    """The items and objects of one document, as the paths of its values tell of them."""

    def __init__(self, rows: Table) -> None:
        self._partner: dict[str, str] = {}
        self._scores: dict[str, list[float]] = {}
        self._alone: dict[str, None] = {}
        self._told: set[str] = set()
        told = (~rows.array("counted")).tolist(), rows.array("score").tolist()
        for truth, found, whole, score in zip(rows["truth_path"], rows["found_path"], *told, strict=True):
            mine, other = around(truth), around(found)
            if whole:  # a pair of items that are not the same has a row for people
                self._told.add(truth)
                mine, other = [*mine, truth], [*other, found]
            for path in mine:
                self._scores.setdefault(path, []).append(score)
            self._partner |= dict(zip(mine, other, strict=False))
            self._alone |= dict.fromkeys(other)
        for path in self._partner.values():
            self._alone.pop(path, None)

    def of(self, name: str, counts: Mapping[int, int]) -> Iterable[tuple[int, str, str]]:
        """So many outcomes of a field, each with its label and its path."""
        mine = [path for path in self._scores if bare(class_of(path)) == name]
        pairs = [path for path in mine if path in self._partner]
        pairs.sort(key=lambda path: (path in self._told, -sum(self._scores[path]) / len(self._scores[path])))
        same = counts.get(Outcome.TP, 0)
        pools = {
            Outcome.TP: pairs[:same],
            Outcome.FD: pairs[same:],
            Outcome.FN: [path for path in mine if path not in self._partner],
            Outcome.FA: [path for path in self._alone if bare(class_of(path)) == name],
        }
        for outcome, count in counts.items():
            paths = pools[Outcome(outcome)][:count]
            for path in paths:
                yield outcome, class_of(path), path
            for _ in range(count - len(paths)):
                yield outcome, name, name


@examples(200)
@given(
    pairs=st.lists(st.tuples(RECORD, RECORD), min_size=1, max_size=3),
    accounting=st.sampled_from(["complete", "paired"]),
    wanted=st.dictionaries(
        st.tuples(st.integers(0, 2), st.integers(0, 10), st.sampled_from([Outcome.TP, Outcome.FA, Outcome.FD, Outcome.FN])),
        st.integers(1, 3),
    ),
)
def test_all_documents_at_once_have_what_each_has(pairs: list[tuple[Any, Any]], accounting: Any, wanted: Any) -> None:
    ledger = (
        Evaluator(Fields(schema=SCHEMA, accounting=accounting)).update(*map(list, zip(*pairs, strict=True))).compute().ledger
    )
    names = list(ledger.names["field"])
    wanted = {key: count for key, count in sorted(wanted.items()) if key[0] < len(pairs) and key[1] < len(names)}
    rows, starts = ledger.table("rows"), ledger.offsets("rows")
    clear = [
        (unit, field, *told)
        for unit in range(len(pairs))
        for field, name in enumerate(names)
        for told in OneDocument(rows.cut(int(starts[unit]), int(starts[unit + 1]))).of(
            name, {key[2]: count for key, count in wanted.items() if key[:2] == (unit, field)}
        )
    ]
    paths = Paths(rows)
    place = {name: code for code, name in enumerate(names)}
    fields = np.array([place.get(bare(label), -1) for label in paths.labels], dtype=np.int64)
    keys = [(unit * len(names) + field) * OUTCOMES + outcome for unit, field, outcome in wanted]
    made = Occurrences(rows, paths, fields).found(
        np.array(keys, dtype=np.int64), np.array(list(wanted.values()), dtype=np.int64), names
    )
    assert [(row["unit"], row["code"], row["outcome"], row["field"], row["path"]) for row in made.rows()] == clear
