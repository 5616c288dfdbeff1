"""Modes, paper, phones, names and contrast: what a person sees, and what a person who sees little is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Detection, Evaluator
from calque.core.comparison.compare import compare
from calque.core.comparison.resample import Resampling
from calque.sample import sample
from tests.report.test_tasks import MADE

Opener = Callable[..., Any]
VIEWS = {
    "detection": ("summary", "pages", "objects"), "layout": ("summary", "pages"), "fields": ("summary", "fields"),
    "words": ("summary", "words"), "checks": ("summary", "checks"), "comparison": ("compare", "changes", "pages", "summary"),
    "tables": ("summary", "checks"), "order": ("summary", "pages", "objects"),
}  # fmt: skip
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


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("looks")
    files = sample()
    runs = [Evaluator(Detection()).update(files["truth"], files[model]).compute() for model in ("finder", "cropper")]
    runs[0].report(folder / "detection.html")
    compare(runs, ["finder", "cropper"], resampling=Resampling(replicates=100)).report(folder / "comparison.html")
    for task, make in MADE.items():
        make().report(folder / f"{task}.html")
    return {task: folder / f"{task}.html" for task in VIEWS}


EVERY = [(task, view) for task, views in VIEWS.items() for view in views]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("task", "view"), EVERY)
def test_contrast_and_names(opened: Opener, reports: dict[str, Path], task: str, view: str, scheme: str) -> None:
    page = opened(reports[task], f"#view={view}", color_scheme=scheme)
    page.keyboard.press("n") if view not in ("summary", "compare", "changes", "objects") else None
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate(NAMELESS) == []
    assert page.locator("h1").count() == 1
    assert page.locator("html").get_attribute("lang") == "en"


@pytest.mark.parametrize(("task", "view"), EVERY)
def test_a_phone_scrolls_in_one_direction(opened: Opener, reports: dict[str, Path], task: str, view: str) -> None:
    page = opened(reports[task], f"#view={view}", width=390, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_button_overrides_the_mode(opened: Opener, reports: dict[str, Path]) -> None:
    page = opened(reports["detection"], color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(251, 250, 247)"
    page.get_by_role("button", name="dark mode").click()
    assert page.evaluate(ground) == "rgb(21, 24, 28)"
    assert "theme=dark" in page.url
    page.emulate_media(media="print")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    other = opened(reports["detection"], "#theme=light", color_scheme="dark")
    assert other.evaluate(ground) == "rgb(251, 250, 247)"


def test_paper_is_short_and_without_navigation(opened: Opener, reports: dict[str, Path], tmp_path: Path) -> None:
    pypdfium2 = pytest.importorskip("pypdfium2")
    page = opened(reports["detection"], color_scheme="dark")
    page.pdf(path=str(tmp_path / "summary.pdf"), prefer_css_page_size=True)
    printed = pypdfium2.PdfDocument(tmp_path / "summary.pdf")
    assert 1 <= len(printed) <= 3
    text = printed[0].get_textpage().get_text_range()
    assert "Finds" in text
    assert "Objects" not in text
    page.emulate_media(media="print")
    assert not page.locator("header.top").is_visible()


def test_without_scripts_there_are_tables(browser: Any, reports: dict[str, Path]) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(reports["detection"].resolve().as_uri())
    text = page.inner_text("body")
    assert "0.9412" in text
    assert "calque 0.1.0 | detection" in text
    context.close()


def test_lists_say_where_one_is(opened: Opener, reports: dict[str, Path]) -> None:
    page = opened(reports["detection"], "#view=pages")
    chosen = page.locator("[role=listbox][aria-label=pages] [role=option][aria-selected=true]")
    assert (chosen.get_attribute("aria-posinset"), chosen.get_attribute("aria-setsize")) == ("1", "60")
    assert page.locator("[data-count=pages]").get_attribute("role") == "status"
