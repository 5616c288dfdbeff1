"""Values of fields on their pages: boxes stand where they are, over the right picture, whatever spells them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Evaluator, Fields, Result
from calque.statistics.bootstrap import Resampling
from calque.statistics.comparison import compare

Opener = Callable[..., Any]
Image = pytest.importorskip("PIL.Image")


def value(text: str, box: list[float], page: Any = None) -> dict[str, Any]:
    return {"_value": text, "_bbox": box, **({} if page is None else {"_page": page})}


def evaluated(truth: list[dict[str, Any]], found: list[dict[str, Any]]) -> Result:
    return Evaluator(Fields()).update(truth, found).compute()


SHARES = """
() => Object.fromEntries([...document.querySelectorAll("[data-viewer] svg rect[data-side]:not(.other)")].map((node) => {
  const height = node.ownerSVGElement.viewBox.baseVal.height;
  const sides = [["x", 1000], ["y", height], ["width", 1000], ["height", height]];
  return [node.dataset.side, sides.map(([name, whole]) => Number(node.getAttribute(name)) / whole)];
}))
"""


def drawn(page: Any) -> dict[str, list[float]]:
    """The boxes of the chosen value, as shares of the page, by side."""
    found: dict[str, list[float]] = page.evaluate(SHARES)
    return found


@pytest.mark.parametrize("name", ["a-2.png", "a/2.png"])
def test_boxes_in_pixels_are_laid_over_their_page(opened: Opener, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "images"
    (folder / name).parent.mkdir(parents=True)
    Image.new("RGB", (400, 800), "#ccddee").save(folder / name)
    Image.new("RGB", (100, 100), "#ccddee").save(folder / "a-0.png")
    truth = [{"id": "a.pdf", "vendor": value("Acme", [40, 80, 140, 120], 2), "date": value("1", [1, 1, 9, 9], 0)}]
    found = [{"id": "a.pdf", "vendor": value("Globex", [80, 80, 180, 160], 2), "date": value("1", [1, 1, 9, 9], 0)}]
    evaluated(truth, found).report(tmp_path / "fields.html", images=str(folder))
    page = opened(tmp_path / "fields.html", "#view=fields")
    page.locator('[data-cell][data-field="vendor"]').click()
    assert page.locator("[data-viewer] image").get_attribute("href").startswith("blob:")
    boxes = drawn(page)
    assert boxes["truth"] == pytest.approx([0.1, 0.1, 0.25, 0.05], abs=1e-3)
    assert boxes["prediction"] == pytest.approx([0.2, 0.1, 0.25, 0.1], abs=1e-3)
    assert "not known" not in page.locator("[data-viewer]").inner_text()
    page.keyboard.press("t")
    assert set(drawn(page)) == {"prediction"}
    page.keyboard.press("i")
    assert page.locator("[data-viewer] image").count() == 0


def test_a_page_is_drawn_larger_around_the_value(opened: Opener, tmp_path: Path) -> None:
    truth, found = ([{"id": "a", "total": value(text, [0.6, 0.7, 0.8, 0.9])}] for text in "12")
    evaluated(truth, found).report(tmp_path / "zoom.html")
    page = opened(tmp_path / "zoom.html", "#view=fields&object=t0")
    seen = "document.querySelector('svg.page').getAttribute('viewBox').split(' ').map(Number)"
    high = 1000 * 2**0.5
    assert page.evaluate(seen) == pytest.approx([0, 0, 1000, high], abs=0.1)
    for _ in range(2):
        page.keyboard.press("+")
    assert "zoom=200" in page.evaluate("location.href")
    # Half as much, with the middle of the box, 0.7 and 0.8 of the page, in its middle or as near as the edge allows.
    assert page.evaluate(seen) == pytest.approx([450, high / 2, 500, high / 2], abs=0.2)
    page.keyboard.press("0")
    page.get_by_role("button", name="smaller").click()
    assert page.evaluate(seen) == pytest.approx([0, 0, 1000, high], abs=0.1)
    assert page.evaluate("document.querySelector('svg.page').style.width") == "75%"


def test_boxes_in_shares_need_no_size(opened: Opener, tmp_path: Path) -> None:
    truth, found = (
        [{"id": "r.png", "total": value(text, box)}] for text, box in (("1", [0.1, 0.2, 0.3, 0.4]), ("2", [0.1, 0.2, 0.5, 0.4]))
    )
    Image.new("RGB", (300, 900), "#ccddee").save(tmp_path / "r.png")
    evaluated(truth, found).report(tmp_path / "shares.html", images=str(tmp_path))
    page = opened(tmp_path / "shares.html", "#view=fields&object=t0")
    assert drawn(page)["truth"] == pytest.approx([0.1, 0.2, 0.2, 0.2], abs=1e-3)
    assert drawn(page)["prediction"] == pytest.approx([0.1, 0.2, 0.4, 0.2], abs=1e-3)
    assert page.evaluate("document.querySelector('[data-viewer] svg.page').viewBox.baseVal.height") == 3000


def test_two_sides_on_different_pages_are_two_pictures(opened: Opener, tmp_path: Path) -> None:
    truth, found = ([{"id": "a", "total": value("1", [10, 10, 20, 20], page)}] for page in (0, "annex"))
    evaluated(truth, found).report(tmp_path / "apart.html")
    page = opened(tmp_path / "apart.html", "#view=fields&object=t0")
    figures = page.locator("[data-viewer] figure")
    assert figures.count() == 2
    assert (
        figures.nth(0).locator("rect[data-side=truth]").count()
        == figures.nth(1).locator("rect[data-side=prediction]").count()
        == 1
    )
    assert "different pages" in figures.nth(0).inner_text()
    assert "page annex" in figures.nth(1).inner_text()


def test_runs_that_know_other_pages_show_the_same_pictures(opened: Opener, tmp_path: Path) -> None:
    Image.new("RGB", (200, 200), "#ccddee").save(tmp_path / "b-1.png")
    truth = [{"id": name, "total": value("1", [10, 10, 20, 20], 1)} for name in "ab"]
    runs = [
        evaluated(truth, [{"id": name, "total": value(text, [10, 10, 20, 20], page)} for name in "ab"])
        for text, page in (("1", 1), ("2", 0))
    ]
    compare(runs, ["old", "new"], resampling=Resampling(replicates=100)).report(tmp_path / "both.html", images=str(tmp_path))
    page = opened(tmp_path / "both.html", "#view=fields&doc=b&object=t1&run=1")
    figures = page.locator("[data-viewer] figure")
    assert [figures.nth(place).locator("image").count() for place in (0, 1)] == [1, 0]
    assert drawn(page)["truth"] == pytest.approx([0.05, 0.05, 0.05, 0.05], abs=1e-3)


def test_confidences_are_drawn_and_lead_to_their_values(opened: Opener, tmp_path: Path) -> None:
    truth = [{"id": str(row), "a": "x"} for row in range(20)]
    found = [
        {"id": str(row), "a": {"_value": "x" if row % 4 else "y", "_confidence": 0.05 + 0.1 * (row % 10)}} for row in range(20)
    ]
    made = evaluated(truth, found)
    made.report(tmp_path / "sure.html")
    bins = made.numbers["confidence_metrics"]["overall"]["ece"]["bins"]
    page = opened(tmp_path / "sure.html")
    points = page.locator("section[aria-labelledby=calibration] svg a")
    assert points.count() == sum(1 for one in bins if one["count"]) == 10
    points.nth(3).click()
    page.wait_for_selector("main[data-view=fields]")
    assert int(page.locator("[data-count=objects]").get_attribute("data-value")) == bins[3]["count"] == 2
