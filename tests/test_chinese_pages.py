"""Pages in Chinese have the programs, commands and pictures of the English ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted((DOCS / "zh").glob("*.md"))
BLOCK = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
ENGLISH = re.compile(r"(?<![\w`./<{-])[a-z]{2,}(?: [a-z]{2,}){3,}")


def test_there_are_chinese_pages() -> None:
    names = {page.stem for page in PAGES}
    assert {"quickstart", "ten_minutes", "autopilot", "worked_example", "checks"} <= names
    assert {"instability", "integrations"} <= names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_the_blocks_and_pictures_of_the_english_one(page: Path) -> None:
    english = DOCS / page.name
    if not english.exists():
        assert page.stem == "checks"  # one page for the whole of docs/checks
        return
    text, other = page.read_text(encoding="utf-8"), english.read_text(encoding="utf-8")
    if blocks := BLOCK.findall(text):
        assert blocks == BLOCK.findall(other)
        pictures = re.findall(r"!\[[^\]]*\]\(\.\./([^)]*)\)", text)
        assert pictures == re.findall(r"!\[[^\]]*\]\(([^)]*)\)", other)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_no_english_sentence(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    plain = re.sub(r"`[^`]*`|\]\([^)]*\)", "", text)
    assert not ENGLISH.findall(plain)
    assert len(re.findall(r"[\u4e00-\u9fff]", plain)) > 200


def test_the_page_of_checks_has_every_check() -> None:
    text = (DOCS / "zh" / "checks.md").read_text(encoding="utf-8")
    for check in sorted((DOCS / "checks").glob("[a-z]*.md")):
        assert f"../checks/{check.name}" in text, check.stem
