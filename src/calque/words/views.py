"""What can be looked at beside the numbers of words: rows, one document, what was taken out, several runs side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array, Strings, Table
from calque.base.errors import ConfigError, did_you_mean
from calque.base.wording import counted, joined, percent, short_names
from calque.corpus.boxes import UnitId
from calque.corpus.words import Edge, Lattice, WordCorpus
from calque.engines import current_progress
from calque.evaluation.evaluator import Evaluator, Keep
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.presentation.sections import Section, noticed, with_reasons
from calque.evaluation.result import Result
from calque.evaluation.verdict import FAILED, PASSED
from calque.words.lattice.best_path import oracle
from calque.words.presentation import SCOPES, SLICES, TITLES, errors_of, side_by_side
from calque.words.reading import lattices_for, read_all, with_lattices
from calque.words.scoring import STATUS_NAMES, Status

if TYPE_CHECKING:
    from calque.words.task import Words


def shown(ledger: Ledger, document: str, name: str, *, columns: int | None = None, context: int | None = None) -> Iterator[str]:
    """Truth and prediction of one document side by side, below a line that says which they are."""
    ref, pred, pairs = texts_of(ledger, document)
    yield f"{document}: truth (left), {name} (right); {len(pairs):,} of {len(ref):,} words match"
    yield from side_by_side(ref, pred, pairs, columns=columns, context=context)


def texts_of(ledger: Ledger, document: str) -> tuple[list[str], list[str], list[tuple[int, int]]]:
    """One document's words on both sides, and which go together."""
    names = {str(unit): row for row, unit in enumerate(ledger.units)}
    if document not in names:
        raise ConfigError(f"--show: there is no document {document!r}. {did_you_mean(document, names)}".strip())
    row, vocabulary = names[document], ledger.names["word"]
    spans = {side: slice(*ledger.offsets(side)[row : row + 2].tolist()) for side in ("truth", "found")}
    words = {
        side: [vocabulary[code] for code in ledger.table(side).array("word")[span].tolist()] for side, span in spans.items()
    }
    partners = ledger.table("truth").array("match")[spans["truth"]].tolist()
    return words["truth"], words["found"], [(i, j) for i, j in enumerate(partners) if j >= 0]


def removed(ledger: Ledger) -> Iterator[dict[str, Any]]:
    """Each thing that clean-up took out of the truth."""
    steps = ledger.names["step"]
    for row in ledger.table("removed").rows():
        yield {"document": ledger.units[row["unit"]], "step": steps[row["step"]], "amount": row["words"], "text": row["text"]}


@dataclass(frozen=True)
class Runs:
    """Several predictions of one truth, each evaluated under its name; and the lattice that was built or given."""

    evaluators: Mapping[str, Evaluator]
    lattices: Mapping[UnitId, Lattice]


def evaluated(task: Words, truth: Any, predictions: Sequence[str], *, keep: Keep = "outcomes", jobs: int = 1) -> Runs:
    """One evaluator for each prediction, all against one truth; the lattice is the first one's.

    Without predictions the sources of the lattice are read in their place, each alone; without sources, its best path.
    """
    if len(set(predictions)) < len(predictions):
        raise ConfigError("the same PRED is given twice")
    expected, found = read_all(task, truth, predictions)
    named = dict(zip(short_names(list(predictions)).values(), found, strict=True))
    lattices = lattices_for(task, expected, named)
    if task.lattice == "built":
        task = replace(task, lattice=f"built from {', '.join(sorted(named))}")
    named = named or alone(expected, with_lattices(task, WordCorpus.of({}), lattices).lattices)
    without = replace(task, lattice="none", build_lattice=False)
    made = {}
    current_progress().expect(len(named) * len({*expected.units()}))
    for position, (name, corpus) in enumerate(named.items()):
        mine, beside = (without, corpus) if position else (task, with_lattices(task, corpus, lattices))
        made[name] = Evaluator(mine, keep=keep, jobs=jobs).update(expected, beside)
    return Runs(made, lattices)


def with_one_lattice(results: Mapping[str, Result]) -> dict[str, Result]:
    """Results that can be compared: the lattice is the first one's, and no number of the others knows of it."""
    first = next(iter(results.values())).task
    return {name: replace(result, task=first) for name, result in results.items()}


def alone(truth: WordCorpus, lattices: Mapping[UnitId, Lattice]) -> dict[str, WordCorpus]:
    """What each source of the lattices reads by itself; where none is named, the words of the best paths."""
    sources = sorted({name for lattice in lattices.values() for name in lattice.sources})
    if sources:
        return {
            name: WordCorpus.of({unit: lattice.read_by(name) for unit, lattice in lattices.items()}, model=name)
            for name in sources
        }
    words = dict(truth.by_document())
    best = {unit: oracle(words.get(unit, []), lattice=lattice).words for unit, lattice in lattices.items()}
    return {"best path": WordCorpus.of(best, model="best path")}


def chosen(runs: Runs, document: str) -> Section | None:
    """Where a document's lattice has a choice: what the best path takes, who read it, and what else was read."""
    ledger = next(iter(runs.evaluators.values())).ledger()
    names = {str(unit): row for row, unit in enumerate(ledger.units)}
    lattice = runs.lattices.get(ledger.units[names[document]])
    if lattice is None or lattice.slots is None:
        return None
    first, last = ledger.offsets("path")[names[document] : names[document] + 2].tolist()
    path = ledger.table("path").array("candidate")[first:last].tolist()
    slots: dict[Any, list[Edge]] = {}
    for edge in lattice.edges:
        slots.setdefault(edge.start, []).append(edge)
    rows = []
    for (slot, edges), pick in zip(slots.items(), path, strict=True):
        taken = next(edge for edge in edges if edge.candidate == pick)
        others = [_read_as(edge) for edge in edges if edge is not taken]
        if others:
            rows.append((str(slot), " ".join(taken.words) or "(nothing)", ", ".join(taken.sources), "; ".join(others)))
    return Section(
        title=f"{document}: the choices of the best path", head=("slot", "best path", "source", "instead of"), rows=rows
    )


def _read_as(edge: Edge) -> str:
    by = f" ({', '.join(edge.sources)})" if edge.sources else ""
    return f"{' '.join(edge.words) or '(nothing)'}{by}"


def tree(results: Mapping[str, Result]) -> dict[str, Any]:
    """The JSON of several runs: what they share at the top, each one's own numbers under its name."""
    trees = {name: result.to_dict() for name, result in results.items()}
    first = next(iter(trees.values()))
    oracle = _oracle(first, trees) if "oracle" in first else {}
    failures = [f"{name}: {failure}" for name, result in results.items() for failure in result.failures]
    judged = any(result.verdict for result in results.values())
    return {
        **{key: first[key] for key in ("task", "version", "signature", "settings")},
        "runs": {
            name: {key: value for key, value in tree.items() if key not in ("task", "version")} for name, tree in trees.items()
        },
        **oracle,
        **({"gate": {"passed": not failures, "failures": failures}} if judged else {}),
    }


def _oracle(first: dict[str, Any], trees: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Take the oracle out of the first run, with the reasons why some of its numbers are undefined."""
    oracle = _against_all(first.pop("oracle"), trees)
    reasons = {path: reason for path, reason in first["undefined"].items() if path.startswith("oracle.")}
    first["undefined"] = {path: reason for path, reason in first["undefined"].items() if path not in reasons}
    if oracle["repairable"] is not None:
        reasons.pop("oracle.repairable", None)
    else:
        reasons.setdefault("oracle.repairable", "the best prediction makes no errors")
    if oracle["best_source_recall"] is not None:
        reasons.pop("oracle.best_source_recall", None)
    return {"oracle": oracle, "undefined": reasons}


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
    return [{"run": name, **row} for name, result in results.items() for row in result.spreadsheet()]


def listed(results: Mapping[str, Result]) -> Iterator[dict[str, Any]]:
    """The outcomes of all runs one by one."""
    return ({"run": name, **row} for name, result in results.items() for row in result.outcomes().rows())


def sections(results: Mapping[str, Result], *, brief: bool = False) -> list[Section]:
    """Which run is best, the runs below each other in one table, the lattice and the signature; in brief without details."""
    unevaluated = [(run, result) for run, result in results.items() if result.unevaluated is not None]
    results = {run: result for run, result in results.items() if result.unevaluated is None}
    missing = [section for run, result in unevaluated for section in _of_run(run, result.warning())]
    if not results:
        return [*missing, Section(title="", notes=[str(unevaluated[0][1].signature)])]
    first = next(iter(results.values()))
    names = list(first.numbers["micro"])
    trees = {run: with_reasons(result.to_dict()) for run, result in results.items()}
    tables = [
        Section(
            title=label,
            head=("prediction", *(TITLES[name] for name in names)),
            rows=[(run, *(tree[scope][name] for name in names)) for run, tree in trees.items()],
        )
        for scope, label in SCOPES.items()
    ]
    if brief:
        rest = []
    else:
        whole = first.task.view().sections(with_reasons(first.to_dict()))
        lattice = [section for section in whole if section.title in LATTICE or section.title.startswith("In no candidate")]
        confused = [
            replace(section, title=f"{run}: {section.title[0].lower()}{section.title[1:]}")
            for run, tree in trees.items()
            for section in errors_of(tree.get("errors") or {})
            if section.rows
        ]
        sliced = [
            replace(section, title=f"{run}: {section.title[0].lower()}{section.title[1:]}")
            for run, tree in trees.items()
            for section in SLICES.sections(tree)
        ]
        cleaned = [section for section in whole if section.title == "Clean-up of the truth"]
        issues = (issue for result in results.values() for issue in result.issues)
        rest = [_sizes(trees), *lattice, *cleaned, *confused, *sliced, *noticed(issues)]
    told = Section(title="", notes=[sentence(results)])
    warnings = [section for run, result in results.items() for section in _of_run(run, result.warning())]
    gates = [section for run, result in results.items() for section in _of_run(run, result.verdict.sections())]
    return [*missing, *warnings, told, *tables, *rest, *gates, Section(title="", notes=[str(first.signature)])]


def _of_run(run: str, sections: Sequence[Section]) -> list[Section]:
    """What gates say of one of several runs, under its name."""
    return [
        replace(section, title=section.title.replace(FAILED, f"{FAILED} ({run})").replace(PASSED, f"{PASSED} ({run})"))
        for section in sections
    ]


LATTICE = ("Lattice", "What the best path takes")


def _sizes(trees: Mapping[str, Mapping[str, Any]]) -> Section:
    """How many documents and words each run has, and what of it does not count."""
    names = ("documents", "missing_predictions", "words", "predicted_words", "matches", "ignored_words")
    head = ("prediction", "documents", "without prediction", "true words", "predicted", "matches", "ignored words")
    rows = [(run, *(tree["counts"][name] for name in names)) for run, tree in trees.items()]
    return Section(title="Documents and words", head=head, rows=rows)


def sentence(results: Mapping[str, Result]) -> str:
    """Which run reads most, and how much that is."""
    recalls = {run: result["micro.recall"] for run, result in results.items()}
    known = {run: recall for run, recall in recalls.items() if recall is not None}
    if not known:
        return "There is nothing to read: the truth has no words."
    most = max(known.values())
    best = [run for run, recall in known.items() if recall == most]
    verb = "reads" if len(best) == 1 else "read"
    return f"Of {counted(len(results), 'prediction')} {joined(best)} {verb} most: {percent(most)} of the words in order."


def outcomes(ledger: Ledger) -> Table:
    """True words (tp or fn), predicted words (tp or fp), then documents that are not part of the test (ignored)."""
    if "word" not in ledger.table("truth"):
        raise ValueError('the words were let go of (keep="numbers"): evaluate again and keep outcomes')
    truth, found = ledger.table("truth"), ledger.table("found")
    ours, theirs = _places(ledger, "truth"), _places(ledger, "found")
    ignored = np.flatnonzero(ledger.table("documents").array("status") != Status.HELD_OUT)
    nowhere = np.full(len(ignored), -1)
    unit = np.concatenate([truth.array(UNIT), found.array(UNIT), ignored])
    match = np.concatenate([truth.array("match"), found.array("match"), nowhere])
    status = ledger.table("documents").array("status")
    return Table({
        "document": Strings.pack(str(ledger.units[row]) for row in unit.tolist()),
        "side": _repeated([("truth", truth.height), ("prediction", found.height), ("document", len(ignored))]),
        "position": np.concatenate([ours, theirs, nowhere]),
        "word": Strings.pack([*_words(ledger, truth), *_words(ledger, found), *[""] * len(ignored)]),
        "outcome": Strings.pack([
            *("tp" if partner >= 0 else "fn" for partner in truth.array("match").tolist()),
            *("tp" if partner >= 0 else "fp" for partner in found.array("match").tolist()),
            *["ignored"] * len(ignored),
        ]),
        "partner": match,
        "reason": Strings.pack([*[""] * (truth.height + found.height), *(STATUS_NAMES[status[row]] for row in ignored)]),
    })  # fmt: skip


def _places(ledger: Ledger, table: str) -> Array:
    units = ledger.table(table).array(UNIT)
    return np.arange(len(units)) - ledger.offsets(table)[units]


def _words(ledger: Ledger, table: Table) -> list[str]:
    vocabulary = ledger.names["word"]
    return [vocabulary[code] for code in table.array("word").tolist()]


def _repeated(parts: list[tuple[str, int]]) -> Strings:
    return Strings.pack(text for text, times in parts for _ in range(times))
