"""Curves: packed, unpacked, merged over attempts; nothing dropped, nothing trusted."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tunewright.errors import Damaged
from tunewright.store.curves import UNCHECKED, Batch, Curves, merge, pack, unpack

names = st.text(st.characters(codec=None, exclude_categories=()), min_size=1, max_size=12)
steps = st.lists(st.integers(0, 2**60), unique=True, max_size=12).map(sorted)


@st.composite
def metrics(draw: st.DrawFn) -> dict[str, tuple[list[int], list[float]]]:
    shared = draw(steps)
    points = {}
    for name in draw(st.lists(names, unique=True, max_size=4)):
        own = shared if draw(st.booleans()) else draw(steps)
        points[name] = (own, draw(st.lists(st.floats(), min_size=len(own), max_size=len(own))))
    return points


@given(metrics())
def test_what_is_packed_is_unpacked(points: dict[str, tuple[list[int], list[float]]]) -> None:
    curves = unpack(pack(points))
    assert list(curves) == list(points)
    for name, (own, values) in points.items():
        assert curves[name].steps.tolist() == own
        np.testing.assert_array_equal(curves[name].values, values)
        assert list(unpack(pack(points), only=name)) == [name]


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.lists(st.tuples(st.integers(1, 40), st.floats(0, 1)))),
        max_size=5,
    )
)
def test_merging_is_the_last_word_on_each_step(
    attempts: list[tuple[int, list[tuple[int, float]]]],
) -> None:
    batches = []
    expected: dict[int, float] = {}
    for n, (start, points) in enumerate(attempts, 1):
        batches.append(
            Batch(n, start, pack({"m": ([s for s, _ in points], [v for _, v in points])}))
        )
        expected = {step: value for step, value in expected.items() if step <= start}
        expected |= dict(points)
    merged = merge(batches).get("m")
    found = {} if merged is None else dict(zip(merged.steps, merged.values, strict=True))
    assert found == expected
    if merged is not None:
        assert merged.steps.tolist() == sorted(expected)
        only = Curves(batches).only("m")
        assert only is not None and only.values.tolist() == merged.values.tolist()


def test_a_value_carries_its_uncertainty() -> None:
    points = {"a": ([1, 2], [0.5, 0.4]), "b": ([1, 2], [1.0, 2.0])}
    packed = pack(points, {"b": ([0.1, 0.2], [10, 10_000])})
    assert list(unpack(packed)) == ["a", "b"]
    for curves in (unpack(packed), unpack(packed, only="b")):
        assert curves["b"].values.tolist() == [1.0, 2.0]
        assert curves["b"].sd is not None and curves["b"].sd.tolist() == [0.1, 0.2]
        assert curves["b"].n is not None and curves["b"].n.tolist() == [10, 10_000]
    assert unpack(packed)["a"].sd is None and unpack(packed)["a"].n is None
    with pytest.raises(ValueError, match="as many sd and n"):
        pack(points, {"a": ([0.1], [1])})


def test_uncertainty_is_merged_with_its_values() -> None:
    batches = [
        Batch(1, 0, pack({"b": ([1, 2], [1.0, 2.0])}, {"b": ([0.1, 0.2], [10, 20])})),
        Batch(1, 0, pack({"b": ([3], [3.0])})),
        Batch(2, 2, pack({"b": ([4, 2], [4.0, 2.5])}, {"b": ([0.4, 0.25], [40, 25])})),
    ]
    merged = merge(batches)["b"]
    assert merged.steps.tolist() == [1, 2, 4]
    assert merged.values.tolist() == [1.0, 2.5, 4.0]
    assert merged.sd is not None and merged.sd.tolist() == [0.1, 0.25, 0.4]
    assert merged.n is not None and merged.n.tolist() == [10, 25, 40]
    first = merge(batches[:2])["b"]
    assert first.sd is not None and np.isnan(first.sd[2]) and first.n is not None
    assert first.n.tolist() == [10, 20, 0]


def test_metrics_logged_together_share_their_steps() -> None:
    own = list(range(1000))
    alone = len(pack({"a": (own, own)}))
    both = len(pack({"a": (own, own), "b": (own, own)}))
    assert both - alone < 8 * 1000 + 50


@pytest.mark.parametrize(
    "hostile",
    [
        b"",
        b"TWC1",
        b"cos\nsystem\n(S'false'\ntR.",
        UNCHECKED + struct.pack("<I", 2**31) + b"{}",
        UNCHECKED + struct.pack("<I", 200_000) + b"[" * 200_000,
        *(
            UNCHECKED + struct.pack("<I", len(head)) + head
            for head in (
                json.dumps(data).encode()
                for data in (
                    {},
                    {"lengths": [10**9], "metrics": [["a", 0]]},
                    {"lengths": [10**30], "metrics": [["a", 0]]},
                    {"lengths": [1], "metrics": [["a", 5]]},
                    {"lengths": "x", "metrics": 3},
                    {"lengths": [None], "metrics": [["a", 0]]},
                )
            )
        ),
    ],
)
def test_torn_or_hostile_batches_are_refused(hostile: bytes) -> None:
    with pytest.raises(Damaged):
        unpack(hostile)


def test_curves_show_what_they_hold() -> None:
    curves = Curves([Batch(1, 0, pack({"loss": ([1, 2], [0.5, 0.25])}))])
    assert repr(curves) == "Curves(loss: 2)" and len(curves) == 1 and "x" not in curves
    assert repr(curves["loss"]) == "Curve(2 points, last 0.25 at step 2)"
    assert curves.only("x") is None
