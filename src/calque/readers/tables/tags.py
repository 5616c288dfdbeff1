"""Tags and texts of HTML in one pass that never looks back, and never further ahead than it must.

The trees of `calque.readers.text.html` serve whole pages. A table needs its tags in order and where they stand, many thousand
of them, and this is several times as fast.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

_TAG = re.compile(
    r"""([^<]*+)<(/?)([a-zA-Z][^\s/><]*+)((?:[^<>"']++|"[^"<>]*+"|'[^'<>]*+')*+)>"""
)  # a quoted value ends before the next angle bracket here: what is odder goes the slow way
_OPENING = re.compile(r"</?([a-zA-Z][^\s/><]*)")
_ATTRIBUTE = re.compile(r"""([^\s=/>"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?""")
_PLAIN = re.compile(r"""[^>"']*""")
RAW = frozenset(["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"])
"""Elements whose content is no markup."""


class Tag(NamedTuple):
    """A tag with the text before it; the last text of all has a tag without a name."""

    text: str
    closing: bool
    name: str
    attributes: str
    start: int
    """Where the tag begins; its text ends there."""
    end: int


class _Ends:
    """Where marks occur next; one that occurs no more is never looked for again."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._gone: set[str] = set()

    def after(self, mark: str, start: int) -> int:
        """The place of a mark from there on, or -1."""
        at = -1 if mark in self._gone else self._text.find(mark, start)
        if at < 0:
            self._gone.add(mark)
        return at


def tags(text: str) -> Iterator[Tag]:
    """Each tag with the text before it. Comments, declarations and the content of scripts are left out. Never fails."""
    place, begun, ends = 0, "", _Ends(text)
    match_tag = _TAG.match
    while True:
        match = match_tag(text, place)
        if match is not None:
            before, slash, name, attributes = match.groups()
            start, place = place + len(before), match.end()
            tag = Tag(begun + before, slash == "/", name.lower(), attributes, start, place)
        else:
            at = ends.after("<", place)
            if at < 0:
                break
            begun += text[place:at]
            odd, place = _odd(text, at, ends)
            if odd is None:
                begun += "<" if place == at + 1 else ""
                continue
            tag = odd._replace(text=begun)
        begun = ""
        yield tag
        if tag.name in RAW and not tag.closing:
            place = _after_raw(text, place, tag.name, ends)
    yield Tag(begun + text[place:], False, "", "", len(text), len(text))


def _odd(text: str, at: int, ends: _Ends) -> tuple[Tag | None, int]:
    """What stands at a bracket that begins no plain tag, and where to go on: right after it when it is text."""
    if text.startswith("<!--", at):
        end = ends.after("-->", at + 4)
        return None, end + 3 if end >= 0 else at + 4
    opening = _OPENING.match(text, at)
    if opening is None:
        is_markup = text.startswith(("<!", "<?", "</"), at)
        end = ends.after(">", at + 2) if is_markup else -1
        return None, end + 1 if end >= 0 else at + 1
    end = _tag_end(text, opening.end(), ends)
    if end < 0:
        return None, at + 1
    closing = text[at + 1] == "/"
    return Tag("", closing, opening[1].lower(), text[opening.end() : end], at, end + 1), end + 1


def _tag_end(text: str, place: int, ends: _Ends) -> int:
    """Where a tag ends whose attributes hold brackets or odd quotes; a quote that is never closed is no quote."""
    while ends.after(">", place) >= 0:
        at = _PLAIN.match(text, place).end()  # type: ignore[union-attr]  # it matches everywhere
        if text[at] == ">":
            return at
        closed = ends.after(text[at], at + 1)
        if closed < 0:
            return ends.after(">", at)
        place = closed + 1
    return -1


def _after_raw(text: str, place: int, name: str, ends: _Ends) -> int:
    """The place of the end tag of a script; the very next character where there is none."""
    at = place
    while (at := ends.after("</", at)) >= 0:
        if text[at + 2 : at + 2 + len(name)].lower() == name:
            return at
        at += 2
    return place


def attributes_of(text: str) -> dict[str, str]:
    """The attributes of a tag; of several with one name the first counts.

    >>> attributes_of(' colspan="2" ROWSPAN=3 colspan=4 nowrap')
    {'colspan': '2', 'rowspan': '3', 'nowrap': ''}
    """
    found: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(text):
        found.setdefault(name.lower(), unescape(double or single or bare))
    return found
