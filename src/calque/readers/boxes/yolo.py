"""YOLO: one text file for each image, ``class cx cy width height [score]`` in shares of the image, or outlines."""

from __future__ import annotations

import math
import os
import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from calque.base.errors import ContractError, Severity
from calque.corpus.boxes import BoxCorpus, UnitId, in_canonical_order
from calque.readers.boxes import page_names
from calque.readers.boxes.conventions import Rules, around
from calque.readers.boxes.objects import Rows, Traced, by_page
from calque.readers.sources import json_tree
from calque.readers.sources.source import Source
from calque.readers.sources.xml_tree import number

_PNG = b"\x89PNG\r\n\x1a\n"
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers that begin a frame, which has the size."""
_MOST_SEGMENTS = 1_000


def image_size(path: str | os.PathLike[str]) -> tuple[float, float] | None:
    """Width and height in pixels; ``None`` for anything but a PNG or JPEG image."""
    try:
        with open(path, "rb") as file:
            head = file.read(24)
            if head.startswith(_PNG) and head[12:16] == b"IHDR":
                return _sides(struct.unpack(">II", head[16:24]))
            if head.startswith(b"\xff\xd8"):
                file.seek(2)
                return _jpeg(file)
    except (OSError, struct.error):
        return None
    return None


def _jpeg(file: BinaryIO) -> tuple[float, float] | None:
    for _ in range(_MOST_SEGMENTS):
        mark, code = struct.unpack(">BB", file.read(2))
        while mark == code == 0xFF:  # padding
            (code,) = struct.unpack(">B", file.read(1))
        if mark != 0xFF or code == 0xDA:
            return None
        (length,) = struct.unpack(">H", file.read(2))
        if code in _FRAMES:
            height, width = struct.unpack(">xHH", file.read(5))
            return _sides((width, height))
        file.seek(max(length - 2, 0), os.SEEK_CUR)
    return None


def _sides(size: tuple[int, int]) -> tuple[float, float] | None:
    return (float(size[0]), float(size[1])) if min(size) > 0 else None


FORMAT = "yolo"
CARRIES = frozenset({"scores", "empty pages", "outlines", "turned boxes"})
LISTS = ("classes.txt", "obj.names", "classes.names", "labels.txt")
"""Files with one class name a line."""
CONFIGURATIONS = ("data.yaml", "data.yml", "dataset.yaml", "dataset.yml")
"""Files with a key ``names``: a list, or names by number."""
IMAGES = (".png", ".jpg", ".jpeg")
NOT_LABELS = frozenset({*LISTS, "readme.txt", "train.txt", "val.txt", "test.txt", "notes.txt"})
"""Text files beside the labels that are no labels."""


def recognise(source: Source) -> bool:
    """Whether a folder holds labels: text files whose first line is numbers, or the names of classes beside text files."""
    if not source.is_folder:
        return False
    folder = _labels_folder(source.path)
    files = label_files(Source(folder))
    first = next((file.head for file in files if file.head), None)
    if first is None:
        return bool(files) and _names_file(folder) is not None
    words = first.decode("utf-8", "replace").splitlines()[0].split()
    return len(words) >= 5 and all(number(word) is not None for word in words)


def load(source: Source, rules: Rules) -> BoxCorpus:
    """One page for each file, named by the file; images beside the labels give sizes and pages without objects."""
    rows = Rows(source.path, rules)
    if not source.is_folder:
        raise ContractError.single(
            "not-a-folder", "is not a folder", file=source.path, help="give the folder with the .txt files"
        )
    folder = _labels_folder(source.path)
    names = _names(folder)
    for name in names.values():
        rows.label(name)
    if not names:
        message = "no class names were found (data.yaml, classes.txt, obj.names): labels are numbers"
        rows.log.add("no-class-names", "", message, severity=Severity.NOTE)
    images = _images(folder)
    for file in label_files(Source(folder)):
        size = image_size(images.pop(file.stem)) if file.stem in images else None
        page = rows.new_page(*page_names.place(file.stem), file.name, size=size)
        _read(file, page, names, rows)
    for stem, path in images.items():
        rows.page(*page_names.place(stem), size=image_size(path))
    return rows.corpus(FORMAT, form="cxcywh", units="normalized", label_map=dict(names) if names else None)


def read_outside(path: str) -> dict[str, str]:
    """Return what is read of a folder of labels outside of it: the file with the class names, and the sizes of images."""
    if not os.path.isdir(path):
        return {}
    folder = _labels_folder(path)
    names = _names_file(folder)
    listed = {} if names is None else {os.path.basename(names): json_tree.read_bytes(names).hex()}
    return {**listed, **image_sizes(_images(folder))}


def image_sizes(images: Mapping[str, str]) -> dict[str, str]:
    """Return the size of each image as text, by its stem."""
    return {f"size of {stem}": str(image_size(path)) for stem, path in images.items()}


def _labels_folder(folder: str) -> str:
    inner = os.path.join(folder, "labels")
    return inner if os.path.isdir(inner) else folder


def label_files(folder: Source) -> list[Source]:
    """The text files of pages; the names of classes and lists of images stand apart."""
    return [file for file in folder.files(".txt") if file.name.lower() not in NOT_LABELS]


def _images(labels: str) -> dict[str, str]:
    """Image files by stem: beside the labels, or in the folder ``images`` that goes with ``labels``."""
    parts = list(Path(labels).absolute().parts)
    folders = [labels]
    if "labels" in parts:
        at = len(parts) - 1 - parts[::-1].index("labels")
        folders.append(os.path.join(*parts[:at], "images", *parts[at + 1 :]))
    folders += [os.path.join(labels, "images"), os.path.join(labels, os.pardir, "images")]
    found = next((files for folder in folders if os.path.isdir(folder) and (files := Source(folder).files(*IMAGES))), [])
    return {file.stem: file.path for file in found}


def _names_file(labels: str) -> str | None:
    """The file with the class names: with the labels, or up to two folders above."""
    for folder in (labels, os.path.join(labels, os.pardir), os.path.join(labels, os.pardir, os.pardir)):
        for name in (*CONFIGURATIONS, *LISTS):
            if os.path.isfile(os.path.join(folder, name)):
                return os.path.normpath(os.path.join(folder, name))
    return None


def _names(labels: str) -> dict[UnitId, str]:
    path = _names_file(labels)
    if path is None:
        return {}
    data = json_tree.read_bytes(path)
    if path.endswith((".yaml", ".yml")):
        return _configured(data, path)
    lines = data.decode("utf-8-sig", "replace").splitlines()
    return {row: line.strip() for row, line in enumerate(lines) if line.strip()}


def _configured(data: bytes, path: str) -> dict[UnitId, str]:
    from calque.corpus.class_map import parsed_yaml

    tree = parsed_yaml(data, path)
    names: Any = tree.get("names") if isinstance(tree, Mapping) else None
    pairs = enumerate(names) if isinstance(names, list) else names.items() if isinstance(names, Mapping) else None
    if pairs is None:
        raise ContractError.single("class-names", "has no names of classes", file=path, help="write names: [Figure, Table]")
    # The keys of a YAML file are texts.
    listed = [(int(key), str(name)) for key, name in pairs if re.fullmatch(r"[-+]?[0-9]{1,18}", str(key))]
    if len(dict(listed)) < len(listed):
        raise ContractError.single("class-names", "names a class twice", file=path, help="give each number one name")
    return dict(listed)


def _read(file: Source, page: int, names: Mapping[UnitId, str], rows: Rows) -> None:
    if not file.head:
        return
    for count, line in enumerate(file.data.decode("utf-8", "replace").splitlines(), start=1):
        words = line.split()
        where = f"{file.name}: line {count}"
        values = [number(word) for word in words[1:]]
        if not words:
            continue
        if None in values or len(values) < 4:
            help = "a line is a class and cx cy width height, or the points of an outline; then perhaps a score"
            rows.log.add("box-shape", where, f"expected numbers, not {line[:60]!r}", help=help)
            continue
        given = [value for value in values if value is not None]
        if _has_key_points(given):
            text = f"a box and {(len(given) - 4) // 3} key points, and those are not read: {line[:60]!r}"
            rows.log.add("key-points", where, text, help="leave them out: keep the class and the first four numbers")
            continue
        box, outline, score = _drawn(given)
        rows.add(page, _label(words[0], names, where, rows), box, where, score=score, outline=outline)


def _has_key_points(values: list[float]) -> bool:
    """Whether numbers read as a box and points x, y, v, of which v says whether it is seen."""
    rest = values[4:]
    return bool(rest) and len(rest) % 3 == 0 and all(value in (0, 1, 2) for value in rest[2::3])


def _drawn(values: list[float]) -> tuple[list[float], list[float], float]:
    """Centre and size (of an outline, those of the box around it), the outline if there is one, and the score."""
    points = len(values) - len(values) % 2
    score = values[-1] if len(values) % 2 else math.nan
    if points == 4:
        return values[:4], [], score
    left, top, right, bottom = around(values[:points])
    return [(left + right) / 2, (top + bottom) / 2, right - left, bottom - top], values[:points], score


def _label(word: str, names: Mapping[UnitId, str], where: str, rows: Rows) -> str | None:
    code = number(word)
    key = int(code) if code is not None and code.is_integer() else None
    if not names:
        return word if key is None else str(key)
    if key is not None and key in names:
        return names[key]
    if word in names.values():
        return word
    message = f"the class {word!r} has no name"
    rows.log.add("unknown-category", where, message, severity=Severity.LOSS, help=f"names are given for {_range(names)}")
    return None


def _range(names: Mapping[UnitId, str]) -> str:
    known = in_canonical_order(names)
    return f"{known[0]} to {known[-1]}" if len(known) > 1 else str(known[0])


def write(corpus: BoxCorpus) -> dict[str, bytes]:
    """The corpus (sizes in shares of the page) as label files, and the class names as ``classes.txt``."""
    stems = page_names.stems(corpus)
    code = {label: number_of for number_of, label in enumerate(corpus.labels)}
    files = {stems[page] + ".txt": "".join(_line(item, code) for item in items).encode() for page, items in by_page(corpus)}
    return {
        **files,
        "classes.txt": "".join(f"{' '.join(label.split())}\n" for label in corpus.labels).encode("utf-8", "replace"),
    }


def _line(item: Traced, code: Mapping[str, int]) -> str:
    x, y, width, height = item.box
    values = [*(item.outline or (x + width / 2, y + height / 2, width, height)), *([] if item.score is None else [item.score])]
    return " ".join([str(code[item.label]), *(repr(value) for value in values)]) + "\n"
