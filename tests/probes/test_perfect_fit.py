"""When is training data fit? The first of two evaluations in a row that say so."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from tunewright.design.names import Meaning
from tunewright.probes.rate_sweep import (
    Criterion,
    criterion,
    first_fit,
    readable,
    still_falling,
    with_floor,
)
from tunewright.store.curves import Curve


def curve(*values: float, every: int = 10) -> Curve:
    return Curve(every * np.arange(1, len(values) + 1), np.array(values, dtype=float))


@pytest.mark.parametrize(
    "logged, chosen, limit, falls",
    [
        ({"train_error": 0.5, "train_loss": 2.0}, "train_error", 0.001, True),
        ({"train_error": 50.0}, "train_error", 0.1, True),
        ({"train/acc": 0.5, "loss": 1.0}, "train/acc", 0.999, False),
        ({"train/acc": 50.0}, "train/acc", 99.9, False),
        ({"train_loss": 2.0, "valid_error": 0.5}, "train_loss", None, True),
    ],
)
def test_which_metric_tells_a_perfect_fit(logged, chosen, limit, falls):
    curves = {name: [curve(value)] for name, value in logged.items()}
    found = criterion(curves, Meaning())
    assert found.metric == chosen
    assert found.message.facts == {"metric": chosen, "limit": limit, "falls": falls}


def test_the_users_own_words_win():
    curves = {"train_error": [curve(0.5)], "loss": [curve(2.0)]}
    found = criterion(curves, Meaning(), metric="loss", at_most=-3.0)
    assert first_fit(curve(0.0, -2.0, -4.0, -4.0), found).crossing == pytest.approx(25.0)
    found = criterion(curves, Meaning(), metric="loss", at_least=0.9)
    assert found.message.facts == {"metric": "loss", "limit": 0.9, "falls": False}
    assert first_fit(curve(0.0, 0.8, 1.0, 1.0), found).crossing == pytest.approx(25.0)
    assert criterion(curves, Meaning(), metric="losss") is None
    assert criterion({"valid_error": [curve(1)]}, Meaning()) is None


def test_one_evaluation_alone_is_luck():
    wanted = Criterion("train_error", 0.001)
    assert first_fit(curve(0.5, 0.0, 0.5, 0.0, 0.0), wanted).steps == 40
    assert first_fit(curve(0.5, 0.5, 0.0), wanted) is None
    assert first_fit(curve(0.0), wanted) is None
    first = first_fit(curve(0.0, 0.0), wanted)
    assert (first.steps, first.crossing, first.spacing) == (10, 10, 10)


@settings(max_examples=60, deadline=None)
@given(
    rate=st.floats(0.001, 0.2),
    every=st.integers(1, 40),
    threshold=st.floats(1e-3, 0.3),
)
def test_the_crossing_of_an_exponential_is_exact(rate, every, threshold):
    steps = every * np.arange(1, 400)
    falling = Curve(steps, 0.9 * np.exp(-rate * steps))
    exact = math.log(0.9 / threshold) / rate
    assume(every < exact <= steps[-2])
    found = first_fit(falling, Criterion("train_error", threshold))
    assert found.steps == pytest.approx(math.ceil(exact / every - 1e-9) * every)
    assert found.steps - every <= found.crossing <= found.steps
    if rate * every < math.log(10):  # beyond it, what lies below a tenth of the threshold is cut
        assert found.crossing == pytest.approx(exact)


def test_batches_are_averaged_and_evaluations_are_not():
    noise = np.random.default_rng(0).normal(0, 0.3, 2000)
    single = Curve(np.arange(1, 2001), 1.0 + noise)
    assert len(readable(single)) == 100 and readable(single).values.std() < 0.1
    assert readable(single).steps[-1] == 2000
    few = curve(*np.linspace(1, 0, 150))
    assert readable(few).values.tolist() == few.values.tolist()
    gaps = curve(1.0, math.nan, 0.5)
    assert readable(gaps).steps.tolist() == [10, 30]


def test_a_floor_is_known_once_the_lowest_curve_is_flat():
    steps = np.arange(10, 1010, 10)
    slow = Curve(steps, 1 + 2 * np.exp(-0.0005 * steps))
    quick = Curve(steps, 1 + 2 * np.exp(-0.02 * steps))
    wanted = Criterion("train_loss", None)
    assert with_floor(wanted, [slow]).threshold is None
    assert first_fit(slow, wanted) is None
    known = with_floor(wanted, [slow, quick])
    assert known.zero == pytest.approx(1.0) and known.threshold == pytest.approx(0.02, rel=0.05)
    assert still_falling(slow, wanted) and not still_falling(quick, wanted)


def test_a_curve_that_never_moves_shows_no_floor():
    flat = curve(*([53.0] * 100))
    above = curve(*([60.0] * 100))
    assert with_floor(Criterion("train_loss", None), [above, flat]).threshold is None
