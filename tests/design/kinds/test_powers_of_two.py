from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from tests.design.kinds.everywhere import check_advice, check_files, check_pages, check_searches
from tests.problems import states

import tunewright as tw
from tunewright.cli.import_ import parse_range
from tunewright.design.kinds.powers_of_two import PowersOfTwo, powers_of_two
from tunewright.errors import DesignError
from tunewright.importers.roles import guess_range
from tunewright.testing import check_range

exponents = st.lists(st.integers(0, 53), min_size=2, max_size=2, unique=True).map(sorted)


@given(exponents, st.lists(st.floats(0.0, 1.0), min_size=2, max_size=5))
def test_it_keeps_the_contract(ends: list[int], positions: list[float]) -> None:
    check_range(powers_of_two(2 ** ends[0], 2 ** ends[1]), positions)


def test_every_power_is_equally_likely() -> None:
    own = tw.ranges.powers_of_two(16, 1024)
    assert [own.value(unit / 7) for unit in range(8)] == [16, 32, 64, 128, 256, 512, 1024, 1024]
    assert own.count == 7 and own.scale == "log" and str(own) == "powers_of_two(16, 1024)"
    assert own.place(2048) == 7.5 / 7 and own.place(0) is None


def test_other_ranges_of_its_kind() -> None:
    own = powers_of_two(16, 1024)
    assert own.widen("high").range == powers_of_two(16, 4096)
    assert own.widen("low").range == powers_of_two(4, 1024)
    assert powers_of_two(1, 8).widen("low") is None
    assert own.narrow(0.3, 0.6) == powers_of_two(64, 256)
    assert own.hull(powers_of_two(4, 64)) == powers_of_two(4, 1024)
    assert own.near(64) == powers_of_two(32, 128) and own.near(0) is None
    assert own.covered(powers_of_two(16, 64)) == pytest.approx(3 / 7)
    assert list(powers_of_two(1, 2**20).ticks())[:2] == [1, 16]


@pytest.mark.parametrize(
    ("ends", "code"),
    [
        ((3, 8), "range.bound_of_other_kind"),
        ((0, 8), "range.bound_of_other_kind"),
        ((8, 8), "range.low_equals_high"),
        ((16, 8), "range.low_above_high"),
        ((1.5, 8), "range.bound_not_whole"),
        ((1, 2**60), "range.whole_bound_too_large"),
    ],
)
def test_other_ends_are_refused(ends: tuple[int, int], code: str) -> None:
    with pytest.raises(DesignError) as error:
        powers_of_two(*ends)
    assert states(error.value, code)


@pytest.mark.parametrize(
    ("value", "code"),
    [(24, "range.value_of_other_kind"), (8, "range.value_outside"), (24.5, "range.value_of_other")],
)
def test_other_values_are_refused(value: float, code: str) -> None:
    with pytest.raises(DesignError) as error:
        powers_of_two(16, 1024).unit(value)
    assert error.value.code.startswith(code)


def test_importers_guess_it_from_four_powers() -> None:
    assert guess_range([16, 32, 64, 256]) == powers_of_two(16, 256)
    assert not isinstance(guess_range([16, 32, 64, 250]), PowersOfTwo)
    assert not isinstance(guess_range([16, 32, 64]), PowersOfTwo)


def test_a_command_line_names_it() -> None:
    assert parse_range("b = powers_of_two(16, 64)") == ("b", powers_of_two(16, 64))


def test_it_works_everywhere(tmp_path: Path) -> None:
    own = tw.ranges.powers_of_two(1, 2**24)
    found = check_searches(own, tmp_path)
    check_advice(own, found)
    check_files(own, tmp_path)
    check_pages(own, found, tmp_path)
