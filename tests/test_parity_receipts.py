"""Two doors, one answer: receipts, budgets and agents' files by Python and by `--json`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.test_parity import Shell, doors as doors, made as made, same, shell as shell

import tunewright as tw
from tunewright.present.envelope import plain

pytestmark = pytest.mark.beyond_core


def test_receipt_and_verify(shell: Shell, tmp_path: Path) -> None:
    made = shell("receipt", "layers", "--out", str(tmp_path / "shell.json"))
    own = tw.receipts.write("tuning.db", "layers", tmp_path / "python.json")
    assert made["bytes"] == (tmp_path / "shell.json").stat().st_size
    by_shell, by_python = (tw.receipts.verify(path) for path in (made["file"], own))
    assert by_shell == by_python and by_python.ok and by_python.findings > 0
    assert shell("verify", str(own)) == plain(by_python)
    assert by_python.headline in shell("verify", str(own), text=True)


def test_budget(shell: Shell) -> None:
    assert shell("budget", "show") == {"budget": None} and tw.budgets.state("tuning.db") is None
    given = shell("budget", "set", "--trials", "90", "--price-per-hour", "2", "--currency", "EUR")
    tw.budgets.write(tw.budgets.Budget(trials=90, price_per_hour=2.0, currency="EUR"))
    known = tw.budgets.state("tuning.db")
    assert known is not None and known.left["trials"] == 90, "what was spent before does not count"
    assert given == shell("budget", "show")
    ours = plain(known)
    assert ours["budget"].pop("since") > 0 and given["budget"].pop("since") > 0
    same(ours, given)
    assert "of 90 trials" in shell("budget", "show", text=True)


def test_agents(shell: Shell, tmp_path: Path) -> None:
    by_shell = shell("agents", "install")["files"]
    by_python = tw.agents.install(tmp_path)
    assert [one["did"] for one in by_shell] == [one.did for one in by_python]
    for one, other in zip(by_shell, by_python, strict=True):
        assert Path(one["path"]).read_bytes() == other.path.read_bytes()
    assert "AGENTS.md" in shell("agents", "install", "--yes", text=True)
