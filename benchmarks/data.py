"""Seeded, made-up data sets for the detection benchmarks, written as COCO JSON and, when asked, as page rows.

    python benchmarks/data.py small coco pages [--rows parquet ndjson] [--cache FOLDER]

prints, as JSON, where the files of each set are. Pages are made in chunks, each from its own seed, so that memory
stays bounded and a smaller set of the same kind is the beginning of a larger one.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

GENERATOR_VERSION = 1  # Part of the cache's key: raise it with any change to the bytes written.
CHUNK_PAGES = 1_000
MOST_AT_ONCE = 100_000  # Pages; sets with more are written as a stream, a row group at a time.
GROUP_CHUNKS = 16
DEFAULT_CACHE = Path(__file__).resolve().parent / ".cache"

LAYOUT_NAMES = (
    "Caption", "Footnote", "Formula", "List-item", "Page-footer", "Page-header",
    "Picture", "Section-header", "Table", "Text", "Title",
)  # fmt: skip
LAYOUT_SHARES = (2.0, 0.6, 2.2, 17.0, 6.4, 5.3, 4.1, 12.8, 3.1, 46.0, 0.5)
COCO_UNUSED_IDS = frozenset({12, 26, 29, 30, 45, 66, 68, 69, 71, 83})
COCO_IDS = tuple(i for i in range(1, 91) if i not in COCO_UNUSED_IDS)


@dataclass(frozen=True)
class Classes:
    """The categories of a set: ids, names, and how often each occurs."""

    ids: tuple[int, ...]
    names: tuple[str, ...]
    shares: tuple[float, ...]

    def cumulative(self) -> Floats:
        shares = np.asarray(self.shares)
        return np.cumsum(shares / shares.sum())


LAYOUT = Classes(tuple(range(1, 12)), LAYOUT_NAMES, LAYOUT_SHARES)
THINGS = Classes(COCO_IDS, tuple(f"thing-{i:02d}" for i in COCO_IDS), tuple(1 / (k + 2) for k in range(80)))


@dataclass(frozen=True)
class Spec:
    """What one data set looks like."""

    pages: int
    truths_per_page: int
    detections_per_page: int
    classes: Classes
    seed: int
    score_digits: int
    widths: tuple[int, int]
    heights: tuple[int, int]
    box_sides: tuple[float, float]  # Median width and height, as a share of the page's.
    crowd_share: float = 0.0
    id_step: int = 1  # Image ids grow by up to this much: 1 gives 1, 2, 3, …
    grouped_truths: bool = True  # False: annotations are not in the order of their images, as in COCO's own files.


def _layout_spec(pages: int, seed: int, score_digits: int) -> Spec:
    return Spec(pages, 10, 40, LAYOUT, seed, score_digits, (595, 1025), (792, 1400), (0.35, 0.05))


SPECS = {
    "small": _layout_spec(500, seed=11, score_digits=3),
    "coco": Spec(
        5_000, 8, 60, THINGS, seed=22, score_digits=5, widths=(320, 641), heights=(320, 641), box_sides=(0.18, 0.22),
        crowd_share=0.01, id_step=230, grouped_truths=False,
    ),
    "pages5k": _layout_spec(5_000, seed=33, score_digits=4),
    "pages": _layout_spec(20_000, seed=33, score_digits=4),
    "pages80k": _layout_spec(80_000, seed=33, score_digits=4),
    "pages200k": _layout_spec(200_000, seed=33, score_digits=4),
}  # fmt: skip


@dataclass(frozen=True)
class Pages:
    """Ids and sizes of consecutive pages."""

    first: int
    ids: Ints
    widths: Ints
    heights: Ints


@dataclass(frozen=True)
class Boxes:
    """Objects of a chunk in file order; boxes are xywh in hundredths of a pixel, so that written digits are exact."""

    page: Ints  # Index into the chunk's pages.
    label: Ints  # Index into the classes.
    xywh: Ints


@dataclass(frozen=True)
class Truths:
    """What is on the pages."""

    boxes: Boxes
    ids: Ints
    area: Floats
    crowd: Bools


@dataclass(frozen=True)
class Detections:
    """What a made-up model found."""

    boxes: Boxes
    scores: Floats


@dataclass(frozen=True)
class Chunk:
    """Some consecutive pages with all that is on them."""

    pages: Pages
    truths: Truths
    detections: Detections


def all_pages(spec: Spec) -> Pages:
    """Ids and sizes of every page of a set."""
    ids, sizes = [], []
    for first in range(0, spec.pages, CHUNK_PAGES):
        rng = np.random.default_rng((spec.seed, first, 0))
        ids.append(rng.integers(1, spec.id_step + 1, CHUNK_PAGES))
        sizes.append(np.column_stack((rng.integers(*spec.widths, CHUNK_PAGES), rng.integers(*spec.heights, CHUNK_PAGES))))
    size = np.concatenate(sizes)[: spec.pages]
    return Pages(0, np.cumsum(np.concatenate(ids))[: spec.pages], size[:, 0], size[:, 1])


def chunks(spec: Spec) -> Iterator[Chunk]:
    """The set, some pages at a time."""
    whole = all_pages(spec)
    for first in range(0, spec.pages, CHUNK_PAGES):
        part = slice(first, min(first + CHUNK_PAGES, spec.pages))
        pages = Pages(first, whole.ids[part], whole.widths[part], whole.heights[part])
        rng = np.random.default_rng((spec.seed, first, 1))
        density = _density(rng, len(pages.ids))
        truths = _truths(rng, spec, pages, density)
        yield Chunk(pages, truths, _detections(rng, spec, pages, density, truths))


def _density(rng: np.random.Generator, pages: int) -> Floats:
    """How crowded each page is: most alike, some nearly empty, a few like a newspaper's (so that maxDets matters)."""
    weight: Floats = rng.gamma(2.0, size=pages) * np.where(rng.random(pages) < 0.002, 8.0, 1.0)
    shares: Floats = weight / weight.sum()
    return shares


def _spread(rng: np.random.Generator, total: int, density: Floats) -> Ints:
    """Page index of each of `total` objects, in the order of the pages."""
    return np.repeat(np.arange(len(density)), rng.multinomial(total, density))


def _labels(rng: np.random.Generator, classes: Classes, count: int) -> Ints:
    return np.searchsorted(classes.cumulative(), rng.random(count)).clip(max=len(classes.ids) - 1)


def _fitted(corner: Floats, size: Floats, limit: Floats) -> tuple[Ints, Ints]:
    """Positions and sizes along one axis, in hundredths, at least one pixel long and inside the page."""
    limit_hundredths = (limit * 100).astype(np.int64)
    length = np.clip(np.rint(size * 100).astype(np.int64), 100, limit_hundredths)
    start = np.clip(np.rint(corner * 100).astype(np.int64), 0, limit_hundredths - length)
    return start, length


def _boxed(x: Floats, y: Floats, w: Floats, h: Floats, pages: Pages, page: Ints) -> Ints:
    left, width = _fitted(x, w, pages.widths[page].astype(float))
    top, height = _fitted(y, h, pages.heights[page].astype(float))
    return np.column_stack((left, top, width, height))


def _anywhere(rng: np.random.Generator, spec: Spec, pages: Pages, page: Ints) -> Ints:
    """A plausible box on each of the given pages."""
    width, height = pages.widths[page].astype(np.float64), pages.heights[page].astype(np.float64)
    w = width * np.minimum(spec.box_sides[0] * rng.lognormal(0.0, 0.7, len(page)), 0.95)
    h = height * np.minimum(spec.box_sides[1] * rng.lognormal(0.0, 0.8, len(page)), 0.95)
    return _boxed(rng.random(len(page)) * (width - w), rng.random(len(page)) * (height - h), w, h, pages, page)


def _truths(rng: np.random.Generator, spec: Spec, pages: Pages, density: Floats) -> Truths:
    total = spec.truths_per_page * len(pages.ids)
    page = _spread(rng, total, density)
    if not spec.grouped_truths:
        rng.shuffle(page)
    crowd = rng.random(total) < spec.crowd_share
    xywh = _anywhere(rng, spec, pages, page)
    xywh[crowd] = _widened(rng, xywh[crowd], pages, page[crowd])
    # COCO's area is the mask's, smaller than the box; a layout block fills its box.
    filled = rng.uniform(0.45, 1.0, total) if spec.crowd_share else np.ones(total)
    area = np.rint(xywh[:, 2] * xywh[:, 3] * filled) / 10_000
    ids = np.arange(total) + 1 + pages.first * spec.truths_per_page
    return Truths(Boxes(page, _labels(rng, spec.classes, total), xywh), ids, area, crowd)


def _widened(rng: np.random.Generator, xywh: Ints, pages: Pages, page: Ints) -> Ints:
    x, y, w, h = (xywh / 100).T
    factor = rng.uniform(1.5, 3.0, len(xywh))
    return _boxed(x, y, w * factor, h * factor, pages, page)


def _detections(rng: np.random.Generator, spec: Spec, pages: Pages, density: Floats, truths: Truths) -> Detections:
    """One hit for most truths; the rest are duplicates, other classes on a truth's place, and background."""
    hit = np.flatnonzero(rng.random(len(truths.ids)) < 0.88)
    extra = _spread(rng, spec.detections_per_page * len(pages.ids) - len(hit), density)
    kind = rng.choice(3, size=len(extra), p=(0.22, 0.13, 0.65))  # Duplicate, wrong class, background.
    parent = np.where(kind < 2, _some_truth(rng, truths.boxes.page, extra, len(pages.ids)), -1)
    page = np.concatenate((truths.boxes.page[hit], extra))
    parent = np.concatenate((hit, parent))
    first_hit = np.arange(len(page)) < len(hit)
    keeps_label = (parent >= 0) & np.concatenate((np.ones(len(hit), bool), kind == 0))

    placed = parent >= 0
    label = np.where(keeps_label, truths.boxes.label[parent], _labels(rng, spec.classes, len(page)))
    xywh = _anywhere(rng, spec, pages, page)
    xywh[placed] = _jittered(rng, truths, parent[placed], pages, page[placed], first_hit[placed])
    quality = np.zeros(len(page))
    quality[placed] = _iou(xywh[placed], truths.boxes.xywh[parent[placed]])
    scores = _scores(rng, quality, first_hit, spec.score_digits)

    order = np.argsort(page + rng.random(len(page)), kind="stable")  # Mixed inside a page, pages in order.
    return Detections(Boxes(page[order], label[order], xywh[order]), scores[order])


def _some_truth(rng: np.random.Generator, truth_page: Ints, page: Ints, pages: int) -> Ints:
    """For each page given, the index of one of its truths, or -1 where it has none."""
    by_page = np.argsort(truth_page, kind="stable")
    counts = np.bincount(truth_page, minlength=pages)
    starts = np.cumsum(counts) - counts
    pick = starts[page] + (rng.random(len(page)) * counts[page]).astype(np.int64)
    return np.where(counts[page] > 0, by_page[np.minimum(pick, len(by_page) - 1)], -1)


def _jittered(rng: np.random.Generator, truths: Truths, parent: Ints, pages: Pages, page: Ints, first_hit: Bools) -> Ints:
    """The parent's box, somewhat off; inside a crowd, one of its members."""
    x, y, w, h = (truths.boxes.xywh[parent] / 100).T
    member = truths.crowd[parent]
    shrink = np.where(member, rng.uniform(0.15, 0.6, len(parent)), 1.0)
    x = x + np.where(member, rng.random(len(parent)) * w * (1 - shrink), 0.0)
    y = y + np.where(member, rng.random(len(parent)) * h * (1 - shrink), 0.0)
    w, h = w * shrink, h * shrink
    sigma = rng.gamma(1.5, np.where(first_hit, 0.03, 0.09))
    dx, dy, dw, dh = rng.normal(size=(4, len(parent))) * sigma
    return _boxed(x + dx * w, y + dy * h, w * np.exp(dw), h * np.exp(dh), pages, page)


def _iou(a: Ints, b: Ints) -> Floats:
    low = np.maximum(a[:, :2], b[:, :2])
    high = np.minimum(a[:, :2] + a[:, 2:], b[:, :2] + b[:, 2:])
    both = np.prod(np.maximum(high - low, 0), axis=1)
    iou: Floats = both / (np.prod(a[:, 2:], axis=1) + np.prod(b[:, 2:], axis=1) - both)
    return iou


def _scores(rng: np.random.Generator, quality: Floats, first_hit: Bools, digits: int) -> Floats:
    """Scores that follow the overlap, with noise; rounded, so that some are equal."""
    base = np.where(first_hit, 0.2 + 0.7 * quality, 0.1 + 0.35 * quality)
    scores = np.clip(base + rng.normal(0.0, 0.13, len(base)), 0.0, 1.0)
    scores = np.where(quality > 0, scores, rng.beta(1.2, 5.0, len(base)))
    unit = 10**digits
    rounded: Floats = np.clip(np.rint(scores * unit), 1, unit - 1) / unit
    return rounded


# COCO JSON


def write_truth_json(spec: Spec, path: Path) -> None:
    """The ground-truth file: the same bytes as `json.dump` of the whole would give."""
    pages = all_pages(spec)
    images = [
        {"id": i, "width": w, "height": h, "file_name": f"{i:012d}.png"}
        for i, w, h in zip(pages.ids.tolist(), pages.widths.tolist(), pages.heights.tolist(), strict=True)
    ]
    categories = [{"id": i, "name": name} for i, name in zip(spec.classes.ids, spec.classes.names, strict=True)]
    with path.open("w", encoding="utf-8") as file:
        file.write('{"images": ' + json.dumps(images) + ', "categories": ' + json.dumps(categories))
        file.write(', "annotations": ')
        _dump_parts(file, (_annotations(spec, chunk) for chunk in chunks(spec)))
        file.write("}")


def write_detections_json(spec: Spec, path: Path) -> None:
    """The results file: the same bytes as `json.dump` of the whole would give."""
    with path.open("w", encoding="utf-8") as file:
        _dump_parts(file, (_results(spec, chunk) for chunk in chunks(spec)))


def _dump_parts(file: IO[str], parts: Iterable[list[dict[str, Any]]]) -> None:
    separator = "["
    for part in parts:
        file.write(separator + json.dumps(part)[1:-1])
        separator = ", "
    file.write("]")


def _columns(spec: Spec, pages: Pages, boxes: Boxes) -> tuple[list[int], list[int], list[list[float]]]:
    category_ids = np.asarray(spec.classes.ids)[boxes.label]
    return pages.ids[boxes.page].tolist(), category_ids.tolist(), (boxes.xywh / 100).tolist()


def _annotations(spec: Spec, chunk: Chunk) -> list[dict[str, Any]]:
    truths = chunk.truths
    rows = zip(
        truths.ids.tolist(),
        *_columns(spec, chunk.pages, truths.boxes),
        truths.area.tolist(),
        truths.crowd.astype(int).tolist(),
        strict=True,
    )
    return [
        {"id": i, "image_id": image, "category_id": category, "bbox": box, "area": area, "iscrowd": crowd}
        for i, image, category, box, area, crowd in rows
    ]


def _results(spec: Spec, chunk: Chunk) -> list[dict[str, Any]]:
    columns = _columns(spec, chunk.pages, chunk.detections.boxes)
    return [
        {"image_id": image, "category_id": category, "bbox": box, "score": score}
        for image, category, box, score in zip(*columns, chunk.detections.scores.tolist(), strict=True)
    ]


# Page rows: Parquet and NDJSON


def write_truth_lines(spec: Spec, path: Path) -> None:
    """The ground truth, one page a line."""
    _write_lines(path, (_truth_table(spec, chunk) for chunk in chunks(spec)))


def write_detections_lines(spec: Spec, path: Path) -> None:
    """The detections, one page a line."""
    _write_lines(path, (_detections_table(spec, chunk) for chunk in chunks(spec)))


def _write_lines(path: Path, tables: Iterator[pa.Table]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for table in tables for row in table.to_pylist())


def write_truth_parquet(spec: Spec, path: Path) -> None:
    """The ground truth, one row a page; values and order inside a page are those of the JSON file."""
    _write_tables(spec, path, (_truth_table(spec, chunk) for chunk in chunks(spec)))


def write_detections_parquet(spec: Spec, path: Path) -> None:
    """The detections, one row a page; values and order inside a page are those of the JSON file."""
    _write_tables(spec, path, (_detections_table(spec, chunk) for chunk in chunks(spec)))


def write_copies(source: str, times: int, path: Path) -> None:
    """The pages of a Parquet file so many times, each time under other ids: a row group at a time, in little memory."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    with pq.ParquetFile(source) as file, pq.ParquetWriter(path, file.schema_arrow) as out:
        for copy in range(times):
            for number in range(file.num_row_groups):
                table = file.read_row_group(number)
                ids = pc.add(table["doc_id"], pa.scalar(copy * file.metadata.num_rows, pa.int64()))
                out.write_table(table.set_column(0, "doc_id", ids))


def _write_tables(spec: Spec, path: Path, tables: Iterator[pa.Table]) -> None:
    """All rows at once, so that the file has the row groups that pyarrow and pandas make by default; long ones as a stream."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if spec.pages <= MOST_AT_ONCE:
        pq.write_table(pa.concat_tables(tables), path)
        return
    first = next(tables)
    with pq.ParquetWriter(path, first.schema) as file:
        for group in batched(chain([first], tables), GROUP_CHUNKS):
            file.write_table(pa.concat_tables(group))


def batched(tables: Iterator[pa.Table], size: int) -> Iterator[list[pa.Table]]:
    """So many at a time."""
    while some := list(islice(tables, size)):
        yield some


def _truth_table(spec: Spec, chunk: Chunk) -> pa.Table:
    import pyarrow as pa

    truths = chunk.truths
    more = {"ids": pa.array(truths.ids), "area": pa.array(truths.area), "crowd": pa.array(truths.crowd)}
    return _table(spec, chunk.pages, truths.boxes, more)


def _detections_table(spec: Spec, chunk: Chunk) -> pa.Table:
    import pyarrow as pa

    return _table(spec, chunk.pages, chunk.detections.boxes, {"scores": pa.array(chunk.detections.scores)})


def _table(spec: Spec, pages: Pages, boxes: Boxes, more: dict[str, pa.Array]) -> pa.Table:
    import pyarrow as pa

    names = pa.DictionaryArray.from_arrays(pa.array(boxes.label.astype(np.int32)), pa.array(spec.classes.names))
    corners = pa.FixedSizeListArray.from_arrays(pa.array((boxes.xywh / 100).ravel()), 4)
    by_page = pa.array(np.argsort(boxes.page, kind="stable"))
    counts = np.bincount(boxes.page, minlength=len(pages.ids))
    offsets = pa.array(np.concatenate(([0], np.cumsum(counts))).astype(np.int32))
    lists = {"boxes": corners, "labels": names, **more}
    return pa.table(
        {
            "doc_id": pages.ids,
            "page_index": np.zeros(len(pages.ids), np.int32),
            "width": pages.widths,
            "height": pages.heights,
            **{name: pa.ListArray.from_arrays(offsets, column.take(by_page)) for name, column in lists.items()},
        }
    )


# The cache

Writer = Callable[[Spec, Path], None]
JSON_FILES: dict[str, Writer] = {"truth.json": write_truth_json, "detections.json": write_detections_json}
ROW_FILES: dict[str, dict[str, Writer]] = {
    "parquet": {"truth.parquet": write_truth_parquet, "detections.parquet": write_detections_parquet},
    "ndjson": {"truth.ndjson": write_truth_lines, "detections.ndjson": write_detections_lines},
}


COPIES = {"pages2m": ("pages200k", 10)}
"""Sets that hold another one several times, as Parquet: to make them anew would take longer than to evaluate them."""


def cached_copies(name: str, cache: Path) -> dict[str, str]:
    """Paths of the files of a set of copies; those that are not in the cache yet are made."""
    source, times = COPIES[name]
    parts = cached(source, cache, ROW_FILES["parquet"])

    def writer(file_name: str) -> Writer:
        return lambda _spec, path: write_copies(parts[file_name], times, path)

    return cached(name, cache, {file_name: writer(file_name) for file_name in parts}, source)


def cached(name: str, cache: Path, files: dict[str, Writer], spec: str = "") -> dict[str, str]:
    """Paths of a set's files by file name; those that are not in the cache yet are made."""
    folder = cache / f"v{GENERATOR_VERSION}" / name
    folder.mkdir(parents=True, exist_ok=True)
    for file_name, write in files.items():
        if not (folder / file_name).exists():
            print(f"making {name}/{file_name}", file=sys.stderr)
            unfinished = folder / f"{file_name}.{os.getpid()}.part"
            write(SPECS[spec or name], unfinished)
            unfinished.replace(folder / file_name)
    return {file_name: str(folder / file_name) for file_name in files}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", choices=[*SPECS, *COPIES], metavar="SET", help=", ".join([*SPECS, *COPIES]))
    parser.add_argument("--rows", nargs="*", choices=list(ROW_FILES), default=[], help="formats of page rows to write as well")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="where the files are kept")
    parser.add_argument("--only-rows", action="store_true", help="write no COCO JSON: long sets would be tens of gigabytes")
    arguments = parser.parse_args()
    files = {} if arguments.only_rows else dict(JSON_FILES)
    for format in arguments.rows:
        files |= ROW_FILES[format]
    made = {
        name: cached_copies(name, arguments.cache) if name in COPIES else cached(name, arguments.cache, files)
        for name in arguments.sets
    }
    print(json.dumps(made))


if __name__ == "__main__":
    main()
