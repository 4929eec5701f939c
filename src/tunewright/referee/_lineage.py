"""A lineage on disk: a journal of lines, of which what is known follows by replay.

Every run, decision and quote is one line, written and synced before anything rests on it. A
process that is killed leaves at most a torn last line, which is dropped; the next call resumes with
the runs that are there.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tunewright.errors import Busy, Damaged, NotFound
from tunewright.referee import _effects as effects, rule as rules
from tunewright.referee._effects import Prior
from tunewright.referee.rule import Belief, Rule

_JOURNAL, LOCK = "lineage.jsonl", "lock"
VERSION = 1


@dataclass(frozen=True)
class Run:
    """One training of one commit."""

    number: int
    commit: str
    purpose: str  # baseline, change, quote, audit
    change: int | None
    seed: int
    status: str  # completed, infeasible, failed
    value: float | None  # of the metric
    seconds: float


@dataclass(frozen=True)
class Change:
    """A change under judgement, or judged."""

    number: int
    commit: str
    parent: str
    summary: str
    lines: int  # added minus removed
    values: tuple[float, ...] = ()  # losses: lower is better
    baseline_runs: int = 0
    seconds: float = 0.0
    decision: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class State:
    """What the journal holds so far."""

    terms: Mapping[str, Any]
    current: str
    runs: tuple[Run, ...] = ()
    changes: tuple[Change, ...] = ()
    first_values: tuple[float, ...] = ()  # losses of the first baseline
    belief: Belief | None = None
    prior: Prior = field(default_factory=effects.prior)
    learnt: tuple[tuple[float, float], ...] = ()  # of each judged change: mean and variance, in sd
    since_baseline: int = 0
    quotes: tuple[Mapping[str, Any], ...] = ()
    audits: tuple[Mapping[str, Any], ...] = ()

    @property
    def sign(self) -> float:
        """+1 where lower is better, -1 where higher is: a loss is the value times it."""
        return 1.0 if self.terms["objective"]["minimize"] else -1.0

    @property
    def open(self) -> Change | None:
        """The change that has no decision yet."""
        last = self.changes[-1] if self.changes else None
        return last if last is not None and last.decision is None else None

    @property
    def hours(self) -> float:
        """Spent in training."""
        return sum(run.seconds for run in self.runs) / 3600


def _replay(events: Iterator[Mapping[str, Any]], rule: Rule) -> State:
    """The state after these events."""
    terms = next(events)
    state = State(terms, str(terms["first"]))
    for event in events:
        state = _step(state, event, rule)
    return state


def _step(state: State, event: Mapping[str, Any], rule: Rule) -> State:
    kind = event["event"]
    if kind == "run":
        return _with_run(state, Run(**{k: v for k, v in event.items() if k != "event"}), rule)
    if kind == "opened":
        fields = {k: v for k, v in event.items() if k != "event"}
        return replace(state, changes=(*state.changes, Change(**fields)))
    if kind == "decided":
        return _with_decision(state, event["decision"], rule)
    if kind == "quoted":
        return replace(state, quotes=(*state.quotes, event["quote"]))
    if kind == "audited":
        return _with_audit(state, event["audit"])
    return state  # of a later version


def _with_run(state: State, run: Run, rule: Rule) -> State:
    state = replace(state, runs=(*state.runs, run))
    loss = None if run.value is None else state.sign * run.value
    change = state.open
    if run.purpose == "baseline" and loss is not None:
        if state.belief is None:
            values = (*state.first_values, loss)
            enough = len(values) >= rule.first_runs
            belief = rules.begin(np.array([values])) if enough else None
            return replace(state, first_values=values, belief=belief)
        belief = rules.add_baseline_run(state.belief, np.array([loss]), rule)
        state = replace(state, belief=rules.after_drift(belief, rule), since_baseline=0)
        if change is not None:
            spent = replace(change, baseline_runs=change.baseline_runs + 1)
            state = replace(state, changes=(*state.changes[:-1], spent))
        return state
    if run.purpose != "change" or change is None or run.change != change.number:
        return state
    values = change.values if loss is None else (*change.values, loss)
    grown = replace(change, values=values, seconds=change.seconds + run.seconds)
    belief = None if state.belief is None else rules.after_drift(state.belief, rule)
    return replace(
        state,
        changes=(*state.changes[:-1], grown),
        belief=belief,
        since_baseline=state.since_baseline + 1,
    )


def _with_decision(state: State, decision: Mapping[str, Any], rule: Rule) -> State:
    change = state.open
    assert change is not None
    judged = replace(change, decision=decision)
    state = replace(state, changes=(*state.changes[:-1], judged))
    kept = decision["verdict"] == "keep"
    if kept:
        state = replace(state, current=change.commit, since_baseline=0)
    if state.belief is None or not change.values or decision["why"]["code"] in _UNJUDGED:
        return state
    values = np.array([change.values])
    mean, variance = rules.summary(state.belief, values)
    effect = rules.judge(state.belief, state.prior, values, rule)
    belief = rules.after(state.belief, effect, np.array([kept]), values)
    learnt = (*state.learnt, (float(mean[0]), float(variance[0])))
    table = np.array(learnt)
    prior = effects.learn(effects.prior(), table[None, :, 0], table[None, :, 1])
    return replace(state, belief=rules.add_noise(belief, values, rule), learnt=learnt, prior=prior)


_UNJUDGED = ("referee.why.budget_spent", "referee.why.failed", "referee.why.infeasible")


def _with_audit(state: State, audit: Mapping[str, Any]) -> State:
    state = replace(state, audits=(*state.audits, audit))
    if state.belief is None or audit["commit"] == state.current:
        return state
    mean, count = float(audit["mean"]), int(audit["runs"])
    before = state.belief
    variance = before.sd**2 / max(count, 1)
    belief = replace(
        before,
        mean=np.array([mean]),
        variance=variance,
        total=before.total + before.mean - mean,
        covariance=-variance,
    )
    return replace(state, current=audit["commit"], belief=belief)


class Lineage:
    """The journal of one lineage, in its folder."""

    def __init__(self, folder: Path, rule: Rule) -> None:
        """Nothing is read yet."""
        self.folder, self.rule = folder, rule

    @property
    def journal(self) -> Path:
        """The file of events."""
        return self.folder / _JOURNAL

    @property
    def exists(self) -> bool:
        """Whether it has begun."""
        return self.journal.is_file() and bool(self._events())

    def state(self) -> State:
        """What is known, by replay."""
        events = self._events()
        if not events:
            raise NotFound("referee.no_lineage", folder=str(self.folder))
        return _replay(iter(events), self.rule)

    def write(self, event: Mapping[str, Any]) -> None:
        """Add one event; it is on disk when this returns."""
        self.folder.mkdir(parents=True, exist_ok=True)
        line = json.dumps(event, allow_nan=False).encode() + b"\n"
        with self.journal.open("ab+") as file:
            _cut_torn(file.fileno())
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the lineage for a block: one process at a time judges it; Busy otherwise."""
        import fcntl

        self.folder.mkdir(parents=True, exist_ok=True)
        ignored = self.folder.parent / ".gitignore"  # a lineage is no part of the program
        if not ignored.exists():
            ignored.write_text("*\n", encoding="utf-8")
        with (self.folder / LOCK).open("w") as file:
            try:
                fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise Busy("referee.busy", folder=str(self.folder)) from None
            yield

    def _events(self) -> list[dict[str, Any]]:
        if not self.journal.is_file():
            return []
        lines = self.journal.read_bytes().split(b"\n")
        events = []
        for place, line in enumerate(lines[:-1]):  # what follows the last line end is torn
            try:
                events.append(json.loads(line))
            except ValueError:
                raise Damaged("referee.damaged", path=str(self.journal), line=place + 1) from None
        if events and events[0].get("version", 0) > VERSION:
            raise Damaged("referee.newer", path=str(self.journal))
        return events


def _cut_torn(descriptor: int) -> None:
    """Drop a last line without its end: the process that wrote it was killed."""
    size = os.lseek(descriptor, 0, os.SEEK_END)
    back = min(size, 2**20)
    tail = os.pread(descriptor, back, size - back)
    keep = tail.rfind(b"\n") + 1
    if keep < len(tail):
        os.ftruncate(descriptor, size - back + keep)
