"""`tunewright sync`: what is written, and what is refused."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from tests.sinks.contract import ROUND, recorded

from tunewright.cli.main import main


@pytest.mark.beyond_core
@pytest.mark.skipif(importlib.util.find_spec("tensorboard") is None, reason="needs tensorboard")
def test_a_round_is_written_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    store = recorded(tmp_path, trials=3, steps=10)
    asked = ["sync", ROUND, "--store", store, "--sink", "tensorboard:runs"]
    for _ in range(2):
        assert main([*asked, "--json"]) == 0
        (found,) = json.loads(capsys.readouterr().out)["data"]
        assert (found["written"], found["left"], found["error"]) == (3, 0, "")
    files = sorted(path.name for path in (tmp_path / "runs").rglob("*tfevents*"))
    assert main(asked) == 0
    assert "tensorboard" in capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / "runs").rglob("*tfevents*")) == files


@pytest.mark.parametrize(
    ("sink", "code"), [([], "sink.no_sink"), (["--sink", "tensorbord"], "sink.unknown")]
)
def test_no_sink_and_unknown_ones_are_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    sink: list[str],
    code: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    store = recorded(tmp_path, trials=3, steps=10)
    assert main(["sync", ROUND, "--store", store, *sink, "--json"]) != 0
    assert json.loads(capsys.readouterr().out)["error"]["code"].startswith(code.partition(".")[0])
