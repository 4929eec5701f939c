"""Names that state nothing, per folder: `python bench/house_names.py [folder] [--places]`.

Counted are the names that a file introduces: variables, arguments, fields, functions and classes. A
name like `found` or `one` sends the reader to the line that made it, and a function whose name is a
past participle (`climbed`) reads as data. `docs/design.md` has what to write instead.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

# as a whole name: it says that something exists, not what it is
EMPTY = {
    *("found", "own", "said", "told", "made", "one", "ones", "thing", "things", "stuff"),
    *("asked", "shown", "begun", "gone", "tells", "says"),
}
# as a word of a name: the glossary has the field's own term
QUAINT = {
    *("luck", "lucky", "wish", "wishes", "settled", "heed", "heeded", "mend", "mended"),
    "undertaking",
}
_IRREGULAR = {
    *("begun", "bound", "bought", "brought", "built", "chosen", "drawn", "done", "fed"),
    *("felt", "found", "given", "gone", "grown", "heard", "held", "hidden", "kept", "known"),
    *("laid", "learnt", "left", "lost", "made", "meant", "met", "paid", "put", "read", "said"),
    *("seen", "sent", "shown", "split", "spread", "stood", "taken", "told", "torn"),
    *("understood", "won", "worn", "written"),
}
_NOT_PARTICIPLES = {
    *("need", "speed", "seed", "feed", "embed", "shed", "bed", "red", "led", "based"),
    *("shared", "nested", "unbounded", "fixed", "pooled", "packed", "read", "split", "spread"),
    *("bound", "left", "hundred"),
}


def words(name: str) -> list[str]:
    """The words of a name in either case.

    >>> words("_last_seen"), words("LaunchTerms")
    (['last', 'seen'], ['launch', 'terms'])
    """
    spaced = "".join(f" {c.lower()}" if c.isupper() else c for c in name)
    return spaced.replace("_", " ").split() if not name.isupper() else name.lower().split("_")


def is_quaint(name: str) -> bool:
    """Whether a name states nothing, or has a word that the glossary replaces."""
    return name.strip("_").lower() in EMPTY or not QUAINT.isdisjoint(words(name))


def is_participle(name: str) -> bool:
    """Whether a function's name begins with a past participle, as a value's name would.

    >>> [name for name in ("climbed", "_drawn_rows", "seed", "climb") if is_participle(name)]
    ['climbed', '_drawn_rows']
    """
    first = next(iter(words(name)), "")
    return first not in _NOT_PARTICIPLES and (first in _IRREGULAR or first.endswith("ed"))


def introduced(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The line and name of everything that a file names, once for each place that does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def _answers_yes_or_no(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return isinstance(node.returns, ast.Name) and node.returns.id in ("bool", "TypeGuard")


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    named = {
        d.attr if isinstance(d, ast.Attribute) else getattr(d, "id", "")
        for d in node.decorator_list
    }
    return not named.isdisjoint({"property", "cached_property", "setter"})


def participle_functions(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Functions and methods, properties left out, that are named like a value."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if is_participle(node.name) and not _is_property(node) and not _answers_yes_or_no(node):
            yield node.lineno, node.name


def places(path: Path) -> list[tuple[int, str]]:
    """Where a file introduces a name that should be another."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    empty = [(line, name) for line, name in introduced(tree) if is_quaint(name)]
    return sorted({*empty, *participle_functions(tree)})


def by_folder(source: Path) -> dict[str, Counter[str]]:
    """How often each folder of a source tree introduces such a name; "" is its top level."""
    counts: dict[str, Counter[str]] = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).parts
        folder = parts[0] if len(parts) > 1 else ""
        counts.setdefault(folder, Counter()).update(name for _, name in places(path))
    return counts


def main(arguments: list[str]) -> None:
    """Print the counts of each folder, and with --places every line of one."""
    folders = [argument for argument in arguments if not argument.startswith("--")]
    source = Path(folders[0] if folders else "src/tunewright")
    if "--places" in arguments:
        for path in sorted(source.rglob("*.py")):
            for line, name in places(path):
                print(f"{path}:{line}: {name}")
    total = 0
    for folder, counts in by_folder(source).items():
        total += counts.total()
        common = ", ".join(f"{name} {count}" for name, count in counts.most_common(6))
        print(f"{folder or '.':14} {counts.total():5}  {common}")
    print(f"{'all':14} {total:5}")


if __name__ == "__main__":
    main(sys.argv[1:])
