"""Modes, paper, phones, names and contrast: what a person sees, and what a person who sees little is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.report.made import ALL, BOTH, VIEWS, Reports

Opener = Callable[..., Any]
CONTRAST = """
() => {
  const luminance = ([r, g, b]) => {
    const part = (value) => { value /= 255; return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const parse = (text) => {
    const srgb = /color\\(srgb ([\\d.]+) ([\\d.]+) ([\\d.]+)(?: \\/ ([\\d.]+))?/.exec(text);
    if (srgb) return [srgb[1] * 255, srgb[2] * 255, srgb[3] * 255, srgb[4] === undefined ? 1 : Number(srgb[4])];
    const found = text.match(/[\\d.]+/g).map(Number);
    return [found[0], found[1], found[2], found[3] === undefined ? 1 : found[3]];
  };
  const over = (top, under) => top.slice(0, 3).map((value, place) => value * top[3] + under[place] * (1 - top[3]));
  const ground = (element) => {
    const layers = [];
    for (let node = element; node; node = node.parentElement) layers.push(parse(getComputedStyle(node).backgroundColor));
    const page = parse(getComputedStyle(document.body).backgroundColor);
    return layers.reverse().reduce((under, layer) => over(layer, under), page);
  };
  const bad = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const unseen = element.closest("svg, dialog, noscript, script, style, .hidden, [disabled]");
    if (!own || unseen || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    let opacity = 1;
    for (let node = element; node; node = node.parentElement) opacity *= Number(getComputedStyle(node).opacity);
    const back = ground(element), front = parse(style.color);
    const mixed = over([...front.slice(0, 3), front[3] * opacity], back);
    const [light, dark] = [luminance(mixed), luminance(back)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < (large ? 3 : 4.5)) bad.push([element.className, element.textContent.slice(0, 30), ratio.toFixed(2)]);
  }
  return bad;
}
"""
NAMELESS = """
() => [...document.querySelectorAll("button, a[href], input, select, [role=img], [role=listbox], svg[role], nav, dialog")]
  .filter((node) => node.getClientRects().length)
  .filter((node) => !(node.getAttribute("aria-label") || node.getAttribute("aria-labelledby") || node.textContent.trim()
    || node.closest("label")?.textContent.trim()))
  .map((node) => node.outerHTML.slice(0, 120))
"""


WRONG_ROLES = """
() => {
  const bad = [], all = (selector) => [...document.querySelectorAll(selector)];
  const ids = all("[id]").map((node) => node.id);
  ids.forEach((id, place) => { if (ids.indexOf(id) !== place) bad.push(`two elements are called ${id}`); });
  for (const [role, around] of [["option", "[role=listbox]"], ["row", "[role=table]"], ["cell", "[role=row]"]])
    for (const node of all(`[role=${role}]`)) if (!node.closest(around)) bad.push(`${role} outside ${around}`);
  for (const { ariaPosInSet: place, ariaSetSize: size } of all("[role=option]"))
    if (!(Number(place) >= 1 && Number(place) <= Number(size))) bad.push("an option has no place");
  for (const name of ["aria-labelledby", "aria-activedescendant", "aria-describedby"])
    for (const node of all(`[${name}]`))
      if (!document.getElementById(node.getAttribute(name))) bad.push(`${name} names nothing: ${node.getAttribute(name)}`);
  for (const node of all("[tabindex]")) if (node.tabIndex > 0) bad.push("a tab order of its own");
  for (const node of all("a:not([href]), img:not([alt]), th:not([scope])")) bad.push(node.outerHTML.slice(0, 80));
  for (const node of all("[aria-hidden=true] a[href], [aria-hidden=true] button")) bad.push("hidden, and yet reached");
  const levels = [...document.querySelectorAll("main h1, main h2, main h3")].map((node) => Number(node.tagName[1]));
  if (levels[0] > 2) bad.push("headings begin too low");
  levels.forEach((level, place) => { if (place && level > levels[place - 1] + 1) bad.push("a heading is left out"); });
  for (const landmark of ["#app > header", "header > nav[aria-label]", "#app > main"])
    if (all(landmark).length !== 1) bad.push(`no single ${landmark}`);
  return bad;
}
"""


def show(page: Any, view: str) -> None:
    """Another view of an open report, with its first error chosen where there are errors."""
    page.goto(f"{page.url.partition('#')[0]}#view={view}")
    page.wait_for_selector(f"main[data-view={view}]")
    if view not in ("summary", "compare", "changes", "objects"):
        page.keyboard.press("n")


@pytest.mark.parametrize("name", ALL)
def test_contrast_names_and_roles(opened: Opener, reports: Reports, name: str) -> None:
    page = opened(reports[name], reduced_motion="reduce")
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.title()
    for view in VIEWS[name]:
        show(page, view)
        page.eval_on_selector_all("details", "nodes => nodes.forEach(node => { node.open = true; })")
        assert page.evaluate(NAMELESS) == [], view
        assert page.evaluate(WRONG_ROLES) == [], view
        assert page.locator("h1").count() == 1, view
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate(CONTRAST) == [], (view, scheme)


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_nothing_scrolls_sideways(opened: Opener, reports: Reports, name: str) -> None:
    for width in (390, 800, 1440):
        page = opened(reports[name], width=width, height=844)
        for view in VIEWS[name]:
            show(page, view)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (view, width)


def test_the_button_overrides_the_mode(opened: Opener, reports: Reports) -> None:
    page = opened(reports["detection"], color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(251, 250, 247)"
    page.get_by_role("button", name="dark mode").click()
    assert page.evaluate(ground) == "rgb(21, 24, 28)"
    assert "theme=dark" in page.evaluate("location.href")
    page.emulate_media(media="print")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    other = opened(reports["detection"], "#theme=light", color_scheme="dark")
    assert other.evaluate(ground) == "rgb(251, 250, 247)"


PRINTED = """
() => [...document.querySelectorAll("header.top, aside.list, dialog, .toast, button, input, select")]
  .filter((node) => node.checkVisibility({ visibilityProperty: true }) && node.getClientRects().length && node.offsetHeight)
  .filter((node) => !node.matches(".cell, .value-row, .link"))
  .map((node) => node.outerHTML.slice(0, 90))
"""


@pytest.mark.parametrize("name", ALL)
def test_paper_is_light_and_without_navigation(opened: Opener, reports: Reports, name: str) -> None:
    page = opened(reports[name], color_scheme="dark")
    for view in VIEWS[name]:
        show(page, view)
        page.emulate_media(media="print")
        assert page.evaluate(PRINTED) == [], view
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)", view
        assert page.evaluate("getComputedStyle(document.querySelector('main')).color") == "rgb(27, 31, 36)", view
        page.emulate_media(media="screen")


@pytest.mark.parametrize("name", ALL)
def test_the_first_view_prints_on_up_to_three_pages(opened: Opener, reports: Reports, name: str, tmp_path: Path) -> None:
    pypdfium2 = pytest.importorskip("pypdfium2")
    page = opened(reports[name], color_scheme="dark")
    title = page.locator("h1").inner_text().split()[0]
    page.pdf(path=str(tmp_path / "first.pdf"), prefer_css_page_size=True)
    printed = pypdfium2.PdfDocument(tmp_path / "first.pdf")
    assert 1 <= len(printed) <= 3
    assert title in printed[0].get_textpage().get_text_range()
    width, height = printed[0].get_size()
    assert (round(width), round(height)) == (595, 842)  # A4


@pytest.mark.parametrize("name", ALL)
def test_without_scripts_there_are_tables(browser: Any, reports: Reports, name: str) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(reports[name].resolve().as_uri())
    told = reports.of(name)
    results = list(told.results.values()) if name in BOTH else [told]
    text = page.inner_text("body")
    assert page.locator("h1").count() == 1
    assert str(told.signature) in text
    for result in results:
        for measure in result.task.primary():
            value = result[measure]
            assert value is None or any(spelt in text for spelt in (f"{value:.4f}", f"{value:.3f}", f"{value:,}")), measure
    context.close()


def test_lists_say_where_one_is(opened: Opener, reports: Reports) -> None:
    page = opened(reports["detection"], "#view=pages")
    chosen = page.locator("[role=listbox][aria-label=pages] [role=option][aria-selected=true]")
    assert (chosen.get_attribute("aria-posinset"), chosen.get_attribute("aria-setsize")) == ("1", "60")
    assert page.locator("[data-count=pages]").get_attribute("role") == "status"
