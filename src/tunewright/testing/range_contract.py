"""What every kind of range promises, as a function that fails with a sentence."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence

import numpy as np

from tunewright.design.conditions import Hyperparameter
from tunewright.design.ranges import Choice, Range, Value, is_number, same_value
from tunewright.design.registry import kinds, read
from tunewright.errors import DesignError

_POSITIONS = (0.0, 1.0, *(float(x) for x in np.random.default_rng(0).random(30)))
_MOST_COUNTED = 500  # values of a discrete range that are listed one by one
_STRANGE: tuple[Value, ...] = ("\x01 no such value", float("nan"))


def check_range(own: Range, positions: Sequence[float] = _POSITIONS) -> None:
    """Raise AssertionError with a sentence where a range breaks a promise of the protocol.

    Register the kind first. `positions` of the unit interval are tried; a property test can draw
    them, and the range, at random.

    >>> from tunewright.design.ranges import log
    >>> check_range(log(1e-4, 1e-1))
    """
    assert isinstance(own, Range), f"{own!r} is not a Range"
    name = own.kind
    assert kinds().get(name) is type(own), f"{name}: register({type(own).__name__}) is missing"
    assert hash(own) == hash(own) and str(own), f"{name}: a range is hashable and has a text"
    assert isinstance(own.call, str) and own.call, f"{name}: call is {own.call!r}"
    values = [_check_round_trip(own, position) for position in positions]
    _check_refusals(own)
    _check_count(own, values)
    _check_order(own, positions)
    _check_features(own, positions)
    _check_ticks(own)
    _check_data(own)
    _check_other_ranges(own, values)
    Hyperparameter("x", "x", own)


def _check_round_trip(tested: Range, position: float) -> Value:
    value = tested.value(position)
    assert isinstance(value, bool | int | float | str | None), (
        f"{tested}: {value!r} is no plain value"
    )
    place = tested.unit(value)
    assert 0.0 <= place <= 1.0, f"{tested}: unit({value!r}) is {place}"
    again = tested.value(place)
    assert same_value(again, value) and type(again) is type(value), (
        f"{tested}: value(unit({value!r})) is {again!r}"
    )
    assert tested.contains(value), f"{tested}: contains({value!r}) is False"
    beyond = tested.place(value)
    assert beyond is not None and math.isclose(beyond, place, abs_tol=1e-6), (
        f"{tested}: place({value!r}) is {beyond}, unit is {place}"
    )
    if tested.ends is not None and is_number(value):
        low, high = tested.ends
        assert low <= value <= high, f"{tested}: {value!r} lies outside its ends"
    return value


def _check_refusals(tested: Range) -> None:
    for strange in _STRANGE:
        assert not tested.contains(strange), f"{tested}: contains({strange!r}) is True"
        try:
            tested.unit(strange)
        except DesignError:
            continue
        raise AssertionError(f"{tested}: unit({strange!r}) raises no DesignError")


def _check_count(tested: Range, values: Sequence[Value]) -> None:
    if tested.bins is None:
        assert tested.count is None, f"{tested}: count is {tested.count} without bins"
        assert tested.choices is None, f"{tested}: choices without bins"
        return
    assert tested.count == tested.bins.count, (
        f"{tested}: count is {tested.count}, bins {tested.bins.count}"
    )
    distinct = {(type(value), value) for value in values}
    assert len(distinct) <= tested.bins.count, f"{tested}: more values than its count"
    if tested.bins.count <= _MOST_COUNTED:
        every = [tested.value(middle) for middle in tested.bins.middles()]
        listed = len({(type(value), value) for value in every})
        assert listed == tested.bins.count, (
            f"{tested}: {listed} values, but count is {tested.count}"
        )
        for middle, value in zip(tested.bins.middles(), every, strict=True):
            assert math.isclose(tested.unit(value), middle, abs_tol=1e-9), (
                f"{tested}: unit({value!r}) is not the middle of its bin"
            )
    if tested.choices is not None:
        assert all(map(tested.contains, tested.choices)), (
            f"{tested}: a choice that it does not contain"
        )
        assert len(tested.choices) == tested.count, f"{tested}: count is not that of its choices"


def _check_order(tested: Range, positions: Sequence[float]) -> None:
    for position in positions:
        along = tested.along(position)
        assert 0.0 <= along <= 1.0, f"{tested}: along({position}) is {along}"
    if not tested.ordered:
        return
    assert tested.ends is not None, f"{tested}: ordered values have ends"
    numbers = [tested.value(position) for position in sorted(positions)]
    rising = all(a <= b for a, b in itertools.pairwise(numbers))  # type: ignore[operator]
    falling = all(a >= b for a, b in itertools.pairwise(numbers))  # type: ignore[operator]
    assert rising or falling, f"{tested}: neither rises nor falls with the position"
    if tested.count != 1:
        for number, expected in ((tested.ends[0], 0.0), (tested.ends[1], 1.0)):
            along = tested.along(tested.unit(number))
            assert along == expected, f"{tested}: {number} lies at {along} along it"


def _check_features(tested: Range, positions: Sequence[float]) -> None:
    places = [tested.unit(tested.value(position)) for position in positions]
    rows = [tested.features(place) for place in places]
    assert len({len(row) for row in rows}) == 1 and rows[0], f"{tested}: features differ in number"
    assert all(math.isfinite(x) for row in rows for x in row), f"{tested}: a feature is not finite"
    together = np.stack(tested.features(np.array(places)), axis=1)
    assert np.allclose(together, np.array(rows)), f"{tested}: features of an array differ"


def _check_ticks(tested: Range) -> None:
    ticks = list(tested.ticks())
    assert ticks, f"{tested}: no ticks"
    assert all(map(tested.contains, ticks)), f"{tested}: a tick of {ticks} lies outside"
    places = [tested.unit(tick) for tick in ticks]
    assert places == sorted(places), f"{tested}: ticks {ticks} are in no order"


def _check_data(tested: Range) -> None:
    data = json.loads(json.dumps(tested.to_data()))
    again = Choice.from_data({"choice": data}) if isinstance(data, list) else read(data)
    assert again == tested, f"{tested}: to_data() {data} is read as {again}"


def _check_other_ranges(tested: Range, values: Sequence[Value]) -> None:
    assert tested.hull(tested) == tested, f"{tested}: its hull with itself is {tested.hull(tested)}"
    assert math.isclose(tested.covered(tested), 1.0, rel_tol=1e-9), (
        f"{tested}: it does not cover itself"
    )
    for side in ("low", "high"):
        wide = tested.widen(side)
        if wide is None:
            continue
        assert wide.times >= 1.0, f"{tested}: {wide.range} is {wide.times} times as wide"
        assert all(map(wide.range.contains, values)), f"{tested}: {wide.range} does not contain it"
        assert tested.hull(wide.range) == wide.range, (
            f"{tested}: the hull with {wide.range} is another"
        )
        assert 0.0 < wide.range.covered(tested) <= 1.0, f"{tested}: its share of {wide.range}"
    part = tested.narrow(0.2, 0.8)
    if part is None:
        return
    assert type(part) is type(tested), f"{tested}: narrow() gives {part}"
    inside = [part.value(position) for position in _POSITIONS]
    assert all(map(tested.contains, inside)), f"{tested}: {part} lies not inside"
    for position in (0.3, 0.5, 0.7):
        value = tested.value(position)
        assert part.contains(value), f"{tested}: narrow(0.2, 0.8) is {part}, without {value!r}"
    assert tested.hull(part) == tested, (
        f"{tested}: the hull with its part {part} is {tested.hull(part)}"
    )
    assert 0.0 < tested.covered(part) <= 1.0 + 1e-9, (
        f"{tested}: covered({part}) is {tested.covered(part)}"
    )
