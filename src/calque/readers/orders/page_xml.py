"""PAGE XML: the regions of a page, and the groups of its ``ReadingOrder``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from calque.base.errors import ContractError, IssueLog, Severity
from calque.corpus.boxes import UnitId
from calque.corpus.orders import Group, OrderPage
from calque.readers.boxes import page_names
from calque.readers.orders.building import DEEPEST, NO_ORDER, Blocks, Ordering, listed
from calque.readers.sources.json_tree import shown, whole
from calque.readers.sources.xml_tree import children, line, name, number

if TYPE_CHECKING:
    from lxml.etree import _Element

_GROUPS = ("OrderedGroup", "OrderedGroupIndexed", "UnorderedGroup", "UnorderedGroupIndexed")


def pages_of(root: _Element, stem: str, log: IssueLog, *, truth: bool) -> Iterator[tuple[UnitId, int, OrderPage]]:
    """Each page with its blocks. Without a reading order a truth has none; a prediction then reads as the file lists."""
    document, first = page_names.place(stem)
    for place, page in enumerate(children(root, "Page")):
        order = next(children(page, "ReadingOrder"), None)
        groups_inside = [] if order is None else [each for each in order.iter() if name(each) in _GROUPS]
        containers = {each.get("regionRef") for each in groups_inside}
        blocks = Blocks(image=page.get("imageFilename") or "")
        blocks.sized(number(page.get("imageWidth")), number(page.get("imageHeight")))
        for region in (element for element in page.iter() if name(element).endswith("Region")):
            if region.get("id") not in containers - {None}:
                blocks.add(region.get("id") or f"#{len(blocks.ids)}", _box(region, log), _label(region))
        if order is None:
            yield document, first + place, blocks.page(NO_ORDER if truth else listed(len(blocks.ids)))
            continue
        _tell_lost_containers(groups_inside, {each.get("id") for each in page.iter()}, log)
        ordering = Ordering(blocks.ids, log, line(page))
        groups = [_group(each, ordering, log, 0) for each in children(order, *_GROUPS)]
        yield document, first + place, blocks.page(groups[0] if len(groups) == 1 else Group(tuple(groups)))


def _tell_lost_containers(groups: list[_Element], known: set[str | None], log: IssueLog) -> None:
    """A group may say in which region it is: one that is not there is told as a block that is not there."""
    for group in groups:
        reference = group.get("regionRef")
        if reference is not None and reference not in known:
            text = f"the <{name(group)}> is said to be in region {shown(reference)}, which is not on this page"
            log.add("unknown-block", line(group), text, help="name a region by its id", severity=Severity.LOSS)


def _group(element: _Element, ordering: Ordering, log: IssueLog, depth: int) -> Group:
    if depth > DEEPEST:
        raise ContractError.single(
            "order-shape", f"groups are nested more than {DEEPEST} deep", file=log.file, pointer=line(element)
        )
    members: list[int | Group] = []
    for member in sorted(children(element, *_GROUPS, "RegionRef", "RegionRefIndexed"), key=_index):
        if name(member) in _GROUPS:
            members.append(_group(member, ordering, log, depth + 1))
        elif (block := ordering.block(member.get("regionRef"), line(member))) is not None:
            members.append(block)
    return Group(tuple(members), name(element).startswith("Ordered"))


def _index(element: _Element) -> float:
    text = element.get("index") or ""
    number = whole(text.removeprefix("-"))
    return math.inf if number is None else -number if text.startswith("-") else number


def _box(region: _Element, log: IssueLog) -> list[float] | None:
    outline = next(children(region, "Coords"), None)
    given = "" if outline is None else outline.get("points") or ""
    values = [number(part) for part in given.replace(",", " ").split()]
    if outline is not None and not values:
        values = [number(point.get(axis)) for point in children(outline, "Point") for axis in ("x", "y")]
    known = [value for value in values if value is not None]
    if len(known) < 4 or len(known) != len(values) or len(known) % 2:
        log.add("box-shape", line(region), f"the <{name(region)}> has no outline <Coords> of points x,y")
        return None
    return [min(known[::2]), min(known[1::2]), max(known[::2]), max(known[1::2])]


def _label(region: _Element) -> str:
    kind = region.get("type")
    return f"{name(region)}:{kind}" if kind else name(region)
