"""Dry runs state the cost, as a range with its basis; what trained states what it spent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.cli.small_project import Tunewright

import tunewright as tw
from tunewright.cli._verbs import FAMILIES, load_verb
from tunewright.messages import Message

LONG = "max_train_steps = 20"


def test_an_unknown_cost_is_measured_when_asked(tunewright: Tunewright, project: Path) -> None:
    unknown = tunewright("run", "layers", "--dry-run", "--json").data["cost"]
    assert (unknown["hours"], unknown["basis"]) == (None, "unknown")
    asked = ("run", "layers", "--dry-run", "--measure", "--on", "inline", "--price", "2.5 EUR")
    known = tunewright(*asked, "--json").data["cost"]
    assert (known["basis"], known["trainings"]) == ("measured", [8, 8])
    assert 0 < known["hours"][0] <= known["hours"][1]
    assert known["money"] == pytest.approx([2.5 * hours for hours in known["hours"]])
    assert known["price"] == {"per_hour": 2.5, "currency": "EUR"}
    answer = tunewright(*asked)
    assert "measuring: trains one configuration for 1, 3 of 20" in answer.err
    assert "EUR (foretold from a short training)" in answer.out
    assert not (project / "tuning.db").exists(), "the short training is thrown away"


def test_the_short_training_passes_the_gate(tunewright: Tunewright, project: Path) -> None:
    assert tunewright("budget", "set", "--trials", "3").code == 0
    asked = ("run", "layers", "--dry-run", "--measure", "--on", "inline")
    answer = tunewright(*asked)
    assert answer.code == 0 and "more than the budget has left: 1 trial" in answer.out, answer.out
    assert tunewright("budget", "show", "--json").data["left"] == {"trials": 1}
    assert tunewright(*asked).code == 15, "one is left, and two are needed"


def test_a_price_is_refused_unless_it_is_one(tunewright: Tunewright, ran: Path) -> None:
    for command in (("run", "layers"), ("repeat", "layers"), ("tune",), ("launch", "layers")):
        error = tunewright(*command, "--dry-run", "--price", "cheap", "--json").error
        assert error["code"] == "budget.bad_price", command
        assert "--price 2.5" in tunewright(*command, "--dry-run", "--price", "cheap").err
    assert tunewright("probe", "stability", "--price", "-2", "--dry-run").code == 2


def test_measuring_is_for_dry_runs(tunewright: Tunewright, ran: Path) -> None:
    for command in (("run", "layers"), ("tune",), ("probe", "warmup", "layers")):
        error = tunewright(*command, "--measure", "--json").error
        assert error["code"] == "cost.only_dry_run", command


@pytest.mark.parametrize(
    "command",
    [
        ("run", "layers", "--trials", "9"),
        ("repeat", "layers", "--times", "3"),
        ("tune", "layers", "--trials", "40"),
        ("probe", "stability", "layers"),
        ("probe", "train-steps", "layers"),
        ("probe", "critical-batch", "layers", "--sizes", "16,32"),
    ],
)
def test_every_dry_run_states_hours_and_money_and_trains_nothing(
    command: tuple[str, ...], tunewright: Tunewright, ran: Path
) -> None:
    before = tw.load(ran / "tuning.db", "layers")
    asked = (*command, "--dry-run", "--price", "3 CHF")
    cost = tunewright(*asked, "--json").data["cost"]
    assert cost["trainings"][1] >= cost["trainings"][0] > 0
    low, high = cost["hours"]
    assert 0 < low <= high and cost["money"] == pytest.approx([3 * low, 3 * high])
    answer = tunewright(*asked)
    assert answer.code == 0 and "CHF" in answer.out and "judged by" in answer.out
    after = tw.load(ran / "tuning.db", "layers")
    assert after.counts == before.counts and not after.recorded_repeats
    assert [row.name for row in tw.stores.rounds(ran / "tuning.db")] == ["layers"]


def test_a_launch_states_its_cost(tunewright: Tunewright, ran: Path) -> None:
    data = tunewright("launch", "layers", "--dry-run", "--price", "2", "--json").data
    cost = data["plan"]["cost"]
    assert cost["trainings"] == data["plan"]["runs"] == [6, 40]
    assert cost["money"] == pytest.approx([2 * hours for hours in cost["hours"]])
    assert "6 to 40 trainings" in tunewright("launch", "layers", "--dry-run").out


def test_what_trained_and_what_shows_states_spent_and_left(
    tunewright: Tunewright, project: Path
) -> None:
    limits = ("--trials", "30", "--price-per-hour", "7", "--currency", "EUR")
    assert tunewright("budget", "set", *limits).code == 0
    first = tunewright("run", "layers", "--on", "inline", "--trials", "2")
    assert "spent: 4 trainings, " in first.out and "left of the budget: 26 trials" in first.out
    assert "EUR" in first.out
    shown = tunewright("show", "layers")
    assert "spent: 4 trainings, " in shown.out and "EUR" in shown.out
    data: Any = tunewright("show", "layers", "--json").data["spending"]
    assert data["spent"]["trials"] == 4 and data["budget"]["left"] == {"trials": 26}
    assert data["spent"]["money"] == pytest.approx(7 * data["spent"]["hours"])
    more = tunewright("repeat", "layers", "--times", "2", "--on", "inline")
    assert "spent: 6 trainings, " in more.out, more.out
    assert tunewright("report", "layers", "--out", "r.html").code == 0
    page = (project / "r.html").read_text()
    assert "spent: 6 trainings, " in page and "left of the budget: 24 trials" in page


def test_another_length_is_allowed_by_an_option_that_the_program_has() -> None:
    """The sentence that refuses a launch names an option: it is one of the command's."""
    facts = {"candidate": 100, "baseline": 50}
    sentence = str(Message("launch.different_lengths", facts).text_for("shell"))
    verb = next(one for own in FAMILIES.values() for one in own if one.name == "launch")
    options = {word for parameter in load_verb(verb).params for word in parameter.opts}
    named = {word.strip(".,") for word in sentence.split() if word.startswith("--")}
    assert named == {"--any-length"} and named <= options
    assert "any_length=True" in str(Message("launch.different_lengths", facts))
