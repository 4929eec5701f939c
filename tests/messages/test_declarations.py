"""Declarations of Python are told to people at a shell as lines of tunewright.toml."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tunewright.present.terminal.toml_words import as_toml

SOURCE = Path(__file__).parents[3] / "src" / "tunewright"


@pytest.mark.parametrize(
    ("python", "toml"),
    [
        ('means={"a": "b"}', 'a = "b" under [workload.means] in tunewright.toml'),
        ('off={"dropout": 0.0}', "dropout = 0.0 under [workload.off] in tunewright.toml"),
        (
            'Workload(means={"gradient_norm": ...}).',
            "gradient_norm = ... under [workload.means] in tunewright.toml.",
        ),
        ("by all means", "by all means"),
        ('{"means": "a"}', '{"means": "a"}'),
    ],
)
def test_each_form(python: str, toml: str) -> None:
    assert as_toml(python) == toml


def test_every_message_of_ours_is_understood() -> None:
    """No message keeps a piece of Python that a shell cannot use."""
    told = [
        line.replace("{{", "{").replace("}}", "}")
        for path in sorted(SOURCE.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"""['"].*means=\{+"\{?\w""", line) and "`" not in line and ">>>" not in line
    ]
    assert len(told) > 10
    for line in told:
        simple = re.sub(r'"\{\w+\}"', '"name"', re.sub(r"\{likely.*?\}", "name", line))
        assert "means={" not in as_toml(simple), line
