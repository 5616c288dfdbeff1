"""Where faults can be put into a source file: every place that can matter, as a piece of text and what stands there instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.mutants.operators import FAULTS, IDLE_KEYWORDS, Within

IDLE_DECORATORS = {"dataclass", "cache", "lru_cache", "overload", "abstractmethod"}
IDLE_NAMES = {"__slots__", "__all__", "__match_args__"}
IDLE_CALLS = {"TypeVar", "ParamSpec", "NewType", "cast"}


@dataclass(frozen=True, order=True)
class Around:
    """Where a node stands: in which classes and functions, in which lines of one statement, and whether these run at import."""

    scope: tuple[str, ...] = ()
    first: int = 0
    last: int = 0
    at_import: bool = True

    def within(self, node: ast.AST, field: str) -> Around:
        """The surroundings of what stands in a field of a node."""
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        named = isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        return replace(
            self,
            scope=(*self.scope, node.name) if named else self.scope,
            at_import=self.at_import and not (is_function and field == "body"),
        )

    def at(self, node: ast.AST) -> Around:
        """The surroundings of a node: a statement has lines of its own, and a compound one those before its body."""
        if not isinstance(node, ast.stmt):
            return self
        body = getattr(node, "body", None)
        last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
        return replace(self, first=node.lineno, last=last)


@dataclass(frozen=True, order=True)
class Mutant:
    """One fault: in which file, where, the node before and after, and the lines before and after.

    Offsets count bytes, as the syntax tree does.
    """

    file: str
    line: int
    start: int
    end: int
    before: str
    after: str
    kind: str
    around: Around
    old: str
    new: str

    @property
    def scope(self) -> str:
        return ".".join(self.around.scope)

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.after.encode() + source[self.end :]


def mutants_of(file: str, source: bytes) -> list[Mutant]:
    """Every fault that a source file can be given, in the order of the text.

    >>> for mutant in mutants_of("a.py", b"def most(a, b):\\n    return a if a > b else b\\n"):
    ...     print(mutant.line, mutant.kind, mutant.before, "->", mutant.after)
    2 return return a if a > b else b -> return None
    2 comparison a > b -> (a <= b)
    2 comparison a > b -> (a >= b)
    2 condition a > b -> False
    2 condition a > b -> True
    """
    begins = [0]
    for line in source.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    found = set()
    for node, around in living(ast.parse(source), Around()):
        for kind, fault in FAULTS.get(type(node), lambda _: iter(()))(node):
            part, other = (fault.part, fault.other) if isinstance(fault, Within) else (node, fault)
            start = begins[part.lineno - 1] + part.col_offset
            end = begins[part.end_lineno - 1] + part.end_col_offset
            after = spliced(other)
            head, tail = source[begins[part.lineno - 1] : start].decode(), source[end : begins[part.end_lineno]].decode()
            old, new = (" ".join(f"{head}{text}{tail}".split()) for text in (source[start:end].decode(), after))
            found.add(Mutant(file, part.lineno, start, end, ast.unparse(part), after, kind, around, old, new))
    return sorted(found)


@dataclass(frozen=True)
class Body:
    """The lines of a function, and that in which its statement begins."""

    head: int
    first: int
    last: int


def bodies_of(source: bytes) -> list[Body]:
    """The functions of a source file.

    >>> bodies_of(b"def f(\\n    a=1,\\n):\\n    a += 1\\n    return a\\n")
    [Body(head=1, first=4, last=5)]
    """
    return [
        Body(node.lineno, node.body[0].lineno, node.end_lineno or node.lineno)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def defined_in(source: bytes) -> list[str]:
    """What a source file defines for others.

    >>> defined_in(b"A = 1\\n_B: int = 2\\nclass C: ...\\ndef d(): ...\\n")
    ['A', 'C', 'd']
    """
    named = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            named.append(node.name)
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        named += [target.id for target in targets if isinstance(target, ast.Name)]
    return [name for name in named if not name.startswith("_")]


def spliced(node: ast.AST) -> str:
    """A node as text, in brackets where it could fall apart between its neighbours."""
    text = ast.unparse(node)
    return (
        f"({text})" if isinstance(node, ast.BinOp | ast.BoolOp | ast.Compare | ast.UnaryOp | ast.IfExp | ast.Lambda) else text
    )


def living(node: ast.AST, outer: Around) -> Iterator[tuple[ast.AST, Around]]:
    """The nodes on which something can hang, each with its surroundings."""
    if is_idle(node):
        return
    around = outer.at(node)
    if isinstance(node, ast.If) and asks_for_platform(node.test):
        for child in (*node.body, *node.orelse):
            yield from living(child, around.within(node, "body"))
        return
    yield node, around
    idle = idle_defaults(node)
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if (
                isinstance(child, ast.AST)
                and child not in idle
                and not (name == "decorator_list" and called(child) in IDLE_DECORATORS)
            ):
                yield from living(child, around.within(node, name))


def asks_for_platform(node: ast.AST) -> bool:
    """Whether a condition only tells this system from others, on which no test runs here."""
    return isinstance(node, ast.Compare) and ast.unparse(node.left) == "sys.platform"


def idle_defaults(node: ast.AST) -> list[ast.expr]:
    """What the parameters of a function stand at that only change speed or hold prose."""
    if not isinstance(node, ast.arguments):
        return []
    placed = [*node.posonlyargs, *node.args]
    defaults = [*zip(placed[len(placed) - len(node.defaults) :], node.defaults, strict=True)]
    defaults += [(each, default) for each, default in zip(node.kwonlyargs, node.kw_defaults, strict=True) if default]
    return [default for each, default in defaults if each.arg in IDLE_KEYWORDS]


def is_idle(node: ast.AST) -> bool:
    """Whether nothing that the package does hangs on a node: types, names for tools, and text for people."""
    match node:
        case ast.JoinedStr():
            return True
        case ast.keyword(arg=name):
            return name in IDLE_KEYWORDS
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            return True
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return True
        case ast.FunctionDef(decorator_list=decorators) | ast.AsyncFunctionDef(decorator_list=decorators):
            return any(called(each) in {"overload", "abstractmethod"} for each in decorators)
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name in IDLE_NAMES
        case ast.Call():
            return called(node) in IDLE_CALLS
    return type(node).__name__ == "TypeAlias"


def called(node: ast.AST) -> str:
    """The last name of what is called or named: ``dataclass`` in ``dataclasses.dataclass(frozen=True)``."""
    if isinstance(node, ast.Call):
        return called(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
