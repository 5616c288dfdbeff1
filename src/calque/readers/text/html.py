"""HTML as truth: blocks of text in reading order, each with its language and whether it is figure, table, caption, references.

Read with Python's own parser: nothing is fetched, no entity expands to more than a character. The work grows with the length
of the text, however deep its elements are nested and whatever is left open.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import unescape
from html.parser import HTMLParser

from calque.corpus.words import CAPTION, FIGURE, REFERENCES, TABLE, Block

_VOID = "area base br col embed hr img input link meta param source track wbr"
_INLINE = (
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark math mi mn mo mrow msub msup q rp rt "
    "ruby s samp small span strike strong sub sup time tt u var wbr"
)
_SILENT = "head script style template title noscript svg canvas iframe object"
_AFTER_PARAGRAPH = (
    "address article aside blockquote div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section "
    "table ul"
)
VOID, INLINE = frozenset(_VOID.split()), frozenset(_INLINE.split())
SILENT = frozenset(_SILENT.split())
"""Elements whose text nobody reads on the page."""
HEADINGS = {f"h{level}": level for level in range(1, 7)}
_CLOSED_BY: Mapping[str, frozenset[str]] = {
    "p": frozenset(_AFTER_PARAGRAPH.split()),
    "li": frozenset(["li"]),
    "dt": frozenset(["dt", "dd"]),
    "dd": frozenset(["dt", "dd"]),
    "tr": frozenset(["tr", "tbody", "tfoot"]),
    "td": frozenset(["td", "th", "tr", "tbody", "tfoot"]),
    "th": frozenset(["td", "th", "tr", "tbody", "tfoot"]),
    "option": frozenset(["option"]),
}
_CLOSES: Mapping[str, tuple[str, ...]] = {
    tag: tuple(left_open for left_open, closing in _CLOSED_BY.items() if tag in closing)
    for tag in frozenset().union(*_CLOSED_BY.values())
}
"""Which unclosed elements a tag ends, unless something stands between that holds them: all but inline elements and these."""
UNCLOSED = 8
"""How many tags and comments without an end are taken for text, each up to the next tag; after as many, all the rest is text.

Python's parser looks for the end of each in all that follows.
"""

_ELEMENT_MARKS = {
    "figure": FIGURE, "picture": FIGURE, "table": TABLE, "caption": CAPTION, "figcaption": CAPTION,
}  # fmt: skip
_CLASS_MARKS = {
    "figure": FIGURE, "fig": FIGURE, "figure-wrap": FIGURE, "fig-wrap": FIGURE, "thumb": FIGURE,
    "table": TABLE, "table-wrap": TABLE, "tablewrap": TABLE,
    "caption": CAPTION, "figcaption": CAPTION, "fig-caption": CAPTION, "table-caption": CAPTION, "thumbcaption": CAPTION,
    "references": REFERENCES, "reference-list": REFERENCES, "ref-list": REFERENCES, "reflist": REFERENCES,
    "bibliography": REFERENCES, "citation-list": REFERENCES, "doc-bibliography": REFERENCES,
}  # fmt: skip
_REFERENCE_HEADING = re.compile(
    r"(?:\d[.\d]*|[ivxlc]+\.)?\s*(?:references?(?: list)?|references? and notes|notes and references|bibliography|"
    r"(?:literature|works|sources) cited|cited literature|literature|literatur(?:verzeichnis)?|références|bibliographie|"
    r"bibliografía|bibliografia)\s*[:.]?",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Element:
    """An element of the tree: its children are elements and strings, in order."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element | str] = field(default_factory=list)

    def classes(self) -> list[str]:
        """The words of its ``class``."""
        return self.attributes.get("class", "").split()

    def walk(self) -> Iterator[Element]:
        """This element and all inside it, in document order."""
        stack: list[Element] = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(child for child in reversed(node.children) if isinstance(child, Element))


class _Builder(HTMLParser):
    """Builds the tree, closing what authors leave open; for each tag it knows where it is open, so that nothing is searched."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("html")
        self._open = [self.root]
        self._depths: defaultdict[str, list[int]] = defaultdict(list)
        self._holders = [0]
        """Where elements are open out of which a tag closes nothing."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._close_implied(tag)
        element = Element(tag, {name: value or "" for name, value in attrs})
        self._open[-1].children.append(element)
        if tag in VOID:
            return
        self._depths[tag].append(len(self._open))
        if _holds(tag):
            self._holders.append(len(self._open))
        self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        # HTML ignores the slash except on void elements, but hOCR and XHTML mean it.
        if tag not in VOID and tag not in ("p", "div"):
            self._close(len(self._open) - 1)

    def handle_endtag(self, tag: str) -> None:
        if self._depths[tag]:
            self._close(self._depths[tag][-1])

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)

    def _close(self, depth: int) -> None:
        while len(self._open) > depth:
            tag = self._open.pop().tag
            self._depths[tag].pop()
            if _holds(tag):
                self._holders.pop()

    def _close_implied(self, tag: str) -> None:
        for left_open in _CLOSES.get(tag, ()):
            depths = self._depths[left_open]
            while depths and depths[-1] > self._holders[-1]:
                self._close(depths[-1])

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """``<![CDATA[…]]>`` and its like; what only looks like one is a comment, as in browsers."""
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:  # so some versions of Python say that they do not know it
            return self.parse_bogus_comment(i)

    def take_unclosed(self) -> bool:
        """Whether a tag or comment without an end was left; what stands before the next tag is text then, the rest is read."""
        rest = self.rawdata
        if self.cdata_elem is not None or not _BEGUN.match(rest):
            return False
        end = rest.find(">", 1) + 1 or rest.find("<", 1)
        self.rawdata = ""
        self.handle_data(unescape(rest[:end] if end > 0 else rest))
        self.feed(rest[end:] if end > 0 else "")
        return True


_BEGUN = re.compile(r"<[a-zA-Z/!?]")


def _holds(tag: str) -> bool:
    return tag not in INLINE and tag not in _CLOSED_BY


def tree_of(text: str) -> Element:
    """The tree of an HTML text; never fails."""
    builder = _Builder()
    builder.feed(text)
    unclosed = 0
    while unclosed < UNCLOSED and builder.take_unclosed():
        unclosed += 1
    if unclosed == UNCLOSED and builder.rawdata:
        rest, builder.rawdata = builder.rawdata, ""
        builder.handle_data(unescape(rest))
    builder.close()
    return builder.root


@dataclass(slots=True)
class _Run:
    """A block while its text is collected."""

    marks: frozenset[str]
    lang: str | None
    region: str
    heading: int
    section: int
    parts: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Context:
    """What an element passes on to what is inside it."""

    marks: frozenset[str] = frozenset()
    lang: str | None = None
    region: str = "paragraph"
    heading: int = 0
    section: int = 0
    """Which section or article it lies in; a list of references ends with its own."""


def blocks_of(text: str) -> list[Block]:
    """The blocks of an HTML text, in reading order."""
    runs = [run for run in _runs(tree_of(text)) if "".join(run.parts).strip()]
    _mark_after_reference_headings(runs)
    return [Block(_one_space("".join(run.parts)), run.marks, run.lang, 0, run.region) for run in runs]


def _one_space(text: str) -> str:
    """Runs of white space as one: only ``<br>`` breaks a line (kept by the collector as U+2028)."""
    return re.sub(r"[ \t\n\r\f]+", " ", text).replace("\u2028", "\n").strip()


def _runs(root: Element) -> Iterator[_Run]:
    """Text in document order, cut wherever a block begins or ends or its context changes."""
    run: _Run | None = None
    sections = 0
    stack: list[tuple[Element | str | None, _Context]] = [(root, _Context())]
    while stack:
        node, context = stack.pop()
        if node is None:
            if run is not None:
                yield run
            run = None
        elif isinstance(node, str):
            if run is not None and (run.marks, run.lang) != (context.marks, context.lang):
                yield run
                run = None
            run = run or _Run(context.marks, context.lang, context.region, context.heading, context.section)
            run.parts.append(node)
        elif node.tag == "br":
            stack.append(("\u2028", context))
        elif node.tag not in SILENT:
            sections += node.tag in ("section", "article")
            inner = _context_in(node, context, sections)
            edges: list[tuple[None, _Context]] = [] if node.tag in INLINE else [(None, context)]
            stack += [*edges, *((child, inner) for child in reversed(node.children)), *edges]
    if run is not None:
        yield run


def _context_in(element: Element, context: _Context, sections: int) -> _Context:
    found = set(context.marks)
    if element.tag in _ELEMENT_MARKS:
        found.add(_ELEMENT_MARKS[element.tag])
    names = [*element.classes(), element.attributes.get("role", ""), element.attributes.get("id", "")]
    if element.tag not in INLINE:
        found |= {_CLASS_MARKS[name.lower()] for name in names if name.lower() in _CLASS_MARKS}
    lang = element.attributes.get("lang") or element.attributes.get("xml:lang") or context.lang
    region = {"li": "list", "dt": "list", "dd": "list", "td": "table", "th": "table"}.get(element.tag, context.region)
    changed = replace(context, marks=frozenset(found), lang=lang, region=region)
    if element.tag in HEADINGS:
        return replace(changed, heading=HEADINGS[element.tag], region="heading")
    if CAPTION in found - context.marks:
        return replace(changed, region="caption")
    return replace(changed, section=sections) if element.tag in ("section", "article") else changed


def _mark_after_reference_headings(runs: list[_Run]) -> None:
    """A heading "References" makes everything up to the next heading of its rank, or the end of its section, references."""
    level, section = 0, 0
    for run in runs:
        if level and (0 < run.heading <= level or (section and run.section != section)):
            level = 0
        if run.heading and _REFERENCE_HEADING.fullmatch(_one_space("".join(run.parts))):
            level, section = run.heading, run.section
        if level:
            run.marks |= {REFERENCES}
