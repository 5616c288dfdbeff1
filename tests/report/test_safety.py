"""Data is never code: hostile names are text, the policy holds, nothing but the page itself is ever asked for."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from calque import Ceiling, Corpus, Detection, Evaluator, Fields, Layout, Result, Tables, Words
from calque.checks import Checks
from calque.checks.suites.cases import Case, CaseCorpus
from calque.order import Order
from calque.report.page import app
from calque.statistics.comparison import compare
from tests.report.made import ALL, FEW
from tests.report.made import VIEWS as ALL_VIEWS

Opener = Callable[..., Any]
HOSTILE = (
    '</script><script>alert(1)</script>',
    '<img src=x onerror="alert(2)">',
    '"><svg onload=alert(3)>',
    "javascript:alert(4)",
    "a\u202eb\u0000c\u2028d",
    "${alert(5)}{{7*7}}`",
    "%3Cscript%3E&amp;&lt;#view=pages",
    "x" * 3000,
)  # fmt: skip


def detection() -> Result:
    count = len(HOSTILE)
    boxes = [[10, 10, 60, 60]] * count
    truth = Corpus.from_arrays(boxes, list(HOSTILE), documents=list(HOSTILE), ids=list(HOSTILE))
    found = Corpus.from_arrays(
        boxes[: count // 2] * 2,
        [*HOSTILE[: count // 2], *HOSTILE[count // 2 :]],
        documents=[*HOSTILE[: count // 2]] * 2,
        ids=list(HOSTILE),
        scores=[0.5] * count,
    )
    return Evaluator(Detection()).update(truth, found).compute()


def fields() -> Result:
    truth = [{"id": name, "value": name, "other": place} for place, name in enumerate(HOSTILE)]
    found = [{"id": name, "value": name[::-1], "other": place} for place, name in enumerate(HOSTILE)]
    return Evaluator(Fields()).update(truth, found).compute()


def words() -> Result:
    return (
        Evaluator(Words()).update(dict.fromkeys(HOSTILE, " ".join(HOSTILE)), dict.fromkeys(HOSTILE, "nothing at all")).compute()
    )


def checks() -> Result:
    settings = {"type": "iou_score", "bbox_path": "box", "expected_bbox_path": "box", "name": HOSTILE[0]}
    square = {"box": [0, 0, 10, 10]}
    cases = CaseCorpus(cases=tuple(Case(name, {"box": name}, square) for name in HOSTILE))
    return Evaluator(Checks.of([settings])).update(cases, cases).compute()


def order() -> Result:
    boxes = [[10, 20 * row, 60, 20 * row + 9] for row in range(len(HOSTILE))]
    page = {"boxes": boxes, "labels": list(HOSTILE), "ids": list(HOSTILE)}
    truth = [{"doc_id": name, **page, "order": list(HOSTILE)} for name in HOSTILE]
    found = [{"doc_id": name, **page, "order": list(reversed(HOSTILE))} for name in HOSTILE]
    return Evaluator(Order()).update(truth, found).compute()


def tables() -> Result:
    cells = "".join(f"<tr><td>{escape(text)}</td><td>1</td></tr>" for text in HOSTILE)
    truth = dict.fromkeys(HOSTILE, f"<table>{cells}</table>")
    return Evaluator(Tables()).update(truth, dict.fromkeys(HOSTILE, f"<table>{cells[:-20]}</table>")).compute()


def lattice(folder: Path) -> Result:
    (folder / "lattice.json").write_text(json.dumps({"a": [[[text], ["other"]] for text in HOSTILE]}))
    task = Words(lattice=str(folder / "lattice.json"), tokenizer="none")
    return Evaluator(task).update({"a": list(HOSTILE)}, {"a": ["nothing"]}).compute()


def layout() -> Result:
    boxes = [[10, 10, 60, 60]] * len(HOSTILE)
    truth = Corpus.from_arrays(boxes, list(HOSTILE), documents=list(HOSTILE), ids=list(HOSTILE))
    other = Corpus.from_arrays(boxes, list(reversed(HOSTILE)), documents=list(HOSTILE), ids=list(HOSTILE))
    return Evaluator(Layout()).update(truth, other).compute()


def ceiling() -> Result:
    box = [50, 50, 250, 150]
    page = {"page_index": 0, "width": 600, "height": 800, "boxes": [box]}
    truth = [{**page, "doc_id": name, "labels": [name]} for name in HOSTILE]
    found = [{**page, "doc_id": name, "labels": [HOSTILE[1]], "scores": [0.5]} for name in HOSTILE]
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("truth.ndjson", "found.ndjson")]
        for path, rows in zip(paths, (truth, found), strict=True):
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        systems = {HOSTILE[0]: paths[1], HOSTILE[1]: paths[1]}
        return Evaluator(Ceiling(kind="boxes")).update(paths[0], systems).compute()


MADE = {
    "detection": detection, "layout": layout, "fields": fields, "words": words, "checks": checks, "order": order,
    "tables": tables, "ceiling": ceiling,
}  # fmt: skip
VIEWS = {name: tuple(views[1:]) for name, views in ALL_VIEWS.items() if name in MADE}


def written(name: str, path: Path) -> None:
    """A report of hostile names: of a task, or of two runs of it."""
    task = name.removesuffix("-both")
    if task == name:
        MADE[task]().report(path)
    else:
        compare([MADE[task](), MADE[task]()], [HOSTILE[1], HOSTILE[0]], resampling=FEW).report(path)


@pytest.mark.parametrize("name", ALL)
def test_hostile_text_is_text(opened: Opener, tmp_path: Path, name: str) -> None:
    path = tmp_path / "hostile.html"
    written(name, path)
    page = opened(path)
    for view in ALL_VIEWS[name]:
        page.goto(f"{path.resolve().as_uri()}#view={view}")
        page.wait_for_selector(f"main[data-view={view}]")
        for _ in range(4):
            page.keyboard.press("n")
        assert page.locator("main script, main img, main iframe, [onload], [onerror]").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 1440
    hosts = page.eval_on_selector_all(
        "a[href]", "nodes => nodes.map(node => node.getAttribute('href')).filter(href => !href.startsWith('#'))"
    )
    assert hosts == []


def test_hostile_candidates_are_text(opened: Opener, tmp_path: Path) -> None:
    lattice(tmp_path).report(tmp_path / "lattice.html")
    page = opened(tmp_path / "lattice.html", "#view=words")
    shown = page.locator("[data-candidate]").all_inner_texts()
    assert any("<img src=x" in text for text in shown)
    assert page.locator("main script, main img, main iframe, [onload], [onerror]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 1440


@pytest.mark.parametrize("name", ALL)
def test_no_data_is_markup_in_the_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / "hostile.html"
    written(name, path)
    text = path.read_text()
    assert "alert(1)</script>" not in text
    assert "<img src=x" not in text
    assert len(re.findall("</script", text)) == 2  # the data and the app
    data = re.search(r'id="data">([^<]*)<', text)
    assert data is not None
    assert re.fullmatch("[A-Za-z0-9+/=]+", data[1])


def test_the_policy_names_exactly_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    detection().report(path)
    text = path.read_text()
    script, style = re.findall(r"<script>(.*?)</script>", text, re.DOTALL), re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (script[0], style[0])]
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1] == (
        f"default-src 'none'; script-src 'sha256-{digests[0]}'; style-src 'sha256-{digests[1]}'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    assert len(script) == len(style) == 1
    assert " style=" not in text.split("<style>")[0] + text.split("</style>")[1].split("<script>")[0]


@pytest.mark.parametrize("kind", ["boxes", "fields", "words", "checks", "tables"])
def test_the_app_has_no_way_out(kind: str) -> None:
    script, style = app(kind)
    assert not re.search(r"\b(fetch|eval|localStorage|XMLHttpRequest|WebSocket|importScripts|Worker)\(", script)
    assert "http" not in script.replace("http://www.w3.org/", "")
    assert "@import" not in style
    assert "http" not in style
    assert "</" not in re.sub(r"</[a-z0-9]*>", "", style)
    assert "</script" not in script
    assert len(script.encode()) + len(style.encode()) <= 130_000


def test_no_path_of_the_machine_and_no_clock(tmp_path: Path) -> None:
    truth, found = tmp_path / "deep" / "truth.txt", tmp_path / "deep" / "found.txt"
    truth.parent.mkdir()
    truth.write_text("one two")
    found.write_text("one too")
    pages = []
    for name in ("first", "second"):
        Evaluator(Words()).update(str(truth), str(found)).compute().report(tmp_path / f"{name}.html")
        pages.append((tmp_path / f"{name}.html").read_bytes())
    assert pages[0] == pages[1]
    assert str(tmp_path).encode() not in pages[0]
    import zlib

    data = re.search(rb'id="data">([^<]*)<', pages[0])
    assert data is not None
    assert str(tmp_path).encode() not in zlib.decompress(base64.b64decode(data[1]), -15)
