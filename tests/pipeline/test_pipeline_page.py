"""docs/pipeline.md runs as it stands and prints what it says."""

from __future__ import annotations

from pathlib import Path

from tests.pages import replayed


def test_the_page_prints_what_it_says(tmp_path: Path) -> None:
    assert replayed("pipeline.md", tmp_path, promises=10)
