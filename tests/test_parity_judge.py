"""Two doors, one answer: `diagnose` and `judge` by Python and by `--json`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.referee.programs import commit, repository
from tests.test_parity import Shell, doors as doors, made as made, shell as shell

import tunewright as tw
from tunewright.present.envelope import plain

pytestmark = pytest.mark.beyond_core


def test_diagnose(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = [f"{k},{1 / k},{1 / k + max(0, k - 30) * 0.02}" for k in range(1, 61)]
    path.write_text("\n".join(["step,train_loss,val_loss", *rows]))
    found = shell("diagnose", str(path))
    assert plain(tw.diagnose(path)) == found
    assert found["verdict"] == "warn"
    text = shell("diagnose", str(path), "--all", text=True)
    assert "warn          overfitting" in text and "?             schedule" in text


def test_judge(shell: Shell, tmp_path: Path) -> None:
    folder = repository(tmp_path / "own")
    store = ("--store", str(folder / "tuning.db"))
    command = f"{sys.executable} train.py {{run.seed}}"
    begun = shell("judge", "begin", command, "--minimize", "loss", "--folder", str(folder), *store)
    own = tw.referee.Referee(store=folder / "tuning.db")
    assert plain(own.status()) == begun
    commit(folder, 1.0)
    decision: dict[str, Any] = shell("judge", "try", *store, "--on", "inline")
    assert plain(own.history()[-1]) == decision
    assert decision["verdict"] == "keep"
    assert shell("judge", "history", *store) == {"decisions": [decision]}
    assert plain(own.status()) == shell("judge", "status", *store)
    quote = shell("judge", "quote", *store, "--on", "inline")
    assert plain(own.status())["quote"] == quote
    for verb in ("status", "history"):
        assert "keep" in shell("judge", verb, *store, text=True) or verb == "status"
    audit = shell("judge", "audit", *store, "--on", "inline")
    assert audit["removals"][0]["verdict"] == "keep"
