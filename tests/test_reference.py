"""docs/reference/ is what docs/make_reference.py writes, and it names everything public."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import tunewright

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "docs/make_reference.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_are_up_to_date(maker: ModuleType) -> None:
    docs = ROOT / "docs"
    files = [docs / "reference.md", *(docs / "reference").glob("*.md")]
    written = {str(path.relative_to(docs)): path.read_text(encoding="utf-8") for path in files}
    assert written == maker.pages(), "run: python docs/make_reference.py"


def test_every_public_name_is_there(maker: ModuleType) -> None:
    named = {name.split(".")[0] for names in maker.GROUPS.values() for name in names}
    assert named == {*tunewright.__all__, *tunewright._MODULES}


def test_nothing_public_is_without_a_sentence(maker: ModuleType) -> None:
    silent = [
        line
        for page in maker.pages().values()
        for line in page.splitlines()
        if line.strip() == "." or line.rstrip().endswith(": .")
    ]
    assert silent == []


def test_parameters_are_shown_as_they_are_typed(maker: ModuleType) -> None:
    def example(first: int, *others: int, flag: bool = True, **rest: int) -> None: ...

    assert maker.signature(example) == "(first, *others, flag=True, **rest)"
