"""Kinds of ranges that a user writes: one call registers them, then they work everywhere."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.design.kinds.everywhere import check_advice, check_files, check_pages, check_searches

import tunewright as tw
from tunewright.design import registry
from tunewright.design.range import Bins
from tunewright.design.ranges import Wider
from tunewright.design.round_file import as_data, from_data
from tunewright.errors import DesignError
from tunewright.testing import check_range, check_search


@dataclass(frozen=True)
class Roots(tw.ranges.Range):
    """Uniform in the square root; all but the wider range is inherited."""

    kind: ClassVar[str] = "roots"
    low: float
    high: float

    def value(self, unit: float) -> float:
        """The square of a position between the roots of the ends."""
        if unit in (0.0, 1.0):
            return self.high if unit else self.low
        first, last = math.sqrt(self.low), math.sqrt(self.high)
        square = (first + unit * (last - first)) ** 2
        return min(max(float(f"{square:.9g}"), self.low), self.high)

    def unit(self, value: Any) -> float:
        """The position of the root."""
        if isinstance(value, bool | str | None) or not self.low <= value <= self.high:
            raise DesignError("range.value_outside", value=value, range=self)
        first, last = math.sqrt(self.low), math.sqrt(self.high)
        return (math.sqrt(value) - first) / (last - first)

    def widen(self, side: str) -> Wider | None:
        """Four times as far."""
        ends = (self.low / 4, self.high) if side == "low" else (self.low, self.high * 4)
        return Wider(Roots(*ends), 2.0)


@dataclass(frozen=True)
class Compass(tw.ranges.Range):
    """Directions: north lies beside west, which only its features know."""

    kind: ClassVar[str] = "compass"
    names: ClassVar[tuple[str, ...]] = ("north", "east", "south", "west")

    def value(self, unit: float) -> str:
        """The direction of this quarter."""
        return self.names[min(int(unit * 4), 3)]

    def unit(self, value: Any) -> float:
        """The middle of its quarter."""
        if value not in self.names:
            raise DesignError("range.value_of_other_kind", value=value, range=self)
        return (self.names.index(value) + 0.5) / 4

    @property
    def bins(self) -> Bins:
        """Four."""
        return Bins(0, 3)

    @property
    def ordered(self) -> bool:
        """There is no first direction."""
        return False

    def features(self, position: Any) -> tuple[Any, ...]:
        """A point of a circle."""
        angle = 2 * math.pi * position
        return np.cos(angle), np.sin(angle)

    def to_data(self) -> dict[str, Any]:
        """Nothing but its name."""
        return {self.kind: True}

    @classmethod
    def from_data(cls, data: Any) -> Compass:
        """The only one."""
        return cls()


@pytest.fixture(autouse=True)
def own_kinds(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Both kinds, registered for one test."""
    monkeypatch.setattr(registry, "_KINDS", dict(registry._KINDS))
    tw.ranges.register(Roots)
    tw.ranges.register(Compass)
    yield


@given(st.floats(0.1, 10.0), st.floats(1.5, 100.0))
def test_a_kind_of_ones_own_keeps_the_contract(low: float, times: float) -> None:
    check_range(Roots(low, low * times))


def test_a_kind_without_numbers_keeps_it_too() -> None:
    check_range(Compass())
    assert Compass().features(0.125) == pytest.approx((math.sqrt(0.5), math.sqrt(0.5)))
    assert Compass().call == "Compass()" and Compass().widen("low") is None


def test_it_works_everywhere(tmp_path: Path) -> None:
    own = Roots(1.0, 400.0)
    found = check_searches(own, tmp_path)
    check_advice(own, found)
    check_files(own, tmp_path)
    check_pages(own, found, tmp_path)


def test_a_kind_without_numbers_is_searched_checked_drawn_and_stored(tmp_path: Path) -> None:
    searched = {"learning_rate": tw.log(1e-4, 1e-1), "way": Compass()}
    round = tw.Round("ways", goal="Which way?", nuisance=searched, trials_per_study=16)
    assert from_data(as_data(round)) == round
    for search in (tw.search.Halton(), tw.search.Bayesian()):
        check_search(search, round.studies)

    def train(run: Any, learning_rate: float, way: str) -> None:
        run.log(1, valid_error=0.5 - learning_rate + 0.1 * (way == "north"))

    store = tmp_path / "store.db"
    goal = tw.minimize("valid_error")
    workload = tw.Workload(train, objective=goal, executor=tw.executors.Inline(), store=store)
    found = tw.run(round, workload, progress="off")
    assert {trial.configuration["way"] for trial in found.trials} == set(Compass.names)
    assert tw.check(found) and tw.next_round(found) is not None
    assert tw.plots.axis(found).png().startswith(b"\x89PNG")


def test_a_store_with_an_unknown_kind_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    round = tw.Round("r", goal="?", nuisance={"x": Roots(1.0, 4.0)}, trials_per_study=4)
    data = as_data(round)
    known = {name: kind for name, kind in registry.kinds().items() if name != "roots"}
    monkeypatch.setattr(registry, "_KINDS", known)
    with pytest.raises(DesignError) as error:
        from_data(data)
    (problem,) = error.value.problems
    assert problem.facts["problem"]["code"] == "declaration.no_range"
    assert "powers_of_two" in problem.facts["problem"]["kinds"]
