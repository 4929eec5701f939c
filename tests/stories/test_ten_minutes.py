"""The tour of docs/ten_minutes.md runs as it stands, block after block."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "ten_minutes.md"


def test_the_tour_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 7
    names: dict[str, object] = {"__name__": "tour"}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    campaign = names["campaign"]
    rate = campaign.winner.trial.configuration["learning_rate"]  # type: ignore[attr-defined]
    assert 2e-3 < rate < 0.2, "it went beyond the range it was given, towards 0.02"
    assert (tmp_path / "depth.html").exists() and (tmp_path / "autopilot.html").exists()
    said = capsys.readouterr().out
    assert "full_error" in said and "explore" in said
