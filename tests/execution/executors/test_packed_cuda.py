"""Packs on a real GPU: bit for bit the values of a trial alone, and faults of the device."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.execution import packed_programs as programs
from tests.execution.packed_rounds import interrupted, lived, resumed

from tunewright.execution.executors.executor import Noted
from tunewright.execution.executors.local import Local
from tunewright.execution.executors.packed import Packed

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.beyond_core,
    pytest.mark.torch,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]
RATES = [10 ** (-4 + number / 8) for number in range(16)]


def alone() -> Local:
    return Local(workers=1, devices=["0"])


@pytest.mark.parametrize("precision", ["fp32", "tf32"])
def test_sixteen_trials_with_dropout_log_what_they_log_alone(precision, tmp_path: Path) -> None:
    settings = [{"learning_rate": rate, "precision": precision} for rate in RATES]
    together = lived(Packed(trials=16), programs.on_gpu, tmp_path / "packed", settings)
    one_by_one = lived(alone(), programs.on_gpu, tmp_path / "alone", settings)
    notes = [e.message for t in together for e in t.events if isinstance(e, Noted)]
    assert notes == []
    assert [trial.outcome for trial in together] == ["completed"] * 16
    assert [trial.curves for trial in together] == [trial.curves for trial in one_by_one]


@pytest.mark.parametrize("how, outcome", [("raises", "failed"), ("diverges", "infeasible")])
def test_one_bad_trial_changes_nothing_in_the_others(how, outcome, tmp_path: Path) -> None:
    settings = [{"how": each, "device": "cuda"} for each in ("fine", how, "fine")]
    together = lived(Packed(trials=3), programs.one_misbehaves, tmp_path / "packed", settings)
    assert [trial.outcome for trial in together] == ["completed", outcome, "completed"]
    (fine,) = lived(alone(), programs.one_misbehaves, tmp_path / "alone", settings[:1])
    assert together[0].curves == fine.curves


@pytest.mark.parametrize("how, outcome", [("killed", "died"), ("broken", "died")])
def test_a_lost_process_or_context_returns_the_others(how, outcome, tmp_path: Path) -> None:
    settings = [{"how": each, "device": "cuda"} for each in ("fine", how, "fine")]
    trials = lived(Packed(trials=3), programs.one_misbehaves, tmp_path / "packed", settings)
    assert [trial.outcome for trial in trials] == ["completed", outcome, "completed"]
    assert "stopped.pack_lost" in trials[1].codes
    (fine,) = lived(alone(), programs.one_misbehaves, tmp_path / "alone", settings[:1])
    assert trials[0].curves == fine.curves


def test_memory_for_two_of_three_trials_suffices_for_all(tmp_path: Path) -> None:
    settings = [{"share": 0.4, "steps": 3_000} for _ in range(3)]
    trials = lived(Packed(trials=3), programs.on_gpu, tmp_path, settings)
    assert [trial.outcome for trial in trials] == ["completed"] * 3
    assert "stopped.pack_crowded" in [code for trial in trials for code in trial.codes]


@pytest.mark.parametrize("first", ["packed", "alone"])
def test_a_trial_resumes_in_the_other_kind_of_process(first, tmp_path: Path) -> None:
    configuration = {"steps": 20_000}
    made = {"packed": lambda: Packed(trials=2), "alone": alone}
    (second,) = set(made) - {first}
    saved = interrupted(made[first](), programs.on_gpu, tmp_path / "a", configuration)
    assert 0 < saved < 20_000
    later = resumed(made[second](), programs.on_gpu, tmp_path / "a", configuration)
    (whole,) = lived(alone(), programs.on_gpu, tmp_path / "b", [configuration])
    assert later["valid_error"][1][-1] == whole.curves["valid_error"][1][-1]
    assert later["train_loss"][1][-50:] == whole.curves["train_loss"][1][-50:]


def test_a_loop_of_its_own_is_captured_in_a_pack(tmp_path: Path) -> None:
    settings = [{"learning_rate": rate, "device": "cuda", "steps": 600} for rate in RATES[:4]]
    together = lived(Packed(trials=4), programs.own_loop, tmp_path / "packed", settings)
    one_by_one = lived(alone(), programs.own_loop, tmp_path / "alone", settings)
    assert [e for t in together for e in t.events if isinstance(e, Noted)] == []
    assert [trial.outcome for trial in together] == ["completed"] * 4
    assert [trial.curves for trial in together] == [trial.curves for trial in one_by_one]
