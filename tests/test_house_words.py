"""A rule of the house as a test: plain words, by the glossary of docs/design.md.

`LEFT` is a ratchet: the banned phrases of a folder that is not done yet. It may only shrink.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from bench.house_words import banned_in, banned_in_source, by_folder

ROOT = Path(__file__).parent.parent
FOUND = by_folder(ROOT / "src" / "tunewright")
# in testing/ the name of a program
LEFT = {"testing": 2}
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
LEFT_IN_PAGES = 2


@pytest.mark.parametrize("folder", sorted(FOUND))
def test_a_folder_is_in_plain_words(folder: str) -> None:
    counted, _ = FOUND[folder]
    assert counted.total() <= LEFT.get(folder, 0), f"write it in plain words: {dict(counted)}"


def test_pages_are_in_plain_words() -> None:
    counted = Counter[str]()
    for page in PAGES:
        counted += banned_in(page.read_text(encoding="utf-8"))
    assert counted.total() <= LEFT_IN_PAGES, f"write it in plain words: {dict(counted)}"


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ('"""The store is told of it."""', 1),
        ("x = 1  # what luck does to people", 2),
        ("f(f'{told} goes on')", 1),
        ('"""A process\n    of its own."""', 1),
        ("told = said('says')", 0),
        ('"""`tell` gives `told`."""', 0),
        ('"""Once.\n\n    >>> told(luck)\n    """', 0),
    ],
)
def test_a_banned_phrase_is_seen_in_prose_alone(line: str, seen: int) -> None:
    assert banned_in_source(f"{line}\n").total() == seen
