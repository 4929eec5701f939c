"""Two doors, one answer: the dashboard as files, and sinks, by Python, `--json` and text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.test_parity import STORE, Shell, doors as doors, made as made, shell as shell

import tunewright as tw
from tunewright.sinks import sync

pytestmark = pytest.mark.beyond_core


def test_ui(doors: Any, shell: Shell, tmp_path: Path) -> None:
    """The dashboard as files; served, it is compared with the public calls in tests/ui."""
    done = tw.ui.export_site(STORE, tmp_path / "python_site")
    found = shell("ui", "--export", str(tmp_path / "shell_site"))
    assert (found["rounds"], found["files"]) == (done.rounds, done.files)
    assert str(done.files) in shell("ui", "--export", str(tmp_path / "text_site"), text=True)


def test_sync(doors: Any, shell: Shell, tmp_path: Path) -> None:
    """A round written to a tracker, and again, when nothing is left to write."""
    pytest.importorskip("tensorboard")
    (done,) = sync(STORE, "layers", f"tensorboard:{tmp_path / 'python'}")
    sink = f"tensorboard:{tmp_path / 'shell'}"
    (found,) = shell("sync", "layers", "--sink", sink)
    assert (found["written"], found["left"], found["error"]) == (done.written, 0, "")
    assert done.whole and done.written > 0
    assert str(done.written) in shell("sync", "layers", "--sink", sink, text=True)
