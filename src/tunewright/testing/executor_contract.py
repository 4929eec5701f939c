"""What every executor promises, as a function that fails with a sentence."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tunewright.design.objective import minimize
from tunewright.design.ranges import Value
from tunewright.execution.executors.executor import (
    Assignment,
    Began,
    Ended,
    Event,
    Executor,
    Logged,
    Saved,
)
from tunewright.execution.workload import Workload
from tunewright.store.curves import Batch, merge
from tunewright.store.outcome import End, Outcome
from tunewright.testing.programs import POINTS, descend, tick

# what each manner of `descend` must end as, the code of its cause, and a fact in it
_ENDS: dict[str, tuple[End, str, tuple[str, str]]] = {
    "completed": ("completed", "", ("", "")),
    "says infeasible": ("infeasible", "trial.infeasible", ("text", "heads do not divide width")),
    "diverges": ("infeasible", "metric.not_finite", ("value", "nan")),
    "raises": ("failed", "trial.raised", ("text", "a bug of the training program")),
}
_TICKS, _TICK_S = 200, 0.02  # a program that runs for 4 s unless it is stopped


def check_executor(executor: Executor, patience_s: float = 120.0) -> None:
    """Raise AssertionError with a sentence where an executor breaks a promise of the protocol.

    It trains small programs of `tunewright.testing.programs` in folders of this machine, and closes
    the executor. `patience_s` is how long it may take until an attempt is reported.
    """
    assert isinstance(executor, Executor), (
        f"{executor!r} lacks slots, start(), events(), stop() or close()"
    )
    slots = executor.slots
    assert isinstance(slots, int) and slots >= 1, f"slots is {slots!r}, not at least 1"
    assert executor.events(0.0) == [], "events() reports something before anything was started"
    with tempfile.TemporaryDirectory(prefix="tunewright-contract-") as folder:
        try:
            _check_ends(executor, Path(folder), patience_s)
            if _check_stop_and_resume(executor, Path(folder), patience_s):
                _check_close(executor, Path(folder), patience_s)
        finally:
            executor.close()
        executor.close()  # closing twice is no error


@dataclass
class _Reported:
    """Every event of one attempt, in order."""

    assignment: Assignment
    events: list[Event] = field(default_factory=list)

    @property
    def ended(self) -> Outcome | None:
        """How it ended, if it has."""
        last = self.events[-1] if self.events else None
        return last.outcome if isinstance(last, Ended) else None

    @property
    def began(self) -> Began | None:
        """Where it began, if it has."""
        return next((event for event in self.events if isinstance(event, Began)), None)

    @property
    def saved(self) -> list[Saved]:
        """Its snapshots."""
        return [event for event in self.events if isinstance(event, Saved)]


def _check_ends(executor: Executor, folder: Path, patience_s: float) -> None:
    """Every manner of ending, several at once, more than there are slots."""
    manners = [*_ENDS, *["completed"] * executor.slots]
    attempts = [
        _Reported(
            _assignment(folder, trial, attempt=1 + trial % 3, configuration={"manner": manner})
        )
        for trial, manner in enumerate(manners, start=100)
    ]
    workload = Workload(descend, minimize("valid_error"))
    executor.start(workload, [attempt.assignment for attempt in attempts])
    _gather(executor, attempts, patience_s)
    for attempt, manner in zip(attempts, manners, strict=True):
        outcome, code, (fact, expected) = _ENDS[manner]
        end = attempt.ended
        assert end is not None
        assert end.status == outcome, f"{manner}: it is reported as {end.status} ({end.reason})"
        if code:
            cause = end.reason
            assert cause is not None and cause.code == code, f"{manner}: cause {cause!r}"
            assert cause.facts[fact] == expected, f"{manner}: cause {cause!r} lacks {expected!r}"
        assert end.seconds >= 0, f"{manner}: it took {end.seconds} s"
        _check_order(attempt, manner)
        _check_points(attempt, manner)
    extra = executor.events(0.2)
    assert extra == [], f"all have ended, and it still reports {extra}"


def _check_order(attempt: _Reported, manner: str) -> None:
    assert isinstance(attempt.events[0], Began), f"{manner}: the first event is {attempt.events[0]}"
    ends = [event for event in attempt.events if isinstance(event, Ended)]
    assert len(ends) == 1, f"{manner}: its end is reported {len(ends)} times"
    begins = [event for event in attempt.events if isinstance(event, Began)]
    assert len(begins) == 1, f"{manner}: its start is reported {len(begins)} times"
    assert begins[0].start_step == 0, f"{manner}: a fresh start at step {begins[0].start_step}"


def _check_points(attempt: _Reported, manner: str) -> None:
    batches = [Batch(1, 0, event.points) for event in attempt.events if isinstance(event, Logged)]
    curve = merge(batches).get("valid_error")
    assert curve is not None, f"{manner}: nothing of its curve was reported"
    last = POINTS if manner == "completed" else 3
    expected = [1.0 / step for step in range(1, last + 1)]
    assert curve.steps.tolist()[:last] == list(range(1, last + 1)), (
        f"{manner}: it logged steps 1 to {last}, and {curve.steps.tolist()} were reported"
    )
    assert curve.values.tolist()[:last] == expected, f"{manner}: other values than it logged"


def _check_stop_and_resume(executor: Executor, folder: Path, patience_s: float) -> bool:
    """A stopped trial is reported as stopped, and its next attempt resumes from what it saved.

    Gives False for an executor that reports only trials that have ended: none can be stopped on
    its way, or be left running by close().
    """
    workload = Workload(tick, minimize("valid_error"))
    slow: dict[str, Value] = {"steps": _TICKS, "sleep_s": _TICK_S}
    early = _Reported(_assignment(folder, 200, 1, slow))
    executor.start(workload, [early.assignment])
    executor.stop(200, grace_s=patience_s)
    _gather(executor, [early], patience_s)
    assert early.ended is not None and early.ended.status == "stopped", (
        f"stopped right after its start, it is reported as {early.ended}"
    )
    late = _Reported(_assignment(folder, 201, 1, slow))
    executor.start(workload, [late.assignment])
    deadline = time.monotonic() + patience_s
    while late.began is None and time.monotonic() < deadline:
        _sort(executor.events(0.1), [late])
    assert late.began is not None, f"its start was not reported within {patience_s:g} s"
    if late.ended is not None:
        return False
    executor.stop(201, grace_s=patience_s)
    _gather(executor, [late], patience_s)
    assert late.ended is not None and late.ended.status == "stopped", (
        f"stopped on its way, it is reported as {late.ended}"
    )
    assert late.saved, "asked to stop, the program saved, and no snapshot was reported"
    again = _Reported(
        _assignment(folder, 201, 2, {"steps": late.saved[-1].step + 1, "sleep_s": 0.0})
    )
    executor.start(workload, [again.assignment])
    _gather(executor, [again], patience_s)
    assert again.began is not None and again.began.start_step == late.saved[-1].step, (
        f"saved at step {late.saved[-1].step}, the next attempt began with {again.began}"
    )
    assert again.ended is not None and again.ended.status == "completed"
    return True


def _check_close(executor: Executor, folder: Path, patience_s: float) -> None:
    """Nothing trains after close()."""
    running = _Reported(_assignment(folder, 300, 1, {"steps": _TICKS, "sleep_s": _TICK_S}))
    marks = running.assignment.folder / "ticks"
    executor.start(Workload(tick, minimize("valid_error")), [running.assignment])
    deadline = time.monotonic() + patience_s
    while not marks.exists() and running.ended is None and time.monotonic() < deadline:
        _sort(executor.events(0.1), [running])
    executor.close()
    time.sleep(10 * _TICK_S)  # what was being written
    before = marks.read_text() if marks.exists() else ""
    time.sleep(20 * _TICK_S)
    after = marks.read_text() if marks.exists() else ""
    assert after == before, "a trial continued training after close()"


def _assignment(
    folder: Path, trial: int, attempt: int, configuration: Mapping[str, Value]
) -> Assignment:
    trial_folder = folder / f"t{trial}"
    trial_folder.mkdir(exist_ok=True)
    return Assignment(
        trial=trial,
        attempt=attempt,
        number=trial,
        round="contract",
        configuration=dict(configuration),
        seed=trial,
        split_seed=1,
        folder=trial_folder,
    )


def _gather(executor: Executor, attempts: Sequence[_Reported], patience_s: float) -> None:
    """Collect events until all of these have ended."""
    deadline = time.monotonic() + patience_s
    while any(attempt.ended is None for attempt in attempts):
        open_trials = [attempt.assignment.trial for attempt in attempts if attempt.ended is None]
        assert time.monotonic() < deadline, (
            f"after {patience_s:g} s the end of trials {open_trials} is not reported"
        )
        _sort(executor.events(0.2), attempts)


def _sort(events: Sequence[Event], attempts: Sequence[_Reported]) -> None:
    assert isinstance(events, list), f"events() gives {type(events).__name__}, not a list"
    known = {
        (attempt.assignment.trial, attempt.assignment.attempt): attempt for attempt in attempts
    }
    for event in events:
        attempt = known.get((event.trial, event.attempt))
        assert attempt is not None, f"an event of an attempt that is not under way: {event}"
        assert attempt.ended is None, f"{event} is reported after the attempt had ended"
        attempt.events.append(event)
