"""`tunewright budget`, and every command that trains."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.small_project import Tunewright

import tunewright as tw

pytestmark = pytest.mark.beyond_core  # it trains
INLINE = ("--on", "inline")


def test_show_and_set(project: Path, tunewright: Tunewright) -> None:
    assert tunewright("budget", "show", "--json").data == {"budget": None}
    assert tunewright("budget", "set", "--json").error["code"] == "budget.nothing_to_set"
    made = tunewright("budget", "set", "--trials", "5", "--json").data
    assert made["left"] == {"trials": 5} and made["budget"]["since"] > 0
    python = tw.budgets.state(project / "tuning.db", project / "budget.toml")
    assert python is not None and python.left == {"trials": 5}


def test_raising_it_needs_a_confirmation(project: Path, tunewright: Tunewright) -> None:
    tunewright("budget", "set", "--trials", "5", "--hours", "1")
    refused = tunewright("budget", "set", "--trials", "6", "--json")
    assert refused.code == 2 and refused.error["code"] == "budget.not_confirmed"
    assert tunewright("budget", "set", "--restart", "--json").code == 2, (
        "that forgets what is spent"
    )
    assert tw.budgets.read(project / "budget.toml").trials == 5
    assert tunewright("budget", "set", "--trials", "4").code == 0
    assert tunewright("budget", "set", "--trials", "6", "--yes").code == 0
    found = tw.budgets.read(project / "budget.toml")
    assert (found.trials, found.hours) == (6, 1)


def test_a_run_within_the_budget_states_its_cost(project: Path, tunewright: Tunewright) -> None:
    tunewright("budget", "set", "--trials", "20")
    ran = tunewright("run", "layers", *INLINE, "--json")
    assert ran.code == 0 and ran.data["budget"]["left"] == {"trials": 12}
    assert "0 of 20 trials spent before this" in ran.err
    assert "8 of 20 trials spent now" in ran.err


@pytest.mark.parametrize(
    "command",
    [
        ("run", "more", *INLINE),
        ("repeat", "layers", *INLINE),
        ("tune", "space", "--trials", "40", *INLINE),
        ("launch", "layers", *INLINE),
        ("probe", "stability", "layers"),
        ("worker", "more"),
        ("again", "layers", "1"),
    ],
    ids=lambda words: words[0],
)
def test_every_command_that_trains_passes_the_gate(
    ran: Path, tunewright: Tunewright, command: tuple[str, ...]
) -> None:
    text = (ran / "rounds" / "layers.toml").read_text()
    (ran / "rounds" / "more.toml").write_text(text)
    space = text.replace("[scientific]\nlayers = [1, 2]\n", "")
    (ran / "rounds" / "space.toml").write_text(space)
    if command[0] == "worker":  # somebody has begun the round
        (ran / "budget.toml").write_text("trials = 9\n")
        assert tunewright("run", "more", *INLINE).code == 15
    (ran / "budget.toml").write_text("trials = 0\n")
    before = len(tw.load(ran / "tuning.db", "layers").trials)
    refused = tunewright(*command, "--json")
    assert refused.code == 15, (refused.out, refused.err)
    assert refused.error["refusal"] == "budget_spent"
    assert refused.error["remedy"]["argv"] == ["tunewright", "budget", "set"]
    assert len(tw.load(ran / "tuning.db", "layers").trials) == before
