"""Every command says of a version-1 store what version 0.1 said of it: numbers and verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.golden import cases, python_facts

CALLS = [
    pytest.param(verb, place, id=" ".join((verb, *arguments)).replace(" ", "_"))
    for verb, calls in cases.READING.items()
    for place, arguments in enumerate(calls)
]
STORIES = [pytest.param(story, id=story.replace(" ", "_")) for story in cases.WRITING]


def golden(name: str) -> Any:
    return json.loads((cases.FACTS / f"{name}.json").read_text(encoding="utf-8"))


def check_same(found: Any, expected: Any, verb: str) -> None:
    lines = cases.differences(found, expected, cases.TOLERANCE.get(verb, 1e-9))
    assert not lines, "\n".join(lines[:40])


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One copy for all that only read."""
    return cases.copied(tmp_path_factory.mktemp("golden"))


@pytest.mark.parametrize(("verb", "place"), CALLS)
def test_a_command_that_reads(verb: str, place: int, project: Path) -> None:
    expected = golden(verb)[place]
    command = (verb, *cases.READING[verb][place])
    assert list(command) == expected["command"], "record_facts.py was not run after a change"
    check_same(cases.facts_of(project, command), expected, verb)


@pytest.mark.parametrize("story", STORIES)
def test_commands_that_write(story: str, tmp_path: Path) -> None:
    own, expected = cases.copied(tmp_path), golden("writing")[story]
    assert [list(command) for command in cases.WRITING[story]] == [e["command"] for e in expected]
    for command, facts in zip(cases.WRITING[story], expected, strict=True):
        check_same(cases.facts_of(own, command), facts, command[0])


@pytest.mark.parametrize("name", python_facts.FACTS)
def test_python(name: str, project: Path) -> None:
    found = json.loads(json.dumps(python_facts.FACTS[name](project)))
    check_same(found, golden("python")[name], name)
