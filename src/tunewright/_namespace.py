"""Lazy namespaces: the public names of a module, each imported when it is first used.

A package lists where its public names live and calls `offer`. Importing the package then imports
none of them, and a public function hides the submodule of the same name (`launches.variance`).
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any


def offer(
    module: str,
    homes: Mapping[str, Sequence[str]],
    modules: Mapping[str, str] | None = None,
    moved: Mapping[str, str] | None = None,
) -> None:
    """Give a module its public names, looked up when they are first used.

    They are its `__all__` too, unless it has one.

    Args:
        module: the module's `__name__`; it is already in `sys.modules`.
        homes: path of a module below `tunewright` -> the names that it defines.
        modules: name -> path of a whole module below `tunewright`.
        moved: name of an earlier version -> what to write now, for the error.

    >>> import tunewright as tw
    >>> tw.search.Halton.__module__
    'tunewright.search.halton'
    >>> tw.Halton
    Traceback (most recent call last):
        ...
    AttributeError: module 'tunewright' has no 'Halton'. Use tw.search.Halton.
    """
    home = {name: path for path, names in homes.items() for name in names}
    whole = modules or {}
    earlier = moved or {}

    class Namespace(ModuleType):
        """A module whose public names are imported when they are first used."""

        def __getattr__(self, name: str) -> Any:
            if name in whole:
                value: Any = importlib.import_module(f"tunewright.{whole[name]}")
            elif name in home:
                value = getattr(importlib.import_module(f"tunewright.{home[name]}"), name)
            else:
                raise AttributeError(f"module {module!r} has no {name!r}.{_hint(name)}")
            setattr(self, name, value)
            return value

        def __setattr__(self, name: str, value: object) -> None:
            # Python's import puts every module that it has loaded into its package
            if not (name in home and isinstance(value, ModuleType)):
                super().__setattr__(name, value)

        def __dir__(self) -> list[str]:
            return sorted({*super().__dir__(), *home, *whole})

    def _hint(name: str) -> str:
        if name in earlier:
            return f" Use {earlier[name]}."
        if name.startswith("__"):  # inspection asks for many of these
            return ""
        import difflib

        near = difflib.get_close_matches(name, [*home, *whole], n=1)
        return f" Did you mean {near[0]!r}?" if near else ""

    namespace = sys.modules[module]
    if not hasattr(namespace, "__all__"):
        namespace.__all__ = sorted(home)  # type: ignore[attr-defined]
    namespace.__class__ = Namespace
