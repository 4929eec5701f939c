"""The page docs/measured.md runs as it is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.pages import replayed


@pytest.mark.beyond_core
def test_the_page_runs(tmp_path: Path) -> None:
    assert "warn 1700" in replayed("measured.md", tmp_path, promises=3)
