"""Laws that every kind of report obeys: what a count leads to, what an address shows, and what a strict frame leaves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque.statistics.bootstrap import Resampling
from calque.statistics.presentation import with_intervals
from tests.report.made import ALL, BOTH, VIEWS, Reports

Opener = Callable[..., Any]
FOLLOWED = """
async () => {
  document.querySelectorAll("details").forEach((node) => { node.open = true; });
  const settled = () => new Promise((done) => setTimeout(() => setTimeout(done)));
  await settled();
  const start = location.hash;
  const links = [...document.querySelectorAll("main a[data-objects]")];
  const there = links.map((link) => [link.getAttribute("href"), link.dataset.objects, link.textContent]);
  const found = [], known = new Set();
  for (const [href, count, text] of there) {
    if (known.has(href + count)) continue;
    known.add(href + count);
    const arrived = new Promise((done) => addEventListener("hashchange", done, { once: true }));
    if (location.hash !== href) { location.hash = href; await arrived; }
    await settled();
    const seen = document.querySelector("[data-count=objects]");
    found.push([href, text, count, seen ? seen.dataset.value : "no count"]);
  }
  location.hash = start;
  return found;
}
"""
LOOSE = """
() => [...document.querySelectorAll("main a[href]:not([data-objects])")]
  .filter((link) => /^[\\d,.]+$/.test(link.textContent.trim())).map((link) => link.outerHTML.slice(0, 120))
"""


DRAWN = """
() => [...document.querySelectorAll("main, main *")].map((node) => {
  const given = [...node.attributes].filter(({ value }) => value).map(({ name, value }) => `${name}=${value}`);
  const text = [...node.childNodes].filter((child) => child.nodeType === 3).map((child) => child.data).join("");
  return [node.tagName, given.sort().join(" "), text].join("|");
})
"""


def places(name: str, report: Any) -> list[str]:
    """The addresses of all that counts stand on: of each run, at each threshold."""
    runs = range(len(report.results)) if name in BOTH else range(1)
    result = next(iter(report.results.values())) if name in BOTH else report
    limits = ["", *(f"&iou={limit!r}" for limit in getattr(result.task, "iou", ())[1:])] if "detection" in name else [""]
    first = ["#view=compare"] if name in BOTH else []
    return [*first, *(f"#view=summary&run={run}{limit}" for run in runs for limit in limits)]


@pytest.mark.parametrize("name", ALL)
def test_every_count_leads_to_exactly_so_many_objects(opened: Opener, reports: Reports, name: str) -> None:
    for address in places(name, reports.of(name)):
        page = opened(reports[name], address)
        followed = page.evaluate(FOLLOWED)
        assert followed or "compare" in address
        assert [entry for entry in followed if entry[2] != entry[3]] == []
        assert page.evaluate(LOOSE) == []


@pytest.mark.parametrize("name", BOTH)
def test_every_number_of_a_comparison_says_whose_it_is(opened: Opener, reports: Reports, name: str) -> None:
    comparison = reports.of(name)
    page = opened(reports[name])
    for address in ("#view=compare", "#view=summary", "#view=summary&run=1"):
        page.goto(f"{reports[name].resolve().as_uri()}{address}")
        page.wait_for_selector(f"main[data-view={address[6:].partition('&')[0]}]")
        shown = page.eval_on_selector_all(
            "main [data-measure]", "nodes => nodes.map(node => [node.dataset.measure, node.dataset.run, node.dataset.value])"
        )
        assert shown
        for measure, run, value in shown:
            known = comparison.delta(measure).value if run == "delta" else comparison.results[run][measure]
            assert (None if value == "null" else float(value)) == known, (measure, run)


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_an_address_shows_what_its_page_showed(opened: Opener, reports: Reports, name: str) -> None:
    page = opened(reports[name])
    for view in VIEWS[name]:
        page.goto(f"{reports[name].resolve().as_uri()}#view={view}")
        page.wait_for_selector(f"main[data-view={view}]")
        for key in ("j", "n", "t", "+", "n"):
            page.keyboard.press(key)
        again = opened(reports[name], page.evaluate("location.hash"), tab=1)
        assert again.evaluate(DRAWN) == page.evaluate(DRAWN), view


@pytest.mark.parametrize("name", ALL)
def test_a_sandboxed_frame_under_a_strict_policy_shows_every_view(
    blank: Opener, reports: Reports, name: str, tmp_path: Path
) -> None:
    (tmp_path / "frame.html").write_text(
        "<!doctype html><meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; frame-src file:\">"
        f'<iframe sandbox="allow-scripts" src="{reports[name].resolve().as_uri()}" width=1200 height=800></iframe>'
    )
    page = blank()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "frame.html").as_uri())
    frame = page.frames[1]
    frame.wait_for_selector("body[data-ready=true]")
    for view in VIEWS[name]:
        frame.locator(f"nav a[data-view-link={view}]").click()
        frame.wait_for_selector(f"main[data-view={view}]")
        for key in ("j", "n", "c", "t", "Escape"):
            page.keyboard.press(key)
        assert frame.locator("h1").count() == 1
    assert errors == []


@pytest.mark.parametrize(("confidence", "told"), [(0.9, "90 %: "), (0.995, "99.5 %: ")])
def test_intervals_say_how_sure_they_are(
    opened: Opener, reports: Reports, tmp_path: Path, confidence: float, told: str
) -> None:
    result = with_intervals(reports.of("detection"), Resampling(replicates=100, confidence=confidence))
    result.report(tmp_path / "sure.html")
    notes = opened(tmp_path / "sure.html").locator(".big .note").all_inner_texts()
    interval = result.to_dict()["intervals"]["measures"]["recall@0.5"]
    assert notes[0].startswith(f"{told}{interval['low']:.3f} to {interval['high']:.3f}")


def test_a_comparison_has_every_class_on_its_first_view(opened: Opener, reports: Reports) -> None:
    page = opened(reports["detection-both"])
    names = {
        (node["measure"], node["run"])
        for node in page.eval_on_selector_all("main [data-measure]", "nodes => nodes.map(node => ({ ...node.dataset }))")
    }
    for run in ("old", "new"):
        for label in ("Figure", "Table"):
            for name in ("recall", "precision", "f1", "tp", "fn", "fp"):
                assert (f"{name}@0.5/{label}", run) in names
