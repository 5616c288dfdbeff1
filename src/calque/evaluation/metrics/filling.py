"""Which parts of a result are computed, and how computed and supplied values become its tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from calque.base.columns import Floats
from calque.evaluation.metrics.formulas import Metric
from calque.evaluation.metrics.tree import Block, Each, MeanOfClasses, MeanOfDocuments, Node, is_asked


def blocks_of(node: Node, task: Any, path: str = "") -> Iterator[tuple[str, Block]]:
    """Yield the blocks that the settings ask for and that are not inside of maps, and where they are."""
    if isinstance(node, Block) and is_asked(node, task):
        yield path, node
        for key, child in node.children.items():
            yield from blocks_of(child, task, f"{path}.{key}" if path else key)


def maps_of(block: Block, task: Any) -> Iterator[Each]:
    """Yield the maps whose entries are computed."""
    for _, each in blocks_of(block, task):
        yield from (child for child in each.children.values() if isinstance(child, Each) and child.over)


def document_names(block: Block, task: Any) -> list[str]:
    """Return the counts that are needed for each document by itself."""
    names: dict[str, None] = {}
    for each in maps_of(block, task):
        if each.over == "document" and isinstance(each.inner, Block):
            names |= dict.fromkeys(name for metric in each.inner.computed(task).values() for name in metric.counts)
            names |= dict.fromkeys(() if each.present is None else each.present.names)
    return list(names)


def document_means(block: Block, task: Any) -> Iterator[tuple[str, tuple[MeanOfDocuments, Metric]]]:
    """Yield the metrics that are means over documents, by their place in the result."""
    for path, each in blocks_of(block, task):
        if isinstance(each.over, MeanOfDocuments):
            for key, metric in each.computed(task).items():
                yield f"{path}.{key}" if path else key, (each.over, metric)


def is_computed(node: Node) -> bool:
    """Whether a node has metrics with a formula."""
    if isinstance(node, Metric):
        return node.value is not None
    if isinstance(node, Each):
        return bool(node.over)
    return isinstance(node, Block) and any(map(is_computed, node.children.values()))


def entry_of(each: Each) -> Block:
    """Return the block that each entry of a computed map is."""
    if not isinstance(each.inner, Block):
        raise TypeError("the entries of a computed map must be blocks")
    return each.inner


def class_weights(over: MeanOfClasses, task: Any, labels: tuple[str, ...]) -> tuple[list[int], Floats]:
    """Return the classes that are part of a mean, and their weights."""
    weights = [1.0 if over.weights is None else over.weights(task, label) for label in labels]
    codes = [code for code, weight in enumerate(weights) if weight is not None]
    return codes, np.array([weights[code] for code in codes], dtype=np.float64)


Leaf = Callable[[Metric, Block, str], Any]
"""Returns the value of a metric of a block, given its place in the result."""
Entries = Callable[[Each], Mapping[str, Any]]
"""Returns the entries of a map."""


def fill(block: Block, task: Any, leaf: Leaf, entries: Entries, supplied: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Return a block with every value: computed from sums, or supplied by the task.

    The task may supply any value, also that of a metric. To the entries of a computed map it may add keys.
    """
    made: dict[str, Any] = {}
    computed = block.computed(task)
    for key, child in block.children.items():
        here, given = f"{path}.{key}" if path else key, supplied.get(key)
        if isinstance(child, Block) and is_computed(child) and not _is_complete(child, task, given):
            if is_asked(child, task):
                made[key] = fill(child, task, leaf, entries, given or {}, here)
        elif isinstance(child, Each) and child.over:
            made[key] = {name: {**entry, **(given or {}).get(name, {})} for name, entry in entries(child).items()}
        elif key in supplied:
            made[key] = given
        elif key in computed:
            made[key] = leaf(computed[key], block, here)
    return made


def _is_complete(block: Block, task: Any, given: Any) -> bool:
    """Whether a task supplies all values of a block; they keep their order then."""
    if not isinstance(given, Mapping) or not block.computed(task).keys() <= given.keys():
        return False
    nested = {key: child for key, child in block.children.items() if not isinstance(child, Metric) and is_computed(child)}
    return all(isinstance(child, Block) and _is_complete(child, task, given.get(key)) for key, child in nested.items())
