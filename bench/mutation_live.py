"""Of bench/mutation.py: what lives in this process, and tasks in forks of it."""

from __future__ import annotations

import contextlib
import functools
import gc
import json
import os
import resource
import select
import signal
from collections import defaultdict
from types import CodeType, FunctionType
from typing import Any

import pytest

LONGEST_S = 1800.0  # by the clock


def caches() -> list[Any]:
    """Functions under `functools.cache`, ours and the tests'."""
    return [
        one
        for one in gc.get_objects()
        if isinstance(one, functools._lru_cache_wrapper)
        and str(getattr(one, "__module__", "")).startswith(("tunewright", "tests"))
    ]


def clear(wrappers: list[Any]) -> None:
    """Forget what they returned."""
    for one in wrappers:
        one.cache_clear()


def live_functions(files: set[str]) -> dict[str, list[FunctionType]]:
    """Every function of these files."""
    found: dict[str, list[FunctionType]] = defaultdict(list)
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and one.__code__.co_filename in files:
            found[one.__code__.co_filename].append(one)
    return found


def without_shrinking(items: list[pytest.Item]) -> None:
    """Hypothesis: the same examples every time, and none made smaller after a failure."""
    from hypothesis import Phase, settings

    for item in items:
        test = getattr(item, "obj", None)
        known = getattr(test, "_hypothesis_internal_use_settings", None)
        if known is not None:
            target = getattr(test, "__func__", test)
            target._hypothesis_internal_use_settings = settings(
                known,
                derandomize=True,
                database=None,
                phases=[Phase.explicit, Phase.generate],
            )


def codes(code: CodeType) -> list[tuple[tuple[str, int], CodeType]]:
    """All code objects in a module."""
    found = [((code.co_qualname, code.co_firstlineno), code)]
    for one in code.co_consts:
        if isinstance(one, CodeType):
            found += codes(one)
    return found


def in_a_fork(task: Any, limit_s: float) -> str | None:
    """Run a task in a fork, for so many CPU seconds; its answer."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CPU, (round(limit_s), round(limit_s) + 1))
        os.close(reading)
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        try:
            os.write(writing, json.dumps(task()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    answer = os.read(reading, 100_000) if select.select([reading], [], [], LONGEST_S)[0] else b""
    os.close(reading)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)
    return json.loads(answer) if answer else "time or death"
