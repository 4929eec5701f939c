"""The page docs/diagnose.md runs as it is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.pages import replayed


@pytest.mark.beyond_core
def test_the_page_runs(tmp_path: Path) -> None:
    assert "overfitting" in replayed("diagnose.md", tmp_path, promises=2)
