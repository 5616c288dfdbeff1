"""OmniDocBench: blocks with ``order`` numbers; equal numbers leave the order open, and none is outside of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from calque.base.errors import IssueLog
from calque.corpus.boxes import UnitId
from calque.corpus.orders import Group, OrderPage
from calque.readers.boxes import page_names
from calque.readers.orders.building import Blocks
from calque.readers.sources.json_tree import entries, identity, missing, number, numbers, pointer, shown, text


def pages_of(tree: Any, log: IssueLog) -> Iterator[tuple[UnitId, int, OrderPage]]:
    """Each page with its blocks."""
    for where, sample in entries(tree, "", log):
        info = sample.get("page_info")
        if not isinstance(info, Mapping) or text(info.get("image_path")) is None:
            missing(info if isinstance(info, Mapping) else {}, "image_path", where + pointer("page_info"), "a file name", log)
            continue
        document, page = page_names.place(page_names.bare(info["image_path"]))
        blocks = Blocks(image=info["image_path"])
        blocks.sized(info.get("width"), info.get("height"))
        numbered: list[tuple[float, int]] = []
        for place, block in entries(sample.get("layout_dets"), where + pointer("layout_dets"), log):
            _read(block, place, blocks, numbered, log)
        numbered.sort()
        members: list[int | Group] = []
        for _, same in groupby(numbered, key=lambda entry: entry[0]):
            together = tuple(block for _, block in same)
            members.append(together[0] if len(together) == 1 else Group(together, ordered=False))
        yield document, page, blocks.page(Group(tuple(members)))


def _read(block: Mapping[str, Any], where: str, blocks: Blocks, numbered: list[tuple[float, int]], log: IssueLog) -> None:
    points = numbers(block.get("poly"))
    if points is None or len(points) < 6 or len(points) % 2:
        log.add("box-shape", where + pointer("poly"), f"expected points x, y, x, y, ..., not {shown(block.get('poly'))}")
        return
    box = [min(points[::2]), min(points[1::2]), max(points[::2]), max(points[1::2])]
    name = identity(block.get("anno_id"))
    at = blocks.add(len(blocks.ids) if name is None else name, box, text(block.get("category_type")) or "")
    order = block.get("order")
    if order is None or block.get("ignore") is True:
        return
    value = number(order)
    if value is None:
        log.add("wrong-type", where + pointer("order"), f"expected a number, not {shown(order)}")
    else:
        numbered.append((value, at))
