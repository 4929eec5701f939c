"""The documentation site builds without a warning, needs no other host, and can be searched."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytest.importorskip("mkdocstrings")
pytestmark = pytest.mark.beyond_core


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_there(site: Path) -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix(".html")
        made = name.with_name("index.html") if name.stem == "README" else name
        assert (site / made).is_file(), f"{name} is not on the site"


def test_nothing_is_loaded_from_another_host(site: Path) -> None:
    loads = re.compile(r"<(?:script|link|img)[^>]+(?:src|href)=\"?(https?://[^\" >]+)")
    for page in site.rglob("*.html"):
        found = loads.findall(page.read_text(encoding="utf-8"))
        assert not [one for one in found if 'rel="canonical"' not in one], page.name


def test_the_search_finds_pages_and_docstrings(site: Path) -> None:
    index = (site / "search" / "search_index.js").read_text(encoding="utf-8")
    assert "checks/boundary.html" in index
    assert "python/what_will_be_tried.html" in index


def test_chinese_pages_are_cut_into_words_for_the_search(site: Path) -> None:
    index = (site / "search" / "search_index.js").read_text(encoding="utf-8")
    pages = json.loads(index[index.index("{") : index.rindex("}") + 1])["docs"]
    chinese = [page for page in pages if page["location"].startswith("zh/")]
    assert len(chinese) > 20, "each heading of a page is one entry"
    cut = [page for page in chinese if "\u200b" in page["text"] + page["title"]]
    assert len(cut) > 0.8 * len(chinese)


def test_a_chinese_page_is_marked_as_one(site: Path) -> None:
    """Its language chooses Chinese shapes of characters; the labels around it are Chinese too."""
    page = (site / "zh" / "start.html").read_text(encoding="utf-8")
    assert '<html lang="zh-Hans"' in page and "目录" in page and "Table of contents" not in page
    assert '<html lang="en"' in (site / "quickstart.html").read_text(encoding="utf-8")


def test_the_page_of_a_check_has_its_error_rates(site: Path) -> None:
    page = (site / "checks" / "boundary.html").read_text(encoding="utf-8")
    row = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8").split("| [boundary](")[1]
    assert "How often it is wrong" in page and row.split("|")[1].strip() in page


def test_pictures_have_captions(site: Path) -> None:
    page = (site / "worked_example.html").read_text(encoding="utf-8")
    assert page.count("<figcaption>") == page.count("<figure>") > 0


def test_the_reference_shows_arguments_and_examples(site: Path) -> None:
    page = (site / "python" / "doing_it.html").read_text(encoding="utf-8")
    assert "tw.run" in page and "workload" in page
    assert "&gt;&gt;&gt;" in page.replace('<span class="gp">', "")


@pytest.mark.parametrize(("words", "place"), [("boundary", "boundary"), ("发散", "zh/")])
def test_a_reader_finds_a_page_from_files_alone(site: Path, words: str, place: str) -> None:
    if "CHROMIUM" not in os.environ:
        pytest.skip("no Chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=os.environ["CHROMIUM"], args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1300, "height": 900})
        page.goto((site / "index.html").as_uri())
        page.keyboard.press("/")
        page.locator(".md-search__input").press_sequentially(words, delay=50)
        page.keyboard.press("Shift")  # characters that no key has come without the event of a key
        links = page.locator(".md-search-result__link")
        links.first.wait_for(timeout=60_000)
        assert any(place in (one.get_attribute("href") or "") for one in links.all())
        browser.close()
