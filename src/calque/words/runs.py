"""Several predictions of one truth: evaluated side by side, and shown as runs beside the lattice that they make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from calque.core.errors import ConfigError
from calque.core.evaluator import Evaluator, Keep
from calque.core.presentation.sections import Section
from calque.core.result import Result
from calque.words.presentation import SCOPES, TITLES
from calque.words.reading import lattices_for, read_all, with_lattices

if TYPE_CHECKING:
    from calque.words.task import Words


def evaluated(
    task: Words, truth: Any, predictions: Sequence[str], *, keep: Keep = "outcomes", jobs: int = 1
) -> dict[str, Evaluator]:
    """One evaluator for each prediction, all against one truth; the lattice is the first one's."""
    if len(set(predictions)) < len(predictions):
        raise ConfigError("the same PRED is given twice")
    expected, found = read_all(task, truth, predictions)
    named = dict(zip(predictions, found, strict=True))
    lattices = lattices_for(task, expected, named)
    alone = replace(task, lattice="none", build_lattice=False)
    made = {}
    for position, (name, corpus) in enumerate(named.items()):
        mine, beside = (alone, corpus) if position else (task, with_lattices(task, corpus, lattices))
        made[name] = Evaluator(mine, keep=keep, jobs=jobs).update(expected, beside)
    return made


def tree(results: Mapping[str, Result]) -> dict[str, Any]:
    """The JSON of several runs: what they share at the top, each one's own numbers under its name."""
    trees = {name: result.to_dict() for name, result in results.items()}
    first = next(iter(trees.values()))
    oracle = {"oracle": _against_all(first.pop("oracle"), trees)} if "oracle" in first else {}
    return {
        **{key: first[key] for key in ("task", "version", "signature", "settings")},
        "runs": {
            name: {key: value for key, value in tree.items() if key not in ("task", "version")} for name, tree in trees.items()
        },
        **oracle,
    }


def _against_all(oracle: dict[str, Any], trees: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Without sources of its own, a lattice is held against the best of the predictions."""
    recalls = [tree["micro"]["recall"] for tree in trees.values()]
    if oracle["sources"] or oracle["recall"] is None or None in recalls:
        return oracle
    best = max(recalls)
    repairable = (oracle["recall"] - best) / (1 - best) if best < 1 else None
    return {**oracle, "best_source_recall": best, "repairable": repairable}


def rows(results: Mapping[str, Result]) -> list[dict[str, Any]]:
    """The numbers of all runs as rows of one table, for spreadsheets."""
    return [{"run": name, **row} for name, result in results.items() for row in result.task.flat(result.numbers)]


def listed(results: Mapping[str, Result]) -> Iterator[dict[str, Any]]:
    """The outcomes of all runs one by one."""
    return ({"run": name, **row} for name, result in results.items() for row in result.outcomes().rows())


def sections(results: Mapping[str, Result]) -> list[Section]:
    """The runs below each other in one table, then the lattice and the signature."""
    first = next(iter(results.values()))
    names = list(first.numbers["micro"])
    tables = [
        Section(
            title=label,
            head=("prediction", *(TITLES[name] for name in names)),
            rows=[(run, *(result.numbers[scope][name] for name in names)) for run, result in results.items()],
        )
        for scope, label in SCOPES.items()
    ]
    lattice = [section for section in first.task.sections(first.to_dict()) if section.title == "Lattice"]
    notes = [f"{run}: {issue}" for run, result in results.items() for issue in result.issues]
    noticed = [Section(title="noticed in the data", notes=notes)] if notes else []
    return [*tables, *lattice, *noticed, Section(title="", notes=[str(first.signature)])]
