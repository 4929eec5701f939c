"""An option that a program declares: its value by the source alone, and the remarks beside it.

    5 * 8, -1e-3, 2**20, [0.9, 0.95], f"{ROOT}/data", float("inf"), BATCH // 2

Anything else is `UNKNOWN`: nothing is executed.

# adamw optimizer                 <- the heading of the lines below
beta1 = 0.9  # of the gradient    <- a remark
"""

from __future__ import annotations

import ast
import io
import operator
import re
import tokenize
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from tunewright.messages import Message

_MOST_WORDS = 7  # of a heading; a longer comment is prose
REACH = 60  # lines below a heading that it may be about
_LETTERS = re.compile(r"[A-Za-z]")
LARGEST = 5_000_000  # bytes of a source file that is read
UNKNOWN = object()  # a value that the source alone does not give
Kind = Literal["float", "int", "str", "bool", "list", "other"]

# how true and false are passed: as a value, a flag that is there or not, or one of two flags;
# json: inside another option's JSON object
Passed = Literal["value", "flag", "negative flag", "pair", "json"]
_MOST_DIGITS = 4000  # bits of an integer; more would take long
_MOST_ITEMS = 200
_LONGEST_TEXT = 10_000
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


@dataclass(frozen=True)
class Remarks:
    """The comments of a file, by line."""

    headings: Mapping[int, str]  # comments that stand alone and are short
    beside: Mapping[int, str]  # comments behind code
    starts: tuple[int, ...] = ()  # lines where a function, class or block at the margin begins

    def heading(self, line: int) -> str:
        """The nearest heading above a line, in the same function; empty if there is none."""
        bound = max((start for start in self.starts if start <= line), default=0)
        for above in range(line - 1, max(line - REACH, bound - 1, 0), -1):
            if above in self.headings:
                return self.headings[above]
        return ""

    def remark(self, line: int) -> str:
        """The comment behind the code of a line."""
        return self.beside.get(line, "")


def remarks_of(text: str) -> Remarks:
    """Read the comments; none where the text cannot be split into tokens.

    >>> found = remarks_of("# model\\nn_layer = 2\\nbias = False  # inside layers?\\n")
    >>> found.heading(3), found.remark(3)
    ('model', 'inside layers?')
    """
    headings: dict[int, str] = {}
    beside: dict[int, str] = {}
    starts: list[int] = []
    code = 0  # the last line with code
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                remark = token.string.strip("#-=* \t")
                if token.start[0] == code:
                    beside[code] = remark
                elif _LETTERS.search(remark) and len(remark.split()) <= _MOST_WORDS:
                    headings[token.start[0]] = remark
            elif token.type == tokenize.NAME and token.string in ("def", "class"):
                starts.append(token.start[0])
                code = token.start[0]
            elif token.string.strip():
                code = token.end[0]
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return Remarks({}, {})
    return Remarks(headings, beside, tuple(starts))


@dataclass(frozen=True)
class Declared:
    """One option of a program."""

    name: str  # as rounds call it
    option: str  # how it is passed: `--lr`, `optimizer.lr`; empty: by its position
    kind: Kind = "other"
    default: Any = None
    known: bool = True  # whether the default could be read
    choices: tuple[Any, ...] = ()
    passed: Passed = "value"
    off_option: str = ""  # of a pair: the option that means false
    required: bool = False
    conditional: bool = False  # declared under an `if`
    help: str = ""
    section: str = ""  # the group or the heading that it stands under
    line: int = 0
    notes: tuple[Message, ...] = ()

    @property
    def value(self) -> Any:
        """The default as a plain value of a round, None where there is none."""
        plain = isinstance(self.default, bool | int | float | str)
        return self.default if self.known and plain else None


@dataclass(frozen=True)
class Source:
    """A parsed file of a program."""

    path: Path
    text: str
    tree: ast.Module
    constants: Mapping[str, Any] = field(default_factory=dict)  # of the module, by name

    @cached_property
    def remarks(self) -> Remarks:
        """Its comments."""
        return remarks_of(self.text)

    def with_remark(self, option: Declared) -> Declared:
        """The option with the heading above its line and the remark beside it."""
        section = option.section or self.remarks.heading(option.line)
        return replace(
            option, section=section, help=option.help or self.remarks.remark(option.line)
        )

    def imports(self) -> dict[str, str]:
        """What each imported name is: `{"DC": "dataclasses.dataclass"}`."""
        paths: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    paths[alias.asname or alias.name.partition(".")[0]] = (
                        alias.name if alias.asname else alias.name.partition(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom):
                dots = "." * node.level
                for alias in node.names:
                    paths[alias.asname or alias.name] = f"{dots}{node.module or ''}.{alias.name}"
        return paths


def read_source(path: Path) -> Source | Message:
    """A file as a syntax tree; a message where it cannot be read."""
    pass

    try:
        if path.stat().st_size > LARGEST:
            return Message("scan.too_large", {"path": path.name, "largest": LARGEST})
        with tokenize.open(path) as file:  # the encoding that the file declares
            text = file.read()
    except (UnicodeDecodeError, LookupError, SyntaxError) as error:
        return Message("scan.not_decodable", {"path": path.name, "error": str(error)})
    except OSError as error:
        facts = {"path": path.name, "error": error.strerror or str(error)}
        return Message("scan.not_readable", facts)
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        where = {"path": path.name, "line": error.lineno or 0}
        return Message("scan.syntax_error", {**where, "error": error.msg})
    except (RecursionError, MemoryError, ValueError) as error:
        where = {"path": path.name, "line": 0}
        return Message("scan.syntax_error", {**where, "error": type(error).__name__})
    return Source(path, text, tree, module_constants(tree))


def kind_of(default: Any) -> Kind:
    """The kind that a default has.

    >>> [kind_of(value) for value in (0.1, 3, True, "adam", [1], None)]
    ['float', 'int', 'bool', 'str', 'list', 'other']
    """
    if isinstance(default, bool):
        return "bool"
    for kind, name in ((int, "int"), (float, "float"), (str, "str")):
        if isinstance(default, kind):
            return name  # type: ignore[return-value]
    return "list" if isinstance(default, list | tuple) else "other"


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
        items = [value_of(item, names) for item in node.elts[:_MOST_ITEMS]]
        return UNKNOWN if any(item is UNKNOWN for item in items) else items
    if isinstance(node, ast.JoinedStr):
        return _text_of_f_string(node, names)
    if isinstance(node, ast.Call):
        return _call(node, names)
    return UNKNOWN


def module_constants(tree: ast.Module) -> dict[str, Any]:
    """The names that a module assigns once, to a value the source gives.

    >>> module_constants(ast.parse("A = 2\\nB = A * 3\\nC: float = 0.5\\nA_DIR = open('x')"))
    {'A': 2, 'B': 6, 'C': 0.5}
    """
    constants: dict[str, Any] = {}
    for node in tree.body:
        for name, value in assignments_of(node):
            constant = value_of(value, constants)
            if constant is UNKNOWN or name in constants:
                constants.pop(name, None)
            else:
                constants[name] = constant
    return constants


def assignments_of(node: ast.stmt) -> list[tuple[str, ast.expr]]:
    """The names that a statement assigns, each with its expression; `a, b = 1, 2` has two."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
        return [(node.target.id, node.value)]
    if not isinstance(node, ast.Assign):
        return []
    assignments: list[tuple[str, ast.expr]] = []
    for target in node.targets:
        if isinstance(target, ast.Name):
            assignments.append((target.id, node.value))
        elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=False))
            if len(target.elts) == len(node.value.elts):
                assignments += [
                    (place.id, value) for place, value in pairs if isinstance(place, ast.Name)
                ]
    return assignments


def dotted_name(node: ast.AST | None) -> str:
    """A name with its dots, `click.option`; empty for any other expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted_name(node.value)
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
    operation = _BINARY.get(type(node.op))
    if operation is None or UNKNOWN in (left, right) or not _small(node.op, left, right):
        return UNKNOWN
    try:
        result = operation(left, right)
    except (ArithmeticError, TypeError, ValueError):
        return UNKNOWN
    return result if isinstance(result, int | float | str | list) else UNKNOWN


def _small(operation: ast.operator, left: Any, right: Any) -> bool:
    """Whether the result cannot be huge."""
    if isinstance(operation, ast.Pow):
        if (
            not all(isinstance(operand, int | float) for operand in (left, right))
            or abs(right) > 1000
        ):
            return False
        return isinstance(left, float) or left.bit_length() * max(abs(right), 1) < _MOST_DIGITS
    if isinstance(operation, ast.Mult):
        sizes = [len(operand) for operand in (left, right) if isinstance(operand, str | list)]
        if sizes:
            times = [operand for operand in (left, right) if isinstance(operand, int)]
            return bool(times) and sizes[0] * abs(times[0]) < _MOST_ITEMS
    if isinstance(operation, ast.Mod) and isinstance(left, str):
        return False
    whole = [operand for operand in (left, right) if isinstance(operand, int)]
    texts = [operand for operand in (left, right) if isinstance(operand, str)]
    short = all(len(operand) < _LONGEST_TEXT for operand in texts)
    return short and all(operand.bit_length() < _MOST_DIGITS for operand in whole)


def _text_of_f_string(node: ast.JoinedStr, names: Mapping[str, Any]) -> Any:
    joined = ""
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            inner = value_of(part.value, names)
            if inner is UNKNOWN or part.format_spec is not None:
                return UNKNOWN
            joined += str(inner)
        else:
            joined += str(value_of(part))
    return joined


def _call(node: ast.Call, names: Mapping[str, Any]) -> Any:
    """`float("inf")`, `int(1e6)`, `Path("out")`: a plain value behind one known name."""
    called = dotted_name(node.func).rpartition(".")[2]
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
