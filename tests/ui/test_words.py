"""The fixed words of the pages: the same keys in both languages, and every page in the reader's."""

from __future__ import annotations

import re

from tunewright.messages import read_in
from tunewright.ui.site import STATIC, first_page

CHINESE = re.compile(r"[\u4e00-\u9fff]")


def words(name: str, table: str) -> dict[str, str]:
    """The entries of one table of a module, by key."""
    text = (STATIC / name).read_text(encoding="utf-8").partition(f"export const {table} = {{")[2]
    return dict(re.findall(r"^  (\w+):\s*(.*)$", text.partition("\n};")[0], re.MULTILINE))


def test_every_word_has_a_chinese_one() -> None:
    english, chinese = words("words.js", "WORDS"), words("words_zh.js", "CHINESE")
    assert list(english) == list(chinese) and len(english) > 100
    assert not [key for key, word in chinese.items() if not CHINESE.search(word)]


def test_words_around_numbers_are_alike() -> None:
    english, chinese = words("words.js", "SAYS"), words("words_zh.js", "CHINESE_SAYS")
    assert set(english) == set(chinese)
    for key, made in english.items():
        assert set(re.findall(r"\$\{(\w+)\}", made)) == set(
            re.findall(r"\$\{(\w+)\}", chinese[key])
        )


def test_the_first_page_is_in_the_readers_language() -> None:
    with read_in("zh"):
        assert '<html lang="zh">' in first_page() and CHINESE.search(first_page())
    with read_in("en"):
        assert '<html lang="en">' in first_page() and not CHINESE.search(first_page())


def test_no_other_module_has_words_of_its_own() -> None:
    """Text between tags, or in a label, comes from words.js."""
    for module in STATIC.glob("*.js"):
        if module.name.startswith("words"):
            continue
        text = module.read_text(encoding="utf-8")
        assert not re.findall(r"</a> [a-z]{3,} \$", text), module.name
        assert not re.findall(r"=\$?[`\"][A-Z][a-z]+ [a-z]+ ", text), module.name
