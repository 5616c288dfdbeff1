"""Ceilings before the laws: the boxes of detection dealt to three systems, and records of three systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from calque import Ceiling, Evaluator, Result
from calque.ceiling import Systems
from calque.corpus.boxes import Corpus, UnitId
from calque.corpus.records import RecordCorpus
from tests.laws import detection, fields, layout
from tests.laws.subject import Document, Subject

NAMES = ("one", "two", "three")
LEVELS = (0.3, 0.5)


def dealt(box: detection.Box) -> int:
    """The system of a box: by its score, which nothing changes."""
    return round(1000 * (box.score or 0)) % len(NAMES)


def of_system(chosen: Sequence[Document], system: int) -> list[Document]:
    """The documents with what one system found in them."""
    return [replace(document, found=tuple(box for box in document.found if dealt(box) == system)) for document in chosen]


def corpora(chosen: Sequence[Document], systems: Sequence[int] = range(len(NAMES))) -> tuple[Corpus, Systems]:
    """The truth and some systems of some documents, each system under its own name."""
    parts = tuple(detection.corpora(of_system(chosen, system))[1] for system in systems)
    names = tuple(f"{NAMES[system]}{'' if systems.index(system) == place else place}" for place, system in enumerate(systems))
    return detection.corpora(chosen)[0], Systems(names=names, parts=parts)


def unitless(numbers: Mapping[str, Any]) -> Any:
    """The numbers without boxes, and without AP, which knows a largest area."""

    def visit(node: Any) -> Any:
        if isinstance(node, Mapping):
            return {key: visit(value) for key, value in node.items() if key != "box"}
        return [visit(item) for item in node] if isinstance(node, list) else node

    return visit({key: value for key, value in numbers.items() if key != "ap"})


def rungs(result: Result) -> list[list[float | None]]:
    """Chains of numbers of which none is above the next: single, route, select; and select, any, recombine, average."""
    chains = []
    for block in result.numbers["levels"].values():
        for key in ("recall", "f1"):
            singles = [single[key] for single in block["single"].values() if key in single]
            for route in block["route"].values():
                if key in route:
                    chains += [[single, route[key], block["select"].get(key)] for single in singles]
        if "any" in block:
            chains.append([block["select"]["recall"], *(block[name]["recall"] for name in ("any", "recombine", "average"))])
            chains.append([block[name]["mean_iou"] for name in ("any", "recombine", "average")])
        chains.append([float(row["gain"]) for row in reversed(block["order"])])
    return chains


def of_these(subject: Subject, chosen: Sequence[Document], systems: Sequence[int]) -> Result:
    """The result of some systems, in this order; one that is there twice is a copy."""
    made = (field_corpora if subject.name.endswith("fields") else corpora)(chosen, systems)
    return Evaluator(replace(subject.task, systems=())).update(*made).compute()  # type: ignore[type-var]  # a dataclass


def ceilings(result: Result) -> dict[str, float | None]:
    """What further systems do not lower and copies do not change."""
    found: dict[str, float | None] = {}
    for level, block in result.numbers["levels"].items():
        for rung in ("select", "any", "recombine", "average"):
            found |= {
                f"{level} {rung} {key}": block[rung][key] for key in ("recall", "f1", "mean_iou") if key in block.get(rung, ())
            }
    return found


BY_NAME = frozenset({"held_out", "only_truth", "votes", "agreement"})
"""Halves are dealt by names, documents are listed by them, and votes have a number, which documents may have for a name."""
IN_UNITS = frozenset(
    {("truth", "box"), ("found", "box"), ("suspects", "box"), ("truth_digest", "digest")}
    | {(side, column) for side in ("truth", "found") for column in detection.BY_SIZE}
)
CEILING = Subject(
    name="ceiling",
    task=Ceiling(iou=LEVELS, systems=NAMES),
    documents=detection.documents(),
    corpora=corpora,
    perfect=detection.perfect,
    ones=("recall@0.5", *(f"{rung}.recall@0.5" for rung in ("best", "any", "recombine", "average"))),
    stray=detection.stray,
    precision=tuple(f"{name}@{t}" for name in ("pool_precision", "recall") for t in LEVELS),
    recall=tuple(f"{rung}recall@{t}" for rung in ("", "any.", "recombine.", "average.") for t in LEVELS),
    shufflable=detection.shufflable,
    scaled=detection.scaled,
    in_units=IN_UNITS,
    unitless=unitless,
    at=lambda thresholds: Ceiling(iou=thresholds, systems=NAMES),
    numbers_at=lambda result, threshold: result.numbers["levels"][repr(threshold)],
    by_name=BY_NAME,
    rungs=rungs,
    of_these=of_these,
    ceilings=ceilings,
)
CEILING_OF_LAYOUT = replace(
    CEILING,
    name="ceiling of layout",
    task=Ceiling(kind="layout", iou=LEVELS, systems=NAMES),
    perfect=layout.perfect,
    ones=("best.recall@0.5", "recall@0.5"),
    precision=("recall@0.5",),
    shufflable=layout.shufflable,
    at=lambda thresholds: Ceiling(kind="layout", iou=thresholds, systems=NAMES),
)


@st.composite
def records(draw: st.DrawFn) -> list[Document]:
    """One to four documents; systems have the truth's record, another's, one of their own, or none."""
    ids = st.one_of(st.integers(0, 20), st.text("ab:é", min_size=1, max_size=3))
    made = []
    for unit in draw(st.lists(ids, min_size=1, max_size=4, unique=True)):
        truth = draw(fields.RECORDS)
        known, found = [truth], []
        for system in range(len(NAMES)):
            if draw(st.integers(0, 5)):
                known.append(draw(st.one_of(st.sampled_from(known), fields.RECORDS)))
                found.append((system, known[-1]))
        made.append(Document(unit, (truth,), tuple(found)))
    return made


def field_corpora(chosen: Sequence[Document], systems: Sequence[int] = range(len(NAMES))) -> tuple[Corpus, Systems]:
    """The truth and some systems of some documents."""
    truth = _records({document.unit: document.expected[0] for document in chosen if document.expected})
    parts = tuple(
        _records({each.unit: record for each in chosen for owner, record in each.found if owner == system})
        for system in systems
    )
    names = tuple(f"{NAMES[system]}{'' if systems.index(system) == place else place}" for place, system in enumerate(systems))
    return truth, Systems(names=names, parts=parts)


def _records(by_unit: Mapping[UnitId, Any]) -> RecordCorpus:
    return RecordCorpus(documents=tuple(by_unit), records=list(by_unit.values()))


CEILING_OF_FIELDS = Subject(
    name="ceiling of fields",
    task=Ceiling(schema=fields.SCHEMA, systems=NAMES),
    documents=records(),
    corpora=field_corpora,
    by_name=BY_NAME,
    rungs=rungs,
    of_these=of_these,
    ceilings=ceilings,
)
