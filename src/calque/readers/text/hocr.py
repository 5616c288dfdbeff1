"""hOCR: what Tesseract and others write as HTML; words in lines in paragraphs on pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeGuard

from calque.corpus.words import CAPTION, FIGURE, TABLE, Block
from calque.readers.text.html import Element, tree_of

PAGE = "ocr_page"
LINES = frozenset(["ocr_line", "ocr_header", "ocr_footer", "ocr_textfloat", "ocr_caption", "ocrx_line"])
WORDS = frozenset(["ocrx_word", "ocr_word"])
_MARKS = {"ocr_caption": CAPTION, "ocr_table": TABLE, "ocr_float": FIGURE, "ocr_image": FIGURE, "ocr_photo": FIGURE}


def looks_like(text: str) -> bool:
    """Return whether an element of an HTML text has a class of hOCR; a mention in a text, script or comment is none."""
    if PAGE not in text and not any(name in text for name in WORDS):
        return False
    return any(PAGE in classes or not WORDS.isdisjoint(classes) for classes in map(Element.classes, tree_of(text).walk()))


def blocks_of(text: str) -> list[Block]:
    """One block for each paragraph (or line outside of one), its lines kept."""
    blocks: list[Block] = []
    root = tree_of(text)
    pages = [element for element in root.walk() if PAGE in element.classes()] or [root]
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
            stack.extend((child, lang, marks) for child in reversed(element.children) if _is_inside(child))


def _is_inside(child: Element | str) -> TypeGuard[Element]:
    """A page in a page stands for itself."""
    return isinstance(child, Element) and PAGE not in child.classes()


@dataclass(slots=True)
class _Line:
    """The text of a line without the lines in it, and of each of its words with all that is inside."""

    texts: list[str] = field(default_factory=list)
    words: list[list[str]] = field(default_factory=list)

    def text(self) -> str:
        # Some engines mark lines only.
        return " ".join(map(_one_space, self.words)).strip() if self.words else _one_space(self.texts)


def _one_space(parts: list[str]) -> str:
    return " ".join("".join(parts).split())


def _lines(element: Element) -> list[str]:
    """Every text is in one line, and in one word at most, however these are nested: each element is looked at once."""
    whole, lines = _Line(), list[_Line]()
    stack: list[tuple[Element | str, _Line, list[str] | None]] = [(element, whole, None)]
    while stack:
        node, line, word = stack.pop()
        if isinstance(node, str):
            line.texts.append(node)
            if word is not None:
                word.append(node)
            continue
        classes = node.classes()
        if not LINES.isdisjoint(classes):
            line, word = _Line(), None
            lines.append(line)
        if word is None and not WORDS.isdisjoint(classes):
            word = []
            line.words.append(word)
        inside = (child for child in reversed(node.children) if isinstance(child, str) or _is_inside(child))
        stack.extend((child, line, word) for child in inside)
    return [text for line in lines or [whole] if (text := line.text())]
