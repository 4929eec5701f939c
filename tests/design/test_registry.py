from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from tunewright.design import kinds as folder, registry
from tunewright.design.ranges import Linear, Range, choice, integers, log
from tunewright.design.registry import kinds, read, register
from tunewright.errors import DesignError


@pytest.fixture(autouse=True)
def unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is gone after it."""
    monkeypatch.setattr(registry, "_KINDS", dict(registry._KINDS))


def a_kind(name: Any) -> type[Range]:
    @dataclass(frozen=True)
    class Made(Linear):
        """A linear range of another name."""

        kind: ClassVar[str] = name

    return Made


def test_every_file_of_the_folder_registers_its_kind() -> None:
    import pkgutil

    files = {found.name for found in pkgutil.iter_modules(folder.__path__)}
    assert set(kinds()) == files == {kind.kind for kind in kinds().values()}


def test_ranges_are_read_by_the_name_of_their_kind() -> None:
    assert read({"log": [1e-4, 1]}) == log(1e-4, 1)
    assert read({"integers": [1, 64], "log": True}) == integers(1, 64, log=True)
    assert read({"choice": [1, {"none": True}]}) == choice(1, None)
    assert read({"lr": 0.1}) is None


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"log": [1, 2], "linear": [1, 2]}, "declaration.two_kinds"),
        ({"log": [1, 2], "step": 1}, "declaration.two_kinds"),
        ({"powers_of_two": [1]}, "declaration.not_two_bounds"),
        ({"choice": 3}, "declaration.bad_choice"),
    ],
)
def test_other_tables_are_refused(data: dict[str, Any], code: str) -> None:
    with pytest.raises(DesignError) as error:
        read(data)
    assert error.value.code == code


def test_defining_a_class_again_replaces_it() -> None:
    first, again = a_kind("made"), a_kind("made")
    assert register(first) is first and kinds()["made"] is first
    register(again)
    assert kinds()["made"] is again and read({"made": [1, 2]}) == again(1, 2)


@pytest.mark.parametrize("name", ["given", "none", "two words", "", 3])
def test_a_name_that_a_round_file_cannot_have_is_refused(name: Any) -> None:
    with pytest.raises(DesignError) as error:
        register(a_kind(name))
    assert error.value.code == "range.bad_kind_name"


def test_the_name_of_another_kind_is_refused() -> None:
    with pytest.raises(DesignError) as error:
        register(a_kind("log"))
    assert error.value.code == "range.kind_taken"


@pytest.mark.parametrize("given", [int, log(1, 2), "log"])
def test_what_is_no_kind_is_refused(given: Any) -> None:
    with pytest.raises(DesignError) as error:
        register(given)
    assert error.value.code == "range.not_a_kind"
