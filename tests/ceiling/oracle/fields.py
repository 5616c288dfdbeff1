"""Ceilings of records by the contract: leaves, alignment by trying every assignment, and votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Any

from tests.ceiling.oracle.ladder import Ladder, Seen, ratios

Record = dict[str, Any]
Schema = dict[str, Any]
Place = tuple[str | int, ...]


def is_null(value: Any) -> bool:
    return value in (None, "", {}, [])


@cache
def edit_distance(one: str, other: str) -> int:
    if not one or not other:
        return len(one) + len(other)
    if one[-1] == other[-1]:
        return edit_distance(one[:-1], other[:-1])
    return 1 + min(edit_distance(one[:-1], other), edit_distance(one, other[:-1]), edit_distance(one[:-1], other[:-1]))


def normal(field: Schema, value: Any) -> Any:
    """A value as its comparator sees it."""
    if field["comparator"] == "levenshtein":
        return " ".join(str(value).lower().split())
    return float(value) if field["comparator"] == "numeric" else str(value)


def similarity(field: Schema, one: Any, other: Any) -> float:
    if is_null(one) or is_null(other):
        return 1.0 if is_null(one) and is_null(other) else 0.0
    a, b = normal(field, one), normal(field, other)
    if field["comparator"] == "levenshtein":
        return 1 - edit_distance(a, b) / max(len(a), len(b), 1)
    return float(a == b)


def item_similarity(fields: Schema, one: Record, other: Record) -> float:
    """The weighted mean of leaf scores, thresholds aside, over fields that are not absent on both sides."""
    there = [name for name in fields if not (is_null(one.get(name)) and is_null(other.get(name)))]
    if not there:
        return 1.0
    weights = [fields[name].get("weight", 1.0) for name in there]
    scores = [raw_similarity(fields[name], one.get(name), other.get(name)) for name in there]
    return sum(weight * score for weight, score in zip(weights, scores, strict=True)) / sum(weights)


def object_score(fields: Schema, one: Record, other: Record) -> float:
    """What an object inside of an item counts, as in stickler: its score, in which what both sides lack is right."""
    values = {name: (one.get(name), other.get(name)) for name in fields}
    scores = {name: 1.0 if all(map(is_null, both)) else raw_similarity(fields[name], *both) for name, both in values.items()}
    clipped = {name: score if score >= counts_from(fields[name]) else 0.0 for name, score in scores.items()}
    weights = {name: field.get("weight", 1.0) for name, field in fields.items()}
    return sum(weights[name] * score for name, score in clipped.items()) / sum(weights.values())


def counts_from(field: Schema) -> float:
    """From where on a score counts; the threshold of a list is one of its elements, of which the score is made."""
    return 0.0 if field["type"].startswith("list") else field.get("threshold", 0.0)


def raw_similarity(field: Schema, one: Any, other: Any) -> float:
    """How alike two values of a field are, whatever it is.

    Of a list of values it is the share of the longer one that has a partner; of a list of objects the sum of what the partners
    of the best assignment score, however little that is from a hundredth on, by the length of the longer one.
    """
    if field["type"] == "object":
        return 0.0 if is_null(one) or is_null(other) else object_score(field["fields"], one, other)
    if field["type"].startswith("list"):
        ours, theirs = items(one), items(other)
        longer = max(len(ours), len(theirs))
        if field["type"] == "list[object]":
            scores = [object_score(field["fields"], ours[a], theirs[b]) for a, b in assigned(field, ours, theirs)[0].items()]
            return sum(score for score in scores if score >= 0.01) / longer
        return len(aligned(field, ours, theirs)) / longer
    return similarity(field, one, other)


def aligned(field: Schema, truths: Sequence[Any], founds: Sequence[Any]) -> dict[int, int]:
    """The pairs of the best assignment that reach the threshold, each truth item with its partner."""
    least = field["match_threshold"] if field["type"] == "list[object]" else field["threshold"]
    pairs, scores = assigned(field, truths, founds)
    return {one: other for one, other in pairs.items() if scores[one][other] >= least}


def assigned(field: Schema, truths: Sequence[Any], founds: Sequence[Any]) -> tuple[dict[int, int], list[list[float]]]:
    """The pairs of the best assignment, each truth item with its partner, and how alike any two items are.

    Of equally good assignments that with the lowest indices: the first truth has the earliest partner it can have, and so on.
    """
    if not truths or not founds:
        return {}, []
    if field["type"] == "list[object]":
        scores = [[item_similarity(field["fields"], one, other) for other in founds] for one in truths]
    else:
        scores = [[similarity(field, one, other) for other in founds] for one in truths]
    found: dict[float, list[dict[int, int]]] = {}
    rows, columns = range(len(truths)), range(len(founds))
    if len(rows) <= len(columns):
        tried = (tuple(zip(rows, order, strict=True)) for order in permutations(columns, len(rows)))
    else:
        tried = (tuple(zip(order, columns, strict=True)) for order in permutations(rows, len(columns)))
    for pairs in tried:
        found.setdefault(round(sum(scores[one][other] for one, other in pairs), 9), []).append(dict(pairs))
    return min(found[max(found)], key=lambda pairs: [pairs.get(one, len(columns)) for one in rows]), scores


def items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def leaves(fields: Schema, record: Record | None, above: Place = ()) -> Iterator[tuple[Place, Schema, Any]]:
    """All declared leaves that are not null: their places, what is declared of them, and their values."""
    for name, field in fields.items():
        value, here = (record or {}).get(name), (*above, name)
        if is_null(value):
            continue
        if field["type"] == "object":
            yield from leaves(field["fields"], value, here)
        elif field["type"] == "list[object]":
            for place, item in enumerate(value):
                yield from leaves(field["fields"], item, (*here, place))
        elif field["type"] == "list[str]":
            yield from (((*here, place), field, item) for place, item in enumerate(value) if not is_null(item))
        else:
            yield here, field, value


def met(fields: Schema, truth: Record | None, found: Record | None, above: Place = ()) -> dict[Place, Any]:
    """What a record says at the places of the truth, and of scalars that the truth lacks; lists as they are aligned."""
    made: dict[Place, Any] = {}
    truth, found = truth or {}, found or {}
    for name, field in fields.items():
        here, ours, theirs = (*above, name), truth.get(name), found.get(name)
        if field["type"] == "object":
            made |= met(field["fields"], ours, theirs, here)
        elif field["type"].startswith("list"):
            for one, other in aligned(field, items(ours), items(theirs)).items():
                if field["type"] == "list[object]":
                    made |= met(field["fields"], ours[one], theirs[other], (*here, one))
                else:
                    made[*here, one] = theirs[other]
        else:
            made[here] = theirs
    return made


def most_common(field: Schema, ranked: Sequence[Any]) -> tuple[Any, int]:
    """The value that most give, of values by rank, and how many do; a tie goes to the group of the best-ranked."""
    keys = [None if is_null(value) else normal(field, value) for value in ranked]
    counts = Counter(keys)
    most = max(counts.values())
    winner = next(place for place, key in enumerate(keys) if counts[key] == most)
    return (None if keys[winner] is None else ranked[winner]), most


@dataclass
class Fields:
    """The documents of a truth and of several systems."""

    schema: Schema
    truth: dict[str, Record]
    systems: dict[str, dict[str, Record]]
    documents: list[str]

    def __post_init__(self) -> None:
        self.fields = self.schema["fields"]
        self.names = list(self.systems)
        self.units = [
            (document, place, field, value)
            for document in self.documents
            for place, field, value in leaves(self.fields, self.truth.get(document))
        ]
        self.met = {
            (name, document): met(self.fields, self.truth.get(document), own.get(document))
            for name, own in self.systems.items()
            for document in self.documents
        }

    def hit(self, name: str, document: str, place: Place, field: Schema, value: Any) -> bool:
        there = self.met[name, document]
        return place in there and similarity(field, value, there[place]) >= field["threshold"] and not is_null(there[place])

    def numbers(self, splits: int, seed: int, columns: dict[str, dict[str, str]]) -> dict[str, Any]:
        hits = [{number for number, unit in enumerate(self.units) if self.hit(name, *unit)} for name in self.names]
        found = [
            [(document, str(place[0])) for document in self.documents for place, *_ in leaves(self.fields, own.get(document))]
            for own in self.systems.values()
        ]
        seen = Seen(
            names=self.names,
            documents=self.documents,
            units=[(document, str(place[0])) for document, place, *_ in self.units],
            hits=hits,
            found=found,
            matches=lambda chosen: len(set().union(*(hits[system] for system in chosen))),
            classes=list(self.fields),
            pool=sum(map(len, found)),
            columns=columns,
        )
        ladder = Ladder(seen, splits, seed)
        unfound = [unit for number, unit in enumerate(self.units) if not any(number in own for own in hits)]
        return ladder.numbers() | {
            **self.votes([self.names[system] for system in ladder.ranking]),
            "missed": {"unfound": len(unfound)},
            "suspects": self.suspects(unfound),
        }

    def votes(self, ranked: Sequence[str]) -> dict[str, Any]:
        agreement = {str(count): {"n": 0, "right": 0} for count in range(1, len(ranked) + 1)}
        hits = found = 0
        for document in self.documents:
            records = [self.systems[name].get(document) for name in ranked]
            voted = self.voted(self.fields, records, agreement, self.truth.get(document) or {})
            there = met(self.fields, self.truth.get(document), voted)
            found += sum(1 for _ in leaves(self.fields, voted))
            hits += sum(
                place in there and not is_null(there[place]) and similarity(field, value, there[place]) >= field["threshold"]
                for place, field, value in leaves(self.fields, self.truth.get(document))
            )
        return {
            "votes": {"majority": {"tp": hits, "found": found, **ratios(hits, found, len(self.units))}},
            "agreement": agreement,
        }

    def voted(
        self, fields: Schema, records: Sequence[Record | None], agreement: dict[str, Any] | None, truth: Record
    ) -> Record:
        """The record that systems, by rank, make together. Leaves outside of lists are counted in ``agreement``."""
        made: Record = {}
        for name, field in fields.items():
            values = [(record or {}).get(name) for record in records]
            if field["type"] == "object":
                made[name] = self.voted(field["fields"], values, agreement, truth.get(name) or {})
            elif field["type"] == "list[object]":
                made[name] = self.voted_list(field, values)
            elif field["type"] == "list[str]":
                made[name] = values[0]
            else:
                made[name], count = most_common(field, values)
                if agreement is not None and made[name] is not None:
                    right = not is_null(truth.get(name)) and similarity(field, truth[name], made[name]) >= field["threshold"]
                    agreement[str(count)]["n"] += 1
                    agreement[str(count)]["right"] += right
        return made

    def voted_list(self, field: Schema, lists: Sequence[Any]) -> list[Record]:
        own = items(lists[0])
        partners = [aligned(field, own, items(other)) for other in lists[1:]]
        return [
            self.voted(
                field["fields"],
                [
                    item,
                    *(items(other)[pairs[place]] for other, pairs in zip(lists[1:], partners, strict=True) if place in pairs),
                ],
                None,
                {},
            )
            for place, item in enumerate(own)
        ]

    def suspects(self, unfound: Sequence[tuple[str, Place, Schema, Any]]) -> dict[str, Any]:
        listed = []
        for document, place, field, _ in unfound:
            said = [self.met[name, document].get(place) for name in self.names]
            agree = self.agreeing(field, said)
            listed.append((document, place, *(("value", agree) if agree >= 2 else ("unfound", 0))))
        for document in self.documents:
            known = {place for place, *_ in leaves(self.fields, self.truth.get(document))}
            said_at: dict[Place, list[Any]] = {}
            for name in self.names:
                for place, value in self.met[name, document].items():
                    said_at.setdefault(place, []).append(value)
            for place, said in said_at.items():
                field = self.declared(place)
                if place not in known and (agree := self.agreeing(field, said)) >= 2:
                    listed.append((document, place, "agreed", agree))
        kinds = ("value", "agreed", "unfound")
        rows = [
            {"document": document, "path": self.path(place), "kind": kind, "systems": agree}
            for document, place, kind, agree in listed
        ]
        rows.sort(key=lambda row: (-int(row["systems"]), kinds.index(str(row["kind"])), row["document"], row["path"]))
        return {**{kind: sum(row["kind"] == kind for row in rows) for kind in kinds}, "listed": rows}

    def agreeing(self, field: Schema, said: Sequence[Any]) -> int:
        counts = Counter(normal(field, value) for value in said if not is_null(value))
        return max(counts.values(), default=0)

    def declared(self, place: Place) -> Schema:
        fields = self.fields
        field: Schema = {}
        for step in place:
            if isinstance(step, str):
                field = fields[step]
                fields = field.get("fields", {})
        return field

    def path(self, place: Place) -> str:
        return "".join("[]" if isinstance(step, int) else f".{step}" for step in place).removeprefix(".")
