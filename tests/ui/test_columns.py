"""Binary answers read back, and the density image counts every curve once."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st
from tests.ui.small_world import read_frame

from tunewright.store.curves import Curve
from tunewright.store.fenced_writes import BUCKETS, Buckets, reduce
from tunewright.ui.columns import HEIGHT, Density, density_of, frame, lines


@given(
    st.lists(st.sampled_from(["uint8", "uint16", "uint32", "int32", "float32"]), max_size=5),
    st.integers(0, 7),
)
def test_a_frame_reads_back(kinds: list[str], size: int) -> None:
    arrays = {f"é{at}": np.arange(size).astype(kind) for at, kind in enumerate(kinds)}
    head, found = read_frame(frame({"x": float("nan"), "name": "ü"}, arrays))
    assert head["x"] is None and head["name"] == "ü"
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].tolist() == array.tolist()


def curve(seed: int, length: int, gaps: bool) -> Buckets:
    noise = np.random.default_rng(seed)
    steps = np.sort(noise.choice(np.arange(length * 3), length, replace=False))
    values = noise.normal(size=length) + 5
    if gaps:
        values[noise.random(length) < 0.3] = np.nan
    return reduce(Curve(steps, values))


curves = st.lists(
    st.tuples(st.integers(0, 10_000), st.integers(1, 400), st.booleans()), min_size=1, max_size=12
)


@settings(max_examples=40, deadline=None)
@given(curves)
def test_each_curve_is_in_every_column_that_it_crosses_once(drawn: list) -> None:
    crowd = {at: curve(*one) for at, one in enumerate(drawn)}
    finite = {key: own for key, own in crowd.items() if np.isfinite(own.low).any()}
    density = density_of(crowd.items())
    assert density.keys == set(finite)
    assert density.counts.min() >= 0 and density.counts.max() <= max(len(finite), 1)
    for key, own in finite.items():
        alone = Density(density.low, density.high, density.last, density.logarithmic)
        alone.add(key, own)
        assert alone.counts.max() == 1, "once, however far it rises inside a column"
        crossed = np.flatnonzero(alone.counts.any(axis=0))
        assert len(crossed) == crossed[-1] - crossed[0] + 1, "gaps are drawn straight"


@settings(max_examples=40, deadline=None)
@given(curves)
def test_one_by_one_is_all_at_once(drawn: list) -> None:
    crowd = {at: curve(*one) for at, one in enumerate(drawn)}
    whole = density_of(crowd.items())
    added = Density(whole.low, whole.high, whole.last, whole.logarithmic)
    for key, own in crowd.items():
        if np.isfinite(own.low).any():
            added.add(key, own)
            added.add(key, own)  # a second time changes nothing
    assert np.array_equal(added.counts, whole.counts)
    assert added.image() == whole.image()


def test_a_longer_curve_makes_the_image_stale() -> None:
    density = density_of([(1, curve(1, 100, False))])
    assert not density.stale
    density.add(2, curve(2, 300, False))
    assert density.stale


def test_a_wide_spread_of_losses_is_drawn_by_logarithm() -> None:
    steps = np.arange(1, 500)
    falling = reduce(Curve(steps, 1e3 * np.exp(-steps / 40.0)))
    density = density_of([(1, falling)])
    assert density.logarithmic
    head, columns = read_frame(density.image())
    assert head["logarithmic"] and columns["image"].shape == (HEIGHT, BUCKETS)


def test_nothing_to_draw() -> None:
    head, columns = read_frame(density_of([]).image())
    assert head["curves"] == 0 and not columns["image"].any()
    head, columns = read_frame(lines({}))
    assert head["trials"] == [] and columns["low"].shape == (0, BUCKETS)
