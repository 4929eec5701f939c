"""Options that are constants of the program's file, such as nanoGPT's and autoresearch's.

A file that executes its command line (`exec(open("configurator.py").read())`) takes `--name=value`
for each constant above that line. Other constants are replaced by `with_values` when it starts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tunewright.project.programs.declared import UNKNOWN, Declared, Source, kind_of
from tunewright.project.programs.literals import assigned, dotted, value_of

_HOLDER = re.compile(r"hyper|config|args|settings|params", re.IGNORECASE)  # of constants: a class
_MACHINERY = re.compile(r"^(_|[A-Z]$)")


def overridden(source: Source) -> list[Declared]:
    """The constants that the file's own command line overrides, nanoGPT's way; none if it has none.

    The file either executes another one, or loops over `sys.argv` and sets `globals()`.
    """
    at = next((n for n, node in enumerate(source.tree.body) if _overrides(node)), None)
    if at is None:
        return []
    found: dict[str, Declared] = {}
    for node in source.tree.body[:at]:
        for name, value in assigned(node):
            own = value_of(value, source.constants)
            if name.startswith("_") or isinstance(own, list) or own is None:
                continue
            known = own is not UNKNOWN
            plain = own if known else None
            if known or isinstance(value, ast.IfExp):
                made = Declared(name, f"--{name}", kind_of(plain), plain, known, line=node.lineno)
                found[name] = source.remarked(made)
    return list(found.values())


def module_options(source: Source) -> list[Declared]:
    """The constants of a program without a command line: of its module, and of a settings class."""
    found: dict[str, Declared] = {}
    counted = _changed_later(source)
    for node in source.tree.body:
        for name, value in assigned(node):
            own = value_of(value, source.constants)
            if own is UNKNOWN or own is None or _MACHINERY.match(name) or name in counted:
                continue
            if name in found:
                found.pop(name)  # set twice: which one counts is not known
                continue
            made = Declared(name, name, kind_of(own), own, line=node.lineno)
            found[name] = source.remarked(made)
    for holder in _holders(source):
        for statement in holder.body:
            for name, value in assigned(statement):
                own = value_of(value, source.constants)
                if own is UNKNOWN or own is None:
                    continue
                full = f"{holder.name}.{name}"
                made = Declared(full, full, kind_of(own), own, line=statement.lineno)
                found[full] = source.remarked(made)
    return list(found.values())


def _changed_later(source: Source) -> set[str]:
    """The names that a loop, a branch or a function changes: counters and sums, no settings."""
    found: set[str] = set()
    for statement in source.tree.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                found.add(node.target.id)
            elif isinstance(node, ast.Global):
                found.update(node.names)
            elif isinstance(node, ast.For | ast.While) and node in source.tree.body:
                stored = (one for one in ast.walk(node) if isinstance(one, ast.Name))
                found.update(one.id for one in stored if isinstance(one.ctx, ast.Store))
    return found


def seeds_in_code(source: Source) -> list[int]:
    """The lines that seed a generator with a plain number, which no option changes."""
    found = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and node.args:
            called = dotted(node.func).rpartition(".")[2]
            seeds = called in ("manual_seed", "seed", "seed_everything", "set_seed", "PRNGKey")
            if seeds and isinstance(value_of(node.args[0]), int):
                found.append(node.lineno)
    return found


def _overrides(node: ast.stmt) -> bool:
    """Whether a statement lets the command line set globals."""
    text = ""
    for one in ast.walk(node):
        if isinstance(one, ast.Call) and dotted(one.func) == "exec":
            text = ast.unparse(one)
            if "open(" in text or "read" in text:
                return True
    if isinstance(node, ast.For):
        text = ast.unparse(node)
        return "sys.argv" in text and "globals()[" in text
    return False


def _holders(source: Source) -> Iterator[ast.ClassDef]:
    """The classes whose defaults are the settings: named so, and made without arguments."""
    made = {
        dotted(node.func)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and not node.args and not node.keywords
    }
    for node in source.tree.body:
        if isinstance(node, ast.ClassDef) and node.name in made and _HOLDER.search(node.name):
            yield node
