"""A space of lists can be used up: no more trials are proposed than there are configurations."""

from __future__ import annotations

from typing import Any

import pytest
from tests.launches.rounds_of_worlds import asked

import tunewright as tw
from tunewright.advice.next_round import next_round
from tunewright.advice.proposal import count_untried, enough_for, most_trials
from tunewright.testing import World, results

SIX: dict[str, Any] = {"optimizer": ["a", "b", "c"], "act": [True, False]}


def trained(round: tw.Round) -> Any:
    return results(round, World(lambda unit: 0.2 + 0.1 * sum(unit.values()), noise_sd=0.001))


@pytest.mark.parametrize(
    ("nuisance", "count"),
    [
        (SIX, 6),
        ({"layers": tw.integers(1, 8)}, 8),
        ({"layers": tw.integers(1, 8), "learning_rate": tw.log(1e-4, 1e-1)}, None),
        ({"opt": tw.given({"sgd": {"nesterov": [True, False]}, "adam": {}})}, 3),
    ],
)
def test_the_configurations_are_counted(nuisance: dict[str, Any], count: int | None) -> None:
    round = asked(nuisance=nuisance, fixed={}, trials_per_study=4)
    assert round.studies[0].configurations == most_trials(round) == count
    assert count is None or enough_for(round) <= count


def test_six_configurations_get_no_more_trials_than_are_left() -> None:
    for trials in (3, 6, 16):
        made = trained(asked(nuisance=SIX, fixed={}, trials_per_study=trials))
        left = count_untried(made)
        assert left is not None and left >= 6 - trials
        proposals = next_round(made)
        assert proposals
        for one in proposals:
            if one.round is not None and one.round.name == made.round.name:
                assert one.round.trials_per_study <= trials + left
    assert left == 0
    assert proposals[0].reason.code == "proposal.exhausted"
    assert [one.kind for one in proposals] == ["stop"]
