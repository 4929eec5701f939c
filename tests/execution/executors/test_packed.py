"""Packs on the CPU: the contract, the same results as alone, and faults that stay one trial's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.execution import packed_programs as programs
from tests.execution.driving import OBJECTIVE, Told, assignment, drive

from tunewright.errors import WorkloadError
from tunewright.execution.executors.executor import Assignment, Ended, Noted, Saved
from tunewright.execution.executors.local import Local
from tunewright.execution.executors.packed import AUTO, Packed
from tunewright.execution.workload import Workload
from tunewright.store.curves import Curve
from tunewright.testing import check_executor

pytestmark = pytest.mark.beyond_core


_made: list[Packed | Local] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """End the processes of the executors that a test made."""
    yield
    while _made:
        _made.pop().close()


def packed(trials: int = 3, **more: float) -> Packed:
    _made.append(made := Packed(trials=trials, device="cpu", **more))
    return made


def one_at_a_time() -> Local:
    _made.append(made := Local(workers=1))
    return made


def curves(told) -> list[dict[str, tuple[list[int], list[float]]]]:
    return [
        {name: (curve.steps.tolist(), curve.values.tolist()) for name, curve in one.curves.items()}
        for one in told
    ]


def test_it_keeps_the_contract_of_executors() -> None:
    check_executor(packed(2))


@pytest.mark.parametrize("trials", [0, 33, 1.5, True])
def test_bad_numbers_of_trials_are_refused(trials: object) -> None:
    with pytest.raises(WorkloadError) as caught:
        Packed(trials=trials)  # type: ignore[arg-type]
    assert [problem.code for problem in caught.value.problems] == ["packed.bad_trials"]


def test_several_devices_multiply_the_slots() -> None:
    assert Packed(trials=4, device=[0, 1]).slots == 8
    assert Packed(device="cpu").slots == AUTO
    with pytest.raises(WorkloadError):
        Packed(device=[])


@pytest.mark.parametrize(
    "train, settings",
    [
        (programs.train, [{"learning_rate": rate} for rate in (0.001, 0.01, 0.1, 0.3, 0.02)]),
        (programs.draws, [{"seed": seed} for seed in (1, 2, 3, 4)]),
    ],
)
def test_packed_trials_log_what_they_log_alone(train, settings, tmp_path: Path) -> None:
    together = drive(packed(3), train, tmp_path / "packed", settings)
    alone = drive(one_at_a_time(), train, tmp_path / "alone", settings)
    assert all(one.end.status == "completed" for one in together)
    assert not [event for one in together for event in one.events if isinstance(event, Noted)]
    assert curves(together) == curves(alone)


def test_two_stand_ins_for_gpus_share_the_trials(tmp_path: Path) -> None:
    settings = [{"learning_rate": rate} for rate in (0.001, 0.01, 0.1, 0.3)]
    both = Packed(trials=2, device=["cpu", "cpu"])
    together = drive(both, programs.train, tmp_path / "packed", settings)
    both.close()
    alone = drive(one_at_a_time(), programs.train, tmp_path / "alone", settings)
    assert len({one.began[0].worker for one in together}) == 2  # two processes, two trials each
    assert curves(together) == curves(alone)


@pytest.mark.parametrize(
    "how, outcome, code",
    [
        ("raises", "failed", "trial.raised"),
        ("diverges", "infeasible", "metric.not_finite"),
    ],
)
def test_one_bad_trial_changes_nothing_in_the_others(how, outcome, code, tmp_path: Path) -> None:
    settings = [{"how": "fine"}, {"how": how}, {"how": "fine"}]
    together = drive(packed(3), programs.one_misbehaves, tmp_path / "packed", settings)
    assert together[1].end.status == outcome
    assert together[1].end.reason is not None and together[1].end.reason.code == code
    alone = drive(one_at_a_time(), programs.one_misbehaves, tmp_path / "alone", settings)
    assert curves(together)[::2] == curves(alone)[::2]


def test_what_cannot_be_captured_trains_in_its_own_process(tmp_path: Path) -> None:
    (one,) = drive(packed(), programs.eager, tmp_path, [{}])
    notes = [event.message for event in one.events if isinstance(event, Noted)]
    assert one.end.status == "completed"
    assert [(note.code, note.facts["reason"]) for note in notes] == [
        ("packed.own_process", "it was not asked for")
    ]


def test_a_lost_process_returns_its_trials_and_blames_the_one_alone(tmp_path: Path) -> None:
    executor = packed(3)
    workload = Workload(programs.one_misbehaves, OBJECTIVE)
    settings = [{"how": "fine"}, {"how": "exits"}, {"how": "fine"}]
    ends: dict[int, list[Ended]] = {}
    attempts = dict.fromkeys(range(3), 1)
    try:
        executor.start(workload, [_attempt(tmp_path, n, 1, settings[n]) for n in range(3)])
        while sum(e[-1].outcome.status in ("completed", "died") for e in ends.values()) < 3:
            for event in executor.events(5.0):
                if isinstance(event, Ended):
                    number = event.trial - 100
                    ends.setdefault(number, []).append(event)
                    if event.outcome.status == "stopped":  # what the supervisor does with it
                        attempts[number] += 1
                        again = _attempt(tmp_path, number, attempts[number], settings[number])
                        executor.start(workload, [again])
    finally:
        executor.close()
    assert [ends[n][-1].outcome.status for n in range(3)] == ["completed", "died", "completed"]
    reasons = [end.outcome.reason for end in ends[0][:-1]]
    lost = [reason.code for reason in reasons if reason is not None]
    assert set(lost) == {"stopped.pack_lost"}


def test_a_trial_stopped_in_a_pack_resumes_alone_and_ends_the_same(tmp_path: Path) -> None:
    configuration = {"steps": 4_000}
    executor = packed(2)
    workload = Workload(programs.train, OBJECTIVE)
    first = _attempt(tmp_path, 0, 1, configuration)
    saved: list[Saved] = []
    try:
        executor.start(workload, [first, _attempt(tmp_path, 1, 1, {"steps": 40})])
        end = None
        while end is None:
            for event in executor.events(5.0):
                if isinstance(event, Ended) and event.trial == 101:
                    executor.stop(100, 60.0)
                if isinstance(event, Saved) and event.trial == 100:
                    saved.append(event)
                if isinstance(event, Ended) and event.trial == 100:
                    end = event
    finally:
        executor.close()
    assert end.outcome.status == "stopped" and saved
    assert 0 < saved[-1].step < 4_000
    resumed = _driven(_attempt(tmp_path, 0, 2, configuration))
    whole = _driven(_attempt(tmp_path / "whole", 0, 1, configuration))
    assert resumed["valid_error"].values[-1] == whole["valid_error"].values[-1]
    assert resumed["train_loss"].values[-50:].tolist() == whole["train_loss"].values[-50:].tolist()


def _attempt(folder: Path, number: int, attempt: int, configuration: dict) -> Assignment:
    return assignment(
        folder / str(number), number=number, attempt=attempt, configuration=configuration
    )


def _driven(one: Assignment) -> dict[str, Curve]:
    """The curves of an attempt in its own process, to its end."""
    executor, told = one_at_a_time(), Told([], one.folder)
    try:
        executor.start(Workload(programs.train, OBJECTIVE), [one])
        while not told.events or not isinstance(told.events[-1], Ended):
            told.events += executor.events(5.0)
    finally:
        executor.close()
    return told.curves
