"""A round in a process of its own, to be killed, stopped and started again.

`python endurance.py STORE FOLDER JOURNAL TRIALS [join]` runs it. Its trials save at every step and
write to the journal when they begin (with the step they resume after, and their pid) and when they
end. The journal knows what really happened; the record must agree with it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import tunewright as tw
from tunewright.execution.run import supervise

DEADLINE_S = 300.0
STEPS = 8


def train(run, learning_rate, journal, sleep_s=0.05):
    """Needs every earlier step: its error is 1 / (steps really made), by its own checkpoint."""
    state = run.restored or {"made": 0}
    note(journal, f"{run.number} {run.attempt} began {run.start_step} {os.getpid()}")
    for step in run.steps(STEPS):
        time.sleep(sleep_s)
        while step > held_after(journal):
            time.sleep(0.02)
        state["made"] += 1
        run.log(step, valid_error=1.0 / state["made"])
        run.save(state)
    note(journal, f"{run.number} {run.attempt} ended {state['made']} {os.getpid()}")


def held_after(journal: str) -> float:
    """The step after which every trial waits; infinite when none does."""
    try:
        return int(Path(f"{journal}.held").read_text())
    except FileNotFoundError:
        return float("inf")


def note(journal: str, line: str) -> None:
    """Append a whole line at once, even when several processes write."""
    descriptor = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, f"{line}\n".encode())
    os.close(descriptor)


def asked(journal: Path, trials: int, sleep_s: float = 0.05) -> tw.Round:
    return tw.Round(
        "endurance",
        goal="Is anything lost?",
        nuisance={"learning_rate": tw.log(1e-4, 1e-1)},
        fixed={"journal": str(journal), "sleep_s": sleep_s},
        trials_per_study=trials,
    )


def workload(store: str, folder: str) -> tw.Workload:
    return tw.Workload(
        train,
        tw.minimize("valid_error"),
        store=store,
        folder=folder,
        executor=tw.Local(workers=2, devices=[]),
    )


@dataclass
class Endurance:
    """One round and the processes that run it."""

    store: str
    folder: Path
    trials: int
    sleep_s: float = 0.05
    environment: dict[str, str] = field(default_factory=dict)
    started: list[subprocess.Popen] = field(default_factory=list)

    @property
    def journal(self) -> Path:
        return self.folder / "journal"

    def hold(self, after: int = 0) -> None:
        """Let every trial wait after this step, until `go_on`: nothing ends meanwhile."""
        written = self._held.with_suffix(".new")
        written.write_text(str(after))
        written.rename(self._held)

    def go_on(self) -> None:
        self._held.unlink()

    @property
    def _held(self) -> Path:
        return Path(f"{self.journal}.held")

    def start(self, *more: str) -> subprocess.Popen:
        """Run the round in a new process, or go on with it."""
        arguments = [self.store, self.folder / "trials", self.journal, self.trials, self.sleep_s]
        process = subprocess.Popen(
            [sys.executable, __file__, *map(str, arguments), *more],
            env={**os.environ, "OMP_NUM_THREADS": "1", **self.environment},
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def finish(self) -> None:
        """Run it to its end."""
        process = self.start()
        _, said = process.communicate(timeout=DEADLINE_S)
        assert process.returncode == 0, said

    def lines(self) -> list[tuple[int, int, str, int, int]]:
        """(number, attempt, what, step, pid) of each line of the journal."""
        if not self.journal.exists():
            return []
        rows = [line.split() for line in self.journal.read_text().splitlines()]
        return [(int(n), int(a), what, int(step), int(pid)) for n, a, what, step, pid in rows]

    def wait_for(self, what: str, count: int) -> None:
        """Wait until the journal has so many lines of a kind."""
        deadline = time.monotonic() + DEADLINE_S
        while sum(line[2] == what for line in self.lines()) < count:
            assert time.monotonic() < deadline, f"{what} {count}: {self.lines()}"
            assert self.started[-1].poll() is None, self.started[-1].stderr.read()
            time.sleep(0.02)

    def wait_for_step(self, number: int, step: int) -> None:
        """Wait until a trial has saved this step."""
        deadline = time.monotonic() + DEADLINE_S
        while not list(self.folder.glob(f"trials/r*/t{number:06d}/snapshots/step-*{step}.*")):
            assert time.monotonic() < deadline, f"trial {number} never reached step {step}"
            assert self.started[-1].poll() is None, self.started[-1].stderr.read()
            time.sleep(0.01)

    def results(self) -> tw.types.Results:
        return tw.load(self.store, "endurance")

    def check(self) -> tw.types.Results:
        """No finished result lost, none recorded twice, no trial without a terminal state."""
        results = self.results()
        assert [t.number for t in results.trials] == list(range(self.trials))
        assert results.counts == {"completed": self.trials}
        began = Counter(line[:2] for line in self.lines() if line[2] == "began")
        assert set(began.values()) == {1}, "an attempt was trained twice"
        for trial in results.trials:
            ends = [line for line in self.lines() if line[0] == trial.number and line[2] == "ended"]
            # a result is only lost with the machine between the program's last line and the disk
            assert ends, f"trial {trial.number} is recorded, but never came to its end"
            assert ends[-1][1] == trial.attempts
            steps = trial.curves["valid_error"].steps.tolist()
            assert steps == list(range(1, STEPS + 1)), "a point is missing"
            assert trial.value == 1.0 / STEPS, "it did not go on from its own checkpoint"
        return results

    def close(self) -> None:
        """End what a failed test left."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()


def is_alive(pid: int) -> bool:
    """Whether a process still runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def kill(*pids: int) -> None:
    """End processes without a chance to clean up."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def main() -> None:
    store, folder, journal, trials, sleep_s, *more = sys.argv[1:]
    round = asked(Path(journal), int(trials), float(sleep_s))
    # listed, not drawn: every start would pay for the import of a search that is not tested here
    rates = [{"learning_rate": 1e-4 * 1000 ** (n / int(trials))} for n in range(int(trials))]
    if "join" in more:
        supervise(round, workload(store, folder), search=tw.search.Listed(rates), join=True)
    else:
        tw.run(round, workload(store, folder), search=tw.search.Listed(rates))


if __name__ == "__main__":
    main()
