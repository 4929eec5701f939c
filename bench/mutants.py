"""Small changes of a source file that a good test notices: which there are, and the changed code.

A mutant is one change of one place: a comparison, an operator, `and` / `or`, a condition, a number,
a boolean, a text, a returned value or a statement. Annotations, docstrings, imports, decorators,
`TYPE_CHECKING` blocks and the text of f-strings stay as they are.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Mutant:
    """One change: where, of what kind, the code before and after, and how to apply it."""

    place: int  # the number of the node in `ast.walk` order
    choice: int  # which change of that node
    kind: str
    line: int
    first: int  # the lines of the statement, to find the tests that reach it
    last: int
    within: str  # the function it is in, or "" where it runs when the module is imported
    before: str
    after: str


@dataclass(frozen=True)
class _Change:
    kind: str
    apply: Callable[[ast.AST], ast.AST]


def mutants(source: str) -> list[Mutant]:
    """Every mutant of a source file.

    >>> [(one.kind, one.after) for one in mutants("def f(x):\\n    return x < 2")]
    [('return', 'return None'), ('comparison', 'x <= 2'), ('comparison', 'x >= 2'), ('number', '3')]
    """
    tree = ast.parse(source)
    numbered = {id(node): place for place, node in enumerate(ast.walk(tree))}
    found = []
    for node, statement, within in _walk(tree):
        last = statement.end_lineno or statement.lineno
        body = getattr(statement, "body", None)
        if isinstance(body, list) and body:
            last = max(statement.lineno, body[0].lineno - 1)
        for choice, change in enumerate(_changes(node)):
            changed = change.apply(copy.deepcopy(node))
            found.append(
                Mutant(
                    place=numbered[id(node)],
                    choice=choice,
                    kind=change.kind,
                    line=getattr(node, "lineno", statement.lineno),
                    first=statement.lineno,
                    last=last,
                    within=within,
                    before=_short(node),
                    after=_short(changed),
                )
            )
    return found


def mutated(source: str, mutant: Mutant) -> ast.Module:
    """The syntax tree of the source with one mutant in it."""
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    old = nodes[mutant.place]
    new = list(_changes(old))[mutant.choice].apply(copy.deepcopy(old))
    ast.copy_location(new, old)
    for parent in nodes:
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list):
                setattr(parent, name, [new if one is old else one for one in value])
    return ast.fix_missing_locations(tree)


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 90 else text[:87] + "..."


def _walk(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.stmt, str]]:
    """Every node that may change, with its statement and the name of its function."""

    def inside(node: ast.AST, statement: ast.stmt | None, names: tuple[str, ...], called: bool):
        if isinstance(node, ast.stmt):
            statement = node
        if statement is not None:
            yield node, statement, ".".join(names) if called else ""
        for name, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if not isinstance(child, ast.AST) or _left_alone(node, name, child):
                    continue
                own, runs = names, called
                if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and name == "body":
                    own = (*names, getattr(node, "name", "<lambda>"))
                    runs = called or isinstance(node, FUNCTIONS)
                yield from inside(child, statement, own, runs)

    yield from inside(tree, None, (), False)


def _left_alone(parent: ast.AST, field: str, child: ast.AST) -> bool:
    if field in ("annotation", "returns", "decorator_list", "type_params"):
        return True
    if isinstance(child, ast.Import | ast.ImportFrom | ast.JoinedStr | ast.Assert):
        return True
    if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
        return True
    if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
        return True  # docstrings and `...`
    if isinstance(child, ast.Assign) and "__all__" in ast.dump(child.targets[0]):
        return True
    if isinstance(child, ast.Subscript) and ast.unparse(child.value) == "Literal":
        return True
    called = parent.func if isinstance(parent, ast.Call) else None
    if isinstance(called, ast.Name) and called.id == "cast" and field == "args":
        return child is parent.args[0]  # type: ignore[attr-defined]
    return False


def _changes(node: ast.AST) -> Iterator[_Change]:
    """What may change about this node itself."""
    if isinstance(node, ast.Compare):
        for at, old in enumerate(node.ops):
            for new in COMPARISONS[type(old)]:
                yield _Change("comparison", _operator_at(at, new))
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in ARITHMETIC:
        yield _Change("arithmetic", _operator(ARITHMETIC[type(node.op)]))
    elif isinstance(node, ast.BoolOp):
        yield _Change("boolean", _operator(ast.Or if isinstance(node.op, ast.And) else ast.And))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield _Change("boolean" if isinstance(node.op, ast.Not) else "arithmetic", _operand)
    elif isinstance(node, ast.Constant):
        yield from _of_constant(node)
    elif isinstance(node, ast.Return) and ast.unparse(node) not in ("return", "return None"):
        yield _Change("return", lambda _: ast.Return(ast.Constant(None)))
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield _Change("condition", _negated_test)
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield _Change("condition", _negated_filter)
    if _may_go(node):
        yield _Change("statement", lambda _: ast.Pass())


def _of_constant(node: ast.Constant) -> Iterator[_Change]:
    value = node.value
    if isinstance(value, bool):
        yield _Change("truth", lambda _: ast.Constant(not value))
    elif isinstance(value, int):
        yield _Change("number", lambda _: ast.Constant(value + 1))
    elif isinstance(value, float):
        yield _Change("number", lambda _: ast.Constant(value * 1.5 or 1.0))
    elif isinstance(value, str):
        yield _Change("text", lambda _: ast.Constant(value + "XX"))


def _may_go(node: ast.AST) -> bool:
    """Statements whose absence leaves a program that runs."""
    if isinstance(node, ast.Assign):
        return all(isinstance(t, ast.Attribute | ast.Subscript) for t in node.targets)
    return isinstance(node, ast.Expr | ast.AugAssign | ast.Raise | ast.Continue | ast.Break)


def _operator(new: type[ast.AST]) -> Callable[[ast.AST], ast.AST]:
    def apply(node: ast.AST) -> ast.AST:
        node.op = new()  # type: ignore[attr-defined]
        return node

    return apply


def _operator_at(at: int, new: type[ast.cmpop]) -> Callable[[ast.AST], ast.AST]:
    def apply(node: ast.AST) -> ast.AST:
        node.ops[at] = new()  # type: ignore[attr-defined]
        return node

    return apply


def _operand(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.UnaryOp)
    return node.operand


def _negated_test(node: ast.AST) -> ast.AST:
    node.test = ast.UnaryOp(ast.Not(), node.test)  # type: ignore[attr-defined]
    return node


def _negated_filter(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.comprehension)
    node.ifs[0] = ast.UnaryOp(ast.Not(), node.ifs[0])
    return node
