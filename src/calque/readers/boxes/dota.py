"""DOTA: one text file for each image, ``x1 y1 x2 y2 x3 y3 x4 y4 class difficult`` in pixels.

Results have one file for each class, ``Task1_CLASS.txt``, with lines ``image score x1 y1 x2 y2 x3 y3 x4 y4``.
"""

from __future__ import annotations

import os

from calque.base.errors import ContractError
from calque.corpus.boxes import BoxCorpus
from calque.readers.boxes import page_names, yolo
from calque.readers.boxes.conventions import Rules, around
from calque.readers.boxes.objects import Rows, Traced, by_page
from calque.readers.sources.source import Source
from calque.readers.sources.xml_tree import number, shown

FORMAT = "dota"
CARRIES = frozenset({"ignored objects", "empty pages", "turned boxes"})
FOLDER = "labelTxt"
CORNERS = 8
RESULTS = "Task1_"
"""How the names of files with results begin; the class follows."""


def recognise(source: Source) -> bool:
    """Whether a folder holds results, or text files with DOTA's first lines, or with eight numbers and a word."""
    if not source.is_folder:
        return False
    files = yolo.label_files(Source(_labels_folder(source.path)))
    if _result_files(files):
        return True
    head = next((file.head for file in files if file.head), b"")
    lines = head.decode("utf-8", "replace").splitlines()
    if any(map(_is_header, lines[:2])):
        return True
    words = lines[0].split() if lines else []
    corners = [number(word) for word in words[:CORNERS]]
    # Nine numbers are YOLO's: a class, and an outline.
    return len(words) > CORNERS and None not in corners and number(words[CORNERS]) is None


def load(source: Source, rules: Rules) -> BoxCorpus:
    """One page for each file, named by the file, with sizes of the images beside; difficult objects are ignored."""
    rows = Rows(source.path, rules)
    if not source.is_folder:
        help = "give the folder with the .txt files"
        raise ContractError.single("not-a-folder", "is not a folder", file=source.path, help=help)
    folder = _labels_folder(source.path)
    images = _images(folder)
    files = yolo.label_files(Source(folder))
    results = _result_files(files)
    for file in results:
        _read_results(file, images, rows)
    for file in files if not results else ():
        size = yolo.image_size(images.pop(file.stem)) if file.stem in images else None
        _read(file, rows.new_page(*page_names.place(file.stem), file.name, size=size), rows)
    for stem, path in images.items():
        rows.page(*page_names.place(stem), size=yolo.image_size(path))
    return rows.corpus(FORMAT)


def _is_header(line: str) -> bool:
    """Whether a line says something of the image: a word, a colon and a value, and no number before."""
    word, colon, _ = line.partition(":")
    return bool(colon) and number(word.split()[0] if word.split() else "") is None


def _result_files(files: list[Source]) -> list[Source]:
    return [file for file in files if file.name.startswith(RESULTS)]


def _labels_folder(folder: str) -> str:
    inner = os.path.join(folder, FOLDER)
    return inner if os.path.isdir(inner) else folder


def read_outside(path: str) -> dict[str, str]:
    """Return what is read of a folder of labels outside of it: the sizes of images."""
    return yolo.image_sizes(_images(_labels_folder(path))) if os.path.isdir(path) else {}


def _images(labels: str) -> dict[str, str]:
    """Image files by stem: in the folder ``images`` beside the labels, or with them."""
    for folder in (os.path.join(labels, os.pardir, "images"), os.path.join(labels, "images"), labels):
        beside = folder != os.path.join(labels, os.pardir, "images") or os.path.basename(os.path.normpath(labels)) == FOLDER
        if beside and os.path.isdir(folder) and (files := Source(folder).files(*yolo.IMAGES)):
            return {file.stem: file.path for file in files}
    return {}


def _read(file: Source, page: int, rows: Rows) -> None:
    for count, line in enumerate(file.data.decode("utf-8", "replace").splitlines() if file.head else (), start=1):
        words = line.split()
        if not words or _is_header(line):
            continue
        where = f"{file.name}: line {count}"
        corners = [value for word in words[:CORNERS] if (value := number(word)) is not None]
        if len(corners) < CORNERS or len(words) == CORNERS:
            help = "a line is x1 y1 x2 y2 x3 y3 x4 y4, a class, and 1 where it is difficult"
            rows.log.add("box-shape", where, f"expected eight numbers and a class, not {line[:60]!r}", help=help)
            continue
        rest = words[CORNERS:]
        difficult = rest.pop() if len(rest) > 1 and rest[-1].isdecimal() else "0"
        label = " ".join(rest)
        rows.add(page, label, around(corners), where, ignored=difficult.strip("0") != "", outline=corners)


def _read_results(file: Source, images: dict[str, str], rows: Rows) -> None:
    label = file.stem[len(RESULTS) :]
    rows.label(label)
    for count, line in enumerate(file.data.decode("utf-8", "replace").splitlines() if file.head else (), start=1):
        words = line.strip().rsplit(maxsplit=CORNERS + 1)  # names of images may have blanks
        where = f"{file.name}: line {count}"
        values = [value for word in words[1:] if (value := number(word)) is not None]
        if not words:
            continue
        if len(values) != CORNERS + 1:
            help = "a line is the name of an image, a score, and x1 y1 x2 y2 x3 y3 x4 y4"
            rows.log.add("box-shape", where, f"expected a name and nine numbers, not {line[:60]!r}", help=help)
            continue
        size = yolo.image_size(images.pop(words[0])) if words[0] in images else None
        page = rows.page(*page_names.place(words[0]), size=size)
        rows.add(page, label, around(values[1:]), where, score=values[0], outline=values[1:])


def write(corpus: BoxCorpus) -> dict[str, bytes]:
    """The corpus (corners in pixels) as one file for each page."""
    stems = page_names.stems(corpus)
    return {stems[page] + ".txt": _document(items) for page, items in by_page(corpus)}


def _document(items: list[Traced]) -> bytes:
    lines = ["imagesource:unknown", "gsd:null", *map(_line, items), ""]
    return "\n".join(lines).encode("utf-8", "replace")


def _line(item: Traced) -> str:
    label = " ".join(item.label.split()) or "_"
    return " ".join([*_corners(item), label, str(int(item.ignored))])


def _corners(item: Traced) -> list[str]:
    """The four corners of an object: its own where it has four, else those of its box."""
    x, y, right, bottom = item.box
    upright = [x, y, right, y, right, bottom, x, bottom]
    return [*map(shown, item.outline if len(item.outline) == CORNERS else upright)]
