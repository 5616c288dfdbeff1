"""Paired accounting: box for box and row for row what stickler 1.0.0 counts, for teams with a history in its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from calque.comparators.text import equality
from calque.fields.accounting.rows import Book, reason_of
from calque.fields.comparison.cells import ABSENT, ODD_BOX, Cell, RecordSide, bare, class_of, wrappers
from calque.fields.comparison.records import Compared, Pair
from calque.fields.schemas.plan import FieldPlan, Kind

MISSED, MADE_UP = "missing in the prediction", "not in the truth"
VALUES_MATCH = 0.7
"""Rows of value lists are paired by equal text, whatever the field's comparator; a pair matches from here on."""


def account(book: Book, fields: Sequence[Compared], truth: RecordSide, found: RecordSide) -> None:
    """Write down one document."""
    del truth
    book.count(fields, everywhere=False)
    book.unknown += found.record.unknown + _unknown(fields)
    _fields(book, fields, "")


def _unknown(fields: Sequence[Compared]) -> int:
    """Keys that the schema does not know, in predicted objects; those in list items are not counted here."""
    objects = [each for each in fields if each.plan.kind is Kind.OBJECT and each.parts is not None]
    return sum(each.found.value.unknown + _unknown(each.parts) for each in objects)


def _fields(book: Book, fields: Sequence[Compared], prefix: str) -> None:
    for each in fields:
        plan, path = each.plan, prefix + each.plan.step
        if plan.ignored:
            continue
        if plan.kind is Kind.OBJECT and each.parts is not None:
            _fields(book, each.parts, path + ".")
        elif plan.kind in (Kind.ITEMS, Kind.VALUES) and _is_list_case(each):
            _list(book, each, path, prefix)
        else:
            _row(book, each, path, path, each.raw)


def _row(book: Book, each: Compared, truth_path: str, found_path: str, score: float) -> None:
    plan = each.plan
    match, reason = score >= plan.threshold, reason_of(each) if book.keep_outcomes else ""
    absent_truth = each.truth.value is None and bare(each.truth) is None
    absent_found = each.found.value is None and bare(each.found) is None
    if absent_truth != absent_found:
        match, score, reason = False, 0.0, MADE_UP if absent_truth else MISSED
    book.row(
        plan.label,
        truth_path,
        found_path,
        each.truth,
        each.found,
        match,
        score,
        plan.threshold,
        plan.weight,
        reason,
        found_path,
    )


def _is_list_case(each: Compared) -> bool:
    """Whether both sides are lists, or one of them is an empty one; null against a list is a single row."""
    truth, found = bare(each.truth), bare(each.found)
    return truth == [] or found == [] or (isinstance(truth, list) and isinstance(found, list))


def _list(book: Book, each: Compared, path: str, prefix: str) -> None:
    plan = each.plan
    truths = each.truth.value if type(each.truth.value) is list else []
    founds = each.found.value if type(each.found.value) is list else []
    pairs: list[Pair] = []
    only_truth, only_found = list(range(len(truths))), list(range(len(founds)))
    if truths and founds:
        pairs = each.parts.pairs if plan.kind is Kind.ITEMS else _by_text(truths, founds)
        taken_truths, taken_founds = {pair.truth for pair in pairs}, {pair.found for pair in pairs}
        only_truth = [index for index in only_truth if index not in taken_truths]
        only_found = [index for index in only_found if index not in taken_founds]
    for pair in pairs:
        _pair(book, plan, pair, truths[pair.truth], founds[pair.found], path)
    for index in only_truth:
        _only_truth(book, plan, truths[index], f"{path}[{index}]", prefix)
    for index in only_found:
        _whole(book, plan, f"{path}[]", f"{path}[{index}]", ABSENT, founds[index], 0.0, MADE_UP)


def _pair(book: Book, plan: FieldPlan, pair: Pair, truth: Cell, found: Cell, path: str) -> None:
    truth_path, found_path = f"{path}[{pair.truth}]", f"{path}[{pair.found}]"
    if pair.matched and plan.kind is Kind.ITEMS:
        for each in pair.fields:
            if not each.plan.ignored:
                _row(book, each, f"{truth_path}.{each.plan.step}", f"{found_path}.{each.plan.step}", each.applied)
        return
    reason = "same" if pair.matched else "below threshold"
    _whole(book, plan, truth_path, found_path, truth, found, pair.similarity, reason, match=pair.matched)


def _whole(
    book: Book,
    plan: FieldPlan,
    truth_path: str,
    found_path: str,
    truth: Cell,
    found: Cell,
    score: float,
    reason: str,
    *,
    match: bool = False,
) -> None:
    """A row for a whole item: only boxes on the item itself are seen."""
    threshold = plan.match_threshold if plan.kind is Kind.ITEMS else VALUES_MATCH
    book.row(plan.item_label, truth_path, found_path, truth, found, match, score, threshold, 1.0, reason, found_path)


def _only_truth(book: Book, plan: FieldPlan, item: Cell, path: str, prefix: str) -> None:
    if prefix:
        # Below an object the original writes "object.None" for the missing path and takes it for a prediction without
        # a box: boxes inside the item get lost.
        _whole(book, plan, path, f"{prefix}None", item, ABSENT, 0.0, MISSED)
        return
    boxed = [place for place, wrapper in wrappers(item.raw, path) if "_bbox" in wrapper]
    for place in boxed:
        seen = book.seen_boxes
        book.box(class_of(place), Cell(None, None, ODD_BOX), ABSENT, False)
        book.seen_boxes = seen
    book.seen_boxes += sum(wrapper.get("_bbox") is not None for _, wrapper in wrappers(item.raw, path))
    before = book.total, book.with_box
    quiet = Cell(item.value, item.confidence, None, item.raw)
    threshold = plan.match_threshold if plan.kind is Kind.ITEMS else VALUES_MATCH
    book.row(plan.item_label, path, None, quiet, ABSENT, False, 0.0, threshold, 1.0, MISSED)
    book.total, book.with_box = before[0] + max(len(boxed), 1), before[1] + len(boxed)


def _by_text(truths: Sequence[Cell], founds: Sequence[Cell]) -> list[Pair]:
    from calque.fields.comparison.lists import assignment

    scores = equality([_text(cell) for cell in truths], [_text(cell) for cell in founds])
    rows, columns = assignment(scores, truths, founds, nearest=False)
    return [
        Pair(i, j, score, score >= VALUES_MATCH, score, [])
        for i, j, score in zip(rows.tolist(), columns.tolist(), scores[rows, columns].tolist(), strict=True)
    ]


def _text(cell: Cell) -> str:
    return "" if cell.value is None else " ".join(str(cell.value).lower().split())
