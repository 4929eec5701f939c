"""The page about meanings runs, and lists every meaning with spellings that are known."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.pages import replayed, text_of

from tunewright.design.names import LISTS, NAMES, NUMBERS, regularises, usual_meaning

ROW = re.compile(r"^\| (`.*?) \|.*\| (.*) \|$", re.MULTILINE)


@pytest.mark.beyond_core  # it starts a process
def test_the_page_runs(tmp_path: Path) -> None:
    assert replayed("meanings.md", tmp_path, promises=4)


def test_every_meaning_stands_there_with_spellings_that_are_known() -> None:
    rows = {
        meaning: re.findall(r"`(.*?)`", spelled)
        for meanings, spelled in ROW.findall(text_of("meanings.md"))
        for meaning in re.findall(r"`(.*?)`", meanings)
    }
    assert set(rows) == {*NAMES, *LISTS, *NUMBERS}
    for meaning, spelled in rows.items():
        for name in spelled:
            known = regularises(name) if meaning in LISTS else usual_meaning(name)
            assert known is True or known in (meaning, "beta1", "beta2"), (meaning, name)
