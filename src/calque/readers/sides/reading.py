"""From files to corpora: find out what a file is, read it, and check two files against each other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard

from calque.base.errors import ContractError, Issue, IssueLog, all_read
from calque.corpus.boxes import BoxCorpus, Corpus, Side, UnitId, one_of
from calque.corpus.class_map import Pairs
from calque.corpus.class_map import class_map as as_class_map
from calque.kernels.scanning import Scanned
from calque.readers.boxes import coco_files
from calque.readers.boxes.coco_columns import scanned_results, scanned_truth
from calque.readers.boxes.coco_files import Results
from calque.readers.boxes.conventions import Rules
from calque.readers.page_rows.files import row_format
from calque.readers.sides.class_maps import mapped
from calque.readers.sides.comparable import by_stem, paired
from calque.readers.sources import compression
from calque.readers.sources.source import Source

if TYPE_CHECKING:
    from calque.readers.boxes.formats import Loaded
    from calque.readers.page_rows.streams import PageStream
    from calque.readers.sides.readings import FileNames

SCANNED = {"snapshot": "snapshot", "coco_truth": "coco", "coco_results": "coco-results"}
"""What the compiled scanner reads, and the name of each format."""


def read(source: Any, *, side: str | None = None, class_map: Any = (), **options: Any) -> Corpus:
    """Read and check one side of an evaluation of boxes.

    Args:
        source: A file or folder, parsed JSON, or a corpus, which is returned as it is.
        side: ``"ground_truth"`` or ``"prediction"``. By default the content of the file decides.
        class_map: The new name of each label: a file, a mapping or pairs.
        options: ``format``, ``boxes``, ``units``, ``origin``, ``page_size``, ``lenient``, ``allow_missing_scores`` and
            ``document_key``, as for `Detection`.

    Returns:
        The corpus. Its ``issues`` list what calque noticed in the data.

    Raises:
        ContractError: The file breaks its contract. The error lists every problem.
        TypeError: ``source`` is not one of these.

    >>> read([{"doc_id": "a", "bbox": [0, 0, 9, 9], "category": "Table"}], boxes="xyxy").labels
    ('Table',)
    """
    rules = Rules(None if side is None else Side(one_of(side, Side, "side")), **options)
    loaded = _load(_started(source, rules), rules)
    corpus = loaded.alone() if isinstance(loaded, Results) else loaded
    if not isinstance(corpus, BoxCorpus):
        return corpus
    if corpus.masks is not None and corpus.masks.boxless is not None:
        from calque.readers.sides import masks

        corpus = masks.alone(corpus)
    return mapped(corpus, as_class_map(class_map))


def read_pair(
    truth: Any,
    found: Any,
    *,
    from_truth: str | None = None,
    from_pred: str | None = None,
    class_map_truth: Any = (),
    class_map_pred: Any = (),
    **options: Any,
) -> tuple[Corpus, Corpus]:
    """Both sides, each checked by itself and the two against each other; every issue of both in one error.

    Options as in `read`, for both sides; formats and class maps are each side's own. Files are parsed side by side.
    """
    sides = _rules(from_truth, from_pred, options)
    sources = [_started(source, rules) for source, rules in zip((truth, found), sides, strict=True)]
    maps = as_class_map(class_map_truth), as_class_map(class_map_pred)
    return _pair_of(sources, sides, maps, options.get("page_size"))


def _pair_of(
    sources: list[Any], sides: tuple[Rules, Rules], maps: tuple[Pairs, Pairs], page_size: Sequence[float] | None
) -> tuple[Corpus, Corpus]:
    """Both sides of sources that were started, all at once."""
    truth, found = all_read(partial(_load, source, rules) for source, rules in zip(sources, sides, strict=True))
    return _paired(truth, found, *maps, page_size, partial(_file_names, sources[0], truth, sides[0]))


def _rules(from_truth: str | None, from_pred: str | None, options: Mapping[str, Any]) -> tuple[Rules, Rules]:
    return Rules(Side.TRUTH, format=from_truth, **options), Rules(Side.FOUND, format=from_pred, **options)


def stream_pair(
    truth: Any,
    found: Any,
    *,
    batch: int | None = None,
    from_truth: str | None = None,
    from_pred: str | None = None,
    class_map_truth: Any = (),
    class_map_pred: Any = (),
    **options: Any,
) -> Iterator[tuple[Corpus, Corpus]]:
    """Both sides in batches of whole documents where both are Parquet or NDJSON, else all at once as `read_pair` has them.

    A batch has about ``batch`` pages and objects of both sides together. Reading begins with the call, not with the first
    batch.
    """
    sides = _rules(from_truth, from_pred, options)
    sources = [_started(source, rules, batch) for source, rules in zip((truth, found), sides, strict=True)]
    maps = as_class_map(class_map_truth), as_class_map(class_map_pred)
    page_size = options.get("page_size")
    if not all(map(_is_stream, sources)) or options.get("document_key") == "stem":
        # Names without folder and extension may collide, which only all of them together can tell.
        return iter([_pair_of(sources, sides, maps, page_size)])
    from calque.readers.page_rows.streams import pairs

    started = [source.started() for source in sources]
    return pairs(started[0], started[1], sources[0].batch, page_size=page_size, maps=maps)


def _file_names(source: Any, truth: Loaded, rules: Rules) -> list[UnitId] | None:
    """The name of each image's file in a COCO truth, which is read once more for them; ``None`` where images have none."""
    path = getattr(truth, "source", "")
    again = source if isinstance(source, Mapping) else Scanned(path) if os.path.isfile(path) else None
    if again is None or not isinstance(truth, BoxCorpus) or truth.format != coco_files.FORMAT:
        return None
    try:
        named = _load(again, replace(rules, document_key="file_name", metadata=False))
    except ContractError:
        return None
    return [named.documents[code] for code in named.page_document.tolist()] if isinstance(named, BoxCorpus) else None


def _paired(
    truth: Loaded,
    found: Loaded,
    truth_map: Pairs,
    found_map: Pairs,
    page_size: Sequence[float] | None,
    file_names: FileNames,
) -> tuple[Corpus, Corpus]:
    if isinstance(truth, Results):
        raise ContractError.single(
            "wrong-side", "a list of COCO results cannot be the truth", file=truth.log.file, help="give the ground truth first"
        )
    if not isinstance(truth, BoxCorpus):
        return truth, found.alone() if isinstance(found, Results) else found
    if isinstance(found, Results):
        # Results have the truth's categories, and so its class map, unless they are given one of their own.
        categories = found.columns.category.ints if not (truth_map or found_map) else None
        found, found_map = found.against(truth), found_map or truth_map
    else:
        categories = None
    if not isinstance(found, BoxCorpus):
        return truth, found
    return paired(
        truth,
        found,
        page_size=page_size,
        truth_map=truth_map,
        found_map=found_map,
        categories=categories,
        file_names=file_names,
    )


def _started(source: Any, rules: Rules, batch: int | None = None) -> Any:
    """A path becomes a file that is being read; anything else stays."""
    if not isinstance(source, str | os.PathLike) or isinstance(source, compression.Unpacking):
        return source
    path = os.fspath(source)
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        text = "is a pipe or a device, which can be read only once"
        raise ContractError.single("not-a-file", text, file=path, help="write it to a file first")
    rows = row_format(Source(path), rules)
    if rows is not None:
        from calque.readers.page_rows.streams import PageStream

        return PageStream(path, rows, rules, batch)
    mark = compression.magic(path)
    if mark is not None:
        return compression.Unpacking(path, mark)
    return source if isinstance(source, Scanned) else Scanned(path)


def _is_stream(source: Any) -> TypeGuard[PageStream]:
    if isinstance(source, Scanned | Corpus | Mapping | list):
        return False
    from calque.readers.page_rows.streams import PageStream

    return isinstance(source, PageStream)


def _load(source: Any, rules: Rules) -> Loaded:
    loaded = _opened(source, rules)
    if rules.document_key == "stem" and isinstance(loaded, BoxCorpus) and loaded.format != coco_files.FORMAT:
        return by_stem(loaded)
    return loaded


def _opened(source: Any, rules: Rules) -> Loaded:
    if isinstance(source, Corpus):
        return source
    if isinstance(source, Mapping | list):
        return _in_any_format(Source.of_tree(source), rules)
    if _is_stream(source):
        return source.whole()
    if not isinstance(source, Scanned):
        name = {Side.TRUTH: "truth", Side.FOUND: "predictions", None: "source"}[rules.side]
        raise TypeError(f"{name}: cannot read {type(source).__name__}: give a path, parsed JSON or a Corpus")
    columns = source.columns()
    if columns is not None and rules.format in (None, SCANNED[columns["kind"]]):
        corpus = _from_scan(columns, source, rules)
        if corpus is not None:
            return corpus
    return _in_any_format(Source(source.path), rules)


def _in_any_format(source: Source, rules: Rules) -> Loaded:
    from calque.readers.boxes import formats  # most files never need them

    return formats.load(source, rules)


def _from_scan(columns: Mapping[str, Any], file: Scanned, rules: Rules) -> Loaded | None:
    """What the scanner's columns make; ``None`` where the exact reader has to say what is wrong."""
    log = IssueLog(file.path)
    if columns["kind"] == "coco_results":
        return Results(scanned_results(columns, file), log, rules)
    if columns["kind"] == "coco_truth":
        return coco_files.truth_corpus(scanned_truth(columns, file), log, rules)
    from calque.readers.boxes import snapshot_scan

    return snapshot_scan.corpus(columns, file, rules)


def check_pair(
    truth: Corpus, found: Corpus, *, class_maps: tuple[Any, ...] = ((), ()), page_size: Sequence[float] | None = None
) -> tuple[Issue, ...]:
    """What there is to notice about two corpora together; `ContractError` when they cannot be compared."""
    if not isinstance(truth, BoxCorpus) or not isinstance(found, BoxCorpus) or _only_ids(found):
        return ()
    maps = [as_class_map(given) for given in class_maps]
    before = {*truth.issues, *found.issues}
    expected, predicted = paired(truth, found, page_size=page_size, truth_map=maps[0], found_map=maps[1])
    return tuple(issue for issue in (*expected.issues, *predicted.issues) if issue not in before)


def _only_ids(corpus: BoxCorpus) -> bool:
    """Whether a corpus is that of COCO results by themselves, which have no names to compare."""
    return corpus.format == coco_files.FORMAT and all(str(key) == name for key, name in (corpus.label_map or {}).items())
