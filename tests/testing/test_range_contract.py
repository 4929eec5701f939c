from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from hypothesis import given, strategies as st
from tests.strategies import moderate_ranges

from tunewright.design import registry
from tunewright.design.ranges import Linear, Range, Wider, linear, log
from tunewright.testing import check_range


@given(moderate_ranges(), st.lists(st.floats(0.0, 1.0), min_size=2, max_size=6))
def test_our_kinds_keep_the_contract(own: Range, positions: list[float]) -> None:
    check_range(own, positions)
    assert own.contains(own.value(positions[0]))


@dataclass(frozen=True)
class Broken(Linear):
    """A linear range that breaks one promise; the inherited ones hold."""

    kind: ClassVar[str] = "broken"

    def widen(self, side: str) -> Wider | None:
        """None, since its own promise is not at stake."""
        del side
        return None


class Drifts(Broken):
    """Its values do not come back."""

    def unit(self, value: Any) -> float:
        """Only nearly where it should be."""
        return round(super().unit(value), 3)


class TakesAnything(Broken):
    """It refuses nothing."""

    def unit(self, value: Any) -> float:
        """Zero for what is strange."""
        return super().unit(value) if isinstance(value, float) and value == value else 0.0


class Shrinks(Broken):
    """Its wider range is narrower."""

    def widen(self, side: str) -> Wider | None:
        """Half of it."""
        return Wider(linear(self.low, self.high / 2), 2.0)


class Grows(Broken):
    """A part of it lies outside."""

    def narrow(self, low: float, high: float) -> Range | None:
        """Twice of it."""
        return type(self)(self.low - 1, self.high * 2)


class Forgets(Broken):
    """Its data lacks an end."""

    def to_data(self) -> Any:
        """One end twice as large."""
        return {self.kind: [self.low, self.high * 2]}


class Counts(Broken):
    """It counts values without bins."""

    @property
    def count(self) -> int | None:
        """Three."""
        return 3


class TicksOutside(Broken):
    """An axis would show values that it does not have."""

    def ticks(self) -> list[Any]:
        """One of two outside."""
        return [self.low, self.high + 1]


class NoFeatures(Broken):
    """A model would see nothing."""

    def features(self, position: Any) -> tuple[Any, ...]:
        """None."""
        return ()


BROKEN = [Drifts, TakesAnything, Shrinks, Grows, Forgets, Counts, TicksOutside, NoFeatures]


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_promise_is_seen(kind: type[Linear], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_KINDS", {**registry.kinds(), "broken": kind})
    with pytest.raises(AssertionError, match="broken"):
        check_range(kind(1.0, 8.0))
    monkeypatch.setattr(registry, "_KINDS", {**registry.kinds(), "broken": Broken})
    check_range(Broken(1.0, 8.0))


def test_a_kind_must_be_registered() -> None:
    with pytest.raises(AssertionError, match="register"):
        check_range(Broken(1.0, 8.0))
    with pytest.raises(AssertionError, match="Range"):
        check_range("log")  # type: ignore[arg-type]
    check_range(log(1e-4, 1e-1))
