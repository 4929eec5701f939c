"""docs/probes_throughput.md runs from top to bottom and prints what it promises."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.pages import replayed

pytestmark = [pytest.mark.beyond_core, pytest.mark.torch]


def test_the_page_runs(tmp_path: Path) -> None:
    replayed("probes_throughput.md", tmp_path, promises=3)
    assert (tmp_path / "throughput.png").stat().st_size > 1000
