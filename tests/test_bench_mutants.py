"""Mutants of bench/mutants.py: each changes one place, compiles, and is found where it says."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from bench.mutants import mutants, mutated

SOURCE = '''"""A module."""
from __future__ import annotations

LIMIT: int = 3


def chosen(values: list[int], strict: bool = True) -> list[int]:
    """Values below the limit."""
    if not values and strict:
        raise ValueError("none")
    return [v - 1 for v in values if v < LIMIT]
'''


def changes(kind: str) -> list[tuple[str, str]]:
    return [(one.before, one.after) for one in mutants(SOURCE) if one.kind == kind]


def test_the_kinds_of_changes() -> None:
    assert changes("comparison") == [("v < LIMIT", "v <= LIMIT"), ("v < LIMIT", "v >= LIMIT")]
    assert changes("arithmetic") == [("v - 1", "v + 1")]
    assert changes("number") == [("3", "4"), ("1", "2")]
    assert changes("truth") == [("True", "False")]
    assert changes("text") == [("'none'", "'noneXX'")]
    assert changes("boolean") == [
        ("not values and strict", "not values or strict"),
        ("not values", "values"),
    ]
    assert ("raise ValueError('none')", "pass") in changes("statement")
    assert len(changes("condition")) == 2 and len(changes("return")) == 1


def test_what_runs_on_import_is_told_from_what_a_function_runs() -> None:
    within = {(one.before, one.within) for one in mutants(SOURCE)}
    assert ("3", "") in within and ("True", "") in within
    assert ("1", "chosen") in within


@pytest.mark.parametrize("file", ["stats/gain.py", "launches/decide.py", "checks/boundary.py"])
def test_every_mutant_is_one_program_that_differs(file: str) -> None:
    text = (Path(__file__).parents[1] / "src" / "tunewright" / file).read_text(encoding="utf-8")
    original = ast.unparse(ast.parse(text))
    lines = len(text.splitlines())
    for one in mutants(text)[::7]:
        changed = mutated(text, one)
        compile(changed, file, "exec")
        assert ast.unparse(changed) != original, one
        assert 0 < one.first <= one.line <= max(one.last, one.line) <= lines
