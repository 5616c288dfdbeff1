"""The tree of a result: objects, maps and metrics, from which follow JSON Schema, metric names, addresses and CSV rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from calque.evaluation.measures import MeasureName
from calque.evaluation.metrics.formulas import Count, Metric
from calque.evaluation.presentation.result_schema import Schema, map_of, object_of

Path: TypeAlias = tuple[str, ...]
"""The keys that lead to a value of the result."""


@dataclass(frozen=True, slots=True)
class Total:
    """The metrics of a block are computed from the sums over all documents."""


@dataclass(frozen=True, slots=True)
class MeanOfClasses:
    """The metrics of a block are the means of the classes that have a value."""

    of: str = "label"
    """The column with the classes."""
    weights: Callable[[Any, str], float | None] | None = None
    """The weight of a class, from the settings of the task; ``None`` leaves the class out. By default 1."""
    weight: Count | None = None
    """A count that the weights are multiplied by."""
    undefined: str = "no class has a value"


@dataclass(frozen=True, slots=True)
class MeanOfDocuments:
    """The metrics of a block are the means of the documents that have a value."""

    exact: bool = False
    """Whether the plain mean is rounded only once; otherwise values are added in units of 2**-54."""
    scale: float | None = None
    """A power of two that brings the values to the range from 0 to 1. By default the largest value decides."""
    undefined: str = "no document has a value"
    """Why there is no mean; the reason of the metric itself if empty."""


@dataclass(frozen=True, eq=False)
class Block:
    """An object with fixed keys.

    A key leads to a metric, to another block or map, or to a JSON Schema: the task supplies such a value, and it has no name.
    """

    fields: Mapping[str, Node]
    optional: Mapping[str, Node] = field(default_factory=dict)
    """Keys that are not in every result."""
    others: Mapping[str, Each] = field(default_factory=dict)
    """Keys that match a regular expression."""
    over: Total | MeanOfClasses | MeanOfDocuments = Total()
    """What the metrics of this block are computed over."""
    scope: str | None = None
    """The scope in the names of the metrics (``macro_documents.recall``); empty for the scope that a name without one means."""
    scopes: Mapping[str, str] = field(default_factory=dict)
    """The scopes that ``calque explain`` describes for these metrics, the usual one first. Names may have any of them."""
    threshold: float | None = None
    """The threshold in the names of the metrics."""
    listed: bool = True
    """Whether the metrics are in the list of all metrics; if not, a user can still name them."""
    on_request: bool = False
    """Whether intervals and comparisons include the metrics only if the user names them."""
    asked: Callable[[Any], bool] | None = None
    """Whether the settings of a task ask for the block; by default every result has it."""
    order: Path = ()
    """The keys in the order in which names are listed, if it is not the order of the JSON."""

    @property
    def children(self) -> dict[str, Node]:
        """All fixed keys."""
        return {**self.fields, **self.optional}

    @property
    def metrics(self) -> dict[str, Metric]:
        """The keys that lead to a metric."""
        return {key: child for key, child in self.children.items() if isinstance(child, Metric)}

    def computed(self, task: Any) -> dict[str, Metric]:
        """Return the keys that lead to a metric with a formula that the settings of a task ask for."""
        return {key: each for key, each in self.metrics.items() if each.value is not None and is_asked(each, task)}


@dataclass(frozen=True, eq=False)
class Each:
    """An object with one entry per class, document or threshold."""

    inner: Node
    by: Literal["", "label", "threshold", "name"] = ""
    """The part of a metric name that the key is; empty if the entries have no names."""
    over: str = ""
    """The column whose classes are the keys, such as ``label``, or ``document``; empty if the task supplies the entries."""
    ids: bool = False
    """Whether the keys of documents are their ids, so that a number stays a number in Python; by default their names."""
    shown: Callable[[Any, str], bool] | None = None
    """Whether the settings of the task include a class; by default they include all."""
    present: Count | None = None
    """Leave out entries to which no row adds this count; they have no value in a replicate, either."""
    listed: bool = True
    """Whether the metrics are in the list of all metrics; if not, a user can still name them."""
    first: Callable[[Any], str] | None = None
    """The key of a name without threshold, from the settings of the task."""
    prefix: str = ""
    """The part of the key that is not in the name."""


Node: TypeAlias = Metric | Block | Each | Schema


def is_asked(node: Metric | Block, task: Any) -> bool:
    """Whether the settings of a task ask for a metric or a block."""
    return node.asked is None or node.asked(task)


def block_of(metrics: Iterable[Metric], more: Mapping[str, Node] | None = None, **options: Any) -> Block:
    """Return a block with these metrics under their names, followed by other keys."""
    return Block({**{metric.name: metric for metric in metrics}, **(more or {})}, **options)


def schema_of(node: Node) -> Schema:
    """Return the JSON Schema of a node.

    >>> schema_of(Each(Block({"tp": Metric("tp", value=Count("tp"))})))["additionalProperties"]["required"]
    ['tp']
    """
    if isinstance(node, Metric):
        return node.schema
    if isinstance(node, Each):
        return map_of(schema_of(node.inner))
    if isinstance(node, Block):
        required, optional = ({key: schema_of(each) for key, each in part.items()} for part in (node.fields, node.optional))
        schema = object_of(required, optional)
        patterns = {f"^{pattern}$": schema_of(each.inner) for pattern, each in node.others.items()}
        return {**schema, "patternProperties": patterns} if patterns else schema
    return node


def named(
    node: Node, tree: Any, name: MeasureName, *, requested: bool = True, unlisted: bool = False
) -> Iterator[tuple[str, Any]]:
    """Yield every listed metric of a result by its name, with its value.

    ``name`` carries what the keys above say: scope, threshold and class, and the key itself for a metric without a name.
    Without ``requested``, only the metrics that intervals and comparisons include by default. With ``unlisted``, also those
    that are not listed.
    """
    if isinstance(node, Metric):
        if requested or not node.on_request:
            yield str(replace(name, name=node.name or name.name)), tree
    elif isinstance(node, Block) and isinstance(tree, Mapping):
        if not (node.listed or unlisted) or (node.on_request and not requested):
            return
        scope = name.scope if node.scope is None else node.scope
        here = replace(name, scope=scope, threshold=name.threshold if node.threshold is None else node.threshold)
        children = node.children
        for key in (*node.order, *(key for key in children if key not in node.order)):
            if key in tree:
                below = replace(here, name=key)
                yield from named(children[key], tree[key], below, requested=requested, unlisted=unlisted)
        for pattern, each in node.others.items():
            entries = {key: value for key, value in tree.items() if key not in children and re.fullmatch(pattern, key)}
            yield from named(each, entries, here, requested=requested, unlisted=unlisted)
    elif isinstance(node, Each) and isinstance(tree, Mapping) and node.by and node.listed:
        for key, value in tree.items():
            yield from named(node.inner, value, _with_key(node, str(key), name), requested=requested, unlisted=unlisted)


def _with_key(each: Each, key: str, name: MeasureName) -> MeasureName:
    if each.by == "name":
        return replace(name, name=key)
    if each.by == "threshold":
        return replace(name, threshold=float(key))
    return replace(name, label=key.removeprefix(each.prefix))


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where a metric is in the result, and the names that mean it."""

    keys: tuple[str | Each, ...]
    """The keys that lead to it; a map stands for the key that the name or the task says."""
    metric: str
    """Its name, or a regular expression if the last key is a map of names."""
    scopes: tuple[str, ...] | None = None
    """The scopes of a name; ``None`` if any will do."""
    threshold: float | None = None
    """The threshold of a name, if there is only one."""

    def has_name(self, name: MeasureName) -> bool:
        """Whether the name of the metric is the one at this place."""
        last = self.keys[-1]
        return bool(re.fullmatch(self.metric, name.name)) if isinstance(last, Each) else self.metric == name.name

    def accepts(self, name: MeasureName) -> bool:
        """Whether scope, threshold and class of a name fit this place."""
        maps = [key for key in self.keys if isinstance(key, Each)]
        return (
            (self.scopes is None or name.scope in self.scopes)
            and (self.threshold is None or self.threshold == name.threshold)
            and (name.label is not None) == any(each.by == "label" for each in maps)
            and not (name.threshold is None and any(each.by == "threshold" and each.first is None for each in maps))
        )

    def path(self, name: MeasureName, task: Any) -> Path:
        """Return the keys for a name."""
        return tuple(key if isinstance(key, str) else _key(key, name, task) for key in self.keys)

    @property
    def has_threshold(self) -> bool:
        """Whether the path says the threshold of a name."""
        return self.threshold is not None or any(isinstance(key, Each) and key.by == "threshold" for key in self.keys)


def _key(each: Each, name: MeasureName, task: Any) -> str:
    if each.by == "name":
        return name.name
    if each.by == "label":
        return each.prefix + (name.label or "")
    if each.by == "threshold" and name.threshold is not None:
        return repr(name.threshold)
    return "" if each.first is None else each.first(task)


def places_of(node: Node, keys: tuple[str | Each, ...] = (), above: Place = Place((), "")) -> Iterator[Place]:
    """Yield the place of every metric that has a name."""
    if isinstance(node, Metric):
        yield replace(above, keys=keys, metric=node.name or str(keys[-1]))
    elif isinstance(node, Block):
        here = above if node.threshold is None else replace(above, threshold=node.threshold)
        if node.scope is not None:
            own = (node.scope, *(key for key in keys[-1:] if isinstance(key, str)), *node.scopes)
            here = replace(here, scopes=tuple(dict.fromkeys(own)))
        for key, child in node.children.items():
            yield from places_of(child, (*keys, key), here)
        for pattern, each in node.others.items():
            if each.by == "name":
                yield replace(here, keys=(*keys, each), metric=pattern)
            else:
                yield from places_of(each, keys, here)
    elif isinstance(node, Each) and (node.by or node.first is not None):
        yield from places_of(node.inner, (*keys, node), above)


def address(places: Sequence[Place], name: MeasureName, task: Any) -> Path:
    """Return the keys that lead to a metric.

    A name that no metric has leads to where it would be, so that a message can list its neighbors.
    """
    fitting = [place for place in places if place.accepts(name)]
    found = [place for place in fitting if place.has_name(name)]
    found.sort(key=lambda place: place.has_threshold != (name.threshold is not None))
    if found:
        return found[0].path(name, task)
    scoped = next((place for place in places if place.scopes is not None), None)
    unknown = name.scope and not any(name.scope in (place.scopes or ()) for place in places)
    if scoped is not None and unknown:
        return (*scoped.path(name, task)[:-2], name.scope, *(() if name.label is None else (name.label,)), name.name)
    return (*fitting[0].path(name, task)[:-1], name.name) if fitting else (name.name,)


def scopes_of(node: Node, metric: str) -> dict[str, str]:
    """Return the scopes that ``calque explain`` describes for a metric, the usual one first."""
    found: dict[str, str] = {}
    if isinstance(node, Each):
        return scopes_of(node.inner, metric)
    if isinstance(node, Block):
        if any(metric == (each.name or key) for key, each in node.metrics.items()):
            found |= node.scopes
        children = node.children
        for key in (*node.order, *(key for key in children if key not in node.order)):
            found = {**found, **{scope: text for scope, text in scopes_of(children[key], metric).items() if scope not in found}}
    return found


@dataclass(frozen=True, slots=True)
class CsvRows:
    """Rows of the CSV: one per entry of an object of the result.

    >>> tree = {"per_class": {"text": {"tp": 3}, "image": {"tp": 1}}, "pages": {"count": 2}}
    >>> list(CsvRows("per_class", keys=("class",)).rows(tree))
    [{'class': 'text', 'tp': 3}, {'class': 'image', 'tp': 1}]
    >>> list(CsvRows("pages", {"class": "all"}).rows(tree))
    [{'class': 'all', 'count': 2}]
    """

    path: str
    """The keys of the object, with dots between them; empty for the result itself."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Columns with the same text in each row."""
    keys: tuple[str, ...] = ()
    """Columns for the keys of nested entries; without any, the object itself is one row."""
    value: str = ""
    """The column of an entry that is a number, not an object."""
    joined: tuple[str, ...] = ()
    """Objects whose values are in the same row, and lists whose length is."""
    only: tuple[str, ...] = ()
    """The columns of values, if they are not all; a row that lacks one has an empty text there."""

    def rows(self, tree: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the rows of a result; none if it does not have the object."""
        found = value_at(tree, self.path)
        if found is None:
            return
        more: dict[str, Any] = {}
        for path in self.joined:
            other = value_at(tree, path)
            more |= {path.rpartition(".")[2]: len(other)} if isinstance(other, list) else _plain(other or {})
        for labels, entry in _entries(found, len(self.keys)):
            values = _plain(entry) if isinstance(entry, Mapping) else {self.value: entry}
            if self.only:
                values = {name: values.get(name, "") for name in self.only}
            yield {**self.columns, **dict(zip(self.keys, labels, strict=True)), **values, **more}


def value_at(tree: Mapping[str, Any], path: str) -> Any:
    """Return the value under dotted keys; ``None`` if there is none."""
    found: Any = tree
    for key in path.split(".") if path else ():
        if not isinstance(found, Mapping) or key not in found:
            return None
        found = found[key]
    return found


def _plain(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if not isinstance(value, Mapping | list)}


def _entries(node: Any, depth: int) -> Iterator[tuple[Path, Any]]:
    if not depth:
        yield (), node
    elif isinstance(node, Mapping):
        for key, child in node.items():
            yield from (((key, *labels), entry) for labels, entry in _entries(child, depth - 1))
