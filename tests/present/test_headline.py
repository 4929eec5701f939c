"""The answer in the first line: yes or no only where that is plain, and how sure it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import tunewright as tw
from tunewright.checks.checklist import check
from tunewright.design.names import Meaning
from tunewright.design.study import Study
from tunewright.messages import Message
from tunewright.present.answer import asks_for_gain, headline
from tunewright.store.results import Results
from tunewright.testing.surfaces import Bowl
from tunewright.testing.worlds import World, results

MOST_WORDS = 12


def answered(
    effect: Callable[[Study], float],
    goal: str = "Does dropout lower the validation loss?",
    trials: int = 9,
    values: tuple[float, ...] = (0.0, 0.2),
    meaning: Meaning | None = None,
) -> Message:
    round = tw.Round(
        "dropout",
        goal=goal,
        scientific={"dropout": list(values)},
        nuisance={"lr": tw.log(1e-4, 1e-1)},
        trials_per_study=trials,
    )
    made = results(round, World(Bowl({"lr": 0.5}), effect=effect, noise_sd=0.003))
    made = replace(made, meaning=meaning or Meaning())
    said = headline(made, check(made))
    assert len(said.text.split()) <= MOST_WORDS, said.text
    return said


def test_the_setting_that_is_off_is_ahead() -> None:
    said = answered(lambda study: 0.08 * study.number)
    assert said.code == "headline.ahead"
    assert (said.facts["says"], said.facts["weak"], said.facts["trials"]) == ("no", True, 9)
    assert said.facts["gap"] == pytest.approx(0.08, abs=0.01)


def test_the_setting_that_is_on_is_ahead() -> None:
    said = answered(lambda study: -0.08 * study.number, trials=16)
    assert (said.facts["says"], said.facts["weak"]) == ("yes", False)


def test_settings_that_cannot_be_told_apart() -> None:
    said = answered(lambda study: 0.0)
    assert (said.code, said.facts["says"]) == ("headline.no_clear_gap", "unclear")


def test_a_goal_that_asks_something_else_gets_no_yes_or_no() -> None:
    for goal in ("Which dropout is best?", "Does dropout hurt?", "Is it better without dropout?"):
        assert answered(lambda study: 0.08 * study.number, goal).facts["says"] is None
    between = answered(lambda study: 0.08 * study.number, values=(0.1, 0.2))
    assert between.facts["says"] is None  # neither is known to be off
    declared = answered(
        lambda study: 0.08 * study.number, values=(0.1, 0.2), meaning=Meaning(off={"dropout": 0.1})
    )
    assert declared.facts["says"] == "no"


def test_a_goal_is_read_with_the_direction_of_the_objective() -> None:
    assert asks_for_gain("Does warm-up raise the accuracy?", minimize=False)
    assert not asks_for_gain("Does warm-up raise the loss?", minimize=True)


def test_a_round_without_a_question_answers_with_its_best() -> None:
    round = tw.Round("r", goal="?", nuisance={"lr": tw.log(1e-4, 1e-1)}, trials_per_study=8)
    made = results(round, World(Bowl({"lr": 0.5})))
    said = headline(made, [])
    assert (said.code, said.facts["value"]) == ("headline.best", made.best().value)
    none = Results.from_parts(round, made.objective, [])
    assert headline(none, []).code == "headline.nothing_completed"
