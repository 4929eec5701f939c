from __future__ import annotations

import numpy as np
from tests.checks.curve_worlds import results_of

from tunewright.checks.logged_rate import (
    decayed,
    learning_rates,
    rose,
    stepped,
    steps_of,
    warmup_end,
)
from tunewright.design.names import Meaning
from tunewright.store.curves import Curve


def rates(values: np.ndarray) -> Curve:
    return Curve(10 * np.arange(1, len(values) + 1), np.asarray(values, dtype=float))


COSINE = rates(0.5 + 0.5 * np.cos(np.linspace(0, np.pi, 100)))
STEPS = rates(np.repeat([1.0, 0.1, 0.01], [40, 40, 20]))
CYCLE = rates(np.concatenate([np.linspace(0.1, 1, 50), np.linspace(1, 0.1, 50)]))


def test_decay_is_measured_against_the_peak() -> None:
    assert decayed(COSINE) and decayed(STEPS)
    assert not decayed(CYCLE) and not decayed(rates(np.ones(10)))


def test_steps_are_jumps_and_nothing_smooth() -> None:
    assert steps_of(STEPS).tolist() == [410.0, 810.0]
    assert stepped(STEPS, 400, 500) and not stepped(STEPS, 420, 800)
    assert steps_of(CYCLE).tolist() == []


def test_a_rise_is_seen_where_it_happens() -> None:
    assert rose(CYCLE, 100, 400) and not rose(CYCLE, 600, 900)
    assert not rose(COSINE, 0, 1000) and not rose(CYCLE, 2000, 3000)


def trial(values: np.ndarray, name: str = "learning_rate", **configuration: float):
    return results_of(
        {"valid_error": [np.ones(len(values))], name: [values]}, configurations=[configuration]
    ).trials[0]


def test_the_logged_rate_is_found_under_its_name() -> None:
    meaning = Meaning({"learning_rate": "optimizer.lr"})
    for name in ("optimizer.lr", "learning_rate"):
        found = learning_rates(trial(np.linspace(1, 0.1, 30), name), meaning)
        assert found is not None
        np.testing.assert_allclose(found.values, np.linspace(1, 0.1, 30))
    assert learning_rates(trial(np.ones(30), "lr"), meaning) is None
    assert learning_rates(trial(np.zeros(30)), Meaning()) is None


def test_warm_up_ends_where_configured_or_where_the_peak_is() -> None:
    warm = np.concatenate([np.linspace(0.1, 1, 20), np.linspace(1, 0, 80)])
    assert warmup_end(trial(warm), Meaning()) == 200
    assert warmup_end(trial(warm, warmup_steps=50), Meaning()) == 50
    assert warmup_end(trial(warm, w=70), Meaning({"warmup_steps": "w"})) == 70
    assert warmup_end(trial(np.ones(30)), Meaning()) == 0
    late = np.concatenate([np.linspace(0.1, 1, 60), np.ones(40)])
    assert warmup_end(trial(late), Meaning()) == 0  # a cycle, not a warm-up
