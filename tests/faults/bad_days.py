"""Rounds in which some trials misbehave: run, read back, and compared with the trials' own journal.

The journal is a file to which the training programs append when they begin and when they come to
their end. It knows what really happened; the record must agree with it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.execution import misbehaving
from tests.execution.watching import Kept

from tunewright.design.objective import minimize
from tunewright.design.round import Round
from tunewright.execution.executors.executor import Executor
from tunewright.execution.executors.local import Local
from tunewright.execution.training_run import Run
from tunewright.execution.workload import Workload
from tunewright.progress.watcher import Summary

if TYPE_CHECKING:
    from tunewright.store.results import Results
    from tunewright.store.trial import Trial

DEADLINE_S = 120.0


def fine(run: Run) -> None:
    """What a trial should do: ten steps towards its value."""
    for step in run.steps(10):
        run.log(step, valid_error=1.0 / step)


Program = Callable[[Run], object]
KINDS: dict[str, Program] = {
    "fine": fine,
    "fine again": fine,
    "raises": misbehaving.raises,
    "raises strange text": misbehaving.raises_strange_text,
    "infeasible": misbehaving.infeasible,
    "never logs": misbehaving.never_logs,
    "exits 0": lambda run: misbehaving.exits(run, 0),
    "exits 1": lambda run: misbehaving.exits(run, 1),
    "exits hard": misbehaving.exits_hard,
    "segfaults": misbehaving.segfaults,
    "kills itself": misbehaving.kills_itself,
    "dies once": misbehaving.dies_once,
    "hangs": misbehaving.hangs,
    "hangs after steps": lambda run: misbehaving.hangs(run, after=3),
    "hangs without threads": misbehaving.hangs_without_threads,
    "runs out of memory": misbehaving.runs_out_of_memory,
    "eats memory": misbehaving.eats_memory,
    "eats memory below": misbehaving.eats_memory_below,
    "prints": misbehaving.prints,
    "leaves processes": lambda run: misbehaving.leaves_processes(run, str(run.folder / "pids")),
    "leaves processes and dies": lambda run: misbehaving.leaves_processes(
        run, str(run.folder / "pids"), "dies"
    ),
    "logs much": misbehaving.logs_much,
}
for _value in ("nan", "inf", "-inf"):
    for _metric in ("valid_error", "train_loss"):
        KINDS[f"{_metric} {_value}"] = lambda run, v=_value, m=_metric: misbehaving.non_finite(
            run, v, m
        )
for _what in misbehaving.NOT_NUMBERS:
    KINDS[f"not a number: {_what}"] = lambda run, w=_what: misbehaving.not_a_number(run, w)
for _what in misbehaving.NUMBERS:
    KINDS[f"number: {_what}"] = lambda run, w=_what: misbehaving.odd_number(run, w)


def train(run: Run, kind: str, journal: str, index: int = 0) -> None:
    """One trial of a round of bad days."""
    _note(journal, run, "began")
    KINDS[kind](run)
    _note(journal, run, "ended")


def _note(journal: str, run: Run, what: str) -> None:
    with open(journal, "a", encoding="utf-8") as file:
        file.write(f"{run.number} {run.attempt} {what}\n")


@dataclass(frozen=True)
class Day:
    """A round as it went: the record, the journal, and what the supervisor said."""

    results: Results
    began: Counter[tuple[int, int]]  # (number, attempt) -> how often
    ended: Counter[int]  # number -> how often it came to its end
    watch: Kept

    @property
    def summary(self) -> Summary:
        return self.watch.summary

    def of(self, kind: str) -> Trial:
        """The trial of a kind."""
        return next(t for t in self.results.trials if t.configuration["kind"] == kind)


def bad_day(folder: Path, kinds: list[str], executor: Executor | None = None) -> Day:
    """Run a round with one trial per kind of misbehaviour, and a fine one before and after them."""
    # here, since every worker imports this file for its programs and needs no store
    from tunewright.execution.run import supervise

    journal = folder / "journal"
    asked = Round(
        "bad days",
        goal="Does the round go on?",
        scientific={"kind": ["fine", *kinds, "fine again"]},
        nuisance={"index": [0, 1]},
        fixed={"journal": str(journal)},
        trials_per_study=1,
    )
    workload = Workload(
        train,
        minimize("valid_error"),
        store=folder / "tuning.db",
        executor=executor or Local(workers=2, devices=[]),
    )
    watch = Kept()
    results = supervise(asked, workload, watch=watch)
    began, ended = read(journal)
    return Day(results, began, ended, watch)


def read(journal: Path) -> tuple[Counter[tuple[int, int]], Counter[int]]:
    """What the training programs themselves say happened."""
    began: Counter[tuple[int, int]] = Counter()
    ended: Counter[int] = Counter()
    for line in journal.read_text().splitlines():
        number, attempt, what = line.split()
        if what == "began":
            began[int(number), int(attempt)] += 1
        else:
            ended[int(number)] += 1
    return began, ended


def check_three_zeros(day: Day) -> None:
    """No finished result lost, none recorded twice, no trial without a terminal state."""
    results = day.results
    assert [t.number for t in results.trials] == list(range(results.round.trials))
    assert all(t.ended for t in results.trials), results.counts
    assert set(day.began.values()) <= {1}, "an attempt was trained twice"
    assert set(day.ended.values()) <= {1}, "a trial was brought to its end twice"
    attempts: Mapping[int, int] = Counter(number for number, _ in day.began)
    for trial in results.trials:
        assert trial.attempts == attempts[trial.number], f"trial {trial.number}"
    fine_ones = [t for t in results.trials if "fine" in str(t.configuration["kind"])]
    assert {t.status for t in fine_ones} == {"completed"}
    assert {t.value for t in fine_ones} == {0.1}
    assert {t.number for t in fine_ones} <= set(day.ended), "completed, but never trained"
    assert day.summary.why == "finished"


def wait_until(true: Callable[[], bool]) -> None:
    """Wait for something that will happen soon."""
    deadline = time.monotonic() + DEADLINE_S
    while not true():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)
