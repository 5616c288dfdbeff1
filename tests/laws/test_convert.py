"""The law of converting: what a target says, read back, is the source again; or each loss is named and counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import CalqueError, Detection, Evaluator, read
from calque.base.columns import Strings
from calque.base.errors import Severity
from calque.base.files import write_folder, write_whole
from calque.corpus.boxes import BoxCorpus, Extent, Side
from calque.geometry.forms import BoxForm
from calque.readers.boxes import formats
from calque.readers.boxes.convert import converted
from tests.examples import examples

TARGETS = [entry for entry in formats.FORMATS if entry.write is not None]
texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
labels = st.one_of(
    st.sampled_from(["Table", "TextRegion:heading", "ComposedBlock:group", "a  b", " a", "7", "TextBlock"]), texts
)
documents = st.one_of(st.integers(0, 3), st.sampled_from(["a.pdf", "x/y", "1", "a_p001", ".b", "c.xml"]), texts)
sides = st.one_of(st.floats(0, 900), st.integers(0, 900), st.floats(-300, 1800))
lengths = st.one_of(st.floats(0.001, 500), st.integers(0, 300), st.just(1e-9))
objects = st.tuples(documents, st.integers(0, 1200), labels, sides, sides, lengths, lengths, st.integers(0, 3))
SIZE = np.array([1000.0, 1400.0])


@st.composite
def corpora(draw: Any) -> BoxCorpus:
    """Any pages, labels and boxes, in either form and either unit, with and without scores, ignored objects and empty pages."""
    items = draw(st.lists(objects, min_size=1, max_size=6))
    places = list(dict.fromkeys((document, page) for document, page, *_ in items))
    if draw(st.booleans()):
        places += [place for place in (("empty", 0), ("a.pdf", 7)) if place not in places]
    units = list(dict.fromkeys(document for document, _ in places))
    names = list(dict.fromkeys(label for _, _, label, *_ in items))
    form, extent = draw(st.sampled_from(BoxForm)), draw(st.sampled_from(Extent))
    boxes = np.array(
        [[x, y, x + w, y + h] if form is BoxForm.XYXY else [x, y, w, h] for *_, x, y, w, h, _ in items], dtype=float
    )
    if extent is Extent.NORMALIZED:
        boxes = boxes / np.concatenate([SIZE, SIZE])
    found = draw(st.booleans())
    sized = draw(st.booleans())
    files = {unit: f"scan {number}.png" for number, unit in enumerate(units)}
    return BoxCorpus(
        documents=tuple(units),
        page_document=np.array([units.index(document) for document, _ in places], dtype=np.int32),
        page_index=np.array([page for _, page in places], dtype=np.int64),
        page_sizes=np.tile(SIZE, (len(places), 1)) if sized else None,
        labels=tuple(names),
        page=np.array([places.index((document, page)) for document, page, *_ in items], dtype=np.int32),
        label=np.array([names.index(label) for _, _, label, *_ in items], dtype=np.int32),
        boxes=boxes,
        scores=np.array([tenth / 4 for *_, tenth in items]) if found else None,
        ids=Strings.pack([f"o{row}" for row in range(len(items))]) if draw(st.booleans()) else None,
        ignore=None if found else np.array([draw(st.integers(0, 1)) for _ in items], dtype=np.uint8),
        metadata={"file_name": files} if draw(st.booleans()) else {},
        form=form,
        extent=extent,
        side=Side.FOUND if found else Side.TRUTH,
    )


def true_positives(truth: BoxCorpus, found: Any) -> tuple[int, int, int]:
    """How many truths are found, missed, and how many predictions stand for none, under the defaults."""
    result = Evaluator(Detection(allow_missing_scores=True, iou=(0.5,))).update(truth, found).compute().to_dict()
    micro = result["metrics"]["0.5"]["micro"]
    return micro["tp"], micro["fn"], micro["fp"]


@examples(200)
@given(original=corpora(), target=st.sampled_from(TARGETS))
def test_converting_is_lossless_or_says_what_it_lost(
    original: BoxCorpus, target: formats.Format, tmp_path_factory: pytest.TempPathFactory
) -> None:
    try:
        files, issues = converted(original, target, None)
    except CalqueError:
        return  # refused: nothing is written
    assert all(issue.count > 0 and issue.code for issue in issues)
    path = tmp_path_factory.mktemp("law") / "out"
    write_whole(path, files[""]) if set(files) == {""} else write_folder(path, files)
    again = read(path, side=original.side, format=target.name, allow_missing_scores=True)  # never refused
    if any(issue.severity is Severity.LOSS for issue in issues):
        return
    assert isinstance(again, BoxCorpus)
    assert true_positives(original, again) == true_positives(original, original)


tame_labels = st.sampled_from(["Table", "Figure", "TextRegion:heading", "ComposedBlock:table", "list item", "Überschrift"])
tame_names = st.sampled_from(["a", "report.pdf", "scan-17", "Übung 3", "b_p"])


@examples(120)
@given(
    items=st.lists(st.tuples(tame_names, st.integers(0, 9), tame_labels, *[st.integers(1, 400)] * 4), min_size=1, max_size=6),
    form=st.sampled_from(BoxForm),
    extent=st.sampled_from(Extent),
    target=st.sampled_from([entry for entry in TARGETS if entry.name != "coco-results"]),
)
def test_usual_corpora_lose_only_what_a_format_has_no_place_for(
    items: list[Any], form: BoxForm, extent: Extent, target: formats.Format, tmp_path_factory: pytest.TempPathFactory
) -> None:
    places = list(dict.fromkeys((document, page) for document, page, *_ in items))
    units = list(dict.fromkeys(document for document, _ in places))
    names = list(dict.fromkeys(label for _, _, label, *_ in items))
    boxes = np.array([[x, y, x + w, y + h] if form is BoxForm.XYXY else [x, y, w, h] for *_, x, y, w, h in items], dtype=float)
    original = BoxCorpus(
        documents=tuple(units),
        page_document=np.array([units.index(document) for document, _ in places], dtype=np.int32),
        page_index=np.array([page for _, page in places], dtype=np.int64),
        page_sizes=np.tile(SIZE, (len(places), 1)),
        labels=tuple(names),
        page=np.array([places.index((document, page)) for document, page, *_ in items], dtype=np.int32),
        label=np.array([names.index(label) for _, _, label, *_ in items], dtype=np.int32),
        boxes=boxes if extent is Extent.PIXELS else boxes / np.concatenate([SIZE, SIZE]),
        scores=np.linspace(0, 1, len(items)),
        form=form,
        extent=extent,
        side=Side.FOUND,
    )
    files, issues = converted(original, target, None)
    losses = [issue.message for issue in issues if issue.severity is Severity.LOSS]
    assert losses == ([] if "scores" in target.carries else [f"{target.name} cannot carry scores: left out"])
    path = tmp_path_factory.mktemp("law") / "out"
    write_whole(path, files[""]) if set(files) == {""} else write_folder(path, files)
    assert true_positives(original, path) == true_positives(original, original) == (len(items), 0, 0)
