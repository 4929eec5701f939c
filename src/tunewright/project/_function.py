"""The function that `train.py:train` or `package.module:train` names.

It is imported as a module by its own name, so that worker processes can import it again.
"""

from __future__ import annotations

import difflib
import importlib
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from tunewright.actions import Advise
from tunewright.errors import Misuse
from tunewright.messages import Message


def find_function(named: str, folder: Path) -> Callable[..., Any]:
    """The function of `file.py:name` (below the project's folder) or `module:name`."""
    place, colon, name = named.rpartition(":")
    if not colon or not place or not name.isidentifier():
        raise Misuse("function.bad_name", named=named, remedy=Advise("name_function"))
    path = folder / place
    module = _from_file(path) if place.endswith(".py") else _by_name(place, folder)
    found = getattr(module, name, None)
    if found is None:
        callables = [n for n, v in vars(module).items() if callable(v) and not n.startswith("_")]
        near = difflib.get_close_matches(name, callables, n=1)
        raise Misuse(
            "function.not_found",
            place=place,
            name=name,
            where=str(getattr(module, "__file__", place)),
            remedy=(
                Advise("did_you_mean", {"name": near[0]})
                if near
                else Advise("choose_among", {"names": callables})
            ),
        )
    if not callable(found):
        raise Misuse("function.not_a_function", named=named, found=found, where=str(path))
    function: Callable[..., Any] = found
    return function


def _from_file(path: Path) -> ModuleType:
    path = path.resolve()
    if not path.is_file():
        nearby = [p.name for p in path.parent.glob("*.py")] if path.parent.is_dir() else []
        near = difflib.get_close_matches(path.name, nearby, n=1)
        raise Misuse(
            "function.file_missing",
            path=path,
            cause=Message("function.file_stands"),
            remedy=Advise("did_you_mean", {"name": near[0]}) if near else None,
        )
    name = path.stem
    if not name.isidentifier() or name in sys.stdlib_module_names:
        raise Misuse(
            "function.bad_file_name",
            path=path.name,
            cause=Message("function.imported_again"),
            remedy=Advise("rename_file", {"name": f"train_{name.replace('-', '_')}.py"}),
        )
    if str(path.parent) in sys.path:
        sys.path.remove(str(path.parent))
    sys.path.insert(0, str(path.parent))  # before another project with a file of the same name
    loaded = sys.modules.get(name)
    if loaded is not None and Path(getattr(loaded, "__file__", None) or "").resolve() != path:
        del sys.modules[name]
    module = _imported(name)
    found = Path(module.__file__ or "").resolve()
    if found != path:
        raise Misuse("function.hidden", path=path.name, where=str(found))
    return module


def _by_name(name: str, folder: Path) -> ModuleType:
    if str(folder.resolve()) not in sys.path:
        sys.path.insert(0, str(folder.resolve()))
    return _imported(name)


def _imported(name: str) -> ModuleType:
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # whatever the file does when it is imported
        frames = traceback.extract_tb(error.__traceback__)
        theirs = [f for f in frames if "importlib" not in f.filename and f.filename != __file__]
        own = theirs or frames
        ends = isinstance(error, SystemExit)  # where it asks for its arguments, not in argparse
        last = own[0 if ends else -1]
        missing = isinstance(error, ModuleNotFoundError) and error.name == name
        raise Misuse(
            "function.import_failed",
            name=name,
            kind=type(error).__name__,
            error=error,
            where="" if missing else f"{last.filename}:{last.lineno}",
            cause=Message("function.ends_on_import") if ends else None,
            remedy=Advise("check_name_and_folder") if missing else None,
        ) from error
