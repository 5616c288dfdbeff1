"""The audit against its rules applied pair by pair, and the agreement of annotators."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from statistics import median_low
from typing import Any

import pytest
from hypothesis import given

from calque import ConfigError, Corpus
from calque.corpus.boxes import BoxCorpus
from calque.detection.auditing.agreement import agreement
from calque.detection.auditing.audit import KINDS, AuditRules, audit, listed, summary
from calque.detection.auditing.report import Agreement
from tests.conftest import Run
from tests.snapshots import BOX, predictions, truth, write
from tests.views.plain import Box, boxes, corpus, iou

RULES = AuditRules(near=0.6, nested=0.8, tiny=0.3, score=0.5, iou=0.4)


def side(rows: list[Box], *, scores: bool) -> BoxCorpus:
    made = corpus(rows, scores=scores)
    assert isinstance(made, BoxCorpus)
    return made


def places(rows: list[Box]) -> list[str]:
    """The position of each box among those of its page."""
    return [str(sum((b.document, b.page) == (a.document, a.page) for b in rows[:n])) for n, a in enumerate(rows)]


def shared(a: Box, b: Box) -> float:
    width, height = min(a.x2, b.x2) - max(a.x1, b.x1), min(a.y2, b.y2) - max(a.y1, b.y1)
    return width * height if width > 0 and height > 0 else 0.0


def pair_kind(a: Box, b: Box) -> str | None:
    corners = (a.x1, a.y1, a.x2, a.y2) == (b.x1, b.y1, b.x2, b.y2)
    if corners and a.label == b.label:
        return "duplicate"
    if iou(a, b) >= RULES.near:
        return "near_duplicate" if a.label == b.label else "two_labels"
    inside = shared(a, b) / min(a.area, b.area)
    return "nested" if a.label == b.label and inside >= RULES.nested else None


def by_hand(truths: list[Box], found: list[Box]) -> list[tuple[str, str, int, str, str]]:
    listed = []
    place = places(truths)
    for n, later in enumerate(truths):
        for m, earlier in enumerate(truths[:n]):
            kind = pair_kind(later, earlier) if (later.document, later.page) == (earlier.document, earlier.page) else None
            suspect, other = (m, n) if kind == "nested" and later.area > earlier.area else (n, m)
            if kind is not None:
                listed.append((kind, later.document, later.page, place[suspect], place[other]))
        usual = median_low([b.area for b in truths if b.label == later.label])
        if later.area / usual < RULES.tiny:
            listed.append(("tiny", later.document, later.page, place[n], ""))
    return listed + doubts(truths, found)


def doubts(truths: list[Box], found: list[Box]) -> list[tuple[str, str, int, str, str]]:
    listed = []
    candidates = sorted(
        (-iou(t, p), -p.score, j, i)
        for i, t in enumerate(truths)
        for j, p in enumerate(found)
        if (t.document, t.page, t.label) == (p.document, p.page, p.label) and iou(t, p) >= RULES.iou
    )
    taken_truths: set[int] = set()
    taken: set[int] = set()
    for _, _, j, i in candidates:
        if i not in taken_truths and j not in taken:
            taken_truths.add(i)
            taken.add(j)
    for j, p in enumerate(found):
        if j in taken or p.score < RULES.score:
            continue
        here = [(iou(t, p), -i) for i, t in enumerate(truths) if (t.document, t.page) == (p.document, p.page)]
        best, position = max(here, default=(0.0, 0))
        if best < RULES.iou:
            listed.append(("missing_label", p.document, p.page, places(found)[j], ""))
        elif truths[-position].label != p.label:
            listed.append(("wrong_label", p.document, p.page, places(found)[j], places(truths)[-position]))
    return listed


@given(truths=boxes, found=boxes)
def test_every_finding_and_no_other(kernels: str, truths: list[Box], found: list[Box]) -> None:
    rows = audit(side(truths, scores=False), side(found, scores=True), RULES).rows()
    actual = [(row["kind"], row["document"], row["page"], row["id"], row["other_id"]) for row in rows]
    assert sorted(actual) == sorted(by_hand(truths, found))


@given(truths=boxes, found=boxes)
def test_documents_alone_have_the_findings_of_all(truths: list[Box], found: list[Box]) -> None:
    """But for tiny boxes, which are compared with the whole corpus."""
    whole = kinds_and_places(truths, found)
    parts = [[[b for b in rows if b.document == name] for rows in (truths, found)] for name in ("b", "a")]
    assert sorted(whole) == sorted(finding for part in parts for finding in kinds_and_places(*part))


def kinds_and_places(truths: list[Box], found: list[Box]) -> list[tuple[Any, ...]]:
    rows = audit(side(truths, scores=False), side(found, scores=True), RULES, jobs=2).rows()
    return [
        (row["kind"], row["document"], row["page"], row["id"], row["other_id"], row["value"])
        for row in rows
        if row["kind"] != "tiny"
    ]


def test_flat_boxes_can_be_drawn_twice() -> None:
    flat = [[0, 0, 5, 0], [0, 0, 5, 0], [1, 1, 1, 1], [0, 0, 5, 0]]
    made = Corpus.from_arrays(flat, ["Line"] * 4)
    assert isinstance(made, BoxCorpus)
    found = [(row["kind"], row["id"], row["other_id"]) for row in audit(made).rows()]
    assert found == [("duplicate", "1", "0"), ("duplicate", "3", "0"), ("duplicate", "3", "1")]


def test_nothing_is_tiny_beside_boxes_without_area() -> None:
    made = Corpus.from_arrays([[0, 0, 5, 0], [0, 9, 5, 9], [20, 20, 30, 30]], ["Line"] * 3)
    assert isinstance(made, BoxCorpus)
    assert list(audit(made).rows()) == []


def test_a_finding_names_the_other_box_or_nobody() -> None:
    truth = Corpus.from_arrays(
        [[0, 0, 10, 10], [0, 0, 10, 10], [50, 0, 60, 10], [80, 0, 80.5, 0.5]], ["Table", "Table", "Table", "Table"]
    )
    found = Corpus.from_arrays([[200, 0, 210, 10], [50, 0, 60, 10]], ["Figure", "Figure"], scores=[0.95, 0.95])
    rows = {row["kind"]: (row["label"], row["other_label"], row["other_id"]) for row in audit(truth, found).rows()}
    assert rows == {
        "duplicate": ("Table", "Table", "0"),
        "tiny": ("Table", "", ""),
        "missing_label": ("Figure", "", ""),
        "wrong_label": ("Figure", "Table", "2"),
    }


def test_crowds_are_not_judged() -> None:
    tree = {
        "images": [{"id": 1, "width": 100, "height": 100}],
        "categories": [{"id": 1, "name": "Table"}],
        "annotations": [{"id": n, "image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10], "iscrowd": n % 2} for n in range(4)],
    }
    from calque import read

    found = read(tree, side="ground_truth")
    assert isinstance(found, BoxCorpus)
    assert [(row["kind"], row["id"], row["other_id"]) for row in audit(found).rows()] == [("duplicate", "2", "0")]


def test_rules_are_shares() -> None:
    with pytest.raises(ConfigError, match="near must be a share"):
        AuditRules(near=1.1)
    with pytest.raises(ConfigError, match="iou must be a share"):
        AuditRules(iou=0.0)


@given(first=boxes, second=boxes)
def test_agreement_does_not_depend_on_who_is_first(first: list[Box], second: list[Box]) -> None:
    a, b = side(first, scores=False), side(second, scores=False)
    there, back = agreement(a, b), agreement(b, a)
    assert there["labels"] == back["labels"]
    for text, block in there["agreement"].items():
        for one, two in zip(_blocks(block), _blocks(back["agreement"][text]), strict=True):
            assert (one["f1"], one["mean_iou"], one["pairs"]) == (two["f1"], two["mean_iou"], two["pairs"])
            assert (one["only_first"], one["only_second"]) == (two["only_second"], two["only_first"])


def _blocks(tree: dict[str, Any]) -> list[dict[str, Any]]:
    return [tree["overall"], *tree["per_class"].values()]


def test_kappa_of_the_textbook() -> None:
    """45 and 15 against 25 and 15 of 100: Cohen's kappa is 0.1304."""
    labels = [("Table", "Table")] * 45 + [("Table", "Figure")] * 15 + [("Figure", "Table")] * 25 + [("Figure", "Figure")] * 15
    sides = [Corpus.from_arrays([[0, 0, 1, 1]] * 100, [pair[place] for pair in labels], pages=range(100)) for place in (0, 1)]
    tree = agreement(sides[0], sides[1])["labels"]  # type: ignore[arg-type]
    assert (tree["pairs"], tree["same"]) == (100, 0.6)
    assert tree["kappa"] == pytest.approx(3 / 23)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    pages = {("a.pdf", 0): [("Figure", BOX), ("Figure", BOX), ("Table", BOX), ("Figure", (0.2, 0.2, 0.3, 0.3))]}
    write(tmp_path / "gt.json", truth(pages))
    found = [("Figure", BOX, 0.95), ("Table", (0.6, 0.6, 0.9, 0.9), 0.97)]
    write(tmp_path / "pred.json", predictions({("a.pdf", 0): found}))
    return "gt.json", "pred.json"


def test_the_command(calque: Callable[..., Run], files: tuple[str, str], tmp_path: Path) -> None:
    run = calque("audit", *files, "--format", "json")
    assert run.code == 0
    assert run.json["counts"] == {**dict.fromkeys(KINDS, 0), "duplicate": 1, "two_labels": 2, "nested": 2, "missing_label": 1}
    assert [finding["id"] for finding in run.json["findings"]][:1] == ["a.pdf:0:1"]
    shown = calque("audit", files[0])
    assert "duplicate: the same box and class twice" in shown.out
    assert "missing label" not in shown.out
    assert "\n\nAudit of gt.json\n1 document, 1 page, 4 objects, labels Figure, Table\n" in shown.out
    _, nested = shown.out.split("\n\nnested\n")
    assert [line.split()[3] for line in nested.splitlines()[1:3]] == ["a.pdf:0:3", "a.pdf:0:3"]
    assert nested.splitlines()[3] == ""
    assert calque("audit", files[0], "-o", "audit.json").code == 0
    assert (tmp_path / "audit.json").read_text().startswith("{")


def test_the_command_lists_some_and_counts_all(calque: Callable[..., Run], tmp_path: Path) -> None:
    write(tmp_path / "gt.json", truth({("a.pdf", 0): [("Figure", BOX)] * 7}))
    assert "… and 11 more; --format json lists them all" in calque("audit", "gt.json").out


def test_agreement_on_the_command_line(calque: Callable[..., Run], files: tuple[str, str]) -> None:
    run = calque("audit", files[0], files[0], "--agreement", "--format", "json")
    assert run.json["agreement"]["0.5"]["overall"]["f1"] == 1.0
    told = calque("audit", *files, "--agreement").out
    assert told.startswith(
        "The two annotators agree on 20 % of 5 boxes at IoU 0.5; boxes that both drew have the same class in"
    )
    assert "\n\ngt.json and pred.json\n" in told
    assert "\n– kappa: both use one class only: agreeing by chance is certain\n" in told, "in the column's own words"


@pytest.mark.parametrize("more", [[], ["--agreement"]])
def test_every_format_holds_what_the_table_holds(calque: Callable[..., Run], files: tuple[str, str], more: list[str]) -> None:
    whole = calque("audit", *files, *more)
    signature = whole.out.splitlines()[-1]
    assert signature.startswith("calque ")
    brief = calque("audit", *files, *more, "--brief")
    assert (brief.out.splitlines()[0], brief.out.splitlines()[-1]) == (whole.out.splitlines()[0], signature)
    assert len(brief.out) < len(whole.out)
    markdown = calque("audit", *files, *more, "--format", "markdown").out
    assert markdown.splitlines()[0] == whole.out.splitlines()[0]
    rows = list(csv.DictReader(io.StringIO(calque("audit", *files, *more, "--format", "csv").out)))
    assert {row["signature"] for row in rows} == {signature}
    tree = calque("audit", *files, *more, "--format", "json").json
    if more:
        overall = tree["agreement"]["0.5"]["overall"]
        assert int(rows[0]["pairs"]) == overall["pairs"]
        assert f"| all | {overall['pairs']} |" in markdown
        assert [line.split()[:2] for line in brief.out.splitlines() if line.startswith("all ")] == [
            ["all", str(overall["pairs"])]
        ]
        listed = [json.loads(line) for line in calque("audit", *files, *more, "--format", "jsonl").out.splitlines()]
        assert {key: listed[0][key] for key in overall} == overall
        assert listed[-1]["kappa"] is None, "there is none, and no text that says why"
    else:
        assert {row["finding"]: int(row["count"]) for row in rows if row["count"]} == tree["counts"]
    assert "--brief is for what people read" in calque("audit", *files, *more, "--brief", "--format", "csv").err


@pytest.mark.parametrize(
    ("boxes", "sentence"),
    [
        (0, "There is nothing to audit: the file has no objects."),
        (1, "Nothing is suspicious in 1 object."),
        (2, "1 finding in 2 objects: 1 duplicate."),
        (3, "3 findings in 3 objects: 3 duplicate."),
    ],
)
def test_the_sentence_at_its_extremes(calque: Callable[..., Run], tmp_path: Path, boxes: int, sentence: str) -> None:
    write(tmp_path / "gt.json", truth({("a.pdf", 0): [("Figure", BOX)] * boxes}))
    assert calque("audit", "gt.json").out.splitlines()[0] == sentence


@pytest.mark.parametrize(
    ("sides", "sentence"),
    [
        ((0, 0), "There is nothing to compare: neither annotator drew a box."),
        ((1, 0), "The two annotators do not agree on the only box at IoU 0.5."),
        ((1, 1), "The two annotators agree on the only box at IoU 0.5; boxes that both drew have the same class in 100 %."),
    ],
)
def test_the_sentence_of_agreement(calque: Callable[..., Run], tmp_path: Path, sides: tuple[int, int], sentence: str) -> None:
    for name, count in zip("ab", sides, strict=True):
        write(tmp_path / f"{name}.json", truth({("a.pdf", 0): [("Figure", BOX)] * count}))
    assert calque("audit", "a.json", "b.json", "--agreement").out.splitlines()[0] == sentence


def test_misuse(calque: Callable[..., Run], files: tuple[str, str]) -> None:
    assert "--agreement needs two files" in calque("audit", files[0], "--agreement").err
    assert "names no format; use .txt, .json" in calque("audit", files[0], "-o", "audit.doc").err
    assert calque("audit", files[0], "--near", "2").code == 2


def test_agreement_with_coco_results(calque: Callable[..., Run], tmp_path: Path) -> None:
    tree = {
        "images": [{"id": 1, "width": 100, "height": 100}],
        "categories": [{"id": 7, "name": "Table"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 7, "bbox": [0, 0, 10, 10]}],
    }
    write(tmp_path / "a.json", tree)
    write(tmp_path / "b.json", [{"image_id": 1, "category_id": 7, "bbox": [0, 0, 10, 10], "score": 0.5}])
    run = calque("audit", "a.json", "b.json", "--agreement", "--format", "json")
    assert run.json["agreement"]["0.5"]["per_class"]["Table"]["f1"] == 1.0
    assert "kappa" in run.json["undefined"].popitem()[0]


PLAIN = [{"image": "a.png", "bbox": [10, 10, 20, 20], "category": name} for name in ("Table", "Tbl", "Logo")]


def write_maps(folder: Path) -> None:
    (folder / "map.yaml").write_text("Tbl: Table\nLogo: drop\n")
    (folder / "none.yaml").write_text("Tbl: Bench\n")


def test_files_are_read_as_detect_reads_them(calque: Callable[..., Run], tmp_path: Path) -> None:
    write(tmp_path / "plain.json", PLAIN)
    write_maps(tmp_path)
    counts = lambda *options: calque("audit", "plain.json", "--format", "json", *options).json["counts"]
    assert (counts()["duplicate"], counts()["two_labels"]) == (0, 3)
    mapped = counts("--class-map", "map.yaml")
    assert (mapped["duplicate"], mapped["two_labels"]) == (1, 0)
    assert counts("--class-map-truth", "map.yaml") == mapped
    run = calque("audit", "plain.json", "--format", "json", "--boxes", "xywh", "--page-size", "100,200")
    assert run.json["findings"][0]["box"] == [10.0, 10.0, 20.0, 20.0]
    assert run.json["reading"] == {"boxes": "xywh", "page-size": "100.0,200.0"}


def test_labels_that_are_not_mapped_are_named(calque: Callable[..., Run], tmp_path: Path) -> None:
    write(tmp_path / "plain.json", PLAIN)
    write_maps(tmp_path)
    shown = calque("audit", "plain.json", "--class-map", "none.yaml")
    assert "2 labels are not in the class map and kept as they are: 'Logo' (1), 'Table' (1)" in shown.out


def test_formats_can_be_named(calque: Callable[..., Run], files: tuple[str, str], tmp_path: Path) -> None:
    assert calque("audit", *files, "--from-truth", "snapshot", "--from-pred", "snapshot").code == 0
    assert calque("audit", files[0], "--from-truth", "voc").code == 2
    assert "are about PREDICTIONS" in calque("audit", files[0], "--from-pred", "snapshot").err
    write_maps(tmp_path)
    assert "are about PREDICTIONS" in calque("audit", files[0], "--class-map-pred", "map.yaml").err


def test_annotators_with_other_names_and_units(calque: Callable[..., Run], tmp_path: Path) -> None:
    write(tmp_path / "anna.json", [{"doc_id": "a.pdf", "bbox": [10, 20, 20, 40], "category": "Tbl"}])
    write(tmp_path / "ben.json", truth({("a.pdf", 0): [("Table", (0.1, 0.1, 0.2, 0.2))]}))
    (tmp_path / "map.yaml").write_text("Tbl: Table\n")
    options = ("--class-map-truth", "map.yaml", "--page-size", "100,200", "--agreement", "--format", "json")
    run = calque("audit", "anna.json", "ben.json", *options)
    assert run.json["agreement"]["0.5"]["overall"]["pairs"] == 1
    assert run.json["reading"]["class-map-truth"] == "Tbl='Table'"
    swapped = calque("audit", "ben.json", "anna.json", "--class-map-pred", "map.yaml", *options[2:])
    assert swapped.json["agreement"] == run.json["agreement"]


def test_the_headline_of_an_agreement_is_its_first_threshold() -> None:
    boxes = [[0.0, 0.0, 10.0, 10.0], [20.0, 0.0, 30.0, 10.0]]
    first, second = (Corpus.from_arrays(rows, ["x", "y"], documents=["a", "a"]) for rows in (boxes, [boxes[0], [20, 0, 30, 4]]))
    made = Agreement({"first": "one", "second": "two", "undefined": {}, **agreement(first, second)})
    (section,) = made.headline()
    whole = made.sections()[1]
    assert (section.title, section.rows) == (whole.title, whole.rows[-1:])


def test_of_a_kind_that_was_not_found_nothing_is_listed() -> None:
    findings = audit(Corpus.from_arrays([[0.0, 0.0, 10.0, 10.0]], ["x"]), None, AuditRules())
    assert summary(findings, with_predictions=False).keys() == {*list(KINDS)[:-2]}
    assert [listed(findings, kind, 5) for kind in KINDS] == [[]] * len(KINDS)
