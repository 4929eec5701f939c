"""The goal of a generated round is a message: stored as facts, read back, put into words late."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.problems import codes

from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.design.round_file import as_data, from_data, read_round, write_round
from tunewright.errors import DesignError
from tunewright.messages import Message

GOAL = Message("goal.split", {"round": "depth", "trial": 3})
SPLIT = Round("r", goal=GOAL, nuisance={"lr": log(0.1, 1)}, trials_per_study=4)


def test_the_facts_of_a_generated_goal_are_stored_and_read_back() -> None:
    data = json.loads(json.dumps(as_data(SPLIT)))
    assert data["goal"] == {"code": "goal.split", "round": "depth", "trial": 3}
    assert from_data(data) == SPLIT and from_data(data).goal == GOAL


def test_a_round_file_gives_a_generated_goal_back(tmp_path: Path) -> None:
    write_round(SPLIT, tmp_path / "r.toml")
    assert read_round(tmp_path / "r.toml") == SPLIT


def test_a_goal_that_was_stored_as_text_stays_text() -> None:
    """A store of an earlier version has the sentence itself."""
    data = {**as_data(SPLIT), "goal": "How much of trial 3 of depth is the data split?"}
    old = from_data(data)
    assert old.goal == data["goal"] == str(GOAL)
    assert old.asks == SPLIT.asks and repr(old) == repr(SPLIT)


def test_readers_see_the_sentence_with_the_change() -> None:
    change = Message("change.wider", {"names": ["lr"]})
    assert replace(SPLIT, change=change).asks == f"{GOAL} [{change}]"
    assert str(GOAL) in SPLIT._repr_html_()


@pytest.mark.parametrize(
    "goal", [Message("no.such.code"), Message("goal.split", {"round": "depth"})]
)
def test_a_goal_without_a_sentence_is_refused(goal: Message) -> None:
    with pytest.raises(DesignError) as caught:
        replace(SPLIT, goal=goal)
    assert codes(caught.value) == ["round.bad_goal"]
