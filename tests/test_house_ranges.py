"""A rule of the house as a test: nobody outside design/ asks which kind a range is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from bench.house import range_tests

SOURCE = Path(__file__).parent.parent / "src" / "tunewright"
FILES = sorted(SOURCE.rglob("*.py"))
# They ask which schedule a learning rate has, one of which is called Linear too.
KNOW_SCHEDULES = {"advice/extend.py"}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_nobody_asks_which_kind_a_range_is(path: Path) -> None:
    """Outside design/ a range is asked what it knows of itself, so that a new kind works."""
    name = path.relative_to(SOURCE).as_posix()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if not name.startswith("design/") and name not in KNOW_SCHEDULES:
        assert range_tests(tree) == 0, "ask the range: count, choices, scale, ends, ordered"


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("isinstance(own, Choice)", 1),
        ("isinstance(own, Log | Linear)", 1),
        ("isinstance(own, ranges.Integers)", 1),
        ("type(own) is LogFromOne", 1),
        ("isinstance(own, PowersOfTwo)", 1),
        ("match own:\n        case Choice(values):\n            pass", 1),
        ("isinstance(own, Range)", 0),
    ],
)
def test_asking_for_the_kind_of_a_range_is_seen(line: str, seen: int) -> None:
    assert range_tests(ast.parse(f"def look(own):\n    {line}\n")) == seen
