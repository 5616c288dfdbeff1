"""One table of laws, tried on every task.

A new task joins by adding its row to ``SUBJECTS``; a new law by adding one to ``LAWS``.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import pytest
from hypothesis import Phase, assume, given
from hypothesis import strategies as st

from calque import Evaluator
from calque.base.errors import ConfigError
from calque.corpus.boxes import canonical
from calque.evaluation.metric_names import direction
from calque.evaluation.storage.state import pack, unpack
from calque.kernels import TWINS, VARIABLE, native_built
from calque.statistics.bootstrap import Resampling
from calque.statistics.gates import gated
from tests.examples import examples
from tests.laws.ceiling import CEILING, CEILING_OF_FIELDS, CEILING_OF_LAYOUT
from tests.laws.checks import CHECKS
from tests.laws.detection import DETECTION
from tests.laws.fields import FIELDS, PAIRED
from tests.laws.layout import LAYOUT
from tests.laws.order import ORDER
from tests.laws.subject import Document, Subject, bits, ledger_bits
from tests.laws.tables import TABLES, TABLES_2019
from tests.laws.words import WORDS

SUBJECTS = (
    DETECTION, LAYOUT, CHECKS, FIELDS, PAIRED, WORDS, TABLES, TABLES_2019, ORDER, CEILING, CEILING_OF_LAYOUT, CEILING_OF_FIELDS,
)  # fmt: skip

Data = st.DataObject


@dataclass(frozen=True)
class Law:
    """What must hold for any documents of any task."""

    title: str
    holds: Callable[[Subject, list[Document], Data], None]
    needs: tuple[str, ...] = ()
    """What a subject must tell of itself for the law to mean anything."""
    kernels: Literal["each", "fastest"] = "each"
    """Whether it is tried on each kind of kernels (on all but the fastest in the long run only), or on the fastest alone."""


# Adding up.


def _parts(documents: Sequence[Document], data: Data) -> list[list[Document]]:
    """The documents dealt out to any number of shards, in any order."""
    dealt = data.draw(st.lists(st.integers(0, 3), min_size=len(documents), max_size=len(documents)))
    shards: dict[int, list[Document]] = {}
    for shard, document in zip(dealt, documents, strict=True):
        shards.setdefault(shard, []).append(document)
    return data.draw(st.permutations(list(shards.values())))


def merging_any_split_in_any_order(subject: Subject, documents: list[Document], data: Data) -> None:
    evaluators = [subject.evaluator(part) for part in _parts(documents, data)]
    while len(evaluators) > 1:
        into = data.draw(st.integers(0, len(evaluators) - 2))
        evaluators[into].merge(evaluators.pop())
    assert bits(evaluators[0].compute()) == bits(subject.result(documents))


def updating_with_any_split_in_any_order(subject: Subject, documents: list[Document], data: Data) -> None:
    evaluator = Evaluator(subject.task)
    for part in _parts(documents, data):
        evaluator.update(*subject.corpora(part))
    assert bits(evaluator.compute()) == bits(subject.result(documents))


def selecting_documents_is_having_only_those(subject: Subject, documents: list[Document], data: Data) -> None:
    evaluators = []
    for part in _parts(documents, data):
        units = [document.unit for document in part]
        expected, found = (corpus.select(units) for corpus in subject.corpora(documents))
        evaluators.append(Evaluator(subject.task).update(expected, found))
    for other in evaluators[1:]:
        evaluators[0].merge(other)
    assert bits(evaluators[0].compute()) == bits(subject.result(documents))


def numbers_need_no_details(subject: Subject, documents: list[Document], data: Data) -> None:
    slim = Evaluator(subject.task, keep="numbers").update(*subject.corpora(documents)).compute()
    assert slim.numbers == subject.result(documents).numbers


# Keeping.


def state_round_trip(subject: Subject, documents: list[Document], data: Data) -> None:
    evaluator = subject.evaluator(documents)
    again = Evaluator.from_state(evaluator.state())
    assert bits(again.compute()) == bits(evaluator.compute())
    assert again.state() == evaluator.state()
    assert again.task == subject.task


def save_and_load(subject: Subject, documents: list[Document], data: Data) -> None:
    evaluator = subject.evaluator(documents)
    with tempfile.TemporaryDirectory() as folder:
        evaluator.save(Path(folder) / "state")
        assert bits(Evaluator.load(Path(folder) / "state").compute()) == bits(evaluator.compute())


def states_merge_as_evaluators_do(subject: Subject, documents: list[Document], data: Data) -> None:
    first, *others = [Evaluator.from_state(subject.evaluator(part).state()) for part in _parts(documents, data)]
    for other in others:
        first.merge(other)
    assert _without_remarks(first.state()) == _without_remarks(subject.evaluator(documents).state())


def _without_remarks(state: bytes) -> bytes:
    """The state less what was noticed about its files: a file that is split may give other cause for remarks."""
    header, ledger = unpack(state, "")
    del header["issues"]
    return pack(header, ledger)


def compute_is_idempotent(subject: Subject, documents: list[Document], data: Data) -> None:
    evaluator = subject.evaluator(documents)
    assert bits(evaluator.compute()) == bits(evaluator.compute())


# Order, names and units do not matter.


def shuffling_documents(subject: Subject, documents: list[Document], data: Data) -> None:
    assert bits(subject.result(data.draw(st.permutations(documents)))) == bits(subject.result(documents))


def renaming_documents_in_order(subject: Subject, documents: list[Document], data: Data) -> None:
    order = sorted((document.unit for document in documents), key=canonical)
    names = {unit: f"doc-{place:03}" for place, unit in enumerate(order)}
    renamed = [document.renamed(names[document.unit]) for document in documents]
    before, after = (bits(subject.result(those), units=False, but=subject.by_name) for those in (documents, renamed))
    assert after == before


def shuffling_items(subject: Subject, documents: list[Document], data: Data) -> None:
    assert subject.shufflable is not None
    assume(all(map(subject.shufflable, documents)))
    shuffled = [
        replace(
            document,
            expected=tuple(data.draw(st.permutations(document.expected))),
            found=tuple(data.draw(st.permutations(document.found))),
        )
        for document in documents
    ]
    assert subject.result(shuffled).numbers == subject.result(documents).numbers


def scaling_by_powers_of_two(subject: Subject, documents: list[Document], data: Data) -> None:
    assert subject.scaled is not None
    factor = 2.0 ** data.draw(st.integers(-20, 8))
    before, after = subject.result(documents), subject.result([subject.scaled(document, factor) for document in documents])
    assert ledger_bits(after, but=subject.in_units) == ledger_bits(before, but=subject.in_units)
    assert subject.unitless(after.numbers) == subject.unitless(before.numbers)


# Better and worse.


def perfect_prediction_is_one(subject: Subject, documents: list[Document], data: Data) -> None:
    assert subject.perfect is not None
    result = subject.result(list(map(subject.perfect, documents)))
    assert {result[name] for name in subject.ones} <= {1.0, None}
    if any(document.expected for document in documents):
        assert {result[name] for name in subject.ones} == {1.0}


def a_stray_item_never_raises_precision(subject: Subject, documents: list[Document], data: Data) -> None:
    assert subject.stray is not None
    chosen = data.draw(st.integers(0, len(documents) - 1))
    more = [subject.stray(document) if n == chosen else document for n, document in enumerate(documents)]
    _none_raised(subject, subject.precision, documents, more)


def removing_a_found_item_never_raises_recall(subject: Subject, documents: list[Document], data: Data) -> None:
    places = [(n, item) for n, document in enumerate(documents) for item in range(len(document.found))]
    assume(places)
    chosen, item = data.draw(st.sampled_from(places))
    fewer = list(documents)
    found = fewer[chosen].found
    fewer[chosen] = replace(fewer[chosen], found=found[:item] + found[item + 1 :])
    _none_raised(subject, subject.recall, documents, fewer)


def _none_raised(subject: Subject, names: Sequence[str], before: list[Document], after: list[Document]) -> None:
    first, second = subject.result(before), subject.result(after)
    for name in names:
        was, now = first[name], second[name]
        # A mean over documents gains a member when a stray item makes precision defined where it was not: at 0, the lowest.
        assert was is None or now is None or now <= was, name


# Several systems.


def no_rung_is_above_the_next(subject: Subject, documents: list[Document], data: Data) -> None:
    assert subject.rungs is not None
    for chain in subject.rungs(subject.result(documents)):
        known = [value for value in chain if value is not None]
        assert known == sorted(known)


def a_further_system_lowers_no_ceiling(subject: Subject, documents: list[Document], data: Data) -> None:
    assert subject.of_these is not None
    systems = data.draw(st.permutations(range(3)))
    fewer, more = (subject.ceilings(subject.of_these(subject, documents, systems[:count])) for count in (2, 3))
    for name, value in fewer.items():
        assert value is None or more[name] >= value, name


def a_copy_changes_no_ceiling(subject: Subject, documents: list[Document], data: Data) -> None:
    assert subject.of_these is not None
    systems = data.draw(st.permutations(range(3)))[:2]
    alone, again = (subject.of_these(subject, documents, those) for those in (systems, [*systems, systems[0]]))
    assert subject.ceilings(again) == subject.ceilings(alone)


def the_order_of_systems_changes_no_ceiling(subject: Subject, documents: list[Document], data: Data) -> None:
    assert subject.of_these is not None
    first, second = (subject.of_these(subject, documents, data.draw(st.permutations(range(3)))) for _ in range(2))
    assert subject.ceilings(first) == subject.ceilings(second)
    for level, block in first.numbers["levels"].items():
        other = second.numbers["levels"][level]
        assert {**block["single"]} == {**other["single"]}
        assert {**block["without"]} == {**other["without"]}
        assert [route["recall"] for route in block["route"].values()] == [route["recall"] for route in other["route"].values()]
        assert [route.get("f1") for route in block["route"].values()] == [route.get("f1") for route in other["route"].values()]
        assert (block["missed"], block["repairable"]) == (other["missed"], other["repairable"])
        assert block["pairs"] == other["pairs"]
        if first.numbers["kind"] != "fields":  # of records, who votes first is who ranks first, and ranks tie
            assert [block.get(key) for key in ("votes", "agreement")] == [other.get(key) for key in ("votes", "agreement")]
        assert block["suspects"] == other["suspects"]
    assert first.numbers["ap"] == second.numbers["ap"]


# Names and gates.


def every_measure_has_a_name(subject: Subject, documents: list[Document], data: Data) -> None:
    result = subject.result(documents)
    measures = result.measures()
    assert {name: result[name] for name in measures} == measures
    assert measures.keys() >= {*subject.ones, *subject.precision, *subject.recall}
    assert result.flat("val/") == {f"val/{name}": value for name, value in measures.items() if value is not None}


def the_value_itself_passes_a_gate(subject: Subject, documents: list[Document], data: Data) -> None:
    result = subject.result(documents)
    for name, value in result.measures().items():
        better = direction(subject.task, name)
        for gate, beyond in (("fail_under", math.inf), ("fail_over", -math.inf)):
            if better == (-1 if gate == "fail_under" else 1):
                with pytest.raises(ConfigError, match="better there; use --fail-"):
                    gated(result, **{gate: {name: 0.5}})
            elif value is None:
                assert len(gated(result, **{gate: {name: 0.5}}).verdict.failures) == 1
            else:
                assert not gated(result, **{gate: {name: value}}).verdict.failures
                assert gated(result, **{gate: {name: math.nextafter(value, beyond)}}).verdict.failures


def what_is_lost_is_told_exactly(subject: Subject, documents: list[Document], data: Data) -> None:
    """A gain never fails, exactly what is tolerated passes, anything more fails: whichever of two runs is the baseline."""
    changed = [replace(document, found=()) if data.draw(st.booleans()) else document for document in documents]
    base, run = data.draw(st.permutations([subject.result(documents), subject.result(changed)]))
    before, now = base.measures(), run.measures()
    lost = {
        name: direction(subject.task, name) * (was - is_now)
        for name in subject.task.compared(base.numbers)
        if (was := before[name]) is not None and (is_now := now.get(name)) is not None and direction(subject.task, name)
    }
    assume(lost)
    few = Resampling(replicates=100)
    exactly = gated(run, baseline=base, tolerance={name: max(0.0, much) for name, much in lost.items()}, resampling=few)
    assert exactly.verdict.failures == []
    losses = {name: much for name, much in lost.items() if much > 1e-9}
    if losses:
        half = gated(run, baseline=base, tolerance={name: much / 2 for name, much in losses.items()}, resampling=few)
        assert len(half.verdict.failures) == len(losses)


# Thresholds.


def a_higher_threshold_filters(subject: Subject, documents: list[Document], data: Data) -> None:
    assert subject.at is not None
    low, high = sorted(data.draw(st.lists(st.integers(1, 20), min_size=2, max_size=2, unique=True)))
    both = subject.result(documents, subject.at((low / 20, high / 20)))
    alone = subject.result(documents, subject.at((high / 20,)))
    assert subject.numbers_at(both, high / 20) == subject.numbers_at(alone, high / 20)
    lists = [list(result.outcomes(threshold=high / 20).rows()) for result in (both, alone)]
    assert lists[0] == lists[1]


# Slices.


def _with_classes_of(block: Any, alone: Any) -> Any:
    """A block of a slice with the classes of a run on its documents; the other ones must not count anything."""
    if not isinstance(block, Mapping) or not isinstance(alone, Mapping):
        return block
    made = {key: _with_classes_of(value, alone.get(key)) for key, value in block.items()}
    if "per_class" in made:
        absent = made["per_class"].keys() - alone["per_class"].keys()
        assert all(value in (0, None) for label in absent for value in made["per_class"][label].values())
        made["per_class"] = {label: made["per_class"][label] for label in alone["per_class"]}
    return made


def a_slice_is_a_run_on_its_documents(subject: Subject, documents: list[Document], data: Data) -> None:
    names = [str(document.unit) for document in documents]
    assume(len(set(names)) == len(names))
    values = data.draw(st.lists(st.sampled_from(["", "one", "two"]), min_size=len(names), max_size=len(names)))
    columns = {"kind": dict(zip(names, values, strict=True))}
    alone_task = replace(subject.task, by=(), metadata="")
    task = replace(subject.task, by=("kind",), metadata=json.dumps({"file": "metadata.csv", "columns": columns}))
    result, view = subject.result(documents, task), subject.task.view().slices
    if view is None:  # a ceiling routes by the column
        assert "slices" not in result.numbers
        return
    tree = result.numbers["slices"]["kind"]
    blocks = {**tree["values"], "": tree["without_value"]}
    assert set(tree["values"]) == set(values) - {""}
    assert sum(block["documents"] for block in blocks.values() if block is not None) == len(result.ledger.units)
    for value, block in blocks.items():
        chosen = [document for document, own in zip(documents, values, strict=True) if own == value]
        if not chosen:
            assert block is None
            continue
        alone = subject.result(chosen, alone_task)
        wanted = {"documents": len(alone.ledger.units), **view.block(alone.numbers)}
        assert _with_classes_of(block, wanted) == wanted
    plain = subject.result(documents, alone_task)
    assert {key: value for key, value in result.numbers.items() if key != "slices"} == plain.numbers
    assert Evaluator(task, keep="numbers").update(*subject.corpora(documents)).compute().numbers == result.numbers
    shards = [subject.evaluator([document], task) for document in documents]
    for shard in shards[1:]:
        shards[0].merge(shard)
    assert shards[0].compute().numbers == result.numbers


# Kernels.


def kernels_agree(subject: Subject, documents: list[Document], data: Data) -> None:
    results = []
    for name in AVAILABLE:
        with kernels_chosen(name):
            results.append(bits(subject.result(documents)))
    assert len(set(results)) == 1


def threads_agree(subject: Subject, documents: list[Document], data: Data) -> None:
    alone = subject.result(documents)
    together = Evaluator(subject.task, jobs=3).update(*subject.corpora(documents)).compute()
    assert bits(together) == bits(alone)


def evaluating_at_the_same_time(subject: Subject, documents: list[Document], data: Data) -> None:
    corpora = subject.corpora(documents)
    begin = threading.Barrier(4)

    def evaluate(_: int) -> Hashable:
        begin.wait()
        return bits(Evaluator(subject.task).update(*corpora).compute())

    with ThreadPoolExecutor(4) as pool:
        at_once = list(pool.map(evaluate, range(4)))
    assert at_once == [bits(subject.result(documents))] * 4


LAWS = (
    Law("no rung is above the next", no_rung_is_above_the_next, ("rungs",)),
    Law("a further system lowers no ceiling", a_further_system_lowers_no_ceiling, ("of_these",)),
    Law("a copy of a system changes no ceiling", a_copy_changes_no_ceiling, ("of_these",)),
    Law("the order of systems changes no ceiling", the_order_of_systems_changes_no_ceiling, ("of_these",)),
    Law("merging in any order and any split equals one pass", merging_any_split_in_any_order),
    Law("updating in any order and any split equals one pass", updating_with_any_split_in_any_order),
    Law("selecting documents is having only those", selecting_documents_is_having_only_those),
    Law("numbers need no details", numbers_need_no_details),
    Law("from_state(state()) is identity", state_round_trip),
    Law("load(save()) is identity", save_and_load),
    Law("merged states are the state of one pass", states_merge_as_evaluators_do),
    Law("compute is idempotent", compute_is_idempotent),
    Law("shuffling documents changes nothing", shuffling_documents),
    Law("renaming documents in order changes nothing", renaming_documents_in_order),
    Law("shuffling items without ties changes no number", shuffling_items, ("shufflable",)),
    Law("scaling by powers of two changes nothing", scaling_by_powers_of_two, ("scaled",)),
    Law("a perfect prediction scores 1", perfect_prediction_is_one, ("perfect",)),
    Law("an item that overlaps no truth never raises precision", a_stray_item_never_raises_precision, ("stray",)),
    Law("removing a found item never raises recall", removing_a_found_item_never_raises_recall, ("recall",)),
    Law("every measure is found under its name", every_measure_has_a_name),
    Law("the value itself passes a gate, the next one beyond does not", the_value_itself_passes_a_gate),
    # The reference kernels draw the same replicates (test_weights.py), and take their time.
    Law("what is lost against a baseline is told exactly", what_is_lost_is_told_exactly, kernels="fastest"),
    Law("the match at a higher threshold is the filtered one", a_higher_threshold_filters, ("at",)),
    Law("a slice has the numbers of a run on its documents", a_slice_is_a_run_on_its_documents, kernels="fastest"),
    Law("reference and native kernels agree", kernels_agree, kernels="fastest"),
    Law("any number of threads gives the same bits", threads_agree),
    Law("evaluations at the same time do not disturb each other", evaluating_at_the_same_time),
)

AVAILABLE = tuple(name for name in TWINS if name != "native" or native_built())


@contextmanager
def kernels_chosen(name: str) -> Iterator[None]:
    """These kernels and no others."""
    with patch.dict(os.environ, {VARIABLE: name}):
        yield


def cases(laws: Sequence[Law], kernels: Sequence[str]) -> list[Any]:
    """Every law on every task that it means something for, and on each of these kernels."""
    return [
        pytest.param(law, subject, name, id=f"{subject.name}: {law.title} [{name}]")
        for subject in SUBJECTS
        for law in laws
        for name in kernels
        if all(getattr(subject, need) for need in law.needs)
    ]


# Laws go over what other tests go over: they are there for the numbers and not for coverage, which takes as long again.
@pytest.mark.no_cover
@pytest.mark.parametrize(("law", "subject", "kernels"), cases(LAWS, AVAILABLE[:1]))
# Times the laws, the tasks and the kernels; hypothesis' explanations cost minutes where a corpus breaks a law.
@examples(20, phases=set(Phase) - {Phase.explain})
@given(data=st.data())
def test_law(law: Law, subject: Subject, kernels: str, data: Data) -> None:
    documents = data.draw(subject.documents)
    with kernels_chosen(kernels):
        law.holds(subject, documents, data)


@pytest.mark.long  # both kernels give the same bits, which is a law: one tells of the other
@pytest.mark.parametrize(("law", "subject", "kernels"), cases([law for law in LAWS if law.kernels == "each"], AVAILABLE[1:]))
@examples(8, phases=set(Phase) - {Phase.explain})
@given(data=st.data())
def test_law_on_other_kernels(law: Law, subject: Subject, kernels: str, data: Data) -> None:
    documents = data.draw(subject.documents)
    with kernels_chosen(kernels):
        law.holds(subject, documents, data)
