"""Two doors, one answer: the dashboard as files, by Python, by `--json` and by its text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.test_parity import STORE, Shell, doors as doors, made as made, shell as shell

import tunewright as tw

pytestmark = pytest.mark.beyond_core


def test_ui(doors: Any, shell: Shell, tmp_path: Path) -> None:
    """The dashboard as files; served, it is compared with the public calls in tests/ui."""
    done = tw.ui.export_site(STORE, tmp_path / "python_site")
    found = shell("ui", "--export", str(tmp_path / "shell_site"))
    assert (found["rounds"], found["files"]) == (done.rounds, done.files)
    assert str(done.files) in shell("ui", "--export", str(tmp_path / "text_site"), text=True)
