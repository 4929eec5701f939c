"""Start a Python program with other values of its constants, without a change to its file.

    python -m tunewright.execution.with_values train.py DEPTH=6 Hyperparameters.lr=0.01 -- --resume

Each NAME is assigned at the top of the module, or in the body of a class. A name that the file does
not assign, or assigns twice, ends the program before it trains. Words after `--` are its own.
"""

from __future__ import annotations

import ast
import sys
import tokenize
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def replace_constants(
    tree: ast.Module, values: Mapping[str, Any]
) -> tuple[ast.Module, dict[str, int]]:
    """The module with other constants, and how often each name was found.

    >>> module, counts = replace_constants(ast.parse("LR = 0.1\\nDEPTH = 4"), {"LR": 0.2})
    >>> ast.unparse(module), counts
    ('LR = 0.2\\nDEPTH = 4', {'LR': 1})
    """
    counts = dict.fromkeys(values, 0)

    def change(body: list[ast.stmt], before: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                change(node.body, f"{before}{node.name}.")
                continue
            targets: list[ast.expr] = []
            if isinstance(node, ast.Assign):
                targets = node.targets
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                targets = [node.target]
            for target in targets:
                name = before + target.id if isinstance(target, ast.Name) else ""
                if name in values:
                    assert isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
                    node.value = ast.copy_location(ast.Constant(values[name]), node.value)
                    counts[name] += 1
                elif isinstance(target, ast.Tuple) and isinstance(node, ast.Assign):
                    _in_tuple(target, node, values, before, counts)

    change(tree.body, "")
    return tree, counts


def _in_tuple(
    target: ast.Tuple,
    node: ast.Assign,
    values: Mapping[str, Any],
    before: str,
    counts: dict[str, int],
) -> None:
    """`a, b = 1, 2` assigns two names."""
    if not isinstance(node.value, ast.Tuple) or len(node.value.elts) != len(target.elts):
        return
    for at, element in enumerate(target.elts):
        name = before + element.id if isinstance(element, ast.Name) else ""
        if name in values:
            old = node.value.elts[at]
            node.value.elts[at] = ast.copy_location(ast.Constant(values[name]), old)
            counts[name] += 1


def _read_words(words: Sequence[str]) -> tuple[str, dict[str, Any], list[str]]:
    """The script, the values by name, and the program's own words.

    >>> _read_words(["train.py", "LR=1e-3", "NAME=adam", "--", "--resume"])
    ('train.py', {'LR': 0.001, 'NAME': 'adam'}, ['--resume'])
    """
    script, *others = words
    at = others.index("--") if "--" in others else len(others)
    values: dict[str, Any] = {}
    for word in others[:at]:
        name, divider, text = word.partition("=")
        if not divider:
            raise ValueError(word)
        try:
            values[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            values[name] = text
    return script, values, others[at + 1 :]


def main(words: Sequence[str]) -> None:
    """Run the script as `__main__` with the values; exit status 2 where a name is not there."""
    try:
        script, values, arguments = _read_words(words)
    except ValueError:
        sys.exit("usage: with_values SCRIPT.py NAME=VALUE ... [-- ARGUMENTS]")
    path = Path(script)
    with tokenize.open(path) as file:
        tree = ast.parse(file.read(), filename=script)
    tree, counts = replace_constants(tree, values)
    wrong = [name for name, times in counts.items() if times != 1]
    if wrong:
        print(f"{script}: not assigned exactly once: {', '.join(wrong)}", file=sys.stderr)
        sys.exit(2)
    sys.argv = [script, *arguments]
    sys.path[0] = str(path.resolve().parent)
    module = sys.modules["__main__"]
    module.__dict__.update(__file__=script, __spec__=None, __name__="__main__")
    exec(compile(tree, script, "exec"), module.__dict__)


if __name__ == "__main__":
    main(sys.argv[1:])
