"""The formats that calque knows: how each is recognised, read and written.

A format is one entry of `FORMATS`. The order is the order of recognition: what is easiest to tell apart comes first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from calque.base.errors import ConfigError, ContractError, Issue, IssueLog, did_you_mean
from calque.corpus.boxes import BoxCorpus, Corpus, Extent
from calque.geometry.forms import BoxForm
from calque.readers.boxes import (
    alto,
    coco_files,
    coco_tree,
    coco_write,
    cvat,
    docling,
    dota,
    label_studio,
    labelme,
    omnidocbench,
    page_xml,
    plain,
    snapshot,
    snapshot_write,
    voc,
    yolo,
)
from calque.readers.boxes.coco_files import Results
from calque.readers.boxes.conventions import Rules
from calque.readers.boxes.objects import OUTSIDE
from calque.readers.page_rows import writing
from calque.readers.page_rows.files import NDJSON, PARQUET, is_ndjson, is_parquet
from calque.readers.page_rows.streams import PageStream
from calque.readers.sources.json_tree import shown
from calque.readers.sources.source import Source

Loaded: TypeAlias = Corpus | Results
Files: TypeAlias = Mapping[str, bytes]
"""What a writer makes: file names with their content; the name is empty when the format is one file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One way of writing boxes down."""

    name: str
    """What ``--from-truth``, ``--from-pred``, ``--from`` and ``--to`` call it."""
    title: str
    """What it is, for people."""
    recognise: Callable[[Source], bool]
    """Whether a source means to be in this format, told from its shape; never raises for a readable source."""
    load: Callable[[Source, Rules], Loaded]
    write: Callable[[BoxCorpus], Files] | None = None
    carries: frozenset[str] = frozenset()
    """What of a corpus survives writing, beyond documents, pages, labels and boxes."""
    form: BoxForm | None = None
    """What boxes must be like to be written; ``None`` when either will do."""
    extent: Extent | None = None
    beyond: float | None = None
    """By which share of the page a box may reach beyond its edge; ``None`` where there is no limit."""

    @classmethod
    def of(
        cls,
        module: Any,
        name: str,
        title: str,
        form: BoxForm | None = None,
        extent: Extent | None = None,
        beyond: float | None = None,
    ) -> Format:
        """The format of a module that has ``load``, ``write``, ``CARRIES``, and ``recognise`` or (for JSON) ``looks_like``."""
        known = getattr(module, "recognise", None) or (lambda source: source.is_json and module.looks_like(source.tree))
        return cls(
            name=name,
            title=title,
            recognise=known,
            load=module.load,
            write=module.write,
            carries=module.CARRIES,
            form=form,
            extent=extent,
            beyond=beyond,
        )


def _snapshot(source: Source, rules: Rules) -> Loaded:
    return snapshot.in_any_units(source.tree, source.path, rules)


def _coco_truth(source: Source, rules: Rules) -> Loaded:
    log = IssueLog(source.path)
    _expect(source, Mapping, "an object with images, annotations and categories")
    return coco_files.truth_corpus(coco_tree.truth_from_tree(source.tree, log), log, rules)


def _coco_results(source: Source, rules: Rules) -> Loaded:
    log = IssueLog(source.path)
    _expect(source, list, "a list of detections")
    return Results(coco_tree.results_from_tree(source.tree, log), log, rules)


def _expect(source: Source, kind: type, what: str) -> None:
    if not isinstance(source.tree, kind):
        raise ContractError.single("wrong-type", f"expected {what}, not {shown(source.tree)}", file=source.path)


FORMATS: tuple[Format, ...] = (
    Format(
        name=PARQUET,
        title="a Parquet file with one page a row: doc_id, boxes, labels (and page_index, scores)",
        recognise=is_parquet,
        load=lambda source, rules: PageStream(source.path, PARQUET, rules).whole(),
        write=writing.parquet,
        carries=writing.CARRIES,
        beyond=OUTSIDE,
    ),
    Format(
        name=NDJSON,
        title="one page a line: an object with doc_id, boxes, labels (and page_index, scores)",
        recognise=is_ndjson,
        load=lambda source, rules: PageStream(source.path, NDJSON, rules).whole(),
        write=writing.ndjson,
        carries=writing.CARRIES,
        beyond=OUTSIDE,
    ),
    Format(
        name="snapshot",
        title="an object with label_map, info, documents and predictions (schema 1.3)",
        recognise=lambda source: source.is_json and snapshot.looks_like(source.tree),
        load=_snapshot,
        write=snapshot_write.write,
        carries=snapshot_write.CARRIES,
        form=BoxForm.XYXY,
        extent=Extent.NORMALIZED,
        beyond=snapshot.TOLERANCE,
    ),
    Format.of(docling, "docling", "a DoclingDocument, or a folder of them", BoxForm.XYXY, Extent.PIXELS),
    Format.of(
        omnidocbench,
        "omnidocbench",
        "a list of pages with layout_dets and page_info, or an object with results and categories",
        BoxForm.XYXY,
        Extent.PIXELS,
    ),
    Format.of(
        label_studio,
        "label-studio",
        "a list of tasks with data and annotations",
        BoxForm.XYXY,
        Extent.NORMALIZED,
        OUTSIDE,
    ),
    Format.of(labelme, "labelme", "LabelMe: JSON with shapes and imagePath, or a folder of it", BoxForm.XYXY, Extent.PIXELS),
    Format(
        name="coco",
        title="an object with images, annotations and categories",
        recognise=lambda source: source.is_json and coco_tree.looks_like_truth(source.tree),
        load=_coco_truth,
        write=coco_write.write,
        carries=coco_write.CARRIES,
        form=BoxForm.XYWH,
        extent=Extent.PIXELS,
    ),
    Format.of(plain, "plain", "a list of objects with bbox and category (and doc_id, page_index, score)", beyond=OUTSIDE),
    Format(
        name="coco-results",
        title="a list of objects with image_id, category_id, bbox and score",
        recognise=lambda source: source.is_json and coco_tree.looks_like_results(source.tree),
        load=_coco_results,
        write=coco_write.write_results,
        carries=coco_write.RESULTS_CARRY,
        form=BoxForm.XYWH,
        extent=Extent.PIXELS,
    ),
    Format.of(voc, "voc", "Pascal VOC: XML with annotation and object, or a folder of such files", BoxForm.XYXY, Extent.PIXELS),
    Format.of(page_xml, "page", "PAGE XML, or a folder of it", BoxForm.XYXY, Extent.PIXELS),
    Format.of(alto, "alto", "ALTO XML, or a folder of it", BoxForm.XYWH, Extent.PIXELS),
    Format.of(cvat, "cvat", "CVAT for images: XML with annotations and image", BoxForm.XYXY, Extent.PIXELS),
    Format.of(
        dota,
        "dota",
        "a folder of DOTA label files (.txt): eight numbers, a class, whether it is difficult",
        BoxForm.XYXY,
        Extent.PIXELS,
    ),
    Format.of(
        yolo,
        "yolo",
        "a folder of YOLO label files (.txt), with class names and images beside it",
        BoxForm.XYWH,
        Extent.NORMALIZED,
        OUTSIDE,
    ),
)


def load(source: Source, rules: Rules) -> Loaded:
    """What a source holds, read in the format that the rules name or that it looks like."""
    found = named(rules.format) if rules.format else recognised(source)
    loaded = found.load(source, rules)
    if source.is_folder and isinstance(loaded, BoxCorpus):
        return replace(loaded, issues=(*loaded.issues, *_not_read(source, found.name)))
    return loaded


IN_FOLDERS = {
    "docling": (".json",), "labelme": (".json",), "voc": (".xml",), "page": (".xml",), "alto": (".xml",), "cvat": (".xml",),
    "yolo": (".txt", *yolo.IMAGES), "dota": (".txt", *yolo.IMAGES),
}  # fmt: skip
"""The extensions that each format reads in a folder."""


def _not_read(folder: Source, format: str) -> list[Issue]:
    """Return a note on the files that the format does not read."""

    def reads(name: str) -> bool:
        lower = name.lower()
        if format in ("yolo", "dota"):
            if lower in (*yolo.LISTS, *yolo.CONFIGURATIONS, "images/", "labels/", "labeltxt/"):
                return True
            if lower in yolo.NOT_LABELS:
                return False
        return lower.endswith(IN_FOLDERS.get(format, ()))

    inner = next((name for name in ("labels", dota.FOLDER) if os.path.isdir(os.path.join(folder.path, name))), None)
    if format not in ("yolo", "dota") or inner is None:
        return folder.not_read(reads)
    below = Source(os.path.join(folder.path, inner)).not_read(reads)
    return [*folder.not_read(lambda name: not name.endswith(".txt") and reads(name)), *below]


def named(name: str) -> Format:
    """The format of that name; `ConfigError` when there is none."""
    for entry in FORMATS:
        if entry.name == name:
            return entry
    names = [entry.name for entry in FORMATS]
    raise ConfigError(f"no format is named {name!r}; {did_you_mean(name, names) or 'it is one of ' + ', '.join(names)}")


def recognised(source: Source) -> Format:
    """The first format that a source looks like; `ContractError` when it looks like none."""
    for entry in FORMATS:
        if entry.recognise(source):
            return entry
    if not source.is_folder and not source.is_xml:
        # Empty files, missing files and broken JSON say so themselves.
        source.tree  # noqa: B018  # read for its errors
    raise ContractError.single(
        "unknown-format",
        f"contains {_contents(source)}, and no boxes in a known format",
        file=source.path,
        help="check the path, or name the format with --from-truth, --from-pred or --from",
    )


def _contents(source: Source) -> str:
    if source.is_folder:
        names = [file.name for file in source.files()[:3]]
        return ", ".join(names) or "no files"
    return "XML" if source.is_xml else shown(source.tree)
