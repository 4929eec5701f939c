"""How long a program takes is known from other rounds, if it trained for as long there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tunewright.design.names import Meaning
from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.execution.executors.inline import Inline
from tunewright.execution.known_lengths import seconds_elsewhere
from tunewright.execution.run import run
from tunewright.execution.workload import Workload
from tunewright.present.terminal.plan_page import plan
from tunewright.search.halton import Halton
from tunewright.store.store import Store


def train(run, learning_rate, max_train_steps=5):
    for step in run.steps(max_train_steps):
        run.log(step, valid_error=learning_rate)


def other(run, learning_rate, max_train_steps=5):
    train(run, learning_rate, max_train_steps)


ROUND = Round(
    "first",
    goal="?",
    nuisance={"learning_rate": log(1e-4, 1e-1)},
    fixed={"max_train_steps": 5},
    trials_per_study=3,
)


@pytest.fixture
def workload(tmp_path: Path) -> Workload:
    own = Workload(train, minimize("valid_error"), store=tmp_path / "t.db", executor=Inline())
    run(ROUND, own)
    return own


def known(workload: Workload, round: Round) -> tuple[float, ...]:
    with Store.open(workload.store) as store:
        return seconds_elsewhere(store, round, workload.name, Meaning())


def test_the_same_program_with_the_same_length_is_known(workload: Workload) -> None:
    second = replace(ROUND, name="second", trials_per_study=9)
    assert len(known(workload, second)) == 3
    found = plan(second, workload, Halton(), workers=1)
    assert (found.cost.basis, found.cost.trainings) == ("program", (9, 9))


def test_its_own_trials_are_no_other_round(workload: Workload) -> None:
    assert known(workload, ROUND) == ()
    found = plan(replace(ROUND, trials_per_study=5), workload, Halton(), workers=1)
    assert found.cost.basis == "round" and found.cost.trainings == (2, 2)


def test_another_length_gives_a_wide_range_and_another_program_nothing(workload: Workload) -> None:
    longer = replace(ROUND, name="longer", fixed={"max_train_steps": 50})
    assert known(workload, longer) == ()
    cost = plan(longer, workload, Halton(), workers=1).cost
    assert cost.basis == "scaled" and cost.hours is not None
    assert cost.hours[1] > 10 * cost.hours[0], "ten times as long, and nobody knows the start"
    unlike = replace(workload, train=other)
    assert known(unlike, replace(ROUND, name="second")) == ()
    assert plan(replace(ROUND, name="second"), unlike, Halton(), workers=1).cost.hours is None


def test_without_a_number_of_steps_nothing_is_comparable(workload: Workload) -> None:
    short = replace(ROUND, name="second", fixed={})
    assert known(workload, short) == ()
