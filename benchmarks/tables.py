"""Results as Markdown tables that read well in a terminal too, and the blocks of a Markdown file that hold them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from measure import Cost
from results import Outcome, SetResult
from suite import Suite

NOTHING = "–"


def blocks(
    suite: Suite, results: Sequence[SetResult], asked: Sequence[str] | None, header: Mapping[str, str]
) -> dict[str, str]:
    """The text of each block to fill, by its name: sets asked for (not as part of a group), and groups."""
    under = f"{header['machine']}; {header['date']}; `{header['command']}`"
    found = {
        f"{suite.name}:{result.data.name}": f"{set_text(suite, result)}\n\n{under}"
        for result in results
        if not asked or result.data.name in asked
    }
    growth = {f"{suite.name}:{group}": growth_table(members) for group, members in grown(suite, results).items()}
    return found | {name: f"{table}\n\n{under}" for name, table in growth.items()}


def grown(suite: Suite, results: Sequence[SetResult]) -> dict[str, list[SetResult]]:
    """The groups of sets of which at least two were run, with their results."""
    members = {group: [result for result in results if result.data.name in names] for group, names in suite.groups.items()}
    return {group: found for group, found in members.items() if len(found) > 1}


def set_text(suite: Suite, result: SetResult) -> str:
    """All that is said about one data set."""
    among_ours = all(outcome.tool in suite.ours for outcome in result.outcomes)
    compared = suite.ours[1:] if among_ours else suite.ours
    ratios = [ratio_table(result, ours, suite.ours) for ours in compared if result.outcome(ours)]
    notes = ["\n".join(f"- {note}" for note in result.notes)] if result.notes else []
    return "\n\n".join([f"**{result.data.name}**: {result.data.title}", cost_table(result), *ratios, *notes])


def cost_table(result: SetResult) -> str:
    """What each tool took, and how far its numbers are from the reference's."""
    head = ["tool", "version", "CPU s", "wall s", "peak MB", f"max difference from {result.reference or NOTHING}"]
    return _table(head, [_cost_row(result, outcome) for outcome in result.outcomes])


def _cost_row(result: SetResult, outcome: Outcome) -> list[str]:
    cost = outcome.cost
    return [
        outcome.tool,
        outcome.version,
        _seconds(cost.cpu),
        _seconds(cost.wall),
        _megabytes(cost.memory),
        _difference(result, outcome),
    ]


def ratio_table(result: SetResult, ours: str, all_ours: Sequence[str]) -> str:
    """One of our tools divided by each peer, or by our first where no peer ran: below 1 is faster or smaller."""
    mine = result.outcome(ours)
    peers = [outcome for outcome in result.outcomes if outcome.tool not in all_ours] or [
        outcome for outcome in result.outcomes if outcome.tool == all_ours[0]
    ]
    rows = [[outcome.tool, *_ratios(mine.cost, outcome.cost)] for outcome in peers] if mine else []
    return _table([f"{ours} ÷", "CPU", "wall", "memory"], rows)


def _ratios(ours: Cost, theirs: Cost) -> list[str]:
    pairs = ((ours.cpu, theirs.cpu), (ours.wall, theirs.wall), (ours.memory, theirs.memory))
    return [f"{a / b:.{2 if a > b / 10 else 4}f}×" if b else NOTHING for a, b in pairs]


def growth_table(results: Sequence[SetResult]) -> str:
    """How cost grows with the size of the data: per thousand items it should stay the same."""
    by_size = sorted(results, key=lambda result: result.data.items)
    tools = list(dict.fromkeys(outcome.tool for result in by_size for outcome in result.outcomes))
    per_item = ["CPU ms per 1,000", "wall ms per 1,000", "MB per 1,000"]
    head = ["tool", "items", "CPU s", "wall s", "peak MB", *per_item, "max difference"]
    return _table(head, [row for tool in tools for row in _growth_rows(by_size, tool)])


def _growth_rows(results: Sequence[SetResult], tool: str) -> list[list[str]]:
    found = [(result, outcome) for result in results if (outcome := result.outcome(tool))]
    if len(found) < 2:
        return []
    return [
        [tool, f"{result.data.items:,}", *_growth_cells(result.data.items, outcome.cost), _difference(result, outcome)]
        for result, outcome in found
    ]


def _growth_cells(items: int, cost: Cost) -> list[str]:
    thousands = items / 1000
    return [
        _seconds(cost.cpu),
        _seconds(cost.wall),
        _megabytes(cost.memory),
        f"{cost.cpu / thousands * 1000:.1f}",
        f"{cost.wall / thousands * 1000:.1f}",
        f"{cost.memory / 1e6 / thousands:.1f}",
    ]


def _seconds(value: float) -> str:
    return f"{value:.2f}"


def _megabytes(value: int) -> str:
    return f"{value / 1e6:,.0f}"


def _difference(result: SetResult, outcome: Outcome) -> str:
    difference = result.difference(outcome)
    if difference is None or outcome.tool == result.reference:
        return NOTHING
    shown = "not comparable" if math.isinf(difference) else "0" if difference == 0 else f"{difference:.1e}"
    return shown if result.agrees(outcome) else f"{shown} (over {result.tolerance:g})"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table with padded cells: the first column to the left, the others to the right."""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(_line(row, widths) for row in [head, rule, *rows])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = zip(cells, widths, strict=True)
    padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
    return f"| {' | '.join(padded)} |"


def update_file(path: Path, texts: Mapping[str, str]) -> None:
    """Put each text between its two marker comments and keep the rest; a new block goes to the end."""
    content = path.read_text(encoding="utf-8") if path.exists() else ""
    for name, text in texts.items():
        content = _with_block(content, name, text)
    path.write_text(content, encoding="utf-8")


def _with_block(content: str, name: str, text: str) -> str:
    begin, end = f"<!-- bench:{name} -->", f"<!-- /bench:{name} -->"
    before, found, rest = content.partition(begin)
    _, closed, after = rest.partition(end)
    if found and not closed:
        raise ValueError(f"{begin} has no {end} after it: add it, or remove both")
    if not found:
        before, after = (content.rstrip() + "\n\n" if content else ""), "\n"
    return f"{before}{begin}\n{text}\n{end}{after}"
