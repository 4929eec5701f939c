"""How commands pass true and false: pairs of words, flags, and what is refused."""

from __future__ import annotations

import pytest
from tests.problems import codes

from tunewright.errors import WorkloadError
from tunewright.execution.command import command
from tunewright.execution.command_syntax import Booleans


@pytest.mark.parametrize(
    ("spelling", "passed"),
    [
        ("true/false", ("--amp=true", "--amp=false")),
        ("True/False", ("--amp=True", "--amp=False")),
        ("1/0", ("--amp=1", "--amp=0")),
        ({"amp": "yes/no"}, ("--amp=yes", "--amp=no")),
        ({}, ("--amp=true", "--amp=false")),
    ],
)
def test_a_pair_of_words(spelling, passed) -> None:
    own = command("p --amp={amp}", booleans=spelling)
    assert tuple(own.fill({"amp": value}, {})[1] for value in (True, False)) == passed


@pytest.mark.parametrize("spelling", ["flag", {"amp": "flag"}])
@pytest.mark.parametrize("template", ["p --amp={amp} end", "p --amp {amp} end"])
def test_a_flag_is_there_or_not(spelling, template: str) -> None:
    own = command(template, booleans=spelling)
    assert own.fill({"amp": True}, {}) == ["p", "--amp", "end"]
    assert own.fill({"amp": False}, {}) == ["p", "end"]


def test_two_flags_of_one_value_are_a_pair() -> None:
    own = command("p {amp}", booleans={"amp": "--amp/--no-amp"})
    assert own.fill({"amp": False}, {}) == ["p", "--no-amp"]


def test_only_booleans_are_spelled() -> None:
    own = command("p --n={n} --text={text} --none={none}", booleans="True/False")
    filled = own.fill({"n": 1, "text": "true", "none": None}, {})
    assert filled == ["p", "--n=1", "--text=true", "--none=null"]


def test_overrides_are_spelled_too() -> None:
    own = command("p {overrides}", booleans="True/False")
    assert own.fill({"amp": True}, {}) == ["p", "amp=True"]


@pytest.mark.parametrize("spelling", ["python", "", "/".join("abc"), "yes/yes", 3])
def test_what_is_no_spelling_is_refused(spelling) -> None:
    for given in (spelling, {"amp": spelling}):
        with pytest.raises(WorkloadError) as refused:
            command("p --amp={amp}", booleans=given)
        assert codes(refused.value) == ["command.bad_booleans"]


def test_a_name_that_the_command_lacks_is_refused() -> None:
    with pytest.raises(WorkloadError) as refused:
        command("p --amp={amp}", booleans={"nesterov": "1/0"})
    assert codes(refused.value) == ["command.not_a_field"]
    command("p {config}", booleans={"nesterov": "1/0"})  # it takes any name


def test_a_flag_needs_its_name() -> None:
    with pytest.raises(WorkloadError) as refused:
        command("p {amp}", booleans={"amp": "flag"})
    assert codes(refused.value) == ["command.flag_without_name"]
    with pytest.raises(WorkloadError) as late:
        command("p {amp}", booleans="flag").fill({"amp": True}, {})
    assert codes(late.value) == ["command.flag_without_name"]


def test_text_of_a_flag_elsewhere_is_that_of_json() -> None:
    assert Booleans("flag").text("amp", True) == "true"
