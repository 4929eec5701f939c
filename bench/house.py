"""Measures of the source tree, for the table in docs/design.md: `python bench/house.py [folder]`.

Counted with `ast`: files, lines of code (without blank lines, comments and docstrings), the share
of import lines, string operations on prose, untyped uses of evidence, public names, and calls with
seven or more positional arguments.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

# attributes that hold sentences for readers
PROSE = {
    *("reason", "says", "advice", "headline", "message", "why", "cause", "remedy"),
    *("text", "shell_text", "asks", "goal", "evidence", "rule"),
}
RENDERS = {"text_for", "sentence", "explain"}  # calls that make a sentence
STRING_METHODS = {
    *("startswith", "endswith", "partition", "rpartition", "split", "rsplit", "splitlines"),
    *("replace", "removeprefix", "removesuffix", "strip", "lower", "find", "index", "format"),
}
REGEX = {"match", "search", "sub", "findall", "fullmatch", "split"}
RUN_ROUNDS = {"run_equal", "run_listed"}  # the goal is their second argument
RANGE_KINDS = {"Log", "Linear", "LogFromOne", "Integers", "Choice", "PowersOfTwo"}


def docstrings(tree: ast.Module) -> set[int]:
    """The lines that docstrings take."""
    taken: set[int] = set()
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(tree):
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            taken.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return taken


def code_lines(text: str, tree: ast.Module) -> int:
    """Lines that are neither blank nor a comment nor part of a docstring."""
    skipped = docstrings(tree)
    return sum(
        number not in skipped and bool(line.strip()) and not line.strip().startswith("#")
        for number, line in enumerate(text.splitlines(), 1)
    )


def import_lines(tree: ast.Module) -> int:
    """Lines of import statements."""
    return sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )


def is_prose(node: ast.expr) -> bool:
    """Whether an expression is a sentence: an attribute that holds one, or `str(error)`."""
    if isinstance(node, ast.Attribute):
        return node.attr in PROSE
    if isinstance(node, ast.Call):
        called = node.func
        name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
        if name == "str":
            return any(_holds_prose(argument) for argument in node.args)
        return name in RENDERS
    return isinstance(node, ast.Name) and node.id in NAMES


NAMES = {"reason", "says", "advice", "headline", "note", "goal", "caveat", "sentence"}


def _holds_prose(node: ast.expr) -> bool:
    """Whether the text of an object is a sentence: an error's, or that of what holds one."""
    return is_prose(node) or (isinstance(node, ast.Name) and node.id in ("error", "problem"))


def operations_on_prose(tree: ast.Module) -> int:
    """How often code looks inside a sentence: string methods, `in`, regular expressions, slices."""
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    places = {(n.lineno, n.col_offset) for n in _operations(tree, frozenset())}
    for function in functions:
        places |= {(n.lineno, n.col_offset) for n in _operations(function, _sentences(function))}
    return len(places)


def _sentences(function: ast.FunctionDef) -> frozenset[str]:
    """The local names that a function gives to sentences."""
    return frozenset(
        target.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and is_prose(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    )


def _operations(within: ast.AST, named: frozenset[str]) -> Iterator[ast.expr]:
    """Every expression that looks inside a sentence, or inside what is `named` after one."""

    def prose(node: ast.expr) -> bool:
        return is_prose(node) or (isinstance(node, ast.Name) and node.id in named)

    for node in ast.walk(within):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            own = node.func
            of_re = isinstance(own.value, ast.Name) and own.value.id == "re" and own.attr in REGEX
            if (own.attr in STRING_METHODS and prose(own.value)) or (
                of_re and any(prose(argument) for argument in node.args)
            ):
                yield node
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            if any(prose(side) for side in node.comparators):
                yield node
        elif (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Slice)
            and prose(node.value)
        ):
            yield node


def untyped_evidence(tree: ast.Module) -> int:
    """Uses of a finding's evidence by a string key."""
    found = 0
    for node in ast.walk(tree):
        value: ast.expr | None = None
        if isinstance(node, ast.Subscript):
            value = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            value = node.func.value if node.func.attr == "get" else None
        elif isinstance(node, ast.Compare):
            value = node.comparators[0]
        found += isinstance(value, ast.Attribute) and value.attr == "evidence"
    return found


def range_tests(tree: ast.Module) -> int:
    """Places that ask which kind a range is: `isinstance`, `type(...) is`, `case Kind()`."""
    return sum(_asks_for_the_kind(node) for node in ast.walk(tree))


def _asks_for_the_kind(node: ast.AST) -> bool:
    asked = False
    if isinstance(node, ast.Call):
        asked = isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass")
    elif isinstance(node, ast.Compare):
        asked = any(isinstance(op, ast.Is | ast.IsNot | ast.Eq) for op in node.ops)
    elif isinstance(node, ast.MatchClass):
        asked = True
        node = node.cls
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    names |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    return asked and bool(names & RANGE_KINDS)


def goals_in_words(tree: ast.Module) -> int:
    """Goals of generated rounds that are text: `goal=`, a name `goal`, a probe's second argument.

    >>> goals_in_words(ast.parse("Round('r', goal=f'imported from {origin}')"))
    1
    """
    found = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else ""
            given = [k.value for k in node.keywords if k.arg == "goal"]
            given += node.args[1:2] if called in RUN_ROUNDS else []
            found += sum(_is_text(one) for one in given)
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            found += any(name.lower() == "goal" for name in names) and _is_text(node.value)
    return found


def _is_text(node: ast.expr) -> bool:
    """Whether an expression is text: a literal, an f-string, or a sum or format of them."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.JoinedStr)


def long_calls(tree: ast.Module) -> int:
    """Calls with seven or more positional arguments."""
    return sum(isinstance(node, ast.Call) and len(node.args) >= 7 for node in ast.walk(tree))


def sources(folder: Path) -> Iterator[tuple[Path, str, ast.Module]]:
    """Every source file with its text and syntax tree."""
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        yield path, text, ast.parse(text)


def main() -> None:
    """Print the measures of one tree."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1])
    found = list(sources(root / "src" / "tunewright"))
    code = sum(code_lines(text, tree) for _, text, tree in found)
    imports = sum(import_lines(tree) for _, _, tree in found)
    init = (root / "src" / "tunewright" / "__init__.py").read_text(encoding="utf-8")
    public = len(re.findall(r" as (\w+)[,\n)]", init)) + 1  # and __version__
    outside = [(p, t) for p, _, t in found if "messages" not in p.parts]
    print(f"files                              {len(found)}")
    print(f"lines of code                      {code}")
    print(f"import lines, share                {imports / code:.1%}")
    print(f"string operations on prose         {sum(operations_on_prose(t) for _, t in outside)}")
    print(f"untyped evidence uses              {sum(untyped_evidence(t) for _, _, t in found)}")
    design = [t for p, _, t in found if "design" not in p.parts]
    print(f"isinstance on range kinds outside design/  {sum(map(range_tests, design))}")
    print(f"calls with 7 or more positional arguments  {sum(long_calls(t) for _, _, t in found)}")
    print(f"top-level names                    {public}")


if __name__ == "__main__":
    main()
