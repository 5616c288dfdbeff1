"""Two corpora made comparable: the same documents under the same names, one scale, one set of labels; and what looks odd."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Sequence

import numpy as np

from calque.base.columns import Ints
from calque.base.errors import ContractError, Issue, Severity
from calque.corpus.boxes import BoxCorpus, Flaw, UnitId
from calque.corpus.class_map import Pairs
from calque.readers.boxes import page_names
from calque.readers.boxes.conventions import together
from calque.readers.sides.class_maps import label_notes, mapped, proposal
from calque.readers.sides.readings import FileNames, pair_slips
from calque.readers.sources.json_tree import pointer

PAGE_FILES = frozenset({"voc", "page", "alto", "docling", "label-studio", "plain", "labelme", "cvat"})
"""Formats in which one file may hold one page or document, named by the file and not by what is on it."""


def paired(
    truth: BoxCorpus,
    found: BoxCorpus,
    *,
    page_size: Sequence[float] | None = None,
    truth_map: Pairs = (),
    found_map: Pairs = (),
    categories: Ints | None = None,
    file_names: FileNames | None = None,
) -> tuple[BoxCorpus, BoxCorpus]:
    """Both sides, ready to be laid over each other; `ContractError` when they cannot be.

    ``categories`` and ``file_names`` help to find slips, as `pair_slips` says.
    """
    found = _same_page(truth, found)
    truth, found = together(truth, found, page_size)
    truth, found = mapped(truth, truth_map), mapped(found, found_map)
    if truth_map or found_map:
        check_label_sets(truth, found)
    else:
        check_label_maps(truth, found)
    notes = pair_slips(truth, found, categories=categories, file_names=file_names)
    if not truth.format == found.format == "arrays":
        # Names are compared for files. Documents handed over a few at a time often have no label in common, and that is fine.
        labels = label_notes(truth.labels, found.labels, found.source) if len(truth) and len(found) else ()
        notes = (*_document_notes(truth, found), *labels, *notes)
    truth, found = _without_unannotated(truth, found)
    return truth, dataclasses.replace(found, issues=(*found.issues, *notes)) if notes else found


def _without_unannotated(truth: BoxCorpus, found: BoxCorpus) -> tuple[BoxCorpus, BoxCorpus]:
    """Take pages that nobody has annotated out of the ground truth, and mark the predictions on them."""
    if truth.annotated is None:
        return truth, found
    keys = zip(truth.page_document.tolist(), truth.page_index.tolist(), truth.annotated.tolist(), strict=True)
    left_out = {(truth.documents[document], index) for document, index, annotated in keys if not annotated}
    pages = zip(found.page_document.tolist(), found.page_index.tolist(), strict=True)
    skipped = np.array([(found.documents[document], index) in left_out for document, index in pages], dtype=np.bool_)
    flaws = np.zeros(len(found), dtype=np.uint8) if found.flaws is None else found.flaws.copy()
    flaws[skipped[found.page] & (flaws != Flaw.BAD_BOX) & (flaws != Flaw.UNKNOWN_LABEL)] = Flaw.NOT_ANNOTATED
    return truth.with_pages(truth.annotated), dataclasses.replace(found, flaws=flaws if flaws.any() else None)


def _same_page(truth: BoxCorpus, found: BoxCorpus) -> BoxCorpus:
    """Two files that hold one page each mean the same page, whatever their names."""
    sides = (truth, found)
    if any(len(side.documents) != 1 or len(side.page_index) > 1 or side.format not in PAGE_FILES for side in sides):
        return found
    if truth.documents == found.documents or not all(os.path.isfile(side.source) for side in sides):
        return found
    text = f"each file holds one page: {found.documents[0]!r} was taken for {truth.documents[0]!r}"
    note = Issue("page-by-page", text, found.source, severity=Severity.NOTE)
    page_index = truth.page_index if len(truth.page_index) == len(found.page_index) else found.page_index
    return dataclasses.replace(
        found, documents=truth.documents, page_index=page_index, image_ids=None, issues=(*found.issues, note)
    )


def by_stem(corpus: BoxCorpus) -> BoxCorpus:
    """The corpus with documents named as files are: without folder and extension."""
    names = [page_names.bare(str(document)) for document in corpus.documents]
    seen: dict[str, UnitId] = {}
    for document, name in zip(corpus.documents, names, strict=True):
        if name in seen:
            text = f"the documents {seen[name]!r} and {document!r} have the same name without folder and extension"
            raise ContractError.single(
                "document-key", text, file=corpus.source, help="rename one, or use another --document-key"
            )
        seen[name] = document
    return dataclasses.replace(corpus, documents=tuple(names))


def _document_notes(truth: BoxCorpus, found: BoxCorpus) -> Iterable[Issue]:
    if truth.documents and found.documents and set(truth.documents).isdisjoint(found.documents):
        coco = "coco" in (truth.format, found.format)
        yield nothing_in_common(truth.documents, found.documents, found.source, coco=coco)


STEM = "pass --document-key stem"
"""What brings boxes together whose documents are named in two ways."""


def nothing_in_common(
    truth: Sequence[UnitId], found: Sequence[UnitId], file: str, *, coco: bool = False, naming: str = STEM
) -> Issue:
    """A note on documents that never meet, with what to try: ``naming`` where names differ only in how they are written."""
    text = f"the two sides have no document in common: truth has {_some(truth)}; predictions have {_some(found)}"
    spelt = {str(document) for document in truth} & {str(document) for document in found}
    stems = {page_names.bare(str(document)) for document in truth} & {page_names.bare(str(document)) for document in found}
    help = "check that both sides are of the same documents, and how each names them"
    if spelt:
        help = f"{naming}: {len(spelt):,} ids are text on one side and numbers on the other"
    elif stems:
        help = f"{naming}: {len(stems):,} have the same name without folder and extension"
    elif coco:
        help = "check that both sides are of the same documents; for COCO files, try --document-key file_name or stem"
    elif naming and naming != STEM:
        help = f"check that both sides are of the same documents; {naming}"
    return Issue("no-common-document", text, file, help=help, severity=Severity.NOTE)


def _some(documents: Sequence[UnitId]) -> str:
    if not documents:
        return "none"
    more = ", ..." if len(documents) > 3 else ""
    return ", ".join(repr(document) for document in documents[:3]) + more


def check_label_maps(truth: BoxCorpus, found: BoxCorpus) -> None:
    """Raise a `ContractError` when two snapshot files give different names to the same label numbers."""
    mine, theirs = truth.label_map, found.label_map
    if mine is None or theirs is None or mine == theirs or not _snapshots(truth, found):
        return
    help = "both files must have the same label_map"
    if not set(mine.values()) & set(theirs.values()):
        help += ", or " + proposal(mine.values(), theirs.values())
    issues = [
        Issue(
            "label-maps-differ",
            f"label {key} is {_named(theirs.get(key))} here and {_named(mine.get(key))} in {truth.source}",
            found.source,
            pointer("label_map", key),
            help,
        )
        for key in sorted({*mine, *theirs}, key=str)
        if mine.get(key) != theirs.get(key)
    ]
    raise ContractError(issues)


def check_label_sets(truth: BoxCorpus, found: BoxCorpus) -> None:
    """Raise a `ContractError` when the mapped labels of two snapshot files are not the same."""
    if set(truth.labels) == set(found.labels) or not _snapshots(truth, found):
        return
    apart = [(label, truth, found) for label in sorted(set(truth.labels) - set(found.labels))]
    apart += [(label, found, truth) for label in sorted(set(found.labels) - set(truth.labels))]
    raise ContractError(
        Issue(
            "label-maps-differ",
            f"with the class map, {label!r} is a label of {here.source or 'one side'} and not of {there.source or 'the other'}",
            there.source,
            help="map it to a label that both sides have, or drop it",
        )
        for label, here, there in apart
    )


def _snapshots(*corpora: BoxCorpus) -> bool:
    from calque.readers.boxes.snapshot import FORMAT

    return all(corpus.format == FORMAT for corpus in corpora)


def _named(name: str | None) -> str:
    return "not there" if name is None else repr(name)
