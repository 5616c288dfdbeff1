"""Results, tables and comparisons in notebooks: the report's own colours, readable in any mode, and hostile text is text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from calque.base.columns import Strings, Table
from calque.base.style import STYLE, TOKENS, in_both
from tests.report.made import MADE, Reports
from tests.report.test_looks import CONTRAST
from tests.report.test_safety import HOSTILE
from tests.report.test_safety import detection as hostile

Opener = Callable[..., Any]

# What a notebook says of every table in it, in its own mode; rows are striped.
NOTEBOOK = """
<!doctype html><html lang=en><title>notebook</title><style>
body { margin: 0; background: var(--ground); color: var(--text); font: 13px sans-serif; }
[data-jp-theme-light=true] { --ground: #fff; --text: #111; --stripe: #f5f5f5; }
[data-jp-theme-light=false] { --ground: #111; --text: #fff; --stripe: #222; }
.output table { color: var(--text); font-size: 12px; table-layout: fixed; margin: 0 auto 1em; border: none; }
.output tbody tr:nth-child(odd) { background: var(--ground); } .output tbody tr:nth-child(even) { background: var(--stripe); }
.output th, .output td { text-align: right; padding: .5em; } .output th { font-weight: bold; }
</style><body data-jp-theme-light=%s><div class=output>%s</div>
"""


def shown(made: Any) -> str:
    html: str = made._repr_html_()
    return html


@pytest.fixture(scope="module")
def cells(reports: Reports) -> Mapping[str, str]:
    """What notebooks show of results of every task, of tables, of a comparison, and of hostile names."""
    results = {task: reports.of(task) for task in MADE}
    texts = Table({"name": Strings.pack(HOSTILE)})
    several: dict[str, Any] = {**results, "both": reports.of("fields-both"), "outcomes": results["detection"].outcomes()}
    return {name: shown(made) for name, made in {**several, "hostile": hostile(), "names": texts}.items()}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read_whatever_the_mode_of_the_notebook(
    blank: Opener, cells: Mapping[str, str], tmp_path: Path, scheme: str
) -> None:
    page = blank(width=900, height=800, color_scheme=scheme)
    for light in ("true", "false"):
        (tmp_path / "notebook.html").write_text(NOTEBOOK % (light, "\n".join(cells.values())))
        page.goto((tmp_path / "notebook.html").as_uri())
        assert page.evaluate(CONTRAST) == [], light
        ground = page.evaluate("getComputedStyle(document.querySelector('.calque')).backgroundColor")
        red, green, blue = (int(TOKENS["panel"][light != "true"][place : place + 2], 16) for place in (1, 3, 5))
        assert ground == f"rgb({red}, {green}, {blue})"  # the notebook's mode, not the system's
        assert page.evaluate("document.documentElement.scrollWidth") <= 900


def test_hostile_text_is_text(blank: Opener, cells: Mapping[str, str], tmp_path: Path) -> None:
    page = blank()
    popped: list[str] = []
    page.on("dialog", lambda dialog: (popped.append(dialog.message), dialog.dismiss()))
    (tmp_path / "notebook.html").write_text(NOTEBOOK % ("true", cells["hostile"] + cells["names"]))
    page.goto((tmp_path / "notebook.html").as_uri())
    assert page.locator(".calque script, .calque img, .calque svg, [onload], [onerror]").count() == 0
    assert popped == []
    assert HOSTILE[1] in page.locator(".calque").last.inner_text()


ALIGNED = """
() => [...document.querySelectorAll(".calque th, .calque td")].filter((cell) => {
  const table = cell.closest("table");
  const column = [...table.tBodies[0].rows].map((other) => other.cells[cell.cellIndex].textContent.trim());
  const texts = column.some((text) => /[a-z]{2}/i.test(text));
  return texts && getComputedStyle(cell).textAlign !== "left";
}).map((cell) => cell.textContent)
"""


def test_texts_stand_left(blank: Opener, cells: Mapping[str, str], tmp_path: Path) -> None:
    page = blank()
    (tmp_path / "notebook.html").write_text(NOTEBOOK % ("true", "\n".join(cells.values())))
    page.goto((tmp_path / "notebook.html").as_uri())
    assert page.evaluate(ALIGNED) == []
    right = "nodes => nodes.filter(node => /^[0-9]/.test(node.textContent)).map(node => getComputedStyle(node).textAlign)"
    assert "right" in page.eval_on_selector_all(".calque td", right)


@pytest.mark.parametrize("named", ["ink", "ink-2", "panel", "line"])
def test_its_colours_are_the_reports(named: str) -> None:
    assert in_both(named) in STYLE


def test_every_number_is_there(cells: Mapping[str, str], reports: Reports) -> None:
    for task in MADE:
        result = reports.of(task)
        for measure in result.task.primary():
            assert f"{result[measure]:.4f}" in cells[task], (task, measure)
