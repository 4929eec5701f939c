"""docs/gpu.md runs as it stands and prints what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.pages import replayed

pytest.importorskip("torch")
pytestmark = [pytest.mark.beyond_core, pytest.mark.torch]


def test_the_page_prints_what_it_says(tmp_path: Path) -> None:
    assert replayed("gpu.md", tmp_path, promises=1)
