"""Rounds of tiny trials with a journal of their own, run here or by programs that ask and tell.

`python quick_rounds.py STORE JOURNAL TRIALS [SLEEP_S]` asks and tells until no trial is left. The
journal is written by the training itself: it knows what really happened, and the record must agree.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.faults.endurance import note

import tunewright as tw

STEPS = 3
NAME = "quick"
OBJECTIVE = tw.minimize("valid_error")
# the long tier does each case three times
REPETITIONS = [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))]
# and does on both kinds of store what the design asks of one
MOSTLY_SQLITE = pytest.mark.parametrize(
    "store_url",
    ["sqlite", pytest.param("postgresql", marks=(pytest.mark.postgres, pytest.mark.slow))],
    indirect=True,
)
# and waits for leases as long as people's are
LEASES_S = [2, pytest.param(60, marks=pytest.mark.slow)]


def train(run, learning_rate, journal, sleep_s=0.0):
    """Its value is its learning rate, so that a result put in the wrong row is seen."""
    note(journal, f"{run.number} {run.attempt} began")
    for step in run.steps(STEPS):
        time.sleep(sleep_s)
        run.log(step, valid_error=learning_rate * STEPS / step)
    note(journal, f"{run.number} {run.attempt} ended")


def asked(journal: Path | str, trials: int, name: str = NAME, sleep_s: float = 0.0) -> tw.Round:
    return tw.Round(
        name,
        goal="Is anything lost?",
        nuisance={"learning_rate": tw.log(1e-4, 1e-1)},
        fixed={"journal": str(journal), "sleep_s": sleep_s},
        trials_per_study=trials,
    )


def rates(trials: int) -> tw.search.Listed:
    """As many learning rates; a search of its own would cost every asker its import."""
    return tw.search.Listed([{"learning_rate": 1e-4 * 1000 ** (n / trials)} for n in range(trials)])


def workload(store: Path | str, folder: Path | None = None, executor=None) -> tw.Workload:
    return tw.Workload(
        train, OBJECTIVE, store=store, folder=folder, executor=executor or tw.executors.Inline()
    )


def lines(journal: Path) -> list[tuple[int, int, str]]:
    """(number, attempt, what) of each line of the journal."""
    if not journal.exists():
        return []
    rows = [line.split() for line in journal.read_text().splitlines()]
    return [(int(number), int(attempt), what) for number, attempt, what in rows]


def check(results: tw.types.Results, journal: Path, trials: int, again: int = 0) -> None:
    """The three zeros; `again` trials may have been trained to their end twice."""
    told = lines(journal)
    ended = Counter(number for number, _, what in told if what == "ended")
    began = Counter((number, attempt) for number, attempt, what in told if what == "began")
    assert [t.number for t in results.trials] == list(range(trials)), "a gap, or one too many"
    assert results.counts == {"completed": trials}, "a trial without a terminal state"
    assert set(ended) == set(range(trials)), "recorded, but never trained"
    assert set(began.values()) == {1}, "an attempt was trained twice"
    assert sum(ended.values()) - trials <= again, f"finished results were lost: {ended}"
    for trial in results.trials:
        assert trial.value == pytest.approx(trial.configuration["learning_rate"])
        assert trial.curves["valid_error"].steps.tolist() == [1, 2, 3], "a point is missing"


class Askers:
    """Several programs that ask and tell at one round, begun together."""

    def __init__(self, store: str, journal: Path, trials: int, sleep_s: float = 0.0) -> None:
        self._arguments = [store, str(journal), str(trials), str(sleep_s)]
        self.processes: list[subprocess.Popen] = []

    def start(self, count: int, **environment: str) -> None:
        """Start them; each waits for `go` once it has opened the round."""
        for _ in range(count):
            self.processes.append(
                subprocess.Popen(
                    [sys.executable, __file__, *self._arguments],
                    env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
        for process in self.processes[-count:]:
            assert process.stdout.readline() == "ready\n", process.stderr.read()

    def go(self) -> None:
        for process in self.processes:
            process.stdin.write("go\n")
            process.stdin.flush()

    def finish(self) -> list[str]:
        """Wait for all of them; what each said on its standard error."""
        said = []
        for process in self.processes:
            _, errors = process.communicate(timeout=300)
            assert process.returncode == 0, errors
            said.append(errors)
        return said

    def close(self) -> None:
        """End what a failed test left."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.communicate()


def main() -> None:
    store, journal, trials, sleep_s = sys.argv[1:]
    round = asked(journal, int(trials), sleep_s=float(sleep_s))
    with tw.open_round(round, OBJECTIVE, store, search=rates(int(trials))) as session:
        print("ready", flush=True)
        sys.stdin.readline()
        while (trial := session.ask()) is not None:
            note(journal, f"{trial.number} {trial.attempt} began")
            for step in range(1, STEPS + 1):
                time.sleep(float(sleep_s))
                rate = trial.configuration["learning_rate"]
                trial.log(step, valid_error=rate * STEPS / step)
            note(journal, f"{trial.number} {trial.attempt} ended")
            trial.finish()


if __name__ == "__main__":
    main()
