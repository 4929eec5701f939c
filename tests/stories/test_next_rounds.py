"""Round after round by the first proposal, on a surface that stays where it is: it converges."""

from __future__ import annotations

import numpy as np
import pytest
from tests.launches.rounds_of_worlds import asked, ran

from tunewright.advice.next_round import next_round
from tunewright.checks.checklist import check
from tunewright.store.joined import joined
from tunewright.store.results import Results
from tunewright.testing import Bowl, Surface, Walled, World

MOST_ROUNDS = 7


def followed(
    surface: Surface, seed: int = 0, detect: float = 0.02, trials: int = 20
) -> tuple[list[str], Results]:
    """The kinds of the proposals taken, and the last results with all that still count."""
    world = World(
        surface,
        noise_sd=0.005,
        curve="two_plateaus",
        curve_sd=0.002,
        evaluations=50,
        seed=seed,
    )
    round = asked(detect=detect, seed=100 * seed, trials_per_study=trials)
    earlier: list[Results] = []
    kinds = []
    for _ in range(MOST_ROUNDS):
        own = ran(round, world)
        together = joined(own, *reversed(earlier))
        chosen = next_round(together, check(together))[0]
        kinds.append(chosen.kind)
        if chosen.round is None or chosen.search != "halton":
            return kinds, together
        if chosen.round.name != round.name:
            earlier.append(own)
        round = chosen.round
    return kinds, together


def test_a_learning_rate_far_outside_is_found() -> None:
    kinds, found = followed(Bowl({"learning_rate": 1.3, "beta1": 0.5}))
    assert kinds == ["widen", "widen", "stop"]
    assert found.best().value < 0.22
    assert found.best().configuration["learning_rate"] == pytest.approx(1e-4 * 10**3.9, rel=1)
    assert {t.origin[0] for t in found.trials if t.origin} == {"first", "first_2"}


def test_small_differences_are_hunted_by_narrowing() -> None:
    kinds, found = followed(Bowl({"learning_rate": 0.5, "beta1": 0.5}), detect=0.002, trials=24)
    assert kinds[0] == "more_trials"
    assert "narrow" in kinds and kinds[-1] == "stop"
    assert found.best().value < 0.205


def test_a_world_held_down_by_divergence_ends_in_repair() -> None:
    surface = Walled(Bowl({"learning_rate": 0.75, "beta1": 0.5}), {"learning_rate": 1.0}, above=0.7)
    kinds, _ = followed(surface, trials=40)
    assert kinds == ["repair"]


def test_it_converges_wherever_the_optimum_is() -> None:
    for seed in range(6):
        at = np.random.default_rng(seed).uniform((-0.3, -0.2), (1.5, 1.2)).tolist()
        surface = Bowl(dict(zip(("learning_rate", "beta1"), at, strict=True)))
        kinds, found = followed(surface, seed)
        assert kinds[-1] == "stop", (seed, kinds)
        assert set(kinds) <= {"widen", "more_trials", "stop"}
        assert found.best().value < 0.24


@pytest.mark.slow
def test_it_converges_in_many_worlds() -> None:
    rounds, ended = [], 0
    for seed in range(6, 60):
        at = np.random.default_rng(seed).uniform((-0.3, -0.2), (1.5, 1.2)).tolist()
        surface = Bowl(dict(zip(("learning_rate", "beta1"), at, strict=True)))
        kinds, found = followed(surface, seed)
        ended += kinds[-1] == "stop" and (found.best().value or 1.0) < 0.24
        rounds.append(len(kinds))
    assert ended >= 50
    assert np.mean(rounds) < 4
