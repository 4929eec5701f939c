"""Which source files is a training program made of? Their hashes, tracked by git or not.

The module of the training function, or the scripts that a command names, and what they import from
the working folder, found by reading the import statements. A Python file is hashed by its syntax
tree: comments and layout are no change of the program.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

from tunewright.execution.command import Command
from tunewright.execution.workload import Train

MOST = 500  # files that are read
LARGEST = 2_000_000  # bytes of one
_OURS = Path(__file__).parent.parent  # this package, which provenance has by its version
FUNCTION = "the training function"  # its entry where it has no file, as in a notebook


def sources(train: Train | Command, folder: Path | None = None) -> dict[str, str]:
    """The program's own files, relative to the working folder -> a hash of what they do."""
    here = (Path.cwd() if folder is None else folder).resolve()
    hashes: dict[str, str] = {}
    waiting = list(_scripts(train, here) if isinstance(train, Command) else _module(train, here))
    seen = set(waiting)
    while waiting and len(hashes) < MOST:
        path = waiting.pop(0)
        text = _read(path)
        if text is None:
            continue
        tree = _tree(text) if path.suffix == ".py" else None
        hashes[path.relative_to(here).as_posix()] = _hash(text if tree is None else ast.dump(tree))
        for more in () if tree is None else _imports(tree, path, here):
            if more not in seen:
                seen.add(more)
                waiting.append(more)
    if not hashes and not isinstance(train, Command):
        hashes = _without_file(train)
    return dict(sorted(hashes.items()))


def _module(train: Train, here: Path) -> Iterator[Path]:
    """The file of a training function, if it lies in the working folder."""
    module = sys.modules.get(getattr(inspect.unwrap(train), "__module__", None) or "")
    file = getattr(module, "__file__", None)
    if file and _is_own(path := Path(file).resolve(), here):
        yield path


def _without_file(train: Train) -> dict[str, str]:
    try:
        text = inspect.getsource(train)
    except (OSError, TypeError):
        return {}
    return {FUNCTION: _hash(text)}


def _scripts(command: Command, here: Path) -> Iterator[Path]:
    """The files that a command names: `train.py`, `./train.sh`, `-m package.module`."""
    words = [word.texts[0] for word in command.words if not word.fields]
    for before, word in zip(["", *words], words, strict=False):
        places = _places(word, here) if before == "-m" else [here / word]
        for place in places:
            if place.is_file() and _is_own(path := place.resolve(), here):
                yield path


def _imports(tree: ast.Module, path: Path, here: Path) -> Iterator[Path]:
    """The files under the working folder that import statements name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            wanted = [(alias.name, 0) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            names = [base, *(f"{base}.{a.name}".strip(".") for a in node.names)]
            wanted = [(name, node.level) for name in names]
        else:
            continue
        for name, level in wanted:
            roots = [path.parents[level - 1]] if level else [path.parent, here, here / "src"]
            for place in (place for root in roots for place in _places(name, root)):
                if place.is_file() and _is_own(file := place.resolve(), here):
                    yield file


def _places(name: str, root: Path) -> Iterator[Path]:
    """Where a module and the packages around it may lie."""
    parts = [part for part in name.split(".") if part]
    for many in range(1, len(parts) + 1):
        place = root.joinpath(*parts[:many])
        yield place / "__init__.py"
        if many == len(parts):
            yield place.with_name(place.name + ".py")


def _is_own(path: Path, here: Path) -> bool:
    """Whether a file belongs to the user's program: not this package, not an installed one."""
    installed = {"site-packages", "dist-packages"} & set(path.parts)
    return path.is_relative_to(here) and not path.is_relative_to(_OURS) and not installed


def _read(path: Path) -> str | None:
    try:
        if path.stat().st_size > LARGEST:
            return None
        return path.read_bytes().decode("utf-8", "backslashreplace")
    except OSError:
        return None


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
