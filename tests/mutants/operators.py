"""The faults: what could be written in place of one node of a syntax tree, each with the name of its kind."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any

Fault = tuple[str, ast.AST]

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}

# Keywords that change speed, guard against our own slips, or hold prose: no number hangs on them. The last two are what a class
# says of itself, as the arguments of ``dataclass`` do.
IDLE_KEYWORDS = {"help", "jobs", "strict", "stacklevel", "maxsize", "copy", "encoding", "eq", "kw_only"}


def changed(node: ast.AST, **fields: Any) -> Any:
    """A copy of the node with other fields."""
    other = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def comparison(node: ast.Compare) -> Iterator[Fault]:
    for place, operator in enumerate(node.ops):
        for other in COMPARISONS[type(operator)]:
            yield "comparison", changed(node, ops=[*node.ops[:place], other(), *node.ops[place + 1 :]])


def arithmetic(node: ast.BinOp | ast.AugAssign) -> Iterator[Fault]:
    other = ARITHMETIC.get(type(node.op))
    if other is not None:
        yield "arithmetic", changed(node, op=other())


def boolean(node: ast.BoolOp) -> Iterator[Fault]:
    yield "boolean", changed(node, op=ast.And() if isinstance(node.op, ast.Or) else ast.Or())


def negation(node: ast.UnaryOp) -> Iterator[Fault]:
    if isinstance(node.op, ast.Not):
        yield "boolean", node.operand
    elif isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield "arithmetic", node.operand


def constant(node: ast.Constant) -> Iterator[Fault]:
    value = node.value
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value)
    elif isinstance(value, int | float):
        yield "constant", ast.Constant(value + 1)
        if value >= 1:
            yield "constant", ast.Constant(value - 1)


def condition(node: ast.If | ast.IfExp | ast.While) -> Iterator[Fault]:
    """Forced; a loop is never forced to go on, which would only hang."""
    if not isinstance(node.test, ast.Constant):
        for forced in (False,) if isinstance(node, ast.While) else (True, False):
            yield "condition", Within(node.test, ast.Constant(forced))


def filtering(node: ast.comprehension) -> Iterator[Fault]:
    for test in node.ifs:
        for forced in (True, False):
            yield "condition", Within(test, ast.Constant(forced))


class Within(ast.AST):
    """A fault in a part of the node: the part as it stands, and what to write there."""

    def __init__(self, part: ast.AST, other: ast.AST) -> None:
        super().__init__()
        self.part = part
        self.other = other


def returned(node: ast.Return) -> Iterator[Fault]:
    if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
        yield "return", ast.Return(ast.Constant(None))


def call(node: ast.Call) -> Iterator[Fault]:
    name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if name in SWAPPED:
        field = {"id": SWAPPED[name]} if isinstance(node.func, ast.Name) else {"attr": SWAPPED[name]}
        yield "swap", changed(node, func=changed(node.func, **field))
    if name == "sorted" and not any(keyword.arg == "reverse" for keyword in node.keywords):
        yield "order", changed(node, keywords=[*node.keywords, ast.keyword("reverse", ast.Constant(True))])
    for place, keyword in enumerate(node.keywords):
        if (
            keyword.arg is not None
            and keyword.arg not in IDLE_KEYWORDS
            and not is_prose(keyword.value)
            and not is_usual(name, keyword)
        ):
            yield "keyword", changed(node, keywords=[*node.keywords[:place], *node.keywords[place + 1 :]])


def is_usual(name: str, keyword: ast.keyword) -> bool:
    """Whether NumPy does the same without the keyword."""
    return name in {"zeros", "ones", "empty"} and keyword.arg == "dtype" and ast.unparse(keyword.value) == "np.float64"


def is_prose(node: ast.AST) -> bool:
    """Whether a value is text for people: it is put together, or has several words."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and " " in node.value
    return isinstance(node, ast.JoinedStr)


def bounds(node: ast.Slice) -> Iterator[Fault]:
    """Off by one; bounds that are numbers are changed as constants."""
    for bound, operator in ((node.lower, ast.Add()), (node.upper, ast.Sub())):
        if bound is not None and not isinstance(bound, ast.Constant) and not is_negative(bound):
            yield "slice", Within(bound, ast.BinOp(bound, operator, ast.Constant(1)))


def is_negative(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)


def jump(node: ast.Continue | ast.Break) -> Iterator[Fault]:
    yield "jump", ast.Break() if isinstance(node, ast.Continue) else ast.Continue()


def statement(node: ast.Expr) -> Iterator[Fault]:
    """A call whose answer nobody takes is left out."""
    if isinstance(node.value, ast.Call):
        yield "statement", ast.Pass()


FAULTS: dict[type[ast.AST], Callable[[Any], Iterator[Fault]]] = {
    ast.Compare: comparison,
    ast.BinOp: arithmetic,
    ast.AugAssign: arithmetic,
    ast.BoolOp: boolean,
    ast.UnaryOp: negation,
    ast.Constant: constant,
    ast.If: condition,
    ast.IfExp: condition,
    ast.While: condition,
    ast.comprehension: filtering,
    ast.Return: returned,
    ast.Call: call,
    ast.Slice: bounds,
    ast.Continue: jump,
    ast.Break: jump,
    ast.Expr: statement,
}
