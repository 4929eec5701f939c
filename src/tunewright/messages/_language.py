"""The language that readers get: chosen by a call, by TUNEWRIGHT_LANG, or by the locale."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterator
from types import ModuleType

LANGUAGES = ("en", "zh")
VARIABLE = "TUNEWRIGHT_LANG"
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")  # in the order that POSIX gives them
_chosen: list[str] = []  # by calls; the last one counts, in every thread


def language() -> str:
    """The language of every sentence that is made now.

    >>> with read_in("zh"):
    ...     language()
    'zh'
    """
    return _chosen[-1] if _chosen else from_environment(os.environ)


def from_environment(variables: os._Environ[str] | dict[str, str]) -> str:
    """The language that environment variables ask for; English where they name no other of ours.

    >>> from_environment({"LANG": "zh_CN.UTF-8"}), from_environment({"LANG": "de_DE.UTF-8"})
    ('zh', 'en')
    >>> from_environment({"LANG": "zh_CN.UTF-8", "TUNEWRIGHT_LANG": "en"})
    'en'
    """
    for variable in (VARIABLE, *_LOCALE):
        if name := variables.get(variable):
            return language_named(name) or "en"
    return "en"


def language_named(name: str) -> str | None:
    """The language that a name means, as users and locales write it; None for one we lack.

    >>> [language_named(name) for name in ("zh-CN", "zh_TW.UTF-8", "EN", "fr")]
    ['zh', 'zh', 'en', None]
    """
    short = name.replace("-", "_").partition("_")[0].partition(".")[0].lower()
    return short if short in LANGUAGES else None


@contextlib.contextmanager
def read_in(language: str) -> Iterator[None]:
    """Make every sentence of this process in a language of ours.

    >>> from tunewright.messages import Message
    >>> with read_in("en"):
    ...     Message("objective.never_logged", {"metric": "valid_error"}).text
    'the objective valid_error was never logged'
    """
    _chosen.append(language)
    try:
        yield
    finally:
        _chosen.pop()


def catalogue() -> ModuleType:
    """The sentences of the language in use."""
    return importlib.import_module(f"tunewright.messages.{language()}")
