"""Names of pages: which document and which of its pages a file name such as ``report.pdf_p003.png`` stands for."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from calque.base.errors import ContractError
from calque.corpus.boxes import BoxCorpus, UnitId

_PAGE = r"(.+?)(?:_p|::p)([0-9]{3,9})"
_EXTENSIONS = r"(?i)\.(png|jpe?g|tiff?|bmp|gif|webp|jp2|txt|xml|json|pdf)"
"""Extensions that are not part of a page's name. ``report.v2`` keeps its end. Compiled when first asked for, as `_PAGE` is."""


def bare(name: str) -> str:
    """A file's name without folders (of either kind of slash), query and known extension.

    >>> bare("/data/local-files/?d=scans/report.pdf_p003.png"), bare("report.v2")
    ('report.pdf_p003', 'report.v2')
    """
    last = re.split(r"[/\\]|\?.*=", name)[-1] or name
    stem, extension = os.path.splitext(last)
    return stem if re.fullmatch(_EXTENSIONS, extension) and stem else last


def place(stem: str) -> tuple[str, int]:
    """The document and the page, counted from 0; a name without a page is the first page of a document of that name.

    >>> place("report.pdf_p003"), place("scan-17")
    (('report.pdf', 3), ('scan-17', 0))
    """
    parts = re.fullmatch(_PAGE, stem)
    return (parts[1], int(parts[2])) if parts else (stem, 0)


def safe(name: str) -> str:
    """A name that a file can have in any system; `place` need not find its way back.

    >>> safe("scans/a:1"), safe("..")
    ('scans_a_1', '_')
    """
    return re.sub(r"[/\\:\x00-\x1f\ud800-\udfff]", "_", name).lstrip(".") or "_"


def stem_of(document: object, index: int, *, single: bool = False) -> str:
    """The name of a page, such that `place` finds its way back; a document's only page needs no number.

    >>> stem_of("report.pdf", 3), stem_of("scan-17", 0, single=True)
    ('report.pdf_p003', 'scan-17')
    """
    name = safe(str(document))
    plain = single and index == 0 and place(bare(name)) == (name, 0)
    return name if plain else f"{name}_p{index:03}"


def file_names(corpus: BoxCorpus) -> list[str]:
    """The file that each page's image has by the source's own words (COCO's ``file_name``); nothing where one is not known."""
    if len(corpus.documents) != len(corpus.page_index):
        return []  # pages of one document have files of their own, and metadata are those of documents
    known = corpus.metadata.get("file_name", {})
    names = [known.get(corpus.documents[code]) for code in corpus.page_document.tolist()]
    return [name for name in names if isinstance(name, str)] if all(isinstance(name, str) for name in names) else []


def stems(corpus: BoxCorpus) -> list[str]:
    """A file name for each page of a corpus; documents alone name the files where each has one page only."""
    documents = [corpus.documents[code] for code in corpus.page_document.tolist()]
    given = [bare(name) for name in file_names(corpus)]
    if given and len({safe(name) for name in given}) == len(given):
        return [safe(name) for name in given]
    single = len(set(documents)) == len(documents) and not corpus.page_index.any()
    names = [stem_of(document, int(index), single=single) for document, index in zip(documents, corpus.page_index, strict=True)]
    check_distinct(names, documents, corpus.source)
    return names


def check_distinct(names: Sequence[str], documents: Sequence[UnitId], source: str) -> None:
    """Refuse documents whose files would have one name: one would overwrite the other."""
    seen: dict[str, UnitId] = {}
    for name, document in zip(names, documents, strict=True):
        if name in seen:
            text = f"{seen[name]!r} and {document!r} would be written to one file, {name!r}"
            raise ContractError.single("same-file", text, file=source, help="rename one of the documents")
        seen[name] = document
