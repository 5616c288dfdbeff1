"""Names of pages: which document and which of its pages a file name such as ``report.pdf_p003.png`` stands for."""

from __future__ import annotations

import os
import re

from calque.core.corpus import BoxCorpus

_PAGE = re.compile(r"(.+?)(?:_p|::p)([0-9]{3,9})")
_EXTENSIONS = re.compile(r"\.(png|jpe?g|tiff?|bmp|gif|webp|jp2|txt|xml|json|pdf)", re.IGNORECASE)
"""Extensions that are not part of a page's name. ``report.v2`` keeps its end."""


def bare(name: str) -> str:
    """A file's name without folders (of either kind of slash), query and known extension.

    >>> bare("/data/local-files/?d=scans/report.pdf_p003.png"), bare("report.v2")
    ('report.pdf_p003', 'report.v2')
    """
    last = re.split(r"[/\\]|\?.*=", name)[-1] or name
    stem, extension = os.path.splitext(last)
    return stem if _EXTENSIONS.fullmatch(extension) and stem else last


def place(stem: str) -> tuple[str, int]:
    """The document and the page, counted from 0; a name without a page is the first page of a document of that name.

    >>> place("report.pdf_p003"), place("scan-17")
    (('report.pdf', 3), ('scan-17', 0))
    """
    parts = _PAGE.fullmatch(stem)
    return (parts[1], int(parts[2])) if parts else (stem, 0)


def stem_of(document: object, index: int, *, single: bool = False) -> str:
    """The name of a page, such that `place` finds its way back; a document's only page needs no number.

    >>> stem_of("report.pdf", 3), stem_of("scan-17", 0, single=True)
    ('report.pdf_p003', 'scan-17')
    """
    name = re.sub(r"[/\\:\x00-\x1f]", "_", str(document)).lstrip(".") or "_"
    plain = single and index == 0 and place(name) == (name, 0)
    return name if plain else f"{name}_p{index:03}"


def are_single(corpus: BoxCorpus) -> bool:
    """Whether every document has one page at most, so that documents alone name the files."""
    pages = corpus.page_document.tolist()
    return len(set(pages)) == len(pages) and not corpus.page_index.any()


def stem_at(corpus: BoxCorpus, page: int, single: bool) -> str:
    """The name of a page of a corpus."""
    return stem_of(corpus.documents[corpus.page_document[page]], int(corpus.page_index[page]), single=single)
