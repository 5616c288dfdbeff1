"""``calque convert``: what goes in comes out, in every format; what a format cannot carry is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import CalqueError, Corpus, read
from calque.base.columns import Outlines, Strings
from calque.base.files import write_folder, write_whole
from calque.corpus.boxes import BoxCorpus, Extent, Side
from calque.corpus.masks import Masks
from calque.geometry.boxes import corners
from calque.geometry.forms import BoxForm
from calque.readers import read_pair
from calque.readers.boxes import formats
from calque.readers.boxes.convert import FEATURES, converted
from calque.readers.boxes.read_back import losses
from calque.readers.sides.slips import OPEN_FORMATS
from tests.conftest import Run
from tests.examples import examples
from tests.snapshots import valid_predictions, valid_truth, write

TARGETS = [entry for entry in formats.FORMATS if entry.write is not None and entry.name not in ("coco-results", "plain")]


def corpus(**more: Any) -> BoxCorpus:
    """Three documents, one of two pages, one page without objects, labels that need care."""
    columns: dict[str, Any] = {
        "documents": ("a.pdf", "b_p", "Übung 3"),
        "page_document": np.array([0, 0, 1, 2], dtype=np.int32),
        "page_index": np.array([0, 4, 0, 0], dtype=np.int64),
        "page_sizes": np.array([[1000.0, 1400.0]] * 4),
        "labels": ("Table", "a & b <c>", "Überschrift"),
        "page": np.array([0, 0, 1, 3], dtype=np.int32),
        "label": np.array([0, 1, 2, 0], dtype=np.int32),
        "boxes": np.array(
            [[10, 20, 300, 400], [0.5, 0.25, 999.5, 1400], [100, 100, 101, 101], [7, 7, 70, 77]], dtype=np.float64
        ),
        "scores": np.array([0.5, 1.0, 0.0, 0.125]),
        "side": Side.FOUND,
        "ids": Strings.pack(["11", "12", "13", "14"]),
    }
    return BoxCorpus(**{**columns, **more})


def put(files: Any, path: Path) -> Path:
    if set(files) == {""}:
        write_whole(path, files[""])
    else:
        write_folder(path, files)
    return path


def contents(got: Any, size: tuple[float, float] = (1000, 1400)) -> list[tuple[Any, ...]]:
    """(document, page, label, corners in pixels), sorted."""
    flat = corners(got.boxes, got.form) * (np.array(size * 2) if got.extent is Extent.NORMALIZED else 1.0)
    return sorted(
        (
            got.documents[got.page_document[got.page[row]]],
            int(got.page_index[got.page[row]]),
            got.labels[got.label[row]],
            tuple(round(value, 6) for value in flat[row].tolist()),
        )
        for row in range(len(got))
    )


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_round_trip(target: formats.Format, tmp_path: Path) -> None:
    original = corpus()
    files, _ = converted(original, target, None)
    again = read(put(files, tmp_path / "out"), side="prediction", format=target.name)
    assert contents(again) == contents(original)
    assert formats.recognised(_source(tmp_path / "out")).name == target.name
    order, wanted = np.argsort(contents_key(again)), np.argsort(contents_key(original))
    if "scores" in target.carries:
        assert again.scores[order].tolist() == original.scores[wanted].tolist()
    else:
        assert again.scores is None
    if "ids" in target.carries:
        assert [str(again.ids[row]) for row in order] == [original.ids[row] for row in wanted]
    if "page sizes" in target.carries:
        known = again.page_sizes[~np.isnan(again.page_sizes).any(axis=1)]
        assert {tuple(size) for size in known.tolist()} == {(1000.0, 1400.0)}
    if "empty pages" in target.carries:
        assert ("b_p", 0) in places(again)


def _source(path: Path) -> Any:
    from calque.readers.sources.source import Source

    return Source(path)


def contents_key(got: BoxCorpus) -> list[float]:
    scale = 1000 if got.extent is Extent.NORMALIZED else 1
    return [round(value * scale, 6) for value in got.boxes[:, 0].tolist()]


def places(got: BoxCorpus) -> set[tuple[Any, int]]:
    return {(got.documents[code], int(index)) for code, index in zip(got.page_document, got.page_index, strict=True)}


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_what_a_format_cannot_carry_is_named(target: formats.Format) -> None:
    count = 4
    everything = corpus(
        crowd=np.ones(count, dtype=np.uint8),
        ignore=np.ones(count, dtype=np.uint8),
        given_areas=np.ones(count),
        page_names=Strings.pack(["x"] * 4),
        metadata={"language": {"a.pdf": "de"}},
        outlines=Outlines.pack([[1, 1, 9, 1, 5, 7], [1, 1, 9, 2, 9, 7, 1, 7], [], []]),
        masks=Masks.pack([b'{"size": [9, 9], "counts": [3, 4]}', b"", b"", b""]),
    )
    assert all(present(everything) for present in FEATURES.values())
    _, issues = converted(everything, target, None)
    named = " ".join(issue.message for issue in issues if issue.code == "not-carried")
    for feature in FEATURES:
        assert (feature in named) == (feature not in target.carries), feature


@pytest.mark.parametrize("target", [*TARGETS, formats.named("plain")], ids=lambda target: target.name)
def test_a_document_without_pages_comes_back_or_is_counted(target: formats.Format, tmp_path: Path) -> None:
    original = corpus(documents=(*corpus().documents, "bare"))
    files, issues = converted(original, target, None)
    again = read(put(files, tmp_path / "out"), side="prediction", format=target.name)
    told = [issue for issue in issues if issue.code == "page-lost" or "empty pages" in issue.message]
    assert ("bare" in again.documents) == (not told)


def test_files_that_leave_it_open_state_what_their_boxes_are(tmp_path: Path) -> None:
    shares = corpus(boxes=corpus().boxes / [1000, 1400, 1000, 1400], extent=Extent.NORMALIZED)
    sizes = corpus(form=BoxForm.XYWH, boxes=corpus().boxes)
    for original in (shares, sizes):
        for name in sorted(OPEN_FORMATS):
            files, _ = converted(original, formats.named(name), None)
            path = put(files, tmp_path / f"out.{name}")
            again = read(path, side="prediction")
            assert np.array_equal(again.boxes, original.boxes)
            assert (again.form, again.extent) == (original.form, original.extent)
            path.unlink()


@pytest.mark.parametrize("name", sorted(OPEN_FORMATS))
def test_an_option_goes_before_what_a_file_states(name: str, tmp_path: Path) -> None:
    sizes = corpus(form=BoxForm.XYWH)
    path = put(converted(sizes, formats.named(name), None)[0], tmp_path / "out")
    assert read(path, side="prediction").form is BoxForm.XYWH
    again = read(path, side="prediction", boxes="xyxy", units="pixels")
    assert again.form is BoxForm.XYXY
    assert np.array_equal(again.boxes, sizes.boxes)


def test_a_statement_that_means_nothing_is_refused(tmp_path: Path) -> None:
    page = '{"doc_id": "a", "boxes": [], "labels": []}\n'
    for content, message in (
        ('{"calque": "pages", "box_form": "corners"}\n' + page, "box_form must be one of"),
        ('{"calque": "pages", "box_form": "polygon"}\n' + page, "four numbers"),
        (page + '{"calque": "pages", "box_form": "xywh"}\n', "only the first line"),
    ):
        (tmp_path / "a.ndjson").write_text(content)
        with pytest.raises(CalqueError, match=message):
            read(tmp_path / "a.ndjson")
    entry = {"bbox": [0, 0, 1, 1], "category": "a"}
    with pytest.raises(CalqueError, match="the entries differ"):
        read([entry, {**entry, "box_form": "xywh"}])
    with pytest.raises(CalqueError, match="box_units must be one of"):
        read([{**entry, "box_units": []}])


def test_a_header_keeps_the_numbers_of_lines(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_text(
        '{"calque": "pages", "box_form": "xywh"}\n{"doc_id": "a", "boxes": [[1]], "labels": ["a"]}\n'
    )
    with pytest.raises(CalqueError, match="line 2 /boxes/0"):
        read(tmp_path / "a.ndjson", strict=True)
    (tmp_path / "b.txt").write_text('{"calque": "pages", "box_form": "xywh"}')
    assert formats.recognised(_source(tmp_path / "b.txt")).name == "ndjson"


def test_boxes_beyond_the_page_are_cut_or_left_out_and_counted(calque: Callable[..., Run], tmp_path: Path) -> None:
    corners_of = {
        "in": [0, 0, 50, 0, 50, 50, 0, 50],
        "cut": [60, 0, 140, 0, 140, 50, 60, 50],
        "out": [120, 0, 140, 0, 140, 50, 120, 50],
    }
    blocks = [{"category_type": name, "poly": poly, "ignore": False} for name, poly in corners_of.items()]
    info = {"page_no": 0, "width": 100, "height": 100, "image_path": "a.png"}
    write(tmp_path / "omni.json", [{"layout_dets": blocks, "page_info": info}])
    for target in ("snapshot", "label-studio", "yolo"):
        run = calque("convert", "omni.json", target, "--to", target, "--as", "truth")
        assert run.code == 3
        assert "a box was cut at the edge of its page" in run.err
        assert "a box wholly beyond its page was not written" in run.err
        assert calque("validate", target).code == 0
        again = read(tmp_path / target)
        assert sorted(again.labels[code] for code in again.label) == ["cut", "in"]


def test_files_are_named_as_the_images_of_coco_are(calque: Callable[..., Run], tmp_path: Path) -> None:
    images = [
        {"id": number, "file_name": f"train/{name}.jpg", "width": 100, "height": 100} for number, name in enumerate("ab", 1)
    ]
    annotations = [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 50, 50]}]
    write(tmp_path / "coco.json", {"images": images, "annotations": annotations, "categories": [{"id": 1, "name": "Table"}]})
    for target in ("yolo", "voc", "page", "alto", "labelme", "dota"):
        run = calque("convert", "coco.json", target, "--to", target)
        assert run.code == 3
        assert "such as 1 as 'a' (2 times); evaluate with --document-key stem" in run.err
        assert {path.stem for path in (tmp_path / target).iterdir()} - {"classes"} == {"a", "b"}
        run = calque("convert", "coco.json", f"{target}-2", "--to", target, "--document-key", "stem")
        assert run.code == 0, run.err
    assert calque("convert", "coco.json", "again.json", "--to", "coco").code == 0
    assert [entry["file_name"] for entry in json.loads((tmp_path / "again.json").read_text())["images"]] == [
        "train/a.jpg",
        "train/b.jpg",
    ]


def test_coco_results_go_with_the_truth_that_was_written_beside_them(tmp_path: Path) -> None:
    original = corpus()
    truth, _ = converted(original, formats.named("coco"), None)
    results, _ = converted(original, formats.named("coco-results"), None)
    _, found = read_pair(put(truth, tmp_path / "truth.json"), put(results, tmp_path / "found.json"))
    assert contents(found) == contents(original)


names = (
    st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=8)
    .map(str.strip)
    .filter(bool)
)
sides = st.tuples(st.integers(0, 900), st.integers(0, 900), st.integers(1, 100), st.integers(1, 500))


@examples(60)
@given(
    items=st.lists(st.tuples(names, st.integers(0, 1200), names, sides, st.floats(0, 1)), min_size=1, max_size=6),
    target=st.sampled_from(TARGETS),
)
def test_any_boxes_survive(items: list[Any], target: formats.Format, tmp_path_factory: pytest.TempPathFactory) -> None:
    original = Corpus.from_arrays(
        [[x, y, x + width, y + height] for *_, (x, y, width, height), _ in items],
        [" ".join(label.split()) for _, _, label, *_ in items],
        documents=[document for document, *_ in items],
        pages=[page for _, page, *_ in items],
        scores=[score for *_, score in items],
    )
    try:
        files, issues = converted(original, target, (1000, 1400))
    except CalqueError as error:
        assert "would be written to one file" in str(error)
        return
    again = read(put(files, tmp_path_factory.mktemp("any") / "out"), side="prediction", format=target.name)
    if any(issue.code == "document-renamed" for issue in issues):
        assert len(again) == len(original)
    else:
        assert contents(again) == contents(original)


def test_objects_that_cannot_be_written_are_counted(calque: Callable[..., Run], tmp_path: Path) -> None:
    write(tmp_path / "in.json", [{"bbox": [9, 9, 1, 1], "category": "a"}, {"bbox": [1, 1, 9, 9], "category": "a"}])
    run = calque("convert", "in.json", "out.json", "--to", "coco")
    assert run.code == 3
    assert "an object without a usable box" in run.err
    assert len(json.loads((tmp_path / "out.json").read_text())["annotations"]) == 1


def test_pixels_for_a_format_of_shares_need_sizes(calque: Callable[..., Run], tmp_path: Path) -> None:
    write(tmp_path / "in.json", [{"bbox": [100, 140, 500, 700], "category": "Table", "doc": "d"}])
    run = calque("convert", "in.json", "out.json", "--to", "snapshot")
    assert run.code == 2
    assert "--page-size W,H" in run.err
    assert not (tmp_path / "out.json").exists()
    run = calque("convert", "in.json", "out.json", "--to", "snapshot", "--page-size", "1000,1400", "--as", "truth")
    assert run.code == 3
    assert "evaluate the two with --page-size W,H" in run.err
    tree = json.loads((tmp_path / "out.json").read_text())
    assert tree["info"]["type"] == "ground_truth"
    assert tree["predictions"][0]["objects"][0]["bbox"] == [0.1, 0.1, 0.5, 0.5]


def test_snapshot_files_survive(calque: Callable[..., Run], tmp_path: Path) -> None:
    for side, tree in (("truth", valid_truth()), ("found", valid_predictions())):
        write(tmp_path / f"{side}.json", tree)
        assert calque("convert", f"{side}.json", f"{side}-2.json", "--to", "snapshot").code == 0
        again = json.loads((tmp_path / f"{side}-2.json").read_text())
        assert again["predictions"] == tree["predictions"]
        assert again["label_map"] == tree["label_map"]
    assert calque("validate", "truth-2.json", "found-2.json").code == 0


def test_class_maps_and_names_of_formats(calque: Callable[..., Run], tmp_path: Path) -> None:
    write(tmp_path / "in.json", [{"bbox": [0, 0, 1, 1], "category": "a"}, {"bbox": [0, 0, 2, 2], "category": "b"}])
    (tmp_path / "map.yaml").write_text("a: A\nb: drop\n")
    run = calque("convert", "in.json", "out.json", "--to", "plain", "--from", "plain", "--class-map", "map.yaml")
    assert run.code == 0
    assert [entry["category"] for entry in json.loads((tmp_path / "out.json").read_text())] == ["A"]
    assert "dropped by the class map: 'b' (1)" in run.err
    assert "pass --to" in calque("convert", "in.json", "out.json").err
    assert "did you mean 'plain'" in calque("convert", "in.json", "out.json", "--to", "plian").err


def test_a_folder_appears_whole_or_not_at_all(calque: Callable[..., Run], tmp_path: Path) -> None:
    write(tmp_path / "in.json", [{"bbox": [0, 0, 1, 1], "category": "a", "doc": name} for name in ("x/y", "x_y")])
    run = calque("convert", "in.json", "out", "--to", "voc")
    assert run.code == 2
    assert "would be written to one file" in run.err
    assert [path.name for path in tmp_path.iterdir()] == ["in.json"]
    write(tmp_path / "in.json", [{"bbox": [0, 0, 1, 1], "category": "a", "doc": "x" * 300}])
    assert calque("convert", "in.json", "out", "--to", "voc").code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["in.json"]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("keep")
    write(tmp_path / "in.json", [{"bbox": [0, 0, 1, 1], "category": "a", "doc": "x"}])
    run = calque("convert", "in.json", "out", "--to", "voc")
    assert run.code == 2
    assert "exists already" in run.err
    assert (tmp_path / "out" / "mine.txt").read_text() == "keep"


def test_real_files_in_every_format_give_the_same_numbers(
    calque: Callable[..., Run], real_pair: tuple[Path, Path], tmp_path: Path
) -> None:
    wanted = calque("detect", *real_pair, "--format", "json").json["metrics"]["0.5"]["micro"]
    for target in TARGETS:
        run = calque("convert", real_pair[1], target.name, "--to", target.name, "--page-size", "1000,1400", "--quiet")
        whole = "scores" in target.carries and (target.extent is Extent.NORMALIZED or "page sizes" in target.carries)
        assert run.code == (0 if whole else 3), run.err
        got = calque("detect", real_pair[0], target.name, "--page-size", "1000,1400", "--format", "json")
        assert got.code == 0, got.err
        micro = got.json["metrics"]["0.5"]["micro"]
        assert {key: micro[key] for key in ("tp", "fp", "fn")} == {key: wanted[key] for key in ("tp", "fp", "fn")}, target.name
        assert micro["mean_iou"] == pytest.approx(wanted["mean_iou"])


def test_validate_takes_every_format(calque: Callable[..., Run], tmp_path: Path) -> None:
    write(tmp_path / "a.json", [{"bbox": [0, 0, 9, 9], "category": "Figure", "doc": "d"}])
    write(tmp_path / "b.json", [{"bbox": [0, 0, 9, 9], "category": "picture", "doc": "d", "score": 0.5}])
    run = calque("validate", "a.json", "b.json")
    assert run.code == 0
    assert "no label in common" in run.out
    (tmp_path / "map.yaml").write_text("picture: Figure\n")
    (tmp_path / "none.yaml").write_text("{}")
    run = calque("validate", "a.json", "b.json", "--class-map", "none.yaml", "--class-map", "map.yaml", "--from", "plain")
    assert "no label in common" not in run.out
    assert calque("validate", "a.json", "b.json", "--from", "coco").code == 2
    assert "given 3 times" in calque("validate", "a.json", *["--from", "plain"] * 3).err


@pytest.mark.parametrize("to", ["yolo", "voc", "page", "alto", "labelme", "dota"])
def test_a_name_that_no_file_can_have_is_told(calque: Callable[..., Run], tmp_path: Path, to: str) -> None:
    row = {"doc_id": "d" * 300, "width": 10, "height": 10, "boxes": [[0, 0, 1, 1]], "labels": ["x"]}
    (tmp_path / "long.ndjson").write_text(json.dumps(row))
    done = calque("convert", "long.ndjson", "out", "--to", to)
    assert done.code == 2
    assert done.err.startswith(f"error: no file can be called {'d' * 40}…: that is 30")
    assert [path.name for path in tmp_path.iterdir()] == ["long.ndjson"]


@pytest.mark.parametrize(("width", "changed"), [(10.0, 0), (10.000005, 0), (10.00002, 1), (10.1, 1), (20.0, 1)])
def test_a_box_has_changed_beyond_a_millionth_of_its_side(width: float, changed: int) -> None:
    corpus = Corpus.from_arrays([[0.0, 0.0, 10.0, 10.0], [30.0, 30.0, 40.0, 40.0]], ["a", "a"], documents=["d", "d"])
    target = formats.named("coco")
    files, _ = converted(corpus, target, (100.0, 100.0))
    tree = json.loads(files[""])
    tree["annotations"][0]["bbox"][2] = width
    told = losses(corpus, np.ones(2, np.bool_), {"": json.dumps(tree).encode()}, target, (100.0, 100.0))
    assert sum(issue.count for issue in told if issue.code == "box-changed") == changed
