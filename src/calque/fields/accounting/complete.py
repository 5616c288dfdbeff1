"""Complete accounting: every box of either side is observed exactly once."""

from __future__ import annotations

from collections.abc import Sequence

from calque.fields.accounting.rows import Book, reason_of
from calque.fields.comparison.cells import ABSENT, Cell, Loose, Record, RecordSide, class_of
from calque.fields.comparison.records import Compared, Outcome
from calque.fields.schemas.plan import FieldPlan, Kind

MISSED, MADE_UP, APART = "missing in the prediction", "not in the truth", "paired with an item that is too different"
_TP, _TN, _LISTS = Outcome.TP, Outcome.TN, (Kind.ITEMS, Kind.VALUES)
UNRATED = 1.0
"""The threshold shown for what is compared with nothing."""


def account(book: Book, fields: Sequence[Compared], truth: RecordSide, found: RecordSide) -> None:
    """Write down one document."""
    book.count(fields, everywhere=True)
    if truth.outside or found.outside:
        book.left_out(truth.outside, found.outside)
    _fields(book, fields, "", "")
    _loose(book, truth.loose, found.loose)


def _fields(book: Book, fields: Sequence[Compared], truth_prefix: str, found_prefix: str, *, apart: bool = False) -> None:
    """The fields of two records; ``apart`` when those are partners that are not the same item, whose boxes meet nothing."""
    for each in fields:
        plan = each.plan
        if plan.ignored:
            continue
        if plan.is_leaf and not book.keep_outcomes and not apart:
            # By far the most common: nothing but boxes and confidences is wanted.
            right = each.outcome is _TP or each.outcome is _TN
            book.observe(plan.label, plan.label, each.truth, each.found, right, True)
            continue
        truth_path, found_path = truth_prefix + plan.step, found_prefix + plan.step
        if plan.is_leaf:
            _compared(book, each, truth_path, found_path, apart=apart)
            continue
        if _marked(each.truth) or _marked(each.found):
            _compared(book, each, truth_path, found_path, apart=apart)
        if each.parts is None:
            _not_compared(book, each, truth_path, found_path, apart=apart)
        elif plan.kind is Kind.OBJECT:
            _fields(book, each.parts, truth_path + ".", found_path + ".", apart=apart)
        else:
            _pairs(book, each, truth_path, found_path, apart=apart)


def _compared(book: Book, each: Compared, truth_path: str, found_path: str, *, apart: bool = False) -> None:
    plan = each.plan
    match = each.outcome is _TP or each.outcome is _TN
    if plan.kind in _LISTS:
        match = each.applied >= plan.threshold
    reason = reason_of(each) if book.keep_outcomes else ""
    if apart:
        told = each.raw, plan.threshold, plan.weight, reason
        book.apart(plan.label, truth_path, found_path, each.truth, each.found, match, told)
        return
    book.row(plan.label, truth_path, found_path, each.truth, each.found, match, each.raw, plan.threshold, plan.weight, reason)


def _marked(cell: Cell) -> bool:
    return cell.box is not None or cell.confidence is not None


def _not_compared(book: Book, each: Compared, truth_path: str, found_path: str, *, apart: bool = False) -> None:
    """An object or list that one side lacks, or that is something else there: what it holds is missed or made up."""
    before = book.total
    if type(each.truth.value) in (Record, list):
        _lone_parts(book, each.plan, each.truth, truth_path, missed=True)
    if type(each.found.value) in (Record, list):
        _lone_parts(book, each.plan, each.found, found_path, missed=False)
    if book.total == before and not (_marked(each.truth) or _marked(each.found)):
        _compared(book, each, truth_path, found_path, apart=apart)


def _lone_parts(book: Book, plan: FieldPlan, cell: Cell, path: str, *, missed: bool) -> None:
    if type(cell.value) is Record and plan.record is not None:
        for field, part in zip(plan.record.fields, cell.value.cells, strict=True):
            if not field.ignored:
                _lone(book, field, part, f"{path}.{field.step}", missed=missed)
    elif type(cell.value) is list:
        for index, item in enumerate(cell.value):
            _lone_item(book, plan, item, f"{path}[{index}]", missed=missed)


def _lone(book: Book, plan: FieldPlan, cell: Cell, path: str, *, missed: bool) -> None:
    if _marked(cell) or (plan.kind is Kind.LEAF and cell.value is not None):
        _lone_row(book, plan.label, plan, cell, path, MISSED if missed else MADE_UP, missed=missed)
    if plan.kind is not Kind.LEAF:
        _lone_parts(book, plan, cell, path, missed=missed)


def _lone_item(book: Book, plan: FieldPlan, item: Cell, path: str, *, missed: bool) -> None:
    """An item without partner: a row for all that it holds, and one for itself if it holds nothing."""
    before = book.total
    why = MISSED if missed else MADE_UP
    if _marked(item) or plan.kind is Kind.VALUES:
        _lone_row(book, plan.item_label, plan, item, path, why, missed=missed)
    if plan.kind is Kind.ITEMS:
        _lone_parts(book, plan, item, path, missed=missed)
        if book.total == before:
            _lone_row(book, plan.item_label, plan, item, path, why, missed=missed)


def _lone_row(book: Book, label: str, plan: FieldPlan, cell: Cell, path: str, reason: str, *, missed: bool) -> None:
    if missed:
        book.row(label, path, None, cell, ABSENT, False, 0.0, plan.threshold, plan.weight, reason)
    else:
        book.row(label, None, path, ABSENT, cell, False, 0.0, plan.threshold, plan.weight, reason)


def _pairs(book: Book, each: Compared, truth_path: str, found_path: str, *, apart: bool) -> None:
    plan, pairs, truths, founds = each.plan, each.parts, each.truth.value, each.found.value
    for pair in pairs.pairs:
        truth, found = truths[pair.truth], founds[pair.found]
        at, found_at = f"{truth_path}[{pair.truth}]", f"{found_path}[{pair.found}]"
        reason = APART if not pair.matched else "same" if pair.similarity == 1.0 else "above threshold"
        threshold = plan.threshold if plan.kind is Kind.VALUES else plan.match_threshold
        counts = plan.kind is Kind.VALUES or _marked(truth) or _marked(found)
        told = pair.similarity, threshold, plan.weight, reason
        if apart or not pair.matched:
            write = book.apart if counts else book.tell
            write(plan.item_label, at, found_at, truth, found, pair.matched, told)
        elif counts:
            book.row(plan.item_label, at, found_at, truth, found, True, pair.similarity, threshold, plan.weight, reason)
        if pair.fields:
            _fields(book, pair.fields, at + ".", found_at + ".", apart=apart or not pair.matched)
        elif plan.kind is Kind.ITEMS:
            _lone_parts(book, plan, truth, at, missed=True)
            _lone_parts(book, plan, found, found_at, missed=False)
    for index in pairs.only_truth:
        _lone_item(book, plan, truths[index], f"{truth_path}[{index}]", missed=True)
    for index in pairs.only_found:
        _lone_item(book, plan, founds[index], f"{found_path}[{index}]", missed=False)


def _loose(book: Book, truths: Sequence[Loose], founds: Sequence[Loose]) -> None:
    """Boxes where the schema has no field: paired by path, first come first served."""
    waiting: dict[str, list[Loose]] = {}
    for each in reversed(founds):
        waiting.setdefault(each.path, []).append(each)
    for each in truths:
        if each.box is None:
            continue
        same = waiting.get(each.path)
        partner = same.pop() if same else None
        _loose_row(book, each.path, each, partner)
    for each in founds:
        same = waiting.get(each.path)
        if same and same[-1] is each:
            same.pop()
            _loose_row(book, each.path, None, each)


def _loose_row(book: Book, path: str, truth: Loose | None, found: Loose | None) -> None:
    expected, other = (ABSENT if side is None else Cell(None, side.confidence, side.box) for side in (truth, found))
    truth_path, found_path = None if truth is None else path, None if found is None else path
    reason = MISSED if found is None else MADE_UP
    book.row(class_of(path), truth_path, found_path, expected, other, False, 0.0, UNRATED, 0.0, reason)
