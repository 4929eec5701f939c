"""What is lost when something is killed, against Optuna and Ray Tune under the same faults?

    python bench/faults.py [--repeat 3] [--trials 6] [--processes 2,4,8,16] [--without-ray]

Real processes are killed with SIGKILL in mid-trial; the journal of the training program says what
really happened, the system's record what it knows. Three questions: a worker is killed; the driver
is killed with everything below it, and the same command is given again; several processes share one
SQLite file. Prints markdown and writes it to bench/results/faults.md; exits with 1 when Tunewright
lost a result, trained a finished trial again or missed the total.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import fault_programs as programs

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "faults.md"
DEADLINE_S = 90.0
SYSTEM = "tunewright"
SHOWN = {"tunewright": "Tunewright", "optuna": "Optuna, heartbeat", "ray": "Ray Tune"}
RECORDS: dict[str, Callable[[Path], list[tuple[float, str]]]] = {
    "tunewright": programs.tunewright_record,
    "optuna": programs.optuna_record,
    "ray": programs.ray_record,
}


@dataclass(frozen=True)
class Line:
    """One line of a journal."""

    x: float
    what: str  # began or ended
    pid: int
    at: float


@dataclass(frozen=True)
class Case:
    """What became of one round under one fault."""

    asked: int
    went_on: bool  # the command came to its end by itself
    lost: int  # configurations that ended in the journal and have no result in the record
    again: int  # configurations that were trained to their end more than once
    completed: int  # in the record
    stuck: int  # in the record without a terminal state
    noticed_s: float | None  # from the kill until the same configuration began again

    @property
    def survived(self) -> bool:
        """Nothing lost, nothing stuck, as many results as asked for."""
        return self.went_on and not self.lost and not self.stuck and self.completed == self.asked


@dataclass(frozen=True)
class Hit:
    """Which trial was hit, and when."""

    victim: Line
    at: float


@dataclass
class Command:
    """One system's command, started as often as need be."""

    system: str
    folder: Path
    trials: int
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self) -> None:
        # Optuna has no driver: its command is as many equal processes as there are workers
        many = programs.WORKERS if self.system == "optuna" else 1
        if self.system == "optuna":
            programs.a_study(self.folder)  # two that make the tables at once fail now and then
        for _ in range(many):
            self.processes.append(self._process(self.system))

    def _process(self, system: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, HERE / "fault_programs.py", system, self.folder, str(self.trials)],
            env={**os.environ, "OMP_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0"},
            stdout=(self.folder / "output").open("ab"),
            stderr=subprocess.STDOUT,
        )

    def journal(self) -> list[Line]:
        path = self.folder / "journal"
        rows = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
        return [Line(float(x), what, int(pid), float(at)) for x, what, pid, at in rows]

    def wait_for(self, what: str, count: int) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while sum(line.what == what for line in self.journal()) < count:
            if time.monotonic() > deadline:
                said = (self.folder / "output").read_text()[-2000:]
                raise RuntimeError(f"{self.system} never came to {count} x {what}:\n{said}")
            time.sleep(0.02)

    def in_training(self) -> Line:
        """A trial that has begun a while ago and has not ended."""
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            told = self.journal()
            ended = {line.x for line in told if line.what == "ended"}
            for line in told:
                waited_s = time.time() - line.at
                if line.what == "began" and line.x not in ended and waited_s > programs.STEP_S:
                    return line
            time.sleep(0.02)
        raise RuntimeError(f"{self.system}: nothing is in training")

    def finish(self) -> bool:
        """Whether every process that was not killed came to its end."""
        deadline = time.monotonic() + DEADLINE_S
        went_on = True
        for process in self.processes:
            try:
                status = process.wait(max(deadline - time.monotonic(), 1.0))
                went_on &= status in (0, -signal.SIGKILL)
            except subprocess.TimeoutExpired:
                went_on = False
        return went_on

    def kill_everything(self) -> None:
        """The driver first, then whatever is left of it; only processes of this very command."""
        pids = [process.pid for process in self.processes if process.poll() is None]
        for pid in (*pids, *below(pids)):
            end(pid)
        for process in self.processes:
            process.wait()

    def clean(self) -> None:
        """End what is left, Ray's own servers included: they carry this folder's name."""
        self.kill_everything()
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if str(self.folder / "ray").encode() in command and int(entry.name) != os.getpid():
                end(int(entry.name))


def end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def below(pids: list[int]) -> list[int]:
    """The descendants of some processes."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry.name)] = int(fields[1])
    found, level = [], set(pids)
    while level := {pid for pid, parent in parents.items() if parent in level}:
        found += sorted(level)
    return found


def kill_worker(command: Command) -> Hit:
    """The process that trains one of the trials, as the out-of-memory killer would."""
    victim = command.in_training()
    end(victim.pid)
    return Hit(victim, time.time())


def kill_driver(command: Command) -> Hit:
    """Everything at once, as a shutdown or a lost terminal would; then the same command again."""
    victim = command.in_training()
    command.kill_everything()
    hit = Hit(victim, time.time())
    command.clean()
    command.start()
    return hit


FAULTS = {
    "kill -9 of a worker in mid-trial": kill_worker,
    "kill -9 of the driver, same command again": kill_driver,
}


def measure(system: str, fault: Callable[[Command], Hit], trials: int) -> Case:
    with tempfile.TemporaryDirectory(prefix="f", ignore_cleanup_errors=True) as folder:
        command = Command(system, Path(folder), trials)
        try:
            command.start()
            command.wait_for("ended", 2)
            hit = fault(command)
            went_on = command.finish()
        finally:
            command.clean()
        told = command.journal()
        if not went_on:
            print((command.folder / "output").read_text()[-1500:], file=sys.stderr)
        try:
            record = RECORDS[system](command.folder)
        except Exception as error:  # a record that cannot be read has lost everything
            print(f"{system}: {type(error).__name__}: {error}", file=sys.stderr)
            record = []
    completed = Counter(x for x, status in record if status == "completed")
    ended = Counter(line.x for line in told if line.what == "ended")
    began = [line for line in told if line.x == hit.victim.x and line.what == "began"]
    again = [line.at for line in began if line.at > hit.at]
    return Case(
        asked=trials,
        went_on=went_on,
        lost=sum(1 for x in ended if x not in completed),
        again=sum(1 for count in ended.values() if count > 1),
        completed=sum(completed.values()),
        stuck=sum(status in ("running", "pending") for _, status in record),
        noticed_s=again[0] - hit.at if again and fault is kill_worker else None,
    )


@dataclass(frozen=True)
class Shared:
    """Several processes on one file."""

    asked: int
    told: int  # by the processes themselves
    recorded: int
    errors: int
    seconds: float


def share(system: str, processes: int, trials: int) -> Shared:
    with tempfile.TemporaryDirectory(prefix="f") as name:
        folder = Path(name)
        if system == "optuna":
            programs.a_study(folder)
        arguments = [sys.executable, HERE / "fault_programs.py", f"{system}-ask", folder]
        started = [
            subprocess.Popen(
                [*arguments, str(trials)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            for _ in range(processes)
        ]
        for process in started:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
        begin = time.time()
        for process in started:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        answers, died = [], 0
        for process in started:
            out, _ = process.communicate(timeout=600)
            died += process.returncode != 0
            if process.returncode == 0:
                answers.append(json.loads(out))
        record = RECORDS[system](folder)
    return Shared(
        trials,
        sum(answer[0] for answer in answers),
        sum(status == "completed" for _, status in record),
        sum(answer[1] for answer in answers) + died,
        max((answer[2] for answer in answers), default=begin) - begin,
    )


def fault_table(cases: dict[tuple[str, str], list[Case]]) -> list[str]:
    lines = [
        "| fault | system | tried | survived | results lost | trained again | stuck "
        "| completed of asked | seconds until it began again |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for (fault, system), found in cases.items():
        noticed = sorted(case.noticed_s for case in found if case.noticed_s is not None)
        never = sum(case.noticed_s is None for case in found)
        shown = f"{noticed[0]:.1f} to {noticed[-1]:.1f}" if noticed else "-"
        if noticed and never:
            shown += f", never in {never}"
        totals = ", ".join(f"{case.completed}/{case.asked}" for case in found)
        lines.append(
            f"| {fault} | {SHOWN[system]} | {len(found)} | {sum(c.survived for c in found)} "
            f"| {sum(c.lost for c in found)} | {sum(c.again for c in found)} "
            f"| {sum(c.stuck for c in found)} | {totals} | {shown} |"
        )
    return lines


def share_table(shares: dict[tuple[int, str], Shared]) -> list[str]:
    lines = [
        "| processes | system | trials/s | ratio | errors | recorded of asked |",
        "|---|---|---|---|---|---|",
    ]
    for (processes, system), found in shares.items():
        speed = found.recorded / max(found.seconds, 1e-9)
        rival = shares[processes, "optuna"]
        ratio = speed / (rival.recorded / max(rival.seconds, 1e-9))
        lines.append(
            f"| {processes} | {SHOWN[system]} | {speed:.1f} | {ratio:.1f} | {found.errors} "
            f"| {found.recorded}/{found.asked} |"
        )
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--trials", type=int, default=6)
    parser.add_argument("--processes", default="2,4,8,16")
    parser.add_argument("--without-ray", action="store_true")
    given = parser.parse_args()
    systems = ["tunewright", "optuna", *([] if given.without_ray else ["ray"])]
    cases: dict[tuple[str, str], list[Case]] = {}
    for title, fault in FAULTS.items():
        for system in systems:
            repeat = 1 if system == "ray" else given.repeat  # it takes long to start
            for _ in range(repeat):
                case = measure(system, fault, given.trials)
                print(f"{title}, {system}: {case}", file=sys.stderr)
                cases.setdefault((title, system), []).append(case)
    shares: dict[tuple[int, str], Shared] = {}
    for processes in map(int, given.processes.split(",")):
        for system, trials in (("tunewright", 400), ("optuna", 100)):
            found = share(system, processes, trials)
            print(f"{processes} processes, {system}: {found}", file=sys.stderr)
            shares[processes, system] = found
    ray = "" if given.without_ray else f", ray {version('ray')}"
    table = [
        "# bench/faults.py",
        "",
        f"{datetime.date.today()}, {platform.system()} {platform.machine()}, {os.cpu_count()} CPU "
        f"threads (load {os.getloadavg()[0]:.0f} at the end), Python {platform.python_version()}, "
        f"tunewright {version('tunewright')}, optuna {version('optuna')}{ray}",
        "",
        f"Rounds of {given.trials} trials of {programs.STEPS * programs.STEP_S:.1f} s on "
        f"{programs.WORKERS} workers. Optuna: SQLite, heartbeat 1 s, grace period 3 s, "
        "RetryHeartbeatStaleTrialCallback. Ray Tune: max_failures=3, "
        "Tuner.restore(resume_unfinished=True).",
        "",
        *fault_table(cases),
        "",
        "## Processes that ask and tell on one SQLite file",
        "",
        "400 trials under Tunewright, 100 under Optuna, nothing is trained.",
        "",
        *share_table(shares),
        "",
    ]
    text = "\n".join(table)
    print(text)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(text)
    ours = [case for (_, system), found in cases.items() for case in found if system == SYSTEM]
    exact = all(
        s.recorded == s.asked == s.told for (_, name), s in shares.items() if name == SYSTEM
    )
    return 0 if exact and all(case.survived and not case.again for case in ours) else 1


if __name__ == "__main__":
    sys.exit(main())
