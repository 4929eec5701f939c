from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tunewright.errors import DesignError
from tunewright.testing import (
    NOISES,
    SHAPES,
    Basin,
    Bowl,
    Unlucky,
    Walled,
    noise,
    rise,
    shape,
    trial_noise,
    wave,
)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("evaluations", [20, 40, 100])
def test_shapes_fall_from_first_to_last(name: str, evaluations: int) -> None:
    curve = shape(name, evaluations, best=0.3, improvement=0.5)
    assert len(curve) == evaluations
    assert curve[0] == pytest.approx(0.8) and curve[-1] == pytest.approx(0.3)
    assert np.all(np.diff(curve) <= 1e-12)


def test_shapes_end_as_their_names_say() -> None:
    gain = {name: shape(name, 100)[74] - shape(name, 100)[-1] for name in SHAPES}
    assert gain["fast"] < 0.001 and gain["step"] < 0.001 and gain["two_plateaus"] < 0.001
    assert gain["linear"] == pytest.approx(0.2, rel=0.05)
    assert gain["power_half"] > 0.02


@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_noise_has_the_memory_and_size_it_says(kind: str, correlation: float) -> None:
    drawn = noise(np.random.default_rng(1), 40_000, correlation, kind)
    t = np.arange(1, 40_001) / 40_000
    along = {"shrinking": 1.5 - t, "growing": 0.5 + t, "to_zero": 2 * (1 - t)}.get(kind, 1.0)
    even = drawn[:-1] / (along[:-1] if np.ndim(along) else 1.0)
    assert np.std(even) == pytest.approx(1.0, abs=0.05)
    assert np.corrcoef(even[1:], even[:-1])[0, 1] == pytest.approx(correlation, abs=0.03)


def test_rises_and_waves() -> None:
    risen = rise(10, by=0.25, since=0.5)
    assert np.all(risen[:5] == 0) and risen[-1] == pytest.approx(0.2)
    assert np.allclose(wave(40, 0.1, 8)[:8], wave(40, 0.1, 8)[8:16])


@pytest.mark.parametrize("kind", ["normal", "skew", "t3"])
def test_trial_noise_is_standardised(kind: str) -> None:
    drawn = trial_noise(np.random.default_rng(2), 200_000, kind)
    assert np.mean(drawn) == pytest.approx(0.0, abs=0.02)
    assert np.std(drawn) == pytest.approx(1.0, abs=0.15)


def test_skew_has_its_tail_on_the_good_side_and_outliers_on_the_bad() -> None:
    random = np.random.default_rng(3)
    skew = trial_noise(random, 100_000, "skew")
    assert np.quantile(skew, 0.001) < -4 and np.max(skew) < 1.5
    assert np.mean(trial_noise(random, 100_000, "outlier") > 5) == pytest.approx(0.05, abs=0.005)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_surfaces_are_lowest_at_their_optimum(a: float, b: float, other: float) -> None:
    for surface in (Bowl({"a": 0.3, "b": 0.6}, {"b": 4.0}), Basin({"a": 0.3, "b": 0.6})):
        lowest = surface({"a": 0.3, "b": 0.6, "irrelevant": other})
        assert lowest == pytest.approx(0.2)
        assert surface({"a": a, "b": b, "irrelevant": other}) >= lowest - 1e-12
        assert surface({"a": a, "b": b, "irrelevant": 0.0}) == surface(
            {"a": a, "b": b, "irrelevant": other}
        )


def test_a_basin_is_flat_outside() -> None:
    basin = Basin({"a": 1.0}, width=0.05)
    assert basin({"a": 0.0}) == pytest.approx(1.0) == basin({"a": 0.5})


def test_walls_and_bad_luck() -> None:
    ratio = Walled(Bowl({"a": 0.5}), {"a": 1.0, "b": 1.0}, above=1.2)
    assert ratio({"a": 0.5, "b": 0.6}) == pytest.approx(0.2)
    assert ratio({"a": 0.7, "b": 0.6}) is None
    unlucky = Unlucky(Bowl({"a": 0.5}), share=0.3, seed=1)
    places = [{"a": i / 2000} for i in range(2000)]
    share = np.mean([unlucky(place) is None for place in places])
    assert share == pytest.approx(0.3, abs=0.03)
    assert [unlucky(p) for p in places[:50]] == [unlucky(p) for p in places[:50]]


def test_misspelt_worlds() -> None:
    for attempt in (
        lambda: shape("quick", 10),
        lambda: shape("fast", 0),
        lambda: noise(np.random.default_rng(0), 10, kind="red"),
        lambda: trial_noise(np.random.default_rng(0), 3, "red"),
    ):
        with pytest.raises(DesignError):
            attempt()
