"""Sinks as data: what is read, what is refused, where it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

import tunewright as tw
from tunewright.design.workload_file import Sink, sinks_from
from tunewright.errors import DesignError, MissingExtra, WorkloadError


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("mlfow", "sink.unknown"),
        ("mlflow:", "sink.no_address"),
        ("wandb:https://api.example", "sink.not_a_folder"),
        (3, "sink.not_text"),
        ("tensorboard:-x", "sink.bad_text"),
    ],
)
def test_what_is_refused(given: object, code: str) -> None:
    with pytest.raises(DesignError) as refused:
        Sink.parse(given)  # type: ignore[arg-type]
    assert refused.value.code == code


def test_a_misspelling_has_a_remedy_and_all_problems_come_at_once() -> None:
    with pytest.raises(DesignError) as refused:
        Sink.parse("mlfow")
    assert refused.value.remedy is not None
    with pytest.raises(DesignError) as several:
        sinks_from(["mlfow", "mlflow:", "mlflow"])
    assert [one.code for one in several.value.problems] == ["sink.unknown", "sink.no_address"]


def test_a_workload_refuses_a_sink_before_it_trains() -> None:
    with pytest.raises(WorkloadError) as refused:
        tw.Workload(lambda run: None, tw.minimize("e"), sinks=["mlfow"])
    assert refused.value.code == "sink.unknown"


def test_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert Sink("mlflow").with_address(tmp_path).where == str(tmp_path / "mlruns")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://here:5000")
    assert Sink("mlflow").with_address(tmp_path).where == "http://here:5000"
    assert Sink("wandb", "a").with_address(tmp_path).where == str(tmp_path / "a")
    assert Sink("wandb", "a").mark != Sink("wandb", "b").mark


def test_a_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra) as missing:
        Sink("mlflow").need()
    assert missing.value.facts["extra"] == "trackers"
