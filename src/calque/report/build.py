"""From results to the bytes of a report: what each run shows, put together with the page around it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array
from calque.base.errors import ConfigError, summarize
from calque.base.wording import brief, short_names
from calque.evaluation.presentation.report_data import Phrase, ReportData, Sentence
from calque.evaluation.presentation.sections import Missing, Section, cell, printable, with_reasons
from calque.report.comparison import aligned, change_columns, compared, on_one_scale, plain
from calque.report.images import Pictures, beside
from calque.report.page import MOST_ROWS, document, packed, shortened

if TYPE_CHECKING:
    from calque.evaluation.ledger import Ledger
    from calque.evaluation.result import Result
    from calque.report.images import Beside
    from calque.statistics.comparison import Comparison

FORMAT = 1
"""Raised when the page could not read older data; data and page are always written together."""
MOST_IMAGES = 25_000_000
"""How many bytes of page images go into the file itself unless somebody asks for more."""
MOST_REASONS = 100
"""How many undefined numbers are listed with their reasons."""


LONGEST = 60
"""How long a word is in a sentence at most."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How a report is written."""

    path: str
    images: str | None = None
    size: int = MOST_IMAGES
    sidecar: bool = False
    jobs: int = 1


def built(result: Result, wish: Wish) -> tuple[bytes, Beside | None]:
    """The page of one result, and the files that stand beside it if there are some."""
    _has_outcomes(result)
    ledger = result.task.view().with_pages(result.ledger)
    pictures = _pictures(ledger, wish)
    run, columns = _run(result, ledger if pictures is None else pictures.sized(ledger))
    head = {**_shared(result), "runs": [run]}
    return _page(f"{run['name'] or result.task.name}: {result.task.name}", head, columns, result.sections(), pictures, wish)


def built_comparison(comparison: Comparison, wish: Wish) -> tuple[bytes, Beside | None]:
    """The page of several runs, the first of which the others are compared with."""
    results = list(comparison.results.values())
    for result in results:
        _has_outcomes(result)
    ledgers = [result.task.view().with_pages(result.ledger) for result in results]
    if {"pages", "truth"} <= ledgers[0].tables.keys():
        ledgers = on_one_scale(aligned(ledgers))
    pictures = _pictures(ledgers[0], wish)
    if pictures is not None:
        ledgers = [pictures.sized(ledger) for ledger in ledgers]
    runs, parts = zip(*(_run(result, ledger) for result, ledger in zip(results, ledgers, strict=True)), strict=True)
    for run, name in zip(runs, comparison.results, strict=True):
        known = {measure: one.runs[name] for measure, one in comparison.measures.items()}
        run["name"] = name
        run["confidence"] = comparison.resampling.confidence
        run["intervals"] = {measure: [one.low, one.high] for measure, one in known.items() if one.low is not None}
    columns: dict[str, Array] = {}
    for place, part in enumerate(parts):
        columns |= {
            f"{place}:{name}": column for name, column in part.items() if not place or not _is_shared(name, part, parts[0])
        }
    head = {
        **_shared(results[0]),
        "signature": str(comparison.signature),
        "runs": list(runs),
        "comparison": compared(comparison, said),
    }
    title = f"{' and '.join(comparison.results)}: {results[0].task.name}"
    return _page(title, head, columns | change_columns(comparison, parts), plain(comparison), pictures, wish)


SHARED = ("page.", "t.start", "t.box", "t.label", "t.id", "t.status")
"""Columns that runs on one truth have in common."""


def _is_shared(name: str, part: Mapping[str, Array], first: Mapping[str, Array]) -> bool:
    """Whether a column is the first run's to the bit, and need not be there twice."""
    return name.startswith(SHARED) and name in first and np.array_equal(part[name], first[name])


def _pictures(ledger: Ledger, wish: Wish) -> Pictures | None:
    return Pictures(ledger, wish.images, wish.jobs) if wish.images is not None and "pages" in ledger.tables else None


def _page(
    title: str,
    head: dict[str, Any],
    columns: Mapping[str, Array],
    sections: Sequence[Section],
    pictures: Pictures | None,
    wish: Wish,
) -> tuple[bytes, Beside | None]:
    """The page, with the pictures that go into it, and those that go beside it."""
    kind = head["runs"][0]["kind"]
    if pictures is None:
        return document(kind, title, packed(head, columns), sections), None
    album = pictures.album(columns, None if wish.sidecar else wish.size)
    files = beside(wish.path, album.pictures) if wish.sidecar else None
    head["images"] = album.to_dict(os.path.basename(files.folder) if files else "")
    inside = () if wish.sidecar else album.pictures
    return document(kind, title, packed(head, columns), sections, inside, sidecar=wish.sidecar), files


def _shared(result: Result) -> dict[str, Any]:
    """What stands on the page whatever the run: whose numbers these are, and what they rest on."""
    signature = result.signature
    return {
        "format": FORMAT,
        "task": result.task.name,
        "version": signature.version,
        "signature": str(signature),
        "truth": _named(result.sources.truth),
    }


def _run(result: Result, ledger: Ledger) -> tuple[dict[str, Any], dict[str, Array]]:
    """One run, drawn from this ledger: its name, what is said of it, its numbers, and its columns."""
    tree = {**result.to_dict(), **result.task.view().report_numbers(ledger, result.numbers)}
    drawn = result.task.view().report_data(ledger, tree) or ReportData({"kind": "tables"}, {})
    run = {
        "name": _named(result.sources.predictions),
        "headline": said(result.task.view().headline(tree), [result]),
        "findings": [
            {
                "mark": finding.mark,
                "text": _readable(finding.text),
                "address": dict(finding.address),
                "objects": finding.objects,
            }
            for finding in result.task.view().findings(tree)
        ],
        **drawn.head,
        "reasons": _reasons(result.undefined),
        "intervals": _intervals(tree.get("intervals")),
        "confidence": next((float(one.settings["confidence"]) for one in result.additions if one.key == "intervals"), None),
        "warning": str(result.unevaluated.message) if result.unevaluated else "",
        "issues": [_issue(issue) for issue in summarize(result.issues)],
        "undefined": [[path, reason] for path, reason in list(result.undefined.items())[:MOST_REASONS]],
        "undefined_count": len(result.undefined),
        "sections": [_section(section) for section in result.task.view().sections(with_reasons(result.to_dict()))],
    }
    return run, {name: np.asarray(column) for name, column in drawn.columns.items()}


def _intervals(told: Any) -> dict[str, list[float]]:
    """The intervals that a result was given, by measure."""
    measures: Mapping[str, Any] = told.get("measures", {}) if isinstance(told, Mapping) else {}
    return {name: [one["low"], one["high"]] for name, one in measures.items() if one.get("low") is not None}


def _reasons(undefined: Mapping[str, str]) -> dict[str, str]:
    """Why a measure has no value, by the measure's own name; where reasons differ, the first."""
    reasons: dict[str, str] = {}
    for path, reason in undefined.items():
        reasons.setdefault(path.rpartition(".")[2], reason)
    return reasons


def _has_outcomes(result: Result) -> None:
    lacking = [table for table, rows in result.ledger.tables.items() if table == "truth" and "box" not in rows]
    if lacking and "pages" in result.ledger.tables:
        raise ConfigError("the boxes of this result were let go of; a report needs them: evaluate with keep='outcomes'")


def said(sentence: Sentence, results: Sequence[Result]) -> list[Any]:
    """A sentence as JSON: texts, and numbers with the measure that they are and its exact value."""
    return [_readable(part) if isinstance(part, str) else _phrase(part, results) for part in sentence]


def _readable(text: str) -> str:
    """A text in which no name is so long that nothing else would be seen, nor turns what stands behind it."""
    return re.sub(rf"\S{{{LONGEST + 1},}}", lambda found: brief(found[0], LONGEST), printable(text))


def _phrase(part: Phrase, results: Sequence[Result]) -> dict[str, Any]:
    value = results[part.run or 0][part.measure]
    told = {"measure": part.measure, "text": part.text, "tone": part.tone, "value": value}
    return told if part.run is None else {**told, "run": part.run}


def _named(entries: Sequence[tuple[str, str]]) -> str:
    """The names of the models behind one side, or of their files; never where those lie."""
    short = short_names([PurePath(file).name for file, _ in entries])
    return ", ".join(sorted({model or short[PurePath(file).name] for file, model in entries} - {""}))


def _issue(issue: Any) -> dict[str, Any]:
    told: Mapping[str, Any] = issue.to_dict()
    return {**told, "file": PurePath(told.get("file") or "").name}


def _section(section: Section) -> dict[str, Any]:
    """A table as the page shows it where it draws nothing of its own."""
    short = shortened(section)
    return {
        "title": section.title,
        "head": list(section.head),
        "rows": [[_cell(value) for value in row] for row in short.rows[:MOST_ROWS]],
        "notes": [*section.remarks()[: -len(section.notes) or None], *short.notes],
    }


def _cell(value: Any) -> Any:
    """A cell as the page has numbers everywhere: with three decimals."""
    if isinstance(value, Missing):
        return {"text": cell(value), "reason": value.reason}
    return f"{value:.3f}" if isinstance(value, float) and isfinite(value) else cell(value)
