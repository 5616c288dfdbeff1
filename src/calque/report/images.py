"""Pictures of pages: which are needed and in which order, found in a folder, made small, put into the report or beside it."""

from __future__ import annotations

import base64
import io
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calque.base.columns import Array, Strings, Table
from calque.base.errors import ConfigError, MissingExtra
from calque.base.files import check_no_links, write_entry
from calque.engines import current_progress, thread_engine
from calque.evaluation.boxes.overlay import NORMALIZED
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.presentation.report_data import FN, FP, TP, WRONG

EXTENSIONS = ("png", "jpg", "jpeg", "webp")
KNOWN = {"PNG": b"\x89PNG\r\n\x1a\n", "JPEG": b"\xff\xd8\xff", "WEBP": b"RIFF"}
"""What a picture begins with: its content decides, never its name."""
WIDTH, QUALITY = 800, 40
TALLEST = 16_383
"""The largest side of a WebP image."""
MOST_PIXELS = 50_000_000
NONE, LEFT_OUT, REFUSED, NOT_WRONG = -1, -2, -3, -4
"""Places of pages whose picture is not there: it has none, there was no room, or it was not taken."""
AT_ONCE = 4
"""How many pictures each worker makes ready before the room that is left is looked at."""


class Pictures:
    """The pictures of the pages of a result's ledger, as far as a folder has them."""

    def __init__(self, ledger: Ledger, folder: str, jobs: int) -> None:
        self._darkroom = Darkroom()
        self._jobs = jobs
        place = Folder(folder)
        wanted = _wanted(ledger)
        self.found: list[Found | None] = [place.find(page) for page in wanted]
        self._known = dict(zip(wanted, self.found, strict=True))

    def sized(self, ledger: Ledger) -> Ledger:
        """The ledger with the sizes of pages that only their pictures know: boxes in pixels are laid over those."""
        pages = ledger.table("pages")
        width, height = (np.array(pages.array(name)) for name in ("width", "height"))
        wanted = _wanted(ledger)
        shares = (pages.array("spelling") & NORMALIZED) != 0
        for row in np.flatnonzero(~((width > 0) & (height > 0)) & ~shares).tolist():
            place = self._known.get(wanted[row])
            size = None if place is None else self._darkroom.size(place)
            if size is not None and place is not None and place.page is None:
                width[row], height[row] = size
        tables = {**ledger.tables, "pages": Table({**pages.columns, "width": width, "height": height})}
        return Ledger(units=ledger.units, tables=tables, names=ledger.names, details=ledger.details)

    def album(self, columns: Mapping[str, Array], room: int | None) -> Album:
        """All pictures; where room is limited those of pages with errors, worst first, as many as there is room for."""
        order = worst_first(columns)
        chosen = order if room is None else order[has_errors(columns)[order]]
        return made(self.found, chosen.tolist(), room, self._jobs, self._darkroom)


def _wanted(ledger: Ledger) -> list[Wanted]:
    """What is known of each page's picture."""
    pages = ledger.table("pages")
    names = pages.get("image_name")
    given = list(names) if isinstance(names, Strings) else [""] * pages.height
    rows = zip(given, pages.array(UNIT).tolist(), pages.array("page_index").tolist(), strict=True)
    return [Wanted(name, str(ledger.units[unit]), int(index)) for name, unit, index in rows]


def worst_first(columns: Mapping[str, Array]) -> Array:
    """Rows of pages: most errors first, then the worst fit, then in the order of the corpus; several runs count together."""
    pages = len(next(column for name, column in columns.items() if name.endswith("page.index")))
    errors, loss = np.zeros(pages), np.zeros(pages)
    for name in columns:
        if name.endswith("row.outcome"):
            errors += _wrong_values(columns, name.removesuffix("outcome"), pages)
        prefix, found, _ = name.partition("t.outcome.0")
        if not found:
            continue
        truth, start = columns[name], _of(columns, prefix, "t.start")
        page = np.repeat(np.arange(pages), np.diff(start))
        errors += np.bincount(page[np.isin(truth, (FN, WRONG))], minlength=pages)
        made_up = columns[f"{prefix}p.outcome.0"] == FP
        errors += np.bincount(np.repeat(np.arange(pages), np.diff(columns[f"{prefix}p.start"]))[made_up], minlength=pages)
        if f"{prefix}t.iou" in columns:
            paired = truth == TP
            lost = 1 - columns[f"{prefix}t.iou"][paired].astype(np.float64)
            sums = np.bincount(page[paired], weights=lost, minlength=pages)
            loss = np.maximum(loss, sums / np.maximum(1, np.bincount(page[paired], minlength=pages)))
    return np.lexsort((np.arange(pages), -loss, -errors))


def has_errors(columns: Mapping[str, Array]) -> Array:
    """Which pages have an error at any threshold: the reader chooses which is shown."""
    pages = len(next(column for name, column in columns.items() if name.endswith("page.index")))
    errors = np.zeros(pages)
    for name, outcomes in columns.items():
        if name.endswith("row.outcome"):
            errors += _wrong_values(columns, name.removesuffix("outcome"), pages)
        for side, wrong in (("t", (FN, WRONG)), ("p", (FP,))):
            prefix, found, _ = name.partition(f"{side}.outcome.")
            if found:
                page = np.repeat(np.arange(pages), np.diff(_of(columns, prefix, f"{side}.start")))
                errors += np.bincount(page[np.isin(outcomes, wrong)], minlength=pages)
    return errors > 0


def _wrong_values(columns: Mapping[str, Array], prefix: str, pages: int) -> Array:
    """How many values on each page are not right."""
    place = columns[f"{prefix}tpage"].astype(np.int64)
    place = np.where(place < pages, place, columns[f"{prefix}ppage"])
    wrong = place[(columns[f"{prefix}outcome"] != TP) & (place < pages)]
    return np.bincount(wrong, minlength=pages)


def _of(columns: Mapping[str, Array], prefix: str, name: str) -> Array:
    """A column of a run, or the first run's where all share it."""
    return columns[f"{prefix}{name}"] if f"{prefix}{name}" in columns else columns[f"0:{name}"]


def beside(path: str, pictures: Sequence[Any]) -> Beside:
    """The folder beside a report that holds its images: ``report.html`` has ``report_files``."""
    return Beside(f"{os.path.splitext(path)[0]}_files", tuple(pictures))


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which page's picture is looked for: the name that the data gives it, its document and its number there."""

    name: str
    document: str
    index: int


@dataclass(frozen=True, slots=True)
class Found:
    """Where a page's picture is: a file, and the page in it where it is a PDF."""

    path: str
    page: int | None = None


class Folder:
    """A folder with pictures of pages. Nothing outside it is ever looked at."""

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(path)
        if not os.path.isdir(self.path):
            raise ConfigError(f"{path}: is no folder with images")

    def find(self, page: Wanted) -> Found | None:
        """The picture of a page, by the name that the data gives, then by its document and number, then in a PDF."""
        names = [page.name, os.path.basename(page.name.replace("\\", "/"))] if page.name else []
        for name in names:
            if (path := self._inside(name)) and is_picture(path):
                return Found(path)
        stems = list(dict.fromkeys([_bare(page.document), page.document]))
        for stem in stems:
            for form in _forms(stem, page):
                for extension in EXTENSIONS:
                    if (path := self._inside(f"{form}.{extension}")) and is_picture(path):
                        return Found(path)
        for name in [*(name for name in names if name.lower().endswith(".pdf")), *(f"{stem}.pdf" for stem in stems)]:
            if page.index >= 0 and (path := self._inside(name)):
                return Found(path, page.index)
        return None

    def _inside(self, name: str) -> str | None:
        """The real path of a file in the folder; nothing for one that is not there or leads out of it."""
        if not name or "\0" in name or os.path.isabs(name):
            return None
        try:
            real = os.path.realpath(os.path.join(self.path, name))
            there = os.path.isfile(real)
        except (OSError, ValueError):  # no file can have this name, for example one with a lone surrogate
            return None
        return real if there and real.startswith(self.path + os.sep) else None


def _forms(stem: str, page: Wanted) -> list[str]:
    """What a page's picture may be called; where the data gives a document no pages, it may be called as the document is."""
    numbered = [f"{stem}-{page.index}", f"{stem}-{page.index:03}", f"{stem}/{page.index}"] if page.index >= 0 else []
    return [*numbered, *([stem] if page.name == page.document else [])]


def _bare(document: str) -> str:
    """A document's name without an extension that files of documents have.

    >>> _bare("report.pdf"), _bare("scan.v2")
    ('report', 'scan.v2')
    """
    return re.sub(r"(?i)\.(pdf|png|jpe?g|webp|tiff?|xml|json|txt|html?)$", "", document) or document


def is_picture(path: str) -> bool:
    """Whether a file is a PNG, a JPEG or a WebP by its content."""
    try:
        with open(path, "rb") as file:
            head = file.read(16)
    except OSError:
        return False
    return any(head.startswith(mark) for mark in KNOWN.values()) and (not head.startswith(b"RIFF") or head[8:12] == b"WEBP")


@dataclass(frozen=True, slots=True)
class Picture:
    """A page image that stands in the report itself, or beside it."""

    number: int
    """The row of its page."""
    data: bytes
    aspect: float
    """Its height over its width."""

    def block(self) -> bytes:
        """The image as a part of the page that is nothing but data."""
        return b'<script type="image/webp" data-image="%d">%s</script>\n' % (self.number, base64.b64encode(self.data))

    @property
    def room(self) -> int:
        """How many bytes of the report it takes."""
        return (len(self.data) + 2) // 3 * 4


class Darkroom:
    """Makes pictures ready: small, and WebP whatever they were."""

    def __init__(self) -> None:
        try:
            from PIL import Image
        except ImportError as error:
            raise MissingExtra("Pillow", "images", "page images") from error
        self._image = Image
        self._one_at_a_time = threading.Lock()
        self._documents: dict[str, Any] = {}

    def size(self, found: Found) -> tuple[float, float] | None:
        """The width and height of a picture; nothing when it is none."""
        with self._one_at_a_time:
            try:
                if found.page is not None:
                    return tuple(self._pdf(found.path)[found.page].get_size())
                with self._open(found.path) as image:
                    return image.size if image.width * image.height <= MOST_PIXELS else None
            except MissingExtra:
                raise
            except Exception:  # whatever a broken file makes a decoder say: the page has no picture
                return None

    def picture(self, number: int, found: Found) -> Picture | None:
        """The picture, ready; nothing when it cannot be read or is too large."""
        out = io.BytesIO()
        try:
            image, aspect = self._rendered(found) if found.page is not None else self._read(found.path)
            if image is None:
                return None
            image.save(out, "WEBP", quality=QUALITY)
        except MissingExtra:
            raise
        except Exception:  # whatever a broken file makes a decoder say: the page has no picture
            return None
        return Picture(number, out.getvalue(), aspect)

    def _open(self, path: str) -> Any:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # sizes are looked at before anything is decoded
            return self._image.open(path, formats=tuple(KNOWN))

    def _read(self, path: str) -> tuple[Any, float]:
        """Return a small image, or `None` if it is too large, and the aspect ratio of the page."""
        with self._open(path) as image:
            if image.width * image.height > MOST_PIXELS or not image.width or not image.height:
                return None, 1.0
            aspect = image.height / image.width
            image.draft("RGB", _small_size(image.width, image.height))
            return self._small(self._on_white(image)), aspect

    def _on_white(self, image: Any) -> Any:
        """The image without transparency: pages are white."""
        if image.mode not in ("RGBA", "LA", "PA") and "transparency" not in image.info:
            return image.convert("RGB")
        layer = image.convert("RGBA")
        white = self._image.new("RGB", layer.size, "white")
        white.paste(layer, mask=layer.getchannel("A"))
        return white

    def _small(self, image: Any) -> Any:
        size = _small_size(image.width, image.height)
        return image if size == image.size else image.resize(size, self._image.Resampling.LANCZOS)

    def _pdf(self, path: str) -> Any:
        if path not in self._documents:
            try:
                import pypdfium2
            except ImportError as error:
                raise MissingExtra("pypdfium2", "images", "pages of a PDF") from error
            self._documents[path] = pypdfium2.PdfDocument(path)
        return self._documents[path]

    def _rendered(self, found: Found) -> tuple[Any, float]:
        """Return a page of a PDF as an image, or `None` if it is too large, and its aspect ratio. PDFium is not thread-safe."""
        with self._one_at_a_time:
            page = self._pdf(found.path)[found.page]
            width, height = page.get_size()
            scale = min(WIDTH / width, TALLEST / height) if width > 0 and height > 0 else 0
            if not 0 < width * height * scale * scale <= MOST_PIXELS:
                return None, 1.0
            return self._small(page.render(scale=scale).to_pil().convert("RGB")), height / width


def _small_size(width: int, height: int) -> tuple[int, int]:
    """Return the size of an image in a report: at most `WIDTH` wide and `TALLEST` high.

    >>> _small_size(1600, 2000), _small_size(600, 20_000), _small_size(300, 400)
    ((800, 1000), (491, 16383), (300, 400))
    """
    scale = min(1.0, WIDTH / width, TALLEST / height)
    return max(1, round(width * scale)), max(1, min(TALLEST, round(height * scale)))


@dataclass(frozen=True, slots=True, eq=False)
class Album:
    """The pictures of a report: those in it, and what is said of the others."""

    pictures: tuple[Picture, ...]
    places: tuple[int, ...]
    """For each page the number of its picture, or why it has none."""
    aspects: tuple[float | None, ...]
    note: str
    """What is said on pages whose picture had no room."""

    def to_dict(self, beside: str) -> dict[str, Any]:
        """What the page has to know of them."""
        aspects = [None if aspect is None else round(aspect, 5) for aspect in self.aspects]
        told = {"places": list(self.places), "aspects": aspects, "left_out": self.note}
        return told | ({"beside": beside} if beside else {})


def made(found: Sequence[Found | None], order: Sequence[int], room: int | None, jobs: int, darkroom: Darkroom) -> Album:
    """The pictures of pages in this order, as many as there is room for; all of them when there is no limit.

    Pages that the order does not name have nothing wrong on them, and keep their room for others.
    """
    places = [NONE if place is None else NOT_WRONG for place in found]
    aspects: list[float | None] = [None] * len(found)
    pictures: list[Picture] = []
    left = room
    there = [row for row in order if found[row] is not None]
    progress = current_progress()
    progress.expect(progress.done + len(there), "picture")
    for row, picture in _ready(there, found, jobs, darkroom):
        progress.advance()
        if picture is None:
            places[row] = REFUSED
        elif left is not None and picture.room > left:
            break
        else:
            left = None if left is None else left - picture.room
            places[row], aspects[row] = row, picture.aspect
            pictures.append(picture)
    for row in there:
        places[row] = LEFT_OUT if places[row] == NOT_WRONG else places[row]
    limit = "" if room is None else f"image left out: over {room / 1e6:g} MB, use --sidecar"
    return Album(tuple(pictures), tuple(places), tuple(aspects), limit)


def _ready(
    rows: Sequence[int], found: Sequence[Found | None], jobs: int, darkroom: Darkroom
) -> Iterator[tuple[int, Picture | None]]:
    """Pictures in order, some at a time: what will find no room is not made ready."""

    def make(row: int) -> Picture | None:
        place = found[row]
        return None if place is None else darkroom.picture(row, place)

    for start in range(0, len(rows), AT_ONCE * jobs):
        chunk = rows[start : start + AT_ONCE * jobs]
        yield from zip(chunk, thread_engine(jobs).map(make, chunk), strict=True)


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """Page images that stand in a folder beside the report."""

    folder: str
    pictures: tuple[Picture, ...]

    def check(self) -> None:
        """Refuse a folder that holds anything but images of an earlier report."""
        if os.path.lexists(self.folder) and not os.path.isdir(self.folder):
            raise ConfigError(f"{self.folder}: is there already, and is no folder")
        if os.path.isdir(self.folder):
            check_no_links(self.folder)
        for name in os.listdir(self.folder) if os.path.isdir(self.folder) else ():
            if not re.fullmatch(r"\d+\.webp", name):
                raise ConfigError(f"{self.folder}: holds {name!r}, which is no image of a report; name another --report FILE")

    def write(self) -> None:
        """Write the images, each whole, and remove those of an earlier report."""
        self.check()
        os.makedirs(self.folder, exist_ok=True)
        names = {f"{picture.number}.webp" for picture in self.pictures}
        for picture in self.pictures:
            write_entry(os.path.join(self.folder, f"{picture.number}.webp"), picture.data)
        for name in os.listdir(self.folder):
            if name not in names:
                os.unlink(os.path.join(self.folder, name))
