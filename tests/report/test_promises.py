"""Sentences of the contract of reports that no other test holds: order, scale, type, keys, bytes and what is never there."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque.report.page import asset
from tests.report.made import MADE, VIEWS, Reports
from tests.report.test_images import picture
from tests.report.test_images import result as of_pictures
from tests.report.test_sizes import many

Opener = Callable[..., Any]
SOURCES = Path(__file__).parents[2] / "src" / "calque" / "report" / "app" / "src"
IN_ORDER = (
    "h1[data-headline]", ".findings", ".six", "#breakdown", "#worst", "#kinds", "#edges", "#confusion", "#pr", "#ious",
    "#scores", "#calibration", "#ground", "[data-signature]",
)  # fmt: skip
"""One sentence, what to look at, six numbers, classes, worst pages, why, how, and what it rests on."""
FOLLOWS = """
(names) => names.slice(1).filter((name, place) => {
  const [before, behind] = [names[place], name].map((selector) => document.querySelector(selector));
  return !before || !behind || !(before.compareDocumentPosition(behind) & Node.DOCUMENT_POSITION_FOLLOWING);
})
"""


def test_the_first_view_has_its_parts_in_order(opened: Opener, reports: Reports) -> None:
    page = opened(reports["detection"])
    assert page.evaluate(FOLLOWS, list(IN_ORDER)) == []
    for width in (390, 800):  # on a narrow screen what to look at comes after the sentence, too
        page = opened(reports["detection"], width=width)
        places = [
            page.locator(name).first.bounding_box()["y"] for name in IN_ORDER if name not in ("#edges", "#ious", "#scores")
        ]
        assert places == sorted(places)


SCALES = """
nodes => nodes.map((bar) => [...bar.querySelectorAll(".share")].map((share) => [share.getBoundingClientRect().width,
  Number(share.dataset.objects)]).filter(([width]) => width > 5).map(([width, value]) => width / value)).flat()
"""


def test_rows_of_one_chart_share_one_scale(opened: Opener, reports: Reports, tmp_path: Path) -> None:
    each = opened(reports["detection"]).eval_on_selector_all(".classes tbody td.bar", SCALES)
    assert len(each) >= 3  # of figures there are more than twice as many as of tables
    assert max(each) <= 1.12 * min(each)  # what is between two parts is taken from them
    many(200, 14).report(tmp_path / "many.html")
    page = opened(tmp_path / "many.html")
    rows = page.locator("section[aria-labelledby=kinds] tbody tr")
    widths = rows.evaluate_all(
        "rows => rows.map(row => [row.querySelector('.track i, .track .share')?.getBoundingClientRect().width ?? 0, "
        "row.querySelector('.track').getBoundingClientRect().width, row.cells[2].textContent])"
    )
    shares = [(float(text), width / track) for width, track, text in widths if text.strip() and width > 5]
    assert len(shares) > 1
    most = max(shares)
    for value, share in shares:
        assert share == pytest.approx(most[1] * value / most[0], abs=0.02)


@pytest.mark.parametrize("task", MADE)
def test_k_goes_back_where_j_came_from(opened: Opener, reports: Reports, task: str) -> None:
    page = opened(reports[task], f"#view={VIEWS[task][1]}")
    viewer = page.locator("[data-viewer]")

    def place() -> tuple[str | None, ...]:
        return tuple(viewer.get_attribute(name) for name in ("data-document", "data-page", "data-case"))

    start = place()
    page.keyboard.press("j")
    assert place() != start
    page.keyboard.press("k")
    assert place() == start
    page.keyboard.press("k")
    assert place() == start  # there is none before


@pytest.mark.parametrize("task", MADE)
def test_c_copies_json_of_what_is_chosen(opened: Opener, reports: Reports, task: str) -> None:
    page = opened(reports[task], f"#view={VIEWS[task][1]}")
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.taken = text; }")
    page.keyboard.press("n")
    page.keyboard.press("c")
    page.wait_for_selector(".toast:not(:empty)")
    copied = json.loads(page.evaluate("window.taken"))
    shown = page.locator("[data-viewer]").get_attribute("data-document")
    assert shown in (copied.get("document"), copied.get("id"))


def test_pages_are_sorted_by_their_share_of_errors(opened: Opener, tmp_path: Path) -> None:
    many(60, 14).report(tmp_path / "many.html")
    page = opened(tmp_path / "many.html", "#view=pages&sort=share")
    tallies = page.locator("[role=listbox][aria-label=pages] [role=option] .tallies").all_inner_texts()
    shares = []
    for text in tallies:
        found = {mark: int(number) for mark, number in re.findall(r"([▲✕●])\s*(\d+)", text)}
        wrong = found.get("▲", 0) + found.get("✕", 0)
        shares.append(wrong / (wrong + found.get("●", 0)))
    assert len(shares) > 8
    assert shares == sorted(shares, reverse=True)
    assert len(set(shares)) > 3


def test_a_slider_wipes_one_run_over_the_other(opened: Opener, reports: Reports) -> None:
    page = opened(reports["detection-both"])
    page.keyboard.press("n")
    assert page.locator("[data-viewer] svg.over").count() == 0
    slider = page.locator("input[type=range]")
    slider.fill("40")
    over = page.locator("[data-viewer] svg.over")
    assert over.evaluate("node => getComputedStyle(node).clipPath") == "inset(0px 60% 0px 0px)"
    # The chosen one is broken: the run that is wiped over has it.
    assert over.locator(".o-tp.s-t").count() == 1
    slider.fill("0")
    assert over.count() == 0


def test_minus_zooms_out_and_zero_takes_it_back(opened: Opener, reports: Reports) -> None:
    page = opened(reports["detection"], "#view=pages")
    sizes = [page.locator("[data-viewer] svg.page").bounding_box()["width"]]
    for key in ("+", "-", "0"):
        page.keyboard.press(key)
        sizes.append(page.locator("[data-viewer] svg.page").bounding_box()["width"])
    assert sizes[1] > 1.4 * sizes[0]
    assert sizes[2] == pytest.approx(sizes[0], abs=1)
    assert sizes[3] == pytest.approx(sizes[0], abs=1)


LOOKS = """
(names) => names.map((name) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  made.setAttribute("class", `b o-${name} s-t`);
  document.querySelector("[data-viewer] svg.page").append(made);
  const { strokeDasharray, strokeWidth, fill } = getComputedStyle(made);
  return [strokeDasharray.replaceAll("px", ""), strokeWidth, fill];
})
"""


def test_what_is_there_but_other_is_washed_and_what_is_left_out_is_dotted(opened: Opener, reports: Reports) -> None:
    page = opened(reports["detection"], "#view=pages")
    wrong, *others = page.evaluate(LOOKS, ["wrong", "ignored", "excluded", "invalid"])
    assert wrong == ["none", "2.4px", "rgba(20, 23, 26, 0.1)"]
    assert {(dots, width) for dots, width, _ in others} == {("1, 3", "1px")}


TYPE = """
(selector) => {
  const style = getComputedStyle(document.querySelector(selector));
  const line = parseFloat(style.lineHeight) / parseFloat(style.fontSize);
  return [style.fontSize, style.fontWeight, Math.round(100 * line) / 100, style.fontFamily.split(",")[0]];
}
"""


def test_type_is_the_systems_and_of_few_sizes(opened: Opener, reports: Reports) -> None:
    page = opened(reports["detection"])
    assert page.evaluate(TYPE, "h1[data-headline]") == ["36px", "400", 1.22, "ui-serif"]
    assert page.evaluate(TYPE, "body") == ["14px", "400", 1.45, "ui-sans-serif"]
    assert page.evaluate(TYPE, ".big dd > .number")[:2] == ["27px", "600"]
    assert page.evaluate(TYPE, ".big dt")[0] == "12px"
    assert page.evaluate(TYPE, "[data-signature]")[3] == "ui-monospace"
    assert page.evaluate("getComputedStyle(document.body).fontVariantNumeric") == "tabular-nums"
    assert page.evaluate("getComputedStyle(document.querySelector('h1')).textWrap") == "balance"
    style = asset("app.css") + asset("values.css")
    assert "@font-face" not in style
    assert not re.search(r"box-shadow:(?!inset)|drop-shadow|text-shadow", style)


def test_data_is_one_block_whose_columns_lie_on_multiples_of_eight(reports: Reports) -> None:
    for name in ("detection", "fields", "words", "checks", "order-both"):
        text = reports[name].read_text()
        block = re.findall(r'<script type="application/octet-stream" id="data">([^<]*)</script>', text)
        assert len(block) == 1
        whole = zlib.decompress(base64.b64decode(block[0], validate=True), -15)
        length = int.from_bytes(whole[:4], "little")
        head = json.loads(whole[4 : 4 + length])
        assert (4 + length) % 8 == 0
        sizes = {"u8": 1, "u16": 2, "u32": 4, "i8": 1, "i32": 4, "f32": 4, "f64": 8}
        for kind, start, count in head["columns"].values():
            assert start % 8 == 0
            assert 4 + length + start + sizes[kind] * count <= len(whole)


def test_a_report_that_cannot_be_read_says_so(blank: Opener, reports: Reports, tmp_path: Path) -> None:
    text = reports["words"].read_text()
    (tmp_path / "cut.html").write_text(re.sub(r'(id="data">[^<]{40})[^<]*<', r"\1<", text))
    page = blank()
    page.goto((tmp_path / "cut.html").as_uri())
    page.wait_for_selector("body[data-ready=error]")
    assert "This report could not be shown" in page.locator("body").inner_text()


def test_pictures_are_made_smaller(tmp_path: Path) -> None:
    from PIL import Image

    picture(tmp_path / "images" / "a-0.png", (1600, 2000))
    of_pictures(("a.pdf", "b.pdf")).report(tmp_path / "report.html", images=str(tmp_path / "images"))
    data = re.search(r'<script type="image/webp" data-image="0">([^<]*)<', (tmp_path / "report.html").read_text())
    assert data is not None
    (tmp_path / "0.webp").write_bytes(base64.b64decode(data[1]))
    with Image.open(tmp_path / "0.webp") as made:
        assert (made.format, made.size) == ("WEBP", (800, 1000))


def test_pictures_beside_a_report_have_a_policy_of_their_own(tmp_path: Path) -> None:
    picture(tmp_path / "images" / "a-0.png")
    for sidecar, allowed in ((False, "img-src data: blob:;"), (True, "img-src file: data: blob:;")):
        of_pictures().report(tmp_path / "report.html", images=str(tmp_path / "images"), sidecar=sidecar)
        assert allowed in (tmp_path / "report.html").read_text()


UNBROKEN = (
    "nodes => nodes.filter((node) => getComputedStyle(node).breakInside !== 'avoid').map((node) => node.outerHTML.slice(0, 60))"
)


@pytest.mark.parametrize("task", MADE)
def test_paper_breaks_no_section(opened: Opener, reports: Reports, task: str) -> None:
    page = opened(reports[task])
    page.emulate_media(media="print")
    assert page.eval_on_selector_all("main section, main .six, main tr, main figure", UNBROKEN) == []


def test_sources_use_nothing_that_the_contract_leaves_out() -> None:
    """The library below them knows how to set markup; nothing here asks it to, and the policy would stop it."""
    left_out = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\bfetch\(|XMLHttpRequest|localStorage"
        r"|sessionStorage|Worker\(|<canvas|getContext|setInterval|@import|@font-face|https?://(?!www\.w3\.org)"
    )
    read = {path.name: path.read_text() for path in SOURCES.iterdir()}
    assert len(read) > 20
    assert {name: re.findall(left_out, text) for name, text in read.items() if re.search(left_out, text)} == {}


SPACES = {"auto", "0", "1px", "2px", "-1px", "4px", "8px", "12px", "16px", "24px", "40px"}
"""The steps of the contract, hairlines, and what overlaps a hairline."""
CORNERS = {"0", "6px", "50%", "99px"}
"""Square, round, a dot and a pill."""


def off_scale(style: str) -> list[str]:
    """Declarations of a style that are on none of the steps, and shadows behind the first."""
    style = re.sub(
        r"/\*.*?\*/|@page\s*\{[^}]*\}", "", style, flags=re.DOTALL
    )  # the margin of a sheet of paper is the printer's
    wrong, shadows = [], []
    for name, value in re.findall(r"(?<=[{;\s])([a-z-]+)\s*:\s*([^;{}]+)(?=[;}])", style):
        if name == "box-shadow":
            shadows.append(f"{name}: {value}")
        spaced = re.fullmatch(r"(padding|margin)(-[a-z-]+)?|([a-z]+-)?gap", name)
        steps = CORNERS if name.endswith("radius") else SPACES if spaced else None
        if steps and not steps.issuperset(value.replace("!important", "").split()):
            wrong.append(f"{name}: {value.strip()}")
    return wrong + shadows[1:]


def test_spaces_and_corners_are_on_one_scale() -> None:
    for name in ("app.css", "values.css"):
        assert off_scale(asset(name)) == []
    whole = asset("values.css") + asset("app.css")
    assert off_scale(whole) == []  # with one shadow at the most
    assert len(re.findall(r"padding|margin|gap", whole)) > 150
    for planted in ("padding:10px", "margin:0 auto 7px", "gap:4px 20px", "margin-left:-10px", "border-radius:4px"):
        assert off_scale(f"{whole}.planted{{{planted};color:red}}") == [planted.replace(":", ": ")]
    assert off_scale("a{box-shadow:0 1px 2px #000}b{box-shadow:none}") == ["box-shadow: none"]
