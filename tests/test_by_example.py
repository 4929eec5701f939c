"""docs/by_example.md runs from top to bottom and prints what it promises."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.pages import replayed

pytestmark = pytest.mark.beyond_core


def test_the_page_runs(tmp_path: Path) -> None:
    replayed("by_example.md", tmp_path, promises=12)
    assert (tmp_path / "axis.png").stat().st_size > 1000
