"""The handle a training function receives, and the control that its executor has of it."""

from __future__ import annotations

import math
import os
import socket
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from tunewright import snapshot
from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.design.ranges import Value
from tunewright.errors import BadValue, Ended, Stopped, WorkloadError
from tunewright.execution import cadence as due
from tunewright.execution.best_saved import BestSaved
from tunewright.execution.cadence import went_back
from tunewright.execution.conclude import metrics_to_watch
from tunewright.execution.executors.executor import (
    Applied,
    Assignment,
    Began,
    Event,
    Logged,
    Noted,
    Saved,
)
from tunewright.execution.points import MOST_POINTS, Points
from tunewright.execution.processes.surroundings import rank
from tunewright.execution.reported_values import (
    LARGEST_STEP,
    as_count,
    as_name,
    as_number,
    as_step,
    detach,
    on_device,
    plain_values,
    short_text,
)
from tunewright.measured import Measured
from tunewright.messages import Message
from tunewright.seeds import Seeds, seeds

FOLDER = "snapshots"  # of run.save, inside the trial folder
_NOT_BEGUN = sys.maxsize  # lowest step allowed before the first: any step then takes the long way

_handles: weakref.WeakSet[Handle] = weakref.WeakSet()


class Handle:
    """One attempt at one trial, from the inside: what `tw.protocols.Run` promises.

        for step in run.steps(max_train_steps):
            run.log(step, train_loss=loss)
            if run.eval_due(step):
                run.log(step, valid_error=error)
            if run.save_due(step):
                run.save({"model": model.state_dict()})

    Ranks other than 0 neither log nor save. Once the trial is over (it diverged, or was stopped)
    every further call ends it again, so that no `except` can keep it alive.
    """

    configuration: Mapping[str, Value]  # every hyperparameter of this trial
    number: int | None  # the trial's number in its round; None for a repeat
    folder: Path  # the trial's own, the same for every attempt
    seeds: Seeds
    devices: tuple[str, ...]  # what this trial may use, as in CUDA_VISIBLE_DEVICES
    attempt: int  # from 1

    def __init__(
        self,
        assignment: Assignment,
        objective: Objective,
        meaning: Meaning,
        tell: Callable[[Event], None],
        devices: tuple[str, ...] = (),
    ) -> None:
        """`tell` receives the events. Executors make handles and steer them by a `Control`."""
        self.configuration = assignment.configuration
        self.number = assignment.number
        self.folder = Path(assignment.folder)
        self.seeds = seeds(assignment.seed, assignment.split_seed, rank())
        self.devices = devices
        self.attempt = assignment.attempt
        self._trial = assignment.trial
        self._given = (assignment, objective, meaning)
        self._tell = tell
        self._speaks = rank() == 0
        self._best = BestSaved(objective)
        self._points = Points(
            lambda packed: tell(Logged(self._trial, self.attempt, packed)),
            watched := frozenset(metrics_to_watch(objective, meaning)),
            self._best.hear,
        )
        self._watched = watched
        self._steps_name = meaning.name("max_train_steps")
        self._eval_every = assignment.eval_every
        self._names: set[str] = set()  # metrics whose names were found good
        # left by an earlier attempt; what a first attempt finds is none of this trial's
        self._saved = snapshot.latest(self.folder / FOLDER) if self.attempt > 1 else None
        self._restored = False
        self._start = self._saved.step if self._saved else 0
        self._lowest = _NOT_BEGUN  # the last step logged: none may lie below it
        self._total: int | None = None  # of run.steps
        self._step: int | None = None  # where run.steps stands
        self._stop = StopRequest()
        self._over: Ended | None = None
        self._foreign = False  # a copy in a forked child
        self._plain = self._speaks  # nothing of the above needs a look: the fast path's one test
        _handles.add(self)

    # ---- steps

    def steps(self, max_train_steps: int | None = None) -> Iterator[int]:
        """The steps still to do: start_step + 1 up to and including the last.

        Without an argument the configuration's own number of steps.
        """
        if max_train_steps is not None:
            self._total = as_count(max_train_steps)
        total = self._total = self._max_train_steps()
        self._begin()
        return self._iterate(total)

    def _iterate(self, total: int) -> Iterator[int]:
        for step in range(self._start + 1, total + 1):
            if not self._plain:
                self._look(step)
            self._step = step
            yield step

    @property
    def step(self) -> int:
        """Where it stands: the step of `run.steps`, else the last one logged, else the start."""
        if self._step is not None:
            return self._step
        return self._start if self._lowest == _NOT_BEGUN else self._lowest

    @property
    def total(self) -> int | None:
        """The steps in all: what `run.steps` was given, else the configuration's; None: unknown."""
        try:
            return self._max_train_steps()
        except Exception:  # a number of steps that is none is refused where it is used
            return None

    @property
    def alone(self) -> bool:
        """Whether no trial is behind it: `tw.current_run()` of a program that runs alone."""
        return False

    @property
    def start_step(self) -> int:
        """The updates already done by an earlier attempt; 0 at a fresh start."""
        return self._start

    def resumed_at(self, step: int) -> None:
        """Report that the program resumes from a checkpoint that it wrote itself, at `step`."""
        if self._has_begun:
            raise WorkloadError("run.resumed_at_too_late", step=step)
        self._saved, self._start = None, as_step(step)
        self._announce()

    @property
    def _has_begun(self) -> bool:
        return self._step is not None or self._lowest != _NOT_BEGUN

    def _begin(self) -> None:
        """At the first step: a program that did not take its saved state starts from nothing."""
        if self._saved is not None and not self._restored and not self._has_begun and self._start:
            self._start = 0
            note = Message("run.not_restored", {"number": self.number, "step": self._saved.step})
            print(f"tunewright: {note}", file=sys.stderr)
            if self._speaks:
                self._tell(Noted(self._trial, self.attempt, note))
            self._announce()

    def _max_train_steps(self) -> int:
        if self._total is not None:
            return self._total
        steps = self.configuration.get(self._steps_name)
        if steps is None:
            raise WorkloadError("run.steps_unknown", name=self._steps_name)
        return as_count(steps)

    # ---- logging

    def log(self, step: int, metrics: Mapping[str, Any] | None = None, **named: Any) -> None:
        """Record metrics at a step: `run.log(step, loss=x)`, or a dictionary for any name.

        Numbers of Python, NumPy and torch are accepted, and `tw.Measured` for a value whose
        uncertainty is known; tensors on a device are read later, many at once. Steps may not go
        back. A non-finite objective or loss ends the trial as infeasible.
        """
        if not self._plain and not self._look(step):
            return
        try:
            if type(step) is not int or step > LARGEST_STEP:
                step = as_step(step)
            if step < self._lowest:
                self._check_step(step)
            self._lowest = step
            points, diverged = self._points, None
            for name, value in (named if metrics is None else _both(metrics, named)).items():
                if name not in self._names:
                    self._names.add(as_name(name))
                number = value
                if type(value) is not float:
                    if isinstance(value, Measured):
                        number = value.value
                    elif on_device(value):
                        points.hold(step, name, detach(name, value))
                        continue
                    else:
                        number = value = as_number(name, value)
                if points.holding:  # behind the tensors, so that all stay in order
                    points.hold(step, name, value)
                    continue
                points.add((step, name, value))
                if number - number != 0.0 and name in self._watched:  # nan, inf or -inf
                    diverged = diverged or (step, name, number)
            if diverged:  # only now: the other metrics of this step are recorded too
                points.check_finite(diverged)
            if points.holding and points.read_due:
                points.read()
            if len(points) > MOST_POINTS:
                points.flush()  # logged faster than sent: send now
        except Ended as reason:
            self._end(reason)

    def log_steps(self, steps: Sequence[int], metrics: Mapping[str, Sequence[float]]) -> None:
        """Record many steps at once: for each metric one float per step, steps in order."""
        points = self._points
        every = [value for values in metrics.values() for value in values]
        plain = self._plain and not points.holding and all(map(math.isfinite, every))
        if not plain or any(len(values) != len(steps) for values in metrics.values()):
            for step, *row in zip(steps, *metrics.values(), strict=True):
                self.log(step, dict(zip(metrics, row, strict=True)))
            return
        for end in steps[:1], steps[-1:]:  # checks their kind and order
            for step in end:
                self.log(step)
        for name in metrics:
            if name not in self._names:
                self._names.add(as_name(name))
        points.add_columns(list(steps), {name: list(of) for name, of in metrics.items()})
        if len(points) > MOST_POINTS:
            points.flush()

    def _check_step(self, step: int) -> None:
        """The rarer half of the test that steps never go back."""
        first = self._lowest == _NOT_BEGUN
        if first:
            self._begin()
        before = self._start if first else self._lowest
        if as_step(step) < before:
            raise went_back(self.number, step, before, resumed=first)

    def applied(self, values: Mapping[str, Any] | None = None, **named: Any) -> None:
        """Report the values that the program really uses: `run.applied(lr=optimizer_lr)`.

        They are stored with the trial and read back as `trial.applied`; they change nothing. A
        later call adds to an earlier one. What is neither a number, text, a truth value, None nor a
        list of these is stored as its text.
        """
        if self._plain or self._look(None):
            given = plain_values({} if values is None else values) | plain_values(named)
            self._tell(Applied(self._trial, self.attempt, given))

    # ---- when to evaluate and save

    def eval_due(self, step: int) -> bool:
        """Whether to evaluate at this step: about 100 times, always at the last.

        A function of the step alone, never of the clock: all trials evaluate at the same steps. The
        workload may ask for another interval; a probe that looks closely asks for every step.
        """
        now = step == self._max_train_steps() or step % self.eval_every == 0
        if now and self._points.holding:  # an evaluation waits for the device anyway
            try:
                self._points.read()
            except Ended as reason:
                self._end(reason)
        return now

    @property
    def eval_every(self) -> int:
        """Every how many steps `eval_due` is true."""
        return self._eval_every or due.period(self._max_train_steps(), due.EVALUATIONS)

    def save_due(self, step: int) -> bool:
        """Whether to save at this step: about 10 times, always at the last, and before a stop.

        If that is too seldom, save more often: `if step % 500 == 0 or run.save_due(step)`; or keep
        the best of all evaluations: `if run.eval_due(step) or run.save_due(step)`, then
        `run.save(state, best=3)`.
        """
        self._stop.saves = True
        if self._stop.requested:
            self._look(step)
            self._stop.tell(step)
            return True
        saves = due.due(step, self._max_train_steps(), due.SNAPSHOTS)
        if saves:
            self.flush()  # points before the program's own checkpoint are sent before it
        return saves

    def next_due(self, first: int, evaluates: bool = True) -> int:
        """The first step from `first` on at which to save, or to evaluate where it `evaluates`."""
        if self._stop.requested:
            return first
        total = self._max_train_steps()
        every = [due.period(total, due.SNAPSHOTS), *([self.eval_every] if evaluates else [])]
        return min(max(first, total), *(-(-first // each) * each for each in every))

    # ---- saving

    def save(self, state: object, step: int | None = None, *, best: int | None = None) -> None:
        """Keep the state from which this trial can go on, whole or not at all.

        The last two stay, and the one at whose step the objective was best. `step` is how many
        updates it has had: by default where `run.steps` stands. With `best=3` the three best stay;
        call it after every evaluation then: what is neither due (`save_due`) nor one of the best
        is not written.
        """
        self._stop.saves = True
        if best is not None and (type(best) is not int or best < 1):
            raise WorkloadError("run.bad_best", best=best)
        if not self._plain and not self._look(None):
            return
        at = self.step if step is None else as_step(step)
        self.flush()  # points before the snapshot are sent before it
        written = self._best.save(
            self.folder / FOLDER,
            state,
            step=at,
            attempt=self.attempt,
            start_step=self._start,
            best=best or 1,
            due=best is None or self.save_due(at),
        )
        if written is None:
            return
        relative = written.path.relative_to(self.folder).as_posix()
        self._tell(Saved(self._trial, self.attempt, written.step, relative, written.sha256))
        try:
            self._stop.note_saved(at)
        except Ended as reason:
            self._end(reason)

    @property
    def restored(self) -> Any:
        """The state saved by an earlier attempt, on the CPU; None at a fresh start."""
        if self._saved is None:
            return None
        if not self._restored and self._has_begun:
            raise WorkloadError("run.restored_too_late")
        self._restored = True
        return snapshot.load(self._saved)

    @property
    def stop_asked(self) -> bool:
        """Whether somebody has asked this trial to stop."""
        return self._stop.requested

    def flush(self) -> None:
        """Send everything logged so far, also what is still on a device."""
        try:
            self._points.read()
        except Ended as reason:
            self._end(reason)
        finally:
            self._points.flush()

    # ---- what is out of the ordinary

    def _announce(self) -> None:
        if self._speaks:
            where = f"{socket.gethostname()} pid {os.getpid()}"
            self._tell(Began(self._trial, self.attempt, self._start, where, self.devices))

    def _end(self, reason: Ended) -> NoReturn:
        self._over = self._over or reason
        self._plain = False
        raise reason

    def _look(self, step: int | None) -> bool:
        """Whether to go on although something is special; raises when the trial is over."""
        if self._foreign:
            raise WorkloadError("run.in_child_process")
        if self._over is not None:
            raise self._over
        if step is not None:
            try:
                self._stop.check(step, self._first_save)
            except Ended as reason:
                self._end(reason)
        return self._speaks

    @property
    def _first_save(self) -> float:
        """The step by which a program that saves at all would have asked when."""
        try:
            return self._start + due.period(self._max_train_steps(), due.SNAPSHOTS)
        except WorkloadError:
            return float("inf")

    @property
    def _label(self) -> str:
        return "this repeat" if self.number is None else f"trial {self.number}"

    def __reduce__(self) -> NoReturn:
        """Refuse to be sent to another process."""
        raise WorkloadError("run.not_picklable")

    def __repr__(self) -> str:
        return f"<Run: {self._label}, attempt {self.attempt}, step {self.step}>"


class Control:
    """What an executor does with the handle of an attempt: announce it, stop it, read its end."""

    def __init__(self, run: Handle) -> None:
        """Steer this handle."""
        self.run = run

    def announce(self) -> None:
        """Report that the program begins, and after how many updates."""
        self.run._announce()

    def ask_stop(self) -> None:
        """Make `save_due` true and end the trial once it has saved; callable from any thread."""
        self.run._stop.requested = True
        self.run._plain = False

    @property
    def names(self) -> tuple[int, int]:
        """The trial, by the store's key, and the attempt that the handle belongs to."""
        return self.run._trial, self.run.attempt

    @property
    def over(self) -> Ended | None:
        """Why the trial was ended from inside, even if the program caught that."""
        return self.run._over

    def tell_points(self) -> None:
        """Send buffered metrics that are already on the host. Thread-safe."""
        self.run._points.flush()

    # ---- of a trial that a command's program trains

    @property
    def given(self) -> tuple[Assignment, Objective, Meaning]:
        """What the handle was made from: the program makes another one of the same."""
        return self.run._given

    def saves_itself(self) -> None:
        """The program saves; after a stop request it has the whole grace period for it."""
        self.run._stop.saves = True

    def relay_saved(self, step: int, path: str, sha256: str) -> None:
        """Report a snapshot that the program has written."""
        run = self.run
        run._tell(Saved(run._trial, run.attempt, step, path, sha256))


class StopRequest:
    """Cooperative stop of one training program: request, time to save, end."""

    def __init__(self) -> None:
        """Nothing was asked for yet."""
        self.requested = False
        self.saves = False  # whether this program ever asks when to save, or saves
        self._tell_step: int | None = None

    def tell(self, step: int) -> None:
        """The program learns at this step that it should save."""
        self._tell_step = step

    def check(self, step: int, first_save: float) -> None:
        """End a program that continues after the request, or that would never save.

        By `first_save` a program that saves at all would have asked for the first time.
        """
        if not self.requested:
            return
        if self._tell_step is not None and step > self._tell_step:
            # it has saved in its own way, or it will not
            raise Stopped(Message("stopped.after_step", {"step": self._tell_step}))
        if not self.saves and step > first_save:
            raise Stopped(Message("stopped.without_snapshot", {"step": step}))

    def note_saved(self, step: int) -> None:
        """The program has saved: if it was asked to stop, this is the moment."""
        if self.requested:
            raise Stopped(Message("stopped.after_saving", {"step": step}))


def _both(metrics: Mapping[str, Any], named: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(metrics, Mapping):
        raise BadValue(Message("metrics.not_a_mapping", {"value": short_text(metrics)}))
    return {**metrics, **named}


def _disown() -> None:
    """In a forked child: its copies of the handles must not write into the parent's pipe."""
    for run in _handles:
        run._foreign, run._plain = True, False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown)
