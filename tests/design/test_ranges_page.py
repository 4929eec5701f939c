"""docs/ranges.md: its example runs, and its table has every kind."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import tunewright as tw
from tunewright.design import registry
from tunewright.design.ranges import as_range

PAGE = (Path(__file__).parents[2] / "docs" / "ranges.md").read_text(encoding="utf-8")


def test_the_kind_of_the_page_is_registered_and_keeps_the_contract(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registry, "_KINDS", dict(registry._KINDS))
    namespace = ran(1)
    assert str(namespace["round"].nuisance["pitch"]) == "octaves(55, 880)"


def test_the_belief_of_the_page_begins_at_its_value(capsys: pytest.CaptureFixture[str]) -> None:
    namespace = ran(0)
    assert capsys.readouterr().out == "0.0003\n"
    assert str(namespace["round"].nuisance["learning_rate"].belief) == ".around(0.0003, factor=3)"


def ran(number: int) -> dict[str, Any]:
    """The names that a block of the page leaves."""
    block = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[number]
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(block, "ranges.md", "exec", dont_inherit=True), namespace)
    return namespace


def test_both_spellings_of_the_table_mean_one_range() -> None:
    rows = re.findall(r"^\| `(tw\.[\w.]+\(.*?\))`.*? \| `(.*?)` \|", PAGE, re.MULTILINE)
    assert {row[0].split("(")[0].rpartition(".")[2] for row in rows} == set(registry.kinds())
    for python, toml in rows:
        data = tomllib.loads(f"x = {toml}")["x"]
        read = as_range(data) if isinstance(data, list) else registry.read(data)
        assert read == eval(python, {"tw": tw}), python
