"""Faults in a pack, the CPU standing in: finished trials stay, the others run again."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.execution import packed_programs as programs
from tests.execution.packed_rounds import interrupted, lived, resumed

from tunewright.execution.executors.executor import Applied
from tunewright.execution.executors.local import Local
from tunewright.execution.executors.packed import Packed

pytestmark = pytest.mark.beyond_core


def packed(trials: int = 3, **more: float) -> Packed:
    return Packed(trials=trials, device="cpu", **more)


@pytest.mark.parametrize(
    "how, limits, outcome, last",
    [
        ("killed", {}, "died", "process.exited"),
        pytest.param(
            *("hangs", {"no_progress_timeout_s": 20.0}, "failed", "limit.no_progress"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_offender_runs_alone_and_the_others_end_as_if_alone(
    how, limits, outcome, last, tmp_path: Path
) -> None:
    settings = [{"how": "fine"}, {"how": how}, {"how": "fine"}]
    trials = lived(packed(3, **limits), programs.one_misbehaves, tmp_path / "packed", settings)
    assert [trial.outcome for trial in trials] == ["completed", outcome, "completed"]
    assert "stopped.pack_lost" in trials[1].codes and trials[1].codes[-1] == last
    alone = lived(Local(workers=1), programs.one_misbehaves, tmp_path / "alone", settings[:1])
    assert trials[0].curves == alone[0].curves


def test_a_trial_without_memory_beside_others_runs_alone(tmp_path: Path) -> None:
    settings = [{"how": "fine"}, {"how": "crowded"}, {"how": "fine"}]
    trials = lived(packed(), programs.one_misbehaves, tmp_path, settings)
    assert [trial.outcome for trial in trials] == ["completed"] * 3
    assert "stopped.pack_crowded" in trials[1].codes
    assert [trial.codes for trial in trials[::2]] == [[], []]


def test_a_trial_of_another_process_resumes_in_a_pack(tmp_path: Path) -> None:
    configuration = {"steps": 3_000}
    saved = interrupted(Local(workers=1), programs.train, tmp_path / "a", configuration)
    assert 0 < saved < 3_000
    second = resumed(packed(2), programs.train, tmp_path / "a", configuration)
    (whole,) = lived(Local(workers=1), programs.train, tmp_path / "b", [configuration])
    assert second["valid_error"][1][-1] == whole.curves["valid_error"][1][-1]
    assert second["train_loss"][1][-50:] == whole.curves["train_loss"][1][-50:]


def test_values_that_a_packed_trial_reports_arrive(tmp_path: Path) -> None:
    """They were lost: packs had their own list of the events that a process sends."""
    settings = [{"seed": seed} for seed in (1, 2)]
    for number, trial in enumerate(lived(packed(2), programs.draws, tmp_path, settings)):
        reported = [event.values for event in trial.events if isinstance(event, Applied)]
        assert {"seed": settings[number]["seed"]} in reported
