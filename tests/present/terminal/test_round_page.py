from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console
from tests.recorded import results
from tests.told import ROUND

from tunewright.actions import CheckRound, Repeat, RunTrials, ShowTrial
from tunewright.design.conditions import given
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.messages import Message
from tunewright.present.next_step import Step, next_steps
from tunewright.present.terminal.round_page import (
    MOST_REASONS,
    print_round,
    reasons,
    remarks,
    roles,
    verdict,
    without_fixed,
)


def page(**options: object) -> str:
    text = io.StringIO()
    print_round(results(**options), Console(file=text, width=160))  # type: ignore[arg-type]
    return text.getvalue()


def test_the_verdict_names_the_best_of_all() -> None:
    assert verdict(results()) == (
        "6 trials: 4 completed, 2 infeasible. Best 0.2024 valid_error, trial 2 at step 20: "
        "weight_decay 0  learning_rate 0.013"
    )


def test_the_page_says_goal_roles_studies_reasons_caveats_and_next() -> None:
    text = page(notes=("try a longer warm-up",))
    for expected in (
        "weight_decay  Does weight decay help?",
        "scientific  weight_decay [0, 1e-4]",
        "nuisance    learning_rate log(0.0001, 0.1)",
        "fixed       max_train_steps 100",
        "infeasible  2 of 6: train_loss is nan (trials 4, 5)",
        "caveats     holds for max_train_steps = 100",
        "note        try a longer warm-up",
        "next        tunewright repeat weight_decay --times 5",
    ):
        assert expected in text
    rows = [line.split() for line in text.splitlines() if line.startswith("weight_decay=")]
    assert [row[:5] for row in rows] == [
        ["weight_decay=0.0", "2", "1", "0.2024", "2"],
        ["weight_decay=0.0001", "2", "1", "0.3", "3"],
    ]


def test_reasons_that_differ_in_the_step_alone_are_one() -> None:
    assert reasons(results(), "infeasible") == [("train_loss is nan", [4, 5])]


def test_the_next_step_follows_what_happened() -> None:
    name = "weight_decay"
    assert next_steps(results(failed=True, pending=True))[0].action == ShowTrial(name, 6)
    assert next_steps(results(pending=True))[0].action == RunTrials(name)
    assert next_steps(results())[0].action == CheckRound(name)
    beside = next_steps(results(), reported=True)
    assert beside[0] == Step(Repeat(name, times=5), Message("next.repeat"))


def test_conditional_hyperparameters_are_told_apart() -> None:
    own = Round(
        "optimizer",
        goal="?",
        scientific={"optimizer": ["adam", "sgd"]},
        nuisance={
            "optimizer": given(
                {
                    "adam": {"learning_rate": log(1e-5, 1e-2)},
                    "sgd": {"learning_rate": log(1e-3, 1.0)},
                }
            )
        },
        fixed={"max_train_steps": 10},
        trials_per_study=2,
    )
    shown = dict(roles(own))
    assert shown["scientific"] == "optimizer [adam, sgd]"
    assert "optimizer.adam.learning_rate log(1e-05, 0.01)" in shown["nuisance"]
    assert "optimizer.sgd.learning_rate log(0.001, 1)" in shown["nuisance"]
    assert without_fixed(own) == ("max_train_steps",)


def test_what_never_varies_is_left_out_of_configurations() -> None:
    assert without_fixed(ROUND) == ("max_train_steps",)


def test_of_many_reasons_the_most_frequent_are_shown() -> None:
    made = results()
    trials = [
        replace(t, status="infeasible", reason=Message("trial.infeasible", {"text": f"at {n}"}))
        for n, t in enumerate([*made.recorded, *made.recorded, *made.recorded])
    ]
    own = [text for status, text in remarks(replace(made, recorded=tuple(trials)))
           if status == "infeasible"]  # fmt: skip
    assert len(own) == MOST_REASONS + 1
    assert own[-1].startswith(f"{len(trials) - MOST_REASONS} of {len(trials)}: other reasons")
