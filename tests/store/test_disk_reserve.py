"""The free-space reserve."""

from __future__ import annotations

import shutil
from pathlib import Path

from tunewright.store.database import short_of_space


def test_enough_space_is_silent_and_too_little_says_so(tmp_path: Path) -> None:
    assert short_of_space(tmp_path, reserve_mb=0) is None
    free_mb = shutil.disk_usage(tmp_path).free / 2**20
    said = short_of_space(tmp_path / "not" / "yet", reserve_mb=free_mb * 2)
    assert said is not None and "MB kept in reserve" in said and str(tmp_path) in said
