"""Where there is nothing, a report says so in words: no table is a bare head, no list or drawing is there without content."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.report.empty import EMPTY, both
from tests.report.made import ALL, VIEWS, Reports

Opener = Callable[..., Any]
FIRST = ("summary", "compare")
HOLLOW = """
() => {
  document.querySelectorAll("main details").forEach((node) => { node.open = true; });
  const hollow = (node) => {
    const name = node.tagName.toLowerCase(), role = node.getAttribute("role");
    if (name === "table") return !node.querySelector("tbody tr");
    if (role === "table") return !node.querySelector("[role=rowgroup] [role=row]");
    if (role === "listbox") return !node.querySelector("[role=option]");
    if (name === "figure") return !node.querySelector("a, path.line, path.b, rect.b, circle");
    return !node.children.length;
  };
  const parts = ["table", "[role=table]", "[role=listbox]", "ul", "ol", "dl", "figure", "section"];
  return [...document.querySelector("main").querySelectorAll(parts.join())]
    .filter((node) => node.getClientRects().length && hollow(node)).map((node) => node.outerHTML.slice(0, 160));
}
"""
SAID = "nodes => nodes.filter(node => node.getClientRects().length).map(node => node.innerText)"


def of(name: str) -> str:
    """The kind of report that an empty one is."""
    task = name.removesuffix("-both").removesuffix("-hollow")
    return f"{task}-both" if name.endswith("-both") else task


@pytest.mark.parametrize("name", [*EMPTY, *(pytest.param(f"{name}-both", marks=pytest.mark.long) for name in EMPTY)])
def test_an_empty_result_is_said_to_be_one(opened: Opener, tmp_path: Path, name: str) -> None:
    path = tmp_path / "empty.html"
    (both(name.removesuffix("-both")) if name.endswith("-both") else EMPTY[name]()).report(path)
    page = opened(path)
    for view in VIEWS[of(name)]:
        page.goto(f"{path.resolve().as_uri()}#view={view}")
        page.wait_for_selector(f"main[data-view={view}]")
        assert page.evaluate(HOLLOW) == [], view
        assert page.locator("h1").count() == 1, view
        told = page.eval_on_selector_all("main h1, main .warning, main [data-nothing]", SAID)
        if "hollow" not in name or view == "summary":
            assert any(word in " ".join(told).lower() for word in ("nothing", "there are no", "there is no")), (view, told)
        for key in ("j", "k", "n", "N", "c", "x", "t", "+", "Escape"):
            page.keyboard.press(key)


@pytest.mark.parametrize("name", ALL)
def test_a_search_that_finds_nothing_says_so(opened: Opener, reports: Reports, name: str) -> None:
    page = opened(reports[name])
    for view in VIEWS[name]:
        if view in FIRST:
            continue
        page.goto(f"{reports[name].resolve().as_uri()}#view={view}&q=nobody-is-called-so")
        page.wait_for_selector(f"main[data-view={view}]")
        assert page.evaluate(HOLLOW) == [], view
        told = page.eval_on_selector_all("[data-nothing]", SAID)
        assert "fits the filters." in told[0], view
        assert page.locator("h1").count() == 1, view
        page.keyboard.press("Escape")
        page.wait_for_selector("[data-nothing]", state="detached")
