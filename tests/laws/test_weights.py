"""The laws of weighted documents and of comparison, tried on every task.

The first is the definition: weights w give the numbers of the corpus in which document i occurs w_i times, under new ids.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, assume, given
from hypothesis import strategies as st

from calque import Evaluator, Result, compare, intervals, resample
from calque.corpus.boxes import canonical
from calque.statistics.bootstrap import Bootstrap, Resampling
from calque.statistics.presentation import tree
from tests.examples import examples
from tests.laws.subject import Document, Subject
from tests.laws.tables import TABLES_2019
from tests.laws.test_laws import AVAILABLE, Law, _parts, cases, kernels_chosen

FEW = Resampling(replicates=100, seed=3)
Data = st.DataObject


def in_order(documents: Sequence[Document]) -> list[Document]:
    return sorted(documents, key=lambda document: canonical(document.unit))


def repeated(documents: Sequence[Document], weights: Sequence[int]) -> list[Document]:
    """Each document as often as its weight says, copies behind each other under new ids."""
    return [
        document.renamed(1000 * place + copy)
        for place, (document, weight) in enumerate(zip(in_order(documents), weights, strict=True))
        for copy in range(weight)
    ]


def number(result: Result, name: str) -> float:
    """A number of a result; NaN where it is undefined, or where the class is not there at all."""
    try:
        value = result[name]
    except KeyError:
        return math.nan
    return math.nan if value is None else value


def agree(found: float, wanted: float, name: str) -> bool:
    # A class that is not there has no numbers; weighted, it is there, and has none of anything.
    if math.isnan(wanted) and found == 0.0 and "/" in name:
        return True
    # Plain numbers of fields are 0.0 where 0 is divided by 0; weighted ones are undefined.
    if math.isnan(found) and wanted == 0.0 and name.startswith(("cm_", "weighted_overall_score")):
        return True
    return (math.isnan(found) and math.isnan(wanted)) or math.isclose(found, wanted, rel_tol=1e-12, abs_tol=1e-12)


def by_name(subject: Subject, name: str) -> bool:
    """Whether a measure depends on what documents are called: what is learnt on one half of them is tried on the other."""
    return name.partition("@")[0].partition("/")[0].rpartition(".")[2] in subject.by_name


def weights_are_multiplicities(subject: Subject, documents: list[Document], data: Data) -> None:
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(documents), max_size=len(documents)))
    assume(any(weights))
    found = resample(subject.result(documents), np.array([weights]))
    wanted = subject.result(repeated(documents, weights))
    for name, values in found.items():
        told = name, weights, values[0], number(wanted, name)
        assert by_name(subject, name) or agree(float(values[0]), number(wanted, name), name), told


def weights_of_one_give_the_plain_numbers(subject: Subject, documents: list[Document], data: Data) -> None:
    result = subject.result(documents)
    found = resample(result, np.ones((1, len(result.ledger.units)), np.int64))
    assert list(found) == result.task.names(result.numbers)
    for name, values in found.items():
        assert by_name(subject, name) or agree(float(values[0]), number(result, name), name), name


def both_kernels_draw_the_same(subject: Subject, documents: list[Document], data: Data) -> None:
    result = subject.result(documents)
    drawn = []
    for name in AVAILABLE:
        with kernels_chosen(name):
            replicates = Bootstrap(result).draw(FEW, result.task.compared(result.numbers))
            drawn.append({measure: values.tobytes() for measure, values in replicates.items()})
    assert drawn == drawn[:1] * len(drawn)


def order_shards_states_and_workers_change_no_bit(subject: Subject, documents: list[Document], data: Data) -> None:
    plain = repr(intervals(subject.result(documents), FEW))
    evaluators = [subject.evaluator(part) for part in _parts(documents, data)]
    for other in evaluators[1:]:
        evaluators[0].merge(Evaluator.from_state(other.state()))
    assert repr(intervals(evaluators[0].compute(), FEW)) == plain
    assert repr(intervals(subject.result(documents), FEW, jobs=3)) == plain


def _two_runs(subject: Subject, documents: list[Document], data: Data) -> tuple[Result, Result]:
    """The documents as they are, and with what was found in them dealt out anew among the documents."""
    dealt = data.draw(st.permutations([document.found for document in documents]))
    other = [replace(document, found=found) for document, found in zip(documents, dealt, strict=True)]
    first, second = (subject.evaluator(run) for run in (documents, other))
    return first.compute(), second.compute()


def exchanged_runs_mirror_their_differences(subject: Subject, documents: list[Document], data: Data) -> None:
    runs = _two_runs(subject, documents, data)
    there, back = (compare(order, resampling=FEW) for order in (runs, runs[::-1]))
    assert there.measures.keys() | back.measures.keys() == there.measures.keys() & back.measures.keys()
    for name in there.measures:
        one, other = there.delta(name), back.delta(name)
        assert (one.se, one.p, one.documents, one.detectable) == (other.se, other.p, other.documents, other.detectable)
        assert (one.value, one.low, one.high) == tuple(None if x is None else -x for x in (other.value, other.high, other.low))
    changes = [next(iter(comparison.changes.values())) for comparison in (there, back)]
    assert changes[0].count("fixed") == changes[1].count("broken")
    assert (changes[0].documents.better, changes[0].documents.equal) == (changes[1].documents.worse, changes[1].documents.equal)


def a_pair_does_not_depend_on_further_runs(subject: Subject, documents: list[Document], data: Data) -> None:
    first, second = _two_runs(subject, documents, data)
    third = subject.result([replace(document, found=()) for document in documents])
    pair, more = (compare(runs, list("abc"[: len(runs)]), resampling=FEW) for runs in ((first, second), (first, second, third)))
    for name, measure in pair.measures.items():
        assert more.measures[name].runs["b"] == measure.runs["b"]
        assert more.delta(name, "b").p == pair.delta(name).p
        assert more.delta(name, "b").low == pair.delta(name).low
    assert more.changes["b"].changed == pair.changes["b"].changed


def equal_runs_differ_by_exactly_nothing(subject: Subject, documents: list[Document], data: Data) -> None:
    comparison = compare([subject.result(documents), subject.result(documents)], resampling=FEW)
    for name, measure in comparison.measures.items():
        delta = comparison.delta(name)
        assert delta.value in (0.0, None)
        assert delta.p in (1.0, None)
        assert delta.low == delta.high
        assert delta.verdict in (None, "equal", "undecided")
        assert delta.verdict != "undecided" or measure.runs["run 1"].value is None or delta.se is None
    changes = comparison.changes["run 2"]
    assert not changes.changed
    assert (changes.new_alarms, changes.gone_alarms, changes.documents.better, changes.documents.worse) == (0, 0, 0, 0)
    assert not tree(comparison)["changed"]


LAWS = [
    Law(function.__name__.replace("_", " "), function, kernels=kernels)
    for function, kernels in (
        (weights_are_multiplicities, "each"),
        (weights_of_one_give_the_plain_numbers, "each"),
        (both_kernels_draw_the_same, "fastest"),
        # All that follows is made of replicates, which are the same bits by either kernels.
        (order_shards_states_and_workers_change_no_bit, "fastest"),
        (exchanged_runs_mirror_their_differences, "fastest"),
        (a_pair_does_not_depend_on_further_runs, "fastest"),
        (equal_runs_differ_by_exactly_nothing, "fastest"),
    )
]


def quick_or_long(rows: Sequence[Any]) -> list[Any]:
    """Tables of 2019 have measures at so many thresholds that they take as long as four other tasks; tables are there too."""
    return [
        pytest.param(*row.values, id=row.id, marks=[pytest.mark.long] if row.values[1] is TABLES_2019 else []) for row in rows
    ]


@pytest.mark.no_cover
@pytest.mark.parametrize(("law", "subject", "kernels"), quick_or_long(cases(LAWS, AVAILABLE[:1])))
@examples(8, phases=set(Phase) - {Phase.explain})
@given(data=st.data())
def test_law(law: Law, subject: Subject, kernels: str, data: Data) -> None:
    documents = data.draw(subject.documents)
    with kernels_chosen(kernels):
        law.holds(subject, documents, data)


@pytest.mark.long
@pytest.mark.parametrize(("law", "subject", "kernels"), cases([law for law in LAWS if law.kernels == "each"], AVAILABLE[1:]))
@examples(8, phases=set(Phase) - {Phase.explain})
@given(data=st.data())
def test_law_on_other_kernels(law: Law, subject: Subject, kernels: str, data: Data) -> None:
    documents = data.draw(subject.documents)
    with kernels_chosen(kernels):
        law.holds(subject, documents, data)
