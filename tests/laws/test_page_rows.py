"""Page rows give the same bits in either format, through COCO JSON and through arrays, and for any size of batches."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import ContractError, Corpus, Detection, Evaluator, Layout, Result
from calque.readers import stream_pair
from calque.readers.page_rows import streams
from tests.examples import examples
from tests.laws import subject
from tests.pages import Row, batched, write_coco, write_ndjson, write_parquet

_lengths = st.floats(0, 200, allow_nan=False).map(lambda value: round(value, 2))
_boxes = st.tuples(_lengths, _lengths, _lengths, _lengths).map(list)
_labels = st.sampled_from(["Figure", "Table", "図"])
_scores = st.sampled_from([0.1, 0.25, 0.5, 0.75, 1.0])

WRITERS: dict[str, Callable[[Path, Sequence[Row]], Path]] = {
    "ndjson": lambda path, rows: write_ndjson(path.with_suffix(".ndjson"), rows),
    "parquet": lambda path, rows: write_parquet(path.with_suffix(".parquet"), rows, row_group_size=3),
}


def _page(draw: st.DrawFn, document: int | str, index: int, near: Row | None, counter: list[int]) -> Row:
    boxes = draw(st.lists(_boxes, max_size=3))
    labels = [draw(_labels) for _ in boxes]
    for k in draw(st.lists(st.integers(0, len(near["boxes"]) - 1), max_size=2)) if near and near["boxes"] else ():
        x, y, w, h = near["boxes"][k]
        boxes.append([x, y, w, h * draw(st.sampled_from([1.0, 0.95, 0.6, 0.5]))])
        labels.append(near["labels"][k])
    page: Row = {"doc_id": document, "page_index": index, "width": 300, "height": 400, "boxes": boxes, "labels": labels}
    if near is not None:
        return {**page, "scores": [draw(_scores) for _ in boxes]}
    ids = [counter[0] + k for k in range(len(boxes))]
    counter[0] += len(boxes)
    crowd = [draw(st.integers(0, 5)) == 0 for _ in boxes]
    area = [draw(st.sampled_from([None, 900.0, 5000.0])) for _ in boxes]
    return {**page, "ids": ids, "crowd": crowd, "area": area}


@st.composite
def two_files(draw: st.DrawFn, pages: int = 3) -> tuple[list[Row], list[Row]]:
    """Truth and predictions on the same pages of one to six documents, in the same order."""
    counter = [1]
    truth: list[Row] = []
    found: list[Row] = []
    for document in draw(st.lists(st.integers(0, 50), min_size=1, max_size=6, unique=True)):
        for index in range(draw(st.integers(1, pages))):
            truth.append(_page(draw, document, index, None, counter))
            found.append(_page(draw, document, index, truth[-1], counter))
    return truth, found


def bits(result: Result) -> Hashable:
    """Everything but the digests of the truth and the names of images.

    Only evaluators make digests, and `batched` goes without one; only COCO names images.
    """
    units, names, tables, numbers = subject.bits(result)  # type: ignore[misc]  # four parts
    return units, names, tuple(part for part in tables if part[0] != "truth_digest" and part[1] != "image_name"), numbers


TASK = Detection(iou=(0.3, 0.5, 0.75), boxes="xywh")


def _evaluated(task: Detection, truth: Path, found: Path, batch: int = streams.BATCH) -> Result:
    return batched(task, truth, found, batch=batch, boxes=task.boxes)


@pytest.mark.parametrize("format", WRITERS)
@examples(40)
@given(files=two_files(), batch=st.integers(1, 30), data=st.data())
def test_any_batch_size_gives_the_same_bits(
    format: str, files: tuple[list[Row], list[Row]], batch: int, data: st.DataObject
) -> None:
    truth, found = files
    documents = list(dict.fromkeys(page["doc_id"] for page in found))
    order = {document: place for place, document in enumerate(data.draw(st.permutations(documents)))}
    moved = sorted(found, key=lambda page: order[page["doc_id"]])
    with tempfile.TemporaryDirectory() as folder:
        paths = [WRITERS[format](Path(folder) / name, rows) for name, rows in (("t", truth), ("f", found), ("m", moved))]
        whole = bits(_evaluated(TASK, paths[0], paths[1]))
        assert bits(Evaluator(TASK).update(paths[0], paths[1]).compute()) == whole
        assert bits(_evaluated(TASK, paths[0], paths[1], batch)) == whole
        assert bits(_evaluated(TASK, paths[0], paths[2], batch)) == whole


@examples(40)
@given(files=two_files(pages=1), batch=st.integers(1, 30))
def test_the_same_bits_as_coco_json(files: tuple[list[Row], list[Row]], batch: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        coco = bits(Evaluator(Detection(iou=TASK.iou)).update(*write_coco(folder, *files)).compute())
        for write in WRITERS.values():
            paths = [write(folder / stem, rows) for stem, rows in zip(("t", "f"), files, strict=True)]
            assert bits(_evaluated(TASK, *paths, batch)) == coco


@examples(30)
@given(files=two_files(pages=1), batch=st.integers(1, 30), data=st.data())
def test_slices_and_class_maps_in_batches_give_the_bits_of_coco_json(
    files: tuple[list[Row], list[Row]], batch: int, data: st.DataObject
) -> None:
    languages = st.sampled_from(["de", "fr", None])
    truth = [{**page, "language": data.draw(languages)} for page in files[0]]
    truth[0]["language"] = "de"  # a column that nobody has is refused
    maps = {"class_map": {"図": "Figure", "Table": data.draw(st.sampled_from(["Table", "drop"]))}}
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        known = folder / "known.csv"
        known.write_text(
            "doc_id,year\n" + "".join(f"{page['doc_id']},{1990 + page['doc_id'] % 3}\n" for page in truth[::2]) + "99,1\n"
        )
        views: dict[str, Any] = {"by": ("language", "year"), "metadata": str(known), **maps}
        expected = Evaluator(Detection(iou=TASK.iou, **views)).update(*write_coco(folder, truth, files[1])).compute()
        patch.setattr(streams, "BATCH", batch)
        for write in WRITERS.values():
            paths = [write(folder / stem, rows) for stem, rows in (("t", truth), ("f", files[1]))]
            result = Evaluator(Detection(iou=TASK.iou, boxes="xywh", **views)).update(*paths).compute()
            assert bits(result) == bits(expected)
            assert [issue.code for issue in result.issues if issue.code == "metadata-unknown"] == ["metadata-unknown"]


@examples(20)
@given(files=two_files(), batch=st.integers(1, 20))
def test_layout_in_batches_gives_the_bits_of_one_pass(files: tuple[list[Row], list[Row]], batch: int) -> None:
    task = Layout(boxes="xywh")
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for write in WRITERS.values():
            paths = [write(Path(folder) / stem, rows) for stem, rows in zip(("t", "f"), files, strict=True)]
            whole = bits(Evaluator(task).update(*paths).compute())
            with patch.context() as inner:
                inner.setattr(streams, "BATCH", batch)
                assert bits(Evaluator(task).update(*paths).compute()) == whole


def _arrays(rows: list[Row]) -> Corpus:
    flat = [(page, k) for page in rows for k in range(len(page["boxes"]))]
    return Corpus.from_arrays(
        [page["boxes"][k] for page, k in flat],
        [page["labels"][k] for page, k in flat],
        documents=[page["doc_id"] for page, _ in flat],
        pages=[page["page_index"] for page, _ in flat],
        scores=[page["scores"][k] for page, k in flat] if "scores" in rows[0] else None,
        form="xywh",
        all_documents=[page["doc_id"] for page in rows],
    )


@examples(40)
@given(files=two_files())
def test_the_same_numbers_as_arrays(files: tuple[list[Row], list[Row]]) -> None:
    plain = [[{key: value for key, value in page.items() if key not in ("crowd", "area")} for page in rows] for rows in files]
    expected = Evaluator(TASK).update(*map(_arrays, plain)).compute()
    with tempfile.TemporaryDirectory() as folder:
        for write in WRITERS.values():
            paths = [write(Path(folder) / stem, rows) for stem, rows in zip(("t", "f"), plain, strict=True)]
            result = Evaluator(TASK).update(*paths).compute()
            assert result.numbers["coco"] == expected.numbers["coco"]
            assert _without_empty_pages(result) == _without_empty_pages(expected)


def _without_empty_pages(result: Result) -> Any:
    """Arrays cannot tell of pages without boxes."""
    metrics = copy.deepcopy(result.numbers["metrics"])
    for block in metrics.values():
        del block["empty_pages"]
    return metrics


@examples(30)
@given(files=two_files(), batch=st.integers(1, 20))
def test_one_sided_documents_are_counted_in_any_batch(files: tuple[list[Row], list[Row]], batch: int) -> None:
    truth, found = files
    some = [page for page in found if page["doc_id"] % 2]
    other = [page for page in truth if page["doc_id"] % 3]
    with tempfile.TemporaryDirectory() as folder:
        for write in (WRITERS["ndjson"],):
            paths = [write(Path(folder) / stem, rows) for stem, rows in (("t", other), ("f", some))]
            if not other or not some:
                continue
            whole = _evaluated(TASK, *paths)
            assert bits(_evaluated(TASK, *paths, batch)) == bits(whole)
            units = {page["doc_id"] for page in other}, {page["doc_id"] for page in some}
            assert whole.numbers["documents"] == {
                "only_truth": sorted(units[0] - units[1]),
                "only_predictions": sorted(units[1] - units[0]),
            }


def test_a_document_that_comes_back_after_it_was_counted_is_refused(tmp_path: Path) -> None:
    rows = [{"doc_id": name, "page_index": k, "boxes": [], "labels": []} for k, name in enumerate("aabca")]
    truth, found = write_ndjson(tmp_path / "t.ndjson", rows), write_ndjson(tmp_path / "f.ndjson", rows)
    with pytest.raises(ContractError, match=r"t.ndjson: line 5 /doc_id: more of document 'a'.*sort the file by doc_id"):
        list(stream_pair(truth, found, batch=1))
    (pair,) = stream_pair(truth, found)
    assert [len(corpus.units()) for corpus in pair] == [3, 3]


def test_every_document_that_comes_back_is_told_of_also_beside_new_ones(tmp_path: Path) -> None:
    rows = [{"doc_id": name, "page_index": k, "boxes": [], "labels": []} for k, name in enumerate("aabbccddeeffgahb")]
    paths = write_ndjson(tmp_path / "t.ndjson", rows), write_ndjson(tmp_path / "f.ndjson", rows)
    with pytest.raises(ContractError) as refusal:
        list(stream_pair(*paths, batch=16))  # blocks of two rows
    told = [(issue.pointer.split(":")[-1], issue.code) for issue in refusal.value.issues]
    assert [(pointer[-len("line 14 /doc_id") :], code) for pointer, code in told] == [
        ("line 14 /doc_id", "document-scattered"),
        ("line 16 /doc_id", "document-scattered"),
    ] * 2
