"""Pages in Chinese have the programs, commands and pictures of the English ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted((DOCS / "zh").glob("*.md"))
BLOCK = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
# what a page is the Chinese of, where that is not the page of its name
SOURCES = {
    "checks": ("checks/*.md", "methods*.md", "measured.md"),
    "start": ("costs.md", "quickstart.md"),
    "README.zh-CN": ("../README.md", "quickstart.md", "costs.md", "cli.md"),
}
PAGES_AND_README = [*PAGES, ROOT / "README.zh-CN.md"]
NUMBER = re.compile(r"(?<![\w.])(?:\d[\d,]*(?:\.\d+)?|\.\d+)")
NUMERALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
COMMAND = re.compile(r"(?:^\$ |`)((?:tunewright |scripts/)[^`#\n]*)", re.MULTILINE)
ENGLISH = re.compile(r"(?<![\w`./<{-])[a-z]{2,}(?: [a-z]{2,}){3,}")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
PROSE = re.compile(r"# .*|\"\"\".*?\"\"\"|(?<=goal=)\"[^\"]*\"|(?<=goal = )\"[^\"]*\"", re.DOTALL)
COMMENT = re.compile(r"# .*|\"\"\".*?\"\"\"")


def sources(page: Path) -> str:
    """The English text that a Chinese page is held against."""
    patterns = SOURCES.get(page.stem, (page.name,))
    found = [path for one in patterns for path in sorted(DOCS.glob(one.removeprefix("../")))]
    if "../README.md" in patterns:
        found.append(ROOT / "README.md")
    return "\n".join(path.read_text(encoding="utf-8") for path in found)


def numbers(text: str) -> set[float]:
    """Every number, a numeral in English words too."""
    said = {float(n) for n, word in enumerate(NUMERALS) if re.search(rf"\b{word}\b", text, re.I)}
    return said | {float(one.replace(",", "")) for one in NUMBER.findall(text)}


def plain(text: str) -> str:
    """A page without blocks, code and the targets of links."""
    return re.sub(r"`[^`]*`|\]\([^)]*\)", " ", BLOCK.sub("", text))


def without_prose(block: str) -> list[str]:
    """The lines of a block that a program reads: no comment, docstring or goal."""
    lines = (PROSE.sub("", line).rstrip() for line in block.splitlines())
    return [line for line in lines if line]


def digits(block: str) -> list[str]:
    """The figures of what is printed, in no particular order: sentences differ in theirs."""
    return sorted(re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", block))


def commands(text: str) -> set[str]:
    """Every command that a page shows."""
    return {" ".join(one.split()) for one in COMMAND.findall(text)}


def test_there_are_chinese_pages() -> None:
    names = {page.stem for page in PAGES}
    assert "start" in names
    assert {"quickstart", "ten_minutes", "autopilot", "worked_example", "checks"} <= names
    assert {"instability", "integrations"} <= names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_the_blocks_and_pictures_of_the_english_one(page: Path) -> None:
    english = DOCS / page.name
    if not english.exists():
        assert page.stem in SOURCES  # it is made of several English pages
        return
    text, other = page.read_text(encoding="utf-8"), english.read_text(encoding="utf-8")
    if blocks := BLOCK.findall(text):
        english_blocks = BLOCK.findall(other)
        assert len(blocks) == len(english_blocks)
        for block, original in zip(blocks, english_blocks, strict=True):
            if block.startswith("```text") and CHINESE.search(block):  # what is printed in Chinese
                assert digits(block) == digits(original)
            else:
                assert without_prose(block) == without_prose(original)
        pictures = re.findall(r"!\[[^\]]*\]\(\.\./([^)]*)\)", text)
        assert pictures == re.findall(r"!\[[^\]]*\]\(([^)]*)\)", other)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_no_english_sentence(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    plain = re.sub(r"`[^`]*`|\]\([^)]*\)", "", text)
    assert not ENGLISH.findall(plain)
    assert len(re.findall(r"[\u4e00-\u9fff]", plain)) > 200


@pytest.mark.parametrize("page", PAGES_AND_README, ids=lambda page: page.stem)
def test_comments_and_output_have_no_english_sentence(page: Path) -> None:
    """Comments of programs, and what commands print; a file on disk stays as it is."""
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        prose = block if block.startswith("```text\n  1  ") else "\n".join(COMMENT.findall(block))
        assert not ENGLISH.findall(re.sub(r"# tunewright .*", "", prose)), block


@pytest.mark.parametrize("page", PAGES_AND_README, ids=lambda page: page.stem)
def test_a_figure_of_a_page_is_in_the_english_text(page: Path) -> None:
    own = numbers(plain(page.read_text(encoding="utf-8")))
    assert own <= numbers(sources(page)), sorted(own - numbers(sources(page)))


@pytest.mark.parametrize("page", PAGES_AND_README, ids=lambda page: page.stem)
def test_a_command_of_a_page_is_in_an_english_one(page: Path) -> None:
    pages = [ROOT / "README.md", *DOCS.glob("*.md"), *DOCS.glob("c*/*.md")]  # checks, cli
    english = " ".join(" ".join(p.read_text(encoding="utf-8").split()) for p in pages)
    own = commands(page.read_text(encoding="utf-8"))
    lost = {one for one in own if one.removeprefix("tunewright ") not in english}
    assert own and not lost


@pytest.mark.parametrize(
    ("page", "english"), [("integrations", "integrations.md"), ("autopilot", "autopilot.md")]
)
def test_a_table_has_every_figure_of_the_english_one(page: str, english: str) -> None:
    """Rows that begin with the same program or amount: nothing was left out of them."""
    ours = numbers((DOCS / "zh" / f"{page}.md").read_text(encoding="utf-8"))
    text = (DOCS / english).read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    theirs = {float(n.replace(",", "")) for row in rows for n in NUMBER.findall(row)}
    assert theirs <= ours, sorted(theirs - ours)


def test_the_page_of_checks_has_every_check_and_what_each_needs() -> None:
    text = (DOCS / "zh" / "checks.md").read_text(encoding="utf-8")
    for check in sorted((DOCS / "checks").glob("[a-z]*.md")):
        section = text.partition(f"\n## {check.stem}\n")[2].partition("\n## ")[0]
        for part in ("**该做什么。**", "**误报与检出。**"):
            assert part in section, (check.stem, part)
        assert "**何时警告。**" in section or "**如何判断。**" in section, check.stem
        pictures = re.findall(r"!\[[^\]]*\]\(\.\./figures/([^)]*)\)", section)
        assert all(name in check.read_text(encoding="utf-8") for name in pictures)


def test_a_page_has_chinese_punctuation() -> None:
    """No half-width comma, colon or bracket between Chinese characters; a space beside Latin."""
    for page in PAGES_AND_README:
        text = re.sub(r"`[^`]*`|\]\([^)]*\)|<[^>]*>", " ` ", BLOCK.sub("", page.read_text("utf-8")))
        assert not re.findall(r"[\u4e00-\u9fff][,:;()?!][\u4e00-\u9fff]", text), page.name
        joined = re.findall(r"[\u4e00-\u9fff][A-Za-z0-9]+|[A-Za-z0-9]+[\u4e00-\u9fff]", text)
        assert not joined, (page.name, joined)


def test_the_chinese_readme_has_the_programs_and_commands_of_the_english_one() -> None:
    ours, theirs = (
        [without_prose(block) for block in BLOCK.findall((ROOT / name).read_text("utf-8"))]
        for name in ("README.zh-CN.md", "README.md")
    )
    assert ours == theirs[: len(ours)] and len(ours) == 5
