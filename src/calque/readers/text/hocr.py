"""hOCR: what Tesseract and others write as HTML; words in lines in paragraphs on pages."""

from __future__ import annotations

from calque.core.word_corpus import CAPTION, FIGURE, TABLE, Block
from calque.readers.text.html import Element, tree_of

LINES = frozenset(["ocr_line", "ocr_header", "ocr_footer", "ocr_textfloat", "ocr_caption", "ocrx_line"])
WORDS = frozenset(["ocrx_word", "ocr_word"])
_MARKS = {"ocr_caption": CAPTION, "ocr_table": TABLE, "ocr_float": FIGURE, "ocr_image": FIGURE, "ocr_photo": FIGURE}


def looks_like(text: str) -> bool:
    """Whether an HTML text is hOCR."""
    return "ocr_page" in text or "ocrx_word" in text


def blocks_of(text: str) -> list[Block]:
    """One block for each paragraph (or line outside of one), its lines kept."""
    blocks: list[Block] = []
    root = tree_of(text)
    pages = [element for element in root.walk() if "ocr_page" in element.classes()] or [root]
    for number, page in enumerate(pages):
        _collect(page, number, blocks)
    return blocks


def _collect(page: Element, number: int, blocks: list[Block]) -> None:
    stack: list[tuple[Element, str | None, frozenset[str]]] = [(page, None, frozenset())]
    while stack:
        element, lang, marks = stack.pop()
        classes = element.classes()
        lang = element.attributes.get("lang") or lang
        marks |= {_MARKS[name] for name in classes if name in _MARKS}
        if "ocr_par" in classes or not LINES.isdisjoint(classes) or not WORDS.isdisjoint(classes):
            text = "\n".join(_lines(element))
            if text:
                blocks.append(Block(text, marks, lang, number, "paragraph"))
        else:
            stack.extend((child, lang, marks) for child in reversed(element.children) if isinstance(child, Element))


def _lines(element: Element) -> list[str]:
    lines = [part for part in element.walk() if not LINES.isdisjoint(part.classes())] or [element]
    return [line for part in lines if (line := _words(part))]


def _words(line: Element) -> str:
    words = [part for part in line.walk() if not WORDS.isdisjoint(part.classes())]
    # Some engines mark lines only.
    return " ".join(" ".join(word.text().split()) for word in words).strip() if words else " ".join(line.text().split())
