"""What becomes of pages that are not as they should be, in NDJSON and in Parquet."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calque import ConfigError, ContractError, Detection, Evaluator, read
from calque.base.columns import Strings
from calque.base.errors import Severity
from calque.corpus.boxes import BoxCorpus, Extent, Flaw
from calque.readers import stream_pair
from calque.readers.page_rows import streams
from tests.laws.subject import bits
from tests.pages import BOX, Row, batched, read_boxes, refused, row, table, write_ndjson, write_parquet


@pytest.fixture(params=["ndjson", "parquet"])
def write(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Path]:
    """Writes pages to a file, in each of the formats."""
    count = iter(range(100))

    def written(*rows: Row, **types: pa.DataType) -> Path:
        path = tmp_path / f"pages-{next(count)}.{request.param}"
        return write_ndjson(path, rows) if request.param == "ndjson" else write_parquet(path, rows, **types)

    return written


def scored(page: Row) -> Row:
    return page | {"scores": [0.5] * len(page["boxes"])}


def found(corpus: BoxCorpus) -> dict[str, tuple[str, str, str]]:
    return {issue.code: (str(issue.severity), issue.pointer.split(" ", 1)[1], issue.message) for issue in corpus.issues}


# What the columns mean.


def test_every_column_arrives(write: Callable[..., Path]) -> None:
    corpus = read_boxes(
        write(
            row(
                "a",
                [BOX, (1, 2, 3, 4)],
                ["Table", "Figure"],
                page_index=3,
                width=100.0,
                height=200.0,
                scores=[0.5, 0.25],
                ids=["x", "y"],
                crowd=[True, False],
                area=[7.0, None],
                language="de",
            ),
            row("b", [BOX], page_index=0, width=None, height=None, scores=[1.0], ids=["z"], crowd=[False], area=[None]),
        ),
        metadata=True,
    )
    assert corpus.documents == ("a", "b")
    assert corpus.page_index.tolist() == [3, 0]
    assert corpus.page.tolist() == [0, 0, 1]
    assert [corpus.labels[code] for code in corpus.label.tolist()] == ["Table", "Figure", "Table"]
    assert corpus.boxes.tolist() == [list(BOX), [1, 2, 3, 4], list(BOX)]
    assert corpus.scores is not None
    assert corpus.scores.tolist() == [0.5, 0.25, 1.0]
    assert isinstance(corpus.ids, Strings)
    assert corpus.ids.tolist() == ["x", "y", "z"]
    assert corpus.crowd is not None
    assert corpus.crowd.tolist() == [1, 0, 0]
    assert corpus.given_areas is not None
    np.testing.assert_array_equal(corpus.given_areas, [7.0, np.nan, np.nan])
    assert corpus.page_sizes is not None
    np.testing.assert_array_equal(corpus.page_sizes, [[100, 200], [np.nan, np.nan]])
    assert corpus.metadata == {"language": {"a": "de"}}
    assert not corpus.issues


def test_page_index_and_optional_columns_may_be_absent(write: Callable[..., Path]) -> None:
    corpus = read_boxes(write(row(7, [BOX]), row(8)))
    assert corpus.documents == (7, 8)
    assert corpus.page_index.tolist() == [0, 0]
    assert (corpus.scores, corpus.ids, corpus.crowd, corpus.given_areas, corpus.page_sizes) == (None,) * 5


def test_a_page_without_objects_may_say_null(write: Callable[..., Path]) -> None:
    corpus = read_boxes(write(row("a", [BOX]), {"doc_id": "b", "boxes": None, "labels": None}))
    assert corpus.documents == ("a", "b")
    assert len(corpus) == 1


def test_crowds_may_be_numbers(write: Callable[..., Path]) -> None:
    corpus = read_boxes(write(row("a", [BOX, BOX, BOX], crowd=[0, 1, None]), crowd=pa.list_(pa.int8())))
    assert corpus.crowd is not None
    assert corpus.crowd.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("boxes", "form", "expected"),
    [("xyxy", "xyxy", [0.1, 0.2, 30.3, 40.7]), ("xywh", "xywh", [0.1, 0.2, 30.3, 40.7]), ("cxcywh", "xywh", [10, 30, 20, 40])],
)
def test_boxes_say_what_four_numbers_are(write: Callable[..., Path], boxes: str, form: str, expected: list[float]) -> None:
    numbers = [20.0, 50.0, 20.0, 40.0] if boxes == "cxcywh" else expected
    corpus = read_boxes(write(row("a", [numbers])), boxes=boxes)
    assert corpus.form == form
    assert corpus.boxes.tolist() == [expected]


@pytest.mark.parametrize(
    ("units", "extent", "divided_by"), [("pixels", Extent.PIXELS, 1), ("normalized", Extent.NORMALIZED, 1),
                                        ("percent", Extent.NORMALIZED, 100), ("thousand", Extent.NORMALIZED, 1000)],
)  # fmt: skip
def test_units_say_what_they_are_measured_in(write: Callable[..., Path], units: str, extent: Extent, divided_by: float) -> None:
    box = [0.1, 0.2, 0.3, 0.4] if units == "normalized" else [1.0, 2.0, 30.0, 40.0]
    corpus = read_boxes(write(row("a", [box], area=[100.0])), units=units)
    assert corpus.extent is extent
    assert corpus.boxes.tolist() == [[number / divided_by for number in box]]
    assert corpus.given_areas is not None
    assert corpus.given_areas.tolist() == [100 / divided_by**2]


def test_shares_lie_on_the_page(write: Callable[..., Path]) -> None:
    slightly = read_boxes(write(row("a", [(0.5, 0.5, 1.001, 1.0)])), units="normalized")
    text = "1 object whose box reaches a little beyond the page"
    assert found(slightly) == {"box-range": ("note", "1 /boxes", text)}
    pixels = write(row("a", [(0.5, 0.5, 1.0, 1.0)]), row("b", [(1, 2, 30, 40)]), row("c", [(5, 5, 0, 0)]))
    assert refused(pixels, units="normalized") == [("box-range", "2 /boxes")]


def test_units_that_the_numbers_belie_are_noted(write: Callable[..., Path]) -> None:
    issues = read_boxes(write(row("a"), row("b", [(0.1, 0.1, 0.5, 0.5)]))).issues
    assert [(issue.code, issue.help) for issue in issues] == [("looks-normalized", "pass --units normalized")]


def test_polygons_are_refused(write: Callable[..., Path]) -> None:
    with pytest.raises(ConfigError, match="four numbers"):
        read(write(row("a")), boxes="polygon")


@pytest.mark.parametrize(
    ("boxes", "given", "expected"), [("xyxy", [1, 10, 3, 40], [1, 60, 3, 90]), ("xywh", [1, 10, 3, 40], [1, 50, 3, 40])]
)
def test_an_origin_at_the_bottom_is_turned(
    write: Callable[..., Path], boxes: str, given: list[float], expected: list[float]
) -> None:
    path = write(row("a", [given], width=50.0, height=100.0))
    assert read_boxes(path, boxes=boxes, origin="bottom_left").boxes.tolist() == [expected]
    shares = write(row("a", [[value / 128 for value in given]]))
    turned = read_boxes(shares, boxes=boxes, origin="bottom_left", units="normalized").boxes
    assert turned[0, 1] == 1 - (given[3] if boxes == "xyxy" else given[1] + given[3]) / 128
    bare = write(row("a"), row("a", [given], page_index=1))
    assert refused(bare, origin="bottom_left") == [("page-size", "2 /height")]
    known = read_boxes(bare, boxes=boxes, origin="bottom_left", page_size=(50.0, 100.0))
    assert known.boxes.tolist() == [expected]


def test_settings_are_in_the_signature_when_they_matter() -> None:
    assert "boxes" not in str(Detection().signature())
    assert str(Detection(boxes="xywh", units="percent").signature()).endswith("| boxes:xywh | units:percent")
    with pytest.raises(ConfigError, match="boxes must be one of auto, xyxy, xywh, cxcywh, polygon"):
        Detection(boxes="corners")  # type: ignore[arg-type]  # what is refused


# Single objects that cannot be counted.


def test_odd_boxes_and_scores_are_losses(write: Callable[..., Path]) -> None:
    boxes = [BOX, (5, 0, 1, 1), (0, 0, math.nan, 1), BOX, BOX, (0, 0, math.inf, 1)]
    path = write(row("a"), row("b", boxes, scores=[0.5, 0.5, 0.5, None, math.nan, 0.1]))
    corpus = read_boxes(path, side="prediction")
    assert corpus.flaws is not None
    bad, no_score = Flaw.BAD_BOX, Flaw.NO_SCORE
    assert corpus.flaws.tolist() == [0, bad, bad, no_score, no_score, bad]
    assert found(corpus) == {
        "box-invalid": ("loss", "2 /boxes", "3 predictions whose box is not finite, too large or of negative size"),
        "score-missing": ("loss", "2 /scores", "2 predictions without a usable score"),
    }


def test_a_negative_width_is_a_loss_where_boxes_have_sizes(write: Callable[..., Path]) -> None:
    path = write(row("a", [(5, 0, 1, 1), (5, 5, -1, 1)]))
    corpus = read_boxes(path, boxes="xywh")
    assert corpus.flaws is not None
    assert corpus.flaws.tolist() == [0, Flaw.BAD_BOX]


def test_a_null_coordinate_is_a_loss(write: Callable[..., Path]) -> None:
    corpus = read_boxes(write(row("a", [(0, None, 1, 1)])))  # type: ignore[list-item]  # what files hold
    assert list(found(corpus)) == ["box-invalid"]


def test_scores_of_the_truth_are_not_used(write: Callable[..., Path]) -> None:
    corpus = read_boxes(write(row("a", [BOX], scores=[0.5])), side="ground_truth")
    assert corpus.scores is None
    assert found(corpus) == {"scores-unused": ("note", "1 /scores", "1 truth with a score, which is not used")}


def test_counts_of_a_stream_do_not_depend_on_the_batches(write: Callable[..., Path]) -> None:
    truth = write(*(row(name, [BOX]) for name in "abcdef"))
    predictions = write(*(row(name, [(1, 0, 0, 1)], scores=[0.5], kind=name) for name in "abcdef"))
    results = [batched(Detection(), truth, predictions, batch=batch) for batch in (1, 4, 1000)]
    assert len({result.issues for result in results}) == 1
    assert results[0].issues[0].message == "6 predictions whose box is not finite, too large or of negative size"
    assert results[0].incomplete


# Documents.


def test_metadata_is_what_the_pages_agree_on(write: Callable[..., Path]) -> None:
    pages = [row("a", page_index=0, year=2001, kind="x"), row("a", page_index=1, year=2002, kind=None)]
    path = write(*pages, row("b", page_index=0, year=1999, kind="y"))
    corpus = read_boxes(path, metadata=True)
    assert corpus.metadata == {"year": {"b": 1999}, "kind": {"a": "x", "b": "y"}}
    text = "1 row whose 'year' is not that of the pages before: their documents have none"
    assert found(corpus) == {"metadata-differs": ("note", "2 /year", text)}
    assert read_boxes(path).metadata == {}


def test_numbers_are_sliced_by_metadata(write: Callable[..., Path]) -> None:
    truth = write(row("a", [BOX], kind="x"), row("b", [BOX], kind="y"))
    predictions = write(row("a", [BOX], scores=[0.5]), row("b", scores=[]))
    result = Evaluator(Detection(by=("kind",))).update(truth, predictions).compute()
    recalls = {
        value: block["metrics"]["0.5"]["micro"]["recall"] for value, block in result.numbers["slices"]["kind"]["values"].items()
    }
    assert recalls == {"x": 1.0, "y": 0.0}


def test_columns_that_are_not_scalars_are_named(write: Callable[..., Path]) -> None:
    corpus = read_boxes(write(row("a", words=["x"])))
    assert [(issue.code, issue.severity) for issue in corpus.issues] == [("column-unused", Severity.NOTE)]
    assert corpus.metadata == {}


def test_a_page_may_occur_once(write: Callable[..., Path]) -> None:
    pages = [row("a", [BOX]), row("b"), row("a", [BOX])]
    assert refused(write(*pages)) == [("duplicate-page", "3 /page_index")]
    corpus = read_boxes(write(*pages), lenient=True)
    assert len(corpus) == 2
    text = "1 row whose document has that page already; they were merged"
    assert found(corpus) == {"duplicate-page": ("note", "3 /page_index", text)}
    merged = Evaluator(Detection(lenient=True)).update(write(*pages), write(*map(scored, pages)))
    assert merged.compute().numbers["counts"]["pages"] == 2


def test_rows_of_a_document_may_be_apart_within_a_batch(write: Callable[..., Path]) -> None:
    pages = [row("a", [BOX], page_index=0), row("b", [BOX], page_index=0), row("a", [BOX], page_index=1)]
    result = Evaluator(Detection()).update(write(*pages), write(*map(scored, pages))).compute()
    assert result["recall@0.5"] == 1
    assert result.numbers["counts"]["documents"] == 2


def test_labels_and_documents_that_never_meet_are_noted(write: Callable[..., Path]) -> None:
    truth = write(row(1, [BOX], ["Table"]), row(2))
    predictions = write(row("1", [BOX], ["Tabel"], scores=[0.5]), row("2", scores=[]))
    issues = {issue.code: issue for issue in Evaluator(Detection()).update(truth, predictions).compute().issues}
    assert "truth has 'Table'; predictions have 'Tabel'" in issues["labels-do-not-meet"].message
    assert "truth has 1, 2; predictions have '1', '2'" in issues["no-common-document"].message


def test_class_maps_apply_to_every_batch(write: Callable[..., Path]) -> None:
    truth = write(*(row(name, [BOX], ["Table"]) for name in "abcd"))
    predictions = write(*(row(name, [BOX], [label], scores=[0.5]) for name, label in zip("abcd", "ttxy", strict=True)))
    class_map = {"t": "Table", "x": "drop", "z": "Table"}
    results = [batched(Detection(), truth, predictions, batch=batch, class_map_pred=class_map) for batch in (1, 1000)]
    assert bits(results[0]) == bits(results[1])
    assert results[0].issues == results[1].issues
    assert results[0].numbers["counts"]["predictions_not_counted"] == {"other_label": 1}
    assert {issue.code: issue.message for issue in results[0].issues} == {
        "label-dropped": "1 label is dropped by the class map: 'x' (1)",
        "label-not-mapped": "1 label is not in the class map and kept as it is: 'y' (1)",
        "label-one-sided": "labels that only the predictions have: 'y'",
        "label-unused": "the class map names 'z', which the file does not have",
    }


def test_pages_of_another_resolution_are_scaled(write: Callable[..., Path]) -> None:
    truth = write(row("a", [(10, 10, 20, 20)], width=100.0, height=200.0))
    predictions = write(row("a", [(20, 20, 40, 40)], scores=[0.5], width=200.0, height=400.0))
    result = Evaluator(Detection()).update(truth, predictions).compute()
    assert result["mean_iou@0.75"] == 1
    assert [issue.code for issue in result.issues] == ["pages-scaled"]


def test_documents_are_named_by_their_stems(write: Callable[..., Path]) -> None:
    truth, predictions = write(row("x/a.png", [BOX])), write(row("a.jpg", [BOX], scores=[0.5]))
    assert Evaluator(Detection(document_key="stem")).update(truth, predictions).compute()["recall@0.5"] == 1


def test_boxes_that_look_turned_are_noted(write: Callable[..., Path]) -> None:
    boxes = [(0.1 * k, 0.05, 0.1 * k + 0.05, 0.9) for k in range(9)]
    truth = write(row("a", boxes))
    predictions = write(row("a", [(y1, x1, y2, x2) for x1, y1, x2, y2 in boxes], scores=[0.5] * 9))
    result = Evaluator(Detection(units="normalized")).update(truth, predictions).compute()
    assert [issue.code for issue in result.issues] == ["axes-swapped"]


# Files that are refused.


def test_lists_of_one_page_are_of_one_length(write: Callable[..., Path]) -> None:
    pages = [row("a", [BOX, BOX], ["Table"]), row("b", [BOX], scores=[0.1, 0.2]), row("c", [BOX], area=[])]
    assert refused(write(*pages)) == [
        ("length-differs", f"{k} /{name}") for k, name in enumerate(("labels", "scores", "area"), 1)
    ]


def test_predictions_need_scores_unless_they_may_lack_them(write: Callable[..., Path]) -> None:
    path = write(row("a", [BOX], scores=[0.5]), row("b"), row("c", [BOX]))
    assert refused(path, side="prediction") == [("score-missing", "3 /scores")]
    scores = read_boxes(path, side="prediction", allow_missing_scores=True).scores
    assert scores is not None
    np.testing.assert_array_equal(scores, [0.5, np.nan])


def test_ids_are_on_every_page_or_on_none(write: Callable[..., Path]) -> None:
    assert refused(write(row("a", [BOX], ids=[1]), row("b"), row("c", [BOX]))) == [("ids-partial", "3 /ids")]
    assert refused(write(row("a", [BOX]), row("b"), row("c", [BOX], ids=[1]))) == [("ids-partial", "3 /ids")]


def test_page_index_is_an_integer_from_0(write: Callable[..., Path]) -> None:
    numbers = [0.0, 1.5, -1.0, None, 2.0]
    pages = [row(f"{k}", page_index=number) for k, number in enumerate(numbers)]
    path = write(*pages, page_index=pa.float64())
    assert refused(path) == [("wrong-type", "2 /page_index"), ("wrong-type", "3 /page_index")]
    assert refused(write(row("a", page_index=-1))) == [("wrong-type", "1 /page_index")]


def test_pages_have_a_size_above_0(write: Callable[..., Path]) -> None:
    assert refused(write(row("a", width=0.0, height=-1.0))) == [("page-size", "1 /width"), ("page-size", "1 /height")]


def test_a_document_has_a_name(write: Callable[..., Path]) -> None:
    assert refused(write(row("a"), row(None))) == [("wrong-type", "2 /doc_id")]  # type: ignore[arg-type]  # what files hold


def test_a_box_has_four_numbers(write: Callable[..., Path]) -> None:
    assert refused(write(row("a", [BOX, (1, 2, 3)]))) in ([("box-shape", "1 /boxes/1")], [("box-shape", "1 /boxes")])


def test_a_label_has_a_name(write: Callable[..., Path]) -> None:
    places = [("wrong-type", "1 /labels/1")], [("wrong-type", "1 /labels")]
    assert refused(write(row("a", [BOX, BOX], ["Table", None]))) in places  # type: ignore[list-item]  # what files hold


def test_a_file_without_pages_has_no_documents(tmp_path: Path) -> None:
    empty = tmp_path / "none.parquet"
    pq.write_table(table([row("a", [BOX])]).slice(0, 0), empty)
    assert read(empty).units() == ()
    assert Evaluator(Detection()).update(empty, empty).compute()["recall@0.5"] is None


def test_everything_wrong_with_both_files_is_told_at_once(write: Callable[..., Path]) -> None:
    truth = write(row("a", [BOX], []), row("b"), row("c", [BOX], []))
    predictions = write(row("a", width=-1.0), row("b"), row("c", width=-2.0))
    with pytest.raises(ContractError) as caught:
        list(stream_pair(truth, predictions, batch=1, strict=True))
    assert [issue.code for issue in caught.value.issues] == ["length-differs", "length-differs", "page-size", "page-size"]


def test_an_update_that_fails_counts_nothing(write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "BATCH", 1)
    good = [row(name, [BOX]) for name in "abcdef"]
    evaluator = Evaluator(Detection(strict=True)).update(write(row("z")), write(row("z")))
    before = evaluator.state()
    with pytest.raises(ContractError):
        evaluator.update(write(*good), write(*map(scored, good), row("y", [BOX], [], scores=[0.5])))
    assert evaluator.state() == before


def test_a_page_that_cannot_be_read_is_left_out_and_counted(write: Callable[..., Path]) -> None:
    good = [row(name, [BOX]) for name in "abc"]
    bad = [row("d", [BOX], []), row("e", [BOX], width=-1.0), row("f", [BOX, BOX], ["Unseen"])]
    truth = write(good[0], bad[0], good[1], bad[1], bad[2], good[2])
    predictions = write(*map(scored, good))
    result = Evaluator(Detection()).update(truth, predictions).compute()
    assert bits(result) == bits(Evaluator(Detection()).update(write(*good), predictions).compute())
    assert result.incomplete
    assert {(issue.code, issue.count, issue.pointer.partition(" ")[2]) for issue in result.issues} == {
        ("length-differs", 2, "2 /labels"),
        ("page-size", 1, "4 /width"),
    }
    with pytest.raises(ContractError):
        Evaluator(Detection(strict=True)).update(truth, predictions)


def test_a_file_without_a_page_that_can_be_read_is_refused(write: Callable[..., Path]) -> None:
    truth, predictions = write(row("a", [BOX], [])), write(row("a", [BOX], scores=[0.5]))
    for refusing in (lambda: read(truth), lambda: Evaluator(Detection()).update(truth, predictions)):
        with pytest.raises(ContractError) as caught:
            refusing()
        assert [(issue.code, issue.severity) for issue in caught.value.issues] == [("length-differs", Severity.ERROR)]
