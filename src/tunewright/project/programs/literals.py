"""Values of expressions that the source alone gives: numbers, text, arithmetic, named constants.

    5 * 8, -1e-3, 2**20, [0.9, 0.95], f"{ROOT}/data", float("inf"), BATCH // 2

Anything else is `UNKNOWN`: nothing is executed.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from tunewright.project.programs.declared import UNKNOWN

MOST_DIGITS = 4000  # bits of an integer; more would take long
MOST_ITEMS = 200
LONGEST_TEXT = 10_000
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_CASTS: dict[str, Callable[[Any], Any]] = {"float": float, "int": int, "str": str, "bool": bool}


def value_of(node: ast.expr | None, names: Mapping[str, Any] | None = None) -> Any:
    """The value of an expression, or UNKNOWN.

    >>> import ast
    >>> [value_of(ast.parse(t, mode="eval").body) for t in ("5 * 8", "-1e-3", "[1, 2]", "'a' 'b'")]
    [40, -0.001, [1, 2], 'ab']
    >>> value_of(ast.parse("f(3)", mode="eval").body) is UNKNOWN
    True
    """
    names = names or {}
    if isinstance(node, ast.Constant):
        plain = node.value is None or isinstance(node.value, bool | int | float | str)
        return node.value if plain else UNKNOWN
    if isinstance(node, ast.Name):
        return names.get(node.id, UNKNOWN)
    if isinstance(node, ast.UnaryOp):
        return _unary(node, names)
    if isinstance(node, ast.BinOp):
        return _binary(node, names)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        items = [value_of(one, names) for one in node.elts[:MOST_ITEMS]]
        return UNKNOWN if any(one is UNKNOWN for one in items) else items
    if isinstance(node, ast.JoinedStr):
        return _joined(node, names)
    if isinstance(node, ast.Call):
        return _call(node, names)
    return UNKNOWN


def module_constants(tree: ast.Module) -> dict[str, Any]:
    """The names that a module assigns once, to a value the source gives.

    >>> module_constants(ast.parse("A = 2\\nB = A * 3\\nC: float = 0.5\\nA_DIR = open('x')"))
    {'A': 2, 'B': 6, 'C': 0.5}
    """
    found: dict[str, Any] = {}
    for node in tree.body:
        for name, value in assigned(node):
            made = value_of(value, found)
            if made is UNKNOWN or name in found:
                found.pop(name, None)
            else:
                found[name] = made
    return found


def assigned(node: ast.stmt) -> list[tuple[str, ast.expr]]:
    """The names that a statement assigns, each with its expression; `a, b = 1, 2` has two."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
        return [(node.target.id, node.value)]
    if not isinstance(node, ast.Assign):
        return []
    found: list[tuple[str, ast.expr]] = []
    for target in node.targets:
        if isinstance(target, ast.Name):
            found.append((target.id, node.value))
        elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=False))
            if len(target.elts) == len(node.value.elts):
                found += [(one.id, value) for one, value in pairs if isinstance(one, ast.Name)]
    return found


def dotted(node: ast.AST | None) -> str:
    """A name with its dots, `click.option`; empty for any other expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return ""


def _unary(node: ast.UnaryOp, names: Mapping[str, Any]) -> Any:
    inner = value_of(node.operand, names)
    if isinstance(node.op, ast.Not):
        return UNKNOWN if inner is UNKNOWN else not inner
    if not isinstance(inner, int | float):
        return UNKNOWN
    return -inner if isinstance(node.op, ast.USub) else inner


def _binary(node: ast.BinOp, names: Mapping[str, Any]) -> Any:
    left, right = value_of(node.left, names), value_of(node.right, names)
    made = _BINARY.get(type(node.op))
    if made is None or UNKNOWN in (left, right) or not _small(node.op, left, right):
        return UNKNOWN
    try:
        found = made(left, right)
    except (ArithmeticError, TypeError, ValueError):
        return UNKNOWN
    return found if isinstance(found, int | float | str | list) else UNKNOWN


def _small(operation: ast.operator, left: Any, right: Any) -> bool:
    """Whether the result cannot be huge."""
    if isinstance(operation, ast.Pow):
        if not all(isinstance(one, int | float) for one in (left, right)) or abs(right) > 1000:
            return False
        return isinstance(left, float) or left.bit_length() * max(abs(right), 1) < MOST_DIGITS
    if isinstance(operation, ast.Mult):
        sizes = [len(one) for one in (left, right) if isinstance(one, str | list)]
        if sizes:
            times = [one for one in (left, right) if isinstance(one, int)]
            return bool(times) and sizes[0] * abs(times[0]) < MOST_ITEMS
    if isinstance(operation, ast.Mod) and isinstance(left, str):
        return False
    whole = [one for one in (left, right) if isinstance(one, int)]
    texts = [one for one in (left, right) if isinstance(one, str)]
    short = all(len(one) < LONGEST_TEXT for one in texts)
    return short and all(one.bit_length() < MOST_DIGITS for one in whole)


def _joined(node: ast.JoinedStr, names: Mapping[str, Any]) -> Any:
    made = ""
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            inner = value_of(part.value, names)
            if inner is UNKNOWN or part.format_spec is not None:
                return UNKNOWN
            made += str(inner)
        else:
            made += str(value_of(part))
    return made


def _call(node: ast.Call, names: Mapping[str, Any]) -> Any:
    """`float("inf")`, `int(1e6)`, `Path("out")`: a plain value behind one known name."""
    called = dotted(node.func).rpartition(".")[2]
    if len(node.args) != 1 or node.keywords or called not in (*_CASTS, "Path"):
        return UNKNOWN
    inner = value_of(node.args[0], names)
    if inner is UNKNOWN or isinstance(inner, list):
        return UNKNOWN
    if isinstance(inner, str) and len(inner) > 100:
        return UNKNOWN
    try:
        return str(inner) if called == "Path" else _CASTS[called](inner)
    except (ValueError, TypeError, OverflowError):
        return UNKNOWN
