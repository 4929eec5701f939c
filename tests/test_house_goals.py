"""A rule of the house as a test: the goals of generated rounds are messages, not text."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from bench.house import goals_in_words

SOURCE = Path(__file__).parent.parent / "src" / "tunewright"
FILES = sorted(SOURCE.rglob("*.py"))
# Problems for those who test a search of their own: a user's rounds.
USERS_ROUNDS = {"testing/search_contract.py"}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_no_goal_is_put_into_words_outside_messages(path: Path) -> None:
    name = path.relative_to(SOURCE).as_posix()
    if not name.startswith("messages/") and name not in USERS_ROUNDS:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert goals_in_words(tree) == 0, 'give goal=Message("goal....", facts)'


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("Round('r', goal=f'imported from {origin}')", 1),
        ("replace(round, goal='Which is best?')", 1),
        ("Round('r', goal='Which ' + name)", 1),
        ("goal = 'Is it better?'", 1),
        ("GOAL = 'Is it better?'", 1),
        ("run_equal('clip', f'Is {rate} stable?', workload)", 1),
        ("run_listed('clip', 'Is it stable?', workload)", 1),
        ("Round('r', goal=Message('goal.tune'))", 0),
        ("Round('r', goal=campaign.space.goal)", 0),
        ("run_equal('clip', Message('goal.clip', {'rate': rate}), workload)", 0),
    ],
)
def test_a_goal_in_words_is_seen(line: str, seen: int) -> None:
    assert goals_in_words(ast.parse(f"def made(rate, name):\n    {line}\n")) == seen
