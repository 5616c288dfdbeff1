"""The benchmark table and the bar chart of the project's README, from measured runs.

python benchmarks/run.py --readme                 # measure every row in one run, then write both
python benchmarks/readme.py benchmarks/readme.json  # write both again from the runs that are kept
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from tables import update_file

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
CHART = ROOT / "docs" / "images" / "benchmarks.svg"
RUNS = Path(__file__).resolve().parent / "readme.json"
COCO_TOOLS = ("hotcoco", "ultrafast-pycocotools", "faster-coco-eval", "pycocotools")


@dataclass(frozen=True)
class Row:
    """One row of the table: a data set of a suite, the tool of ours and its peers."""

    title: str
    suite: str
    data: str
    ours: str
    peers: tuple[str, ...]
    column: int | None = None  # The column of the chart that shows this row, if any.


ROWS = (
    Row("COCO boxes: 500 pages, 20,000 detections", "detection", "small", "calque", COCO_TOOLS),
    Row("COCO boxes: 5,000 images, 300,000 detections", "detection", "coco", "calque", COCO_TOOLS, 0),
    Row("COCO boxes: 20,000 pages, 800,000 detections", "detection", "pages", "calque", COCO_TOOLS),
    Row("COCO masks: 5,000 images, 200,000 detections", "masks", "masks5k", "calque", COCO_TOOLS, 0),
    Row("Fields: 1,000 invoices with 10 lines each", "fields", "items10", "calque", ("stickler",), 1),
    Row("WER: 10,000 pages of 600 words", "words", "pages", "calque-pages", ("jiwer",), 1),
    Row("TEDS: 2 tables of 40 × 8 cells", "tables", "40x8", "calque-teds", ("table-recognition-metric",), 1),
    Row("TEDS, structure only: 2 tables of 100 × 10", "tables", "100x10", "calque-struct", ("docling-metrics-table",)),
)

Times = list[tuple[str, float, int]]  # Tool, wall seconds, peak bytes.


def times(row: Row, runs: Mapping[str, Any]) -> Times:
    """Return what each tool took, ours first and the peers from fast to slow; without ours, nothing."""
    tools = runs["suites"].get(row.suite, {}).get(row.data, {}).get("tools", {})
    if row.ours not in tools:
        return []
    cost = {
        name: (tools[name]["median"]["wall"], tools[name]["median"]["memory"])
        for name in (row.ours, *row.peers)
        if name in tools
    }
    peers = sorted((wall, name) for name, (wall, _) in cost.items() if name != row.ours)
    return [("calque", *cost[row.ours]), *((name, wall, cost[name][1]) for wall, name in peers)]


def table(runs: Mapping[str, Any]) -> str:
    """Return the Markdown table, and a line that says where, when and how it was measured."""
    lines = ["| workload (files to metrics) | calque | other tools, fastest first |", "|---|---|---|"]
    for row in ROWS:
        measured = times(row, runs)
        if not measured:
            continue
        fastest = min(wall for _, wall, _ in measured)
        shown = [cell(wall, memory, bold=wall == fastest) for _, wall, memory in measured]
        peers = "<br>".join(f"{name} {text}" for (name, _, _), text in zip(measured[1:], shown[1:], strict=True))
        lines.append(f"| {row.title} | {shown[0]} | {peers} |")
    under = f"{runs['machine']}; {runs['date']}; `{runs['command']}`"
    note = f"\n\n**{runs['note']}**" if "note" in runs else ""  # Only runs that were put together by hand have one.
    legend = f"Wall time of the whole process and peak memory, {repeats(runs)}. Bold is the fastest."
    return "\n".join(lines) + f"\n\n{legend} {under}{note}"


def repeats(runs: Mapping[str, Any]) -> str:
    """Return how often each tool ran, in words."""
    counts = {
        len(tool["runs"]) for sets in runs["suites"].values() for data in sets.values() for tool in data["tools"].values()
    }
    return "one run each" if counts == {1} else f"medians of {max(counts)} runs"


def cell(wall: float, memory: int, *, bold: bool) -> str:
    """Return a time and a peak memory as one cell."""
    text = f"**{seconds(wall)}**" if bold else seconds(wall)
    return f"{text}, {memory / 1e6:,.0f} MB"


def seconds(value: float) -> str:
    """Return a time with two or three digits.

    >>> seconds(0.294), seconds(9.06), seconds(74.4)
    ('0.29 s', '9.1 s', '74 s')
    """
    return f"{value:.2f} s" if value < 2 else f"{value:.1f} s" if value < 10 else f"{value:.0f} s"


WIDTH, GAP, BAR, LINE, HEADING = 860, 40, 14, 22, 34
NAMES, VALUES = 168, 52  # The widths of the columns for names and for times.
STYLE = """
    text { font: 13px -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; fill: #1f2328 }
    .title { font-weight: 600 } .name { text-anchor: end }
    .peer { fill: #59636e } .bar { fill: #afb8c1 } .calque { fill: #0969da }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 } .peer { fill: #9198a1 } .bar { fill: #59636e } .calque { fill: #4493f8 }
    }
"""


def chart(runs: Mapping[str, Any]) -> str:
    """Return the bar chart as SVG: two columns of workloads, each with a scale of its own, readable on light and dark pages."""
    width = (WIDTH - GAP) // 2
    drawn, heights = [], [0, 0]
    for row in ROWS:
        measured = times(row, runs)
        if row.column is None or not measured:
            continue
        left, top = row.column * (width + GAP), heights[row.column]
        drawn.append(group(row.title, measured, left, top, width))
        heights[row.column] = top + HEADING + LINE * len(measured) + 12
    told = "; ".join(
        f"{row.title}: {', '.join(f'{n} {seconds(w)}' for n, w, _ in times(row, runs))}"
        for row in ROWS
        if row.column is not None
    )
    size = f'viewBox="0 0 {WIDTH} {max(heights)}" width="{WIDTH}" height="{max(heights)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    return (
        "\n".join(
            [
                head,
                f"  <title>Wall time, shorter is better. {escape(told)}</title>",
                f"  <style>{STYLE}  </style>",
                *drawn,
                "</svg>",
            ]
        )
        + "\n"
    )


def group(title: str, measured: Times, left: int, top: int, width: int) -> str:
    """Return the bars of one workload."""
    longest = max(wall for _, wall, _ in measured)
    room = width - NAMES - VALUES
    lines = [f'  <text class="title" x="{left}" y="{top + 20}">{escape(title)}</text>']
    for place, (name, wall, _) in enumerate(measured):
        y = top + HEADING + place * LINE
        kind, text = ("bar calque", "title") if name == "calque" else ("bar", "peer")
        length = max(round(room * wall / longest, 1), 1.5)
        lines += [
            f'  <text class="name {text}" x="{left + NAMES - 8}" y="{y + 11}">{escape(name)}</text>',
            f'  <rect class="{kind}" x="{left + NAMES}" y="{y}" width="{length}" height="{BAR}" rx="2"/>',
            f'  <text class="{text}" x="{left + NAMES + length + 6:.1f}" y="{y + 11}">{seconds(wall)}</text>',
        ]
    return "\n".join(lines)


def write(runs: Mapping[str, Any]) -> None:
    """Put the table between its markers in the README, and write the chart."""
    update_file(README, {"readme": table(runs)})
    CHART.write_text(chart(runs), encoding="utf-8")


if __name__ == "__main__":
    write(json.loads(Path(sys.argv[1] if len(sys.argv) > 1 else RUNS).read_text("utf-8")))
