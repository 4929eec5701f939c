from __future__ import annotations

import numpy as np
from tests.checks.curve_worlds import noise, results_of, shape

from tunewright.checks.instability import Episode, episodes
from tunewright.checks.spacing import tables
from tunewright.stats.spikes import LONGEST


def found(train: np.ndarray, lasting: bool = False, **curves: np.ndarray) -> list[list[Episode]]:
    results = results_of({"valid_error": train, "train_loss": train, **curves})
    (table,) = tables(results.trials, "train_loss", longest=LONGEST)
    return episodes(results, table, lasting)


def losses(rows: int = 3) -> np.ndarray:
    rng = np.random.default_rng(0)
    return (shape("slow", 100) + 0.1) * np.exp(0.02 * noise(rng, rows, 100, 0.0))


def test_episodes_come_in_the_order_they_happened() -> None:
    train = losses()
    train[1, 70:73] *= 3
    train[1, 30:33] *= 2
    quiet, spiking, other = found(train)
    assert (quiet, other) == ([], [])
    assert [e.kind for e in spiking] == ["spike", "spike"]
    assert spiking[0].from_step < 330 < 700 <= spiking[1].to_step < 750
    assert spiking[0].height < spiking[1].height


def test_a_rise_that_stays_is_told_only_when_asked_for() -> None:
    slow = 0.4 * np.clip((np.arange(100) / 100 - 0.5) / 0.3, 0, 1)
    assert found(losses() + slow) == [[], [], []]
    for own in found(losses() + slow, lasting=True):
        (rise,) = own
        assert rise.kind == "rise" and rise.from_step < 600 < rise.to_step


def test_a_rise_under_a_growing_learning_rate_is_the_schedule() -> None:
    t = np.arange(100) / 100
    bump = 0.4 * np.exp(-(((t - 0.6) / 0.15) ** 2))
    assert all(found(losses() + bump))
    rates = np.tile(0.1 + np.minimum(t, 1.2 - t), (3, 1))
    assert found(losses() + bump, learning_rate=rates) == [[], [], []]


def test_one_episode_is_told_once_whichever_rule_sees_it() -> None:
    for length in (3, 12, 25):
        train = losses()
        train[:, 50 : 50 + length] *= 4
        assert [len(own) for own in found(train)] == [1, 1, 1]
