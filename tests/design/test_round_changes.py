from __future__ import annotations

import dataclasses

from hypothesis import given as forall
from tests.strategies import rounds

from tunewright.design.conditions import given
from tunewright.design.ranges import linear, log
from tunewright.design.round import Round, differences

OLD = Round(
    "r",
    goal="?",
    scientific={"optimizer": ["adam", "sgd"]},
    nuisance={
        "learning_rate": log(1e-4, 1e-1),
        "beta1": linear(0.8, 0.99),
        "optimizer": given({"adam": {"epsilon": log(1e-9, 1e-7)}, "sgd": {}}),
    },
    fixed={"batch_size": 128, "width": 8},
    trials_per_study=4,
)


def changed(**changes) -> list[str]:
    return [message.text for message in differences(OLD, dataclasses.replace(OLD, **changes))]


@forall(rounds())
def test_a_round_does_not_differ_from_itself(round: Round) -> None:
    goal = dataclasses.replace(round, goal="another", trials_per_study=round.trials_per_study + 1)
    assert differences(round, goal) == []


def test_sentences() -> None:
    assert changed(seed=3, detect=0.1) == ["seed: was 0, is 3", "detect: was None, is 0.1"]
    assert changed(fixed={"batch_size": 256}) == [
        "fixed batch_size: was 128, is 256",
        "fixed width: was 8, is gone",
    ]
    assert changed(fixed={"batch_size": 128, "width": 8, "depth": 2}) == ["fixed depth: is new, 2"]
    moved = changed(
        nuisance={n: d for n, d in OLD.nuisance.items() if n != "beta1"},
        fixed={**OLD.fixed, "beta1": 0.9},
    )
    assert moved == ["beta1: was nuisance linear(0.8, 0.99), is fixed 0.9"]
    epsilon = given({"adam": {"epsilon": log(1e-9, 1e-6)}, "sgd": {}})
    assert changed(nuisance={**OLD.nuisance, "optimizer": epsilon}) == [
        "nuisance optimizer.adam.epsilon: was log(1e-09, 1e-07), is log(1e-09, 1e-06)"
    ]
    assert changed(fixed={**OLD.fixed, "width": True})[0] == "fixed width: was 8, is True"
    more = changed(
        scientific={"optimizer": ["adam", "sgd", "lion"]},
        nuisance={n: d for n, d in OLD.nuisance.items() if n != "optimizer"},
    )
    assert more[0] == (
        "scientific optimizer: was choice('adam', 'sgd'), is choice('adam', 'sgd', 'lion')"
    )


def test_the_order_counts_where_it_decides_the_points() -> None:
    nuisance = dict(reversed(OLD.nuisance.items()))
    (said,) = changed(nuisance=nuisance)
    assert said.startswith("nuisance: the order was learning_rate, beta1, optimizer")
    assert changed(fixed=dict(reversed(OLD.fixed.items()))) == []


def test_a_digit_more_is_a_difference() -> None:
    (said,) = changed(nuisance={**OLD.nuisance, "learning_rate": log(1e-4, 0.10000000000000002)})
    assert said.endswith("is log(0.0001, 0.10000000000000002)")
