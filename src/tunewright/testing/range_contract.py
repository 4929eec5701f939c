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


def _check_round_trip(own: Range, position: float) -> Value:
    value = own.value(position)
    assert isinstance(value, bool | int | float | str | None), f"{own}: {value!r} is no plain value"
    place = own.unit(value)
    assert 0.0 <= place <= 1.0, f"{own}: unit({value!r}) is {place}"
    again = own.value(place)
    assert same_value(again, value) and type(again) is type(value), (
        f"{own}: value(unit({value!r})) is {again!r}"
    )
    assert own.contains(value), f"{own}: contains({value!r}) is False"
    beyond = own.place(value)
    assert beyond is not None and math.isclose(beyond, place, abs_tol=1e-6), (
        f"{own}: place({value!r}) is {beyond}, unit is {place}"
    )
    if own.ends is not None and is_number(value):
        low, high = own.ends
        assert low <= value <= high, f"{own}: {value!r} lies outside its ends"  # type: ignore[operator]
    return value


def _check_refusals(own: Range) -> None:
    for strange in _STRANGE:
        assert not own.contains(strange), f"{own}: contains({strange!r}) is True"
        try:
            own.unit(strange)
        except DesignError:
            continue
        raise AssertionError(f"{own}: unit({strange!r}) raises no DesignError")


def _check_count(own: Range, values: Sequence[Value]) -> None:
    if own.bins is None:
        assert own.count is None, f"{own}: count is {own.count} without bins"
        assert own.choices is None, f"{own}: choices without bins"
        return
    assert own.count == own.bins.count, f"{own}: count is {own.count}, bins {own.bins.count}"
    distinct = {(type(value), value) for value in values}
    assert len(distinct) <= own.bins.count, f"{own}: more values than its count"
    if own.bins.count <= _MOST_COUNTED:
        every = [own.value(middle) for middle in own.bins.middles()]
        found = len({(type(value), value) for value in every})
        assert found == own.bins.count, f"{own}: {found} values, but count is {own.count}"
        for middle, value in zip(own.bins.middles(), every, strict=True):
            assert math.isclose(own.unit(value), middle, abs_tol=1e-9), (
                f"{own}: unit({value!r}) is not the middle of its bin"
            )
    if own.choices is not None:
        assert all(map(own.contains, own.choices)), f"{own}: a choice that it does not contain"
        assert len(own.choices) == own.count, f"{own}: count is not that of its choices"


def _check_order(own: Range, positions: Sequence[float]) -> None:
    for position in positions:
        along = own.along(position)
        assert 0.0 <= along <= 1.0, f"{own}: along({position}) is {along}"
    if not own.ordered:
        return
    assert own.ends is not None, f"{own}: ordered values have ends"
    numbers = [own.value(position) for position in sorted(positions)]
    rising = all(a <= b for a, b in itertools.pairwise(numbers))  # type: ignore[operator]
    falling = all(a >= b for a, b in itertools.pairwise(numbers))  # type: ignore[operator]
    assert rising or falling, f"{own}: neither rises nor falls with the position"
    if own.count != 1:
        for number, expected in ((own.ends[0], 0.0), (own.ends[1], 1.0)):
            along = own.along(own.unit(number))
            assert along == expected, f"{own}: {number} lies at {along} along it"


def _check_features(own: Range, positions: Sequence[float]) -> None:
    places = [own.unit(own.value(position)) for position in positions]
    rows = [own.features(place) for place in places]
    assert len({len(row) for row in rows}) == 1 and rows[0], f"{own}: features differ in number"
    assert all(math.isfinite(x) for row in rows for x in row), f"{own}: a feature is not finite"
    together = np.stack(own.features(np.array(places)), axis=1)
    assert np.allclose(together, np.array(rows)), f"{own}: features of an array differ"


def _check_ticks(own: Range) -> None:
    ticks = list(own.ticks())
    assert ticks, f"{own}: no ticks"
    assert all(map(own.contains, ticks)), f"{own}: a tick of {ticks} lies outside"
    places = [own.unit(tick) for tick in ticks]
    assert places == sorted(places), f"{own}: ticks {ticks} are in no order"


def _check_data(own: Range) -> None:
    data = json.loads(json.dumps(own.to_data()))
    again = Choice.from_data({"choice": data}) if isinstance(data, list) else read(data)
    assert again == own, f"{own}: to_data() {data} is read as {again}"


def _check_other_ranges(own: Range, values: Sequence[Value]) -> None:
    assert own.hull(own) == own, f"{own}: its hull with itself is {own.hull(own)}"
    assert math.isclose(own.covered(own), 1.0, rel_tol=1e-9), f"{own}: it does not cover itself"
    for side in ("low", "high"):
        wide = own.widen(side)
        if wide is None:
            continue
        assert wide.times >= 1.0, f"{own}: {wide.range} is {wide.times} times as wide"
        assert all(map(wide.range.contains, values)), f"{own}: {wide.range} does not contain it"
        assert own.hull(wide.range) == wide.range, f"{own}: the hull with {wide.range} is another"
        assert 0.0 < wide.range.covered(own) <= 1.0, f"{own}: its share of {wide.range}"
    part = own.narrow(0.2, 0.8)
    if part is None:
        return
    assert type(part) is type(own), f"{own}: narrow() gives {part}"
    inside = [part.value(position) for position in _POSITIONS]
    assert all(map(own.contains, inside)), f"{own}: {part} lies not inside"
    for position in (0.3, 0.5, 0.7):
        value = own.value(position)
        assert part.contains(value), f"{own}: narrow(0.2, 0.8) is {part}, without {value!r}"
    assert own.hull(part) == own, f"{own}: the hull with its part {part} is {own.hull(part)}"
    assert 0.0 < own.covered(part) <= 1.0 + 1e-9, f"{own}: covered({part}) is {own.covered(part)}"
