"""Training functions that do what training functions do on a bad day; cases 25-34.

Each writes a line to the file `journal` (if one is given) when it begins and when it comes to its
end, so that a test can tell what happened without asking the record.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import tunewright.errors
from tunewright.execution.training_run import Run

NOT_NUMBERS = {
    "none": None,
    "text": "low",
    "numeric text": "0.5",
    "complex": 1j,
    "dictionary": {"error": 0.5},
    "bool": True,
    "numpy bool": np.True_,
    "array": np.array([0.5]),
    "matrix": np.ones((2, 2)),
    "huge": 10**400,
    "list": [0.5],
}
NUMBERS = {
    "integer": (3, 3.0),
    "2**70": (2**70, float(2**70)),
    "float32": (np.float32(0.5), 0.5),
    "int64": (np.int64(7), 7.0),
    "0-d array": (np.array(0.25), 0.25),
}


def note(journal: str, run: Run, what: str) -> None:
    if journal:
        with open(journal, "a", encoding="utf-8") as file:
            file.write(f"{run.number} {run.attempt} {what}\n")


def fine(
    run: Run, x: float = 1.0, steps: int = 10, sleep_s: float = 0.0, journal: str = ""
) -> None:
    note(journal, run, "began")
    for step in run.steps(steps):
        time.sleep(sleep_s)
        run.log(step, valid_error=x / step)
    note(journal, run, "ended")


def non_finite(
    run: Run, value: str = "nan", metric: str = "valid_error", journal: str = ""
) -> None:
    note(journal, run, "began")
    run.log(1, valid_error=0.5)
    try:
        run.log(2, {metric: float(value), "gradient_norm": 3.0})
    except Exception:
        note(journal, run, "swallowed it")
    note(journal, run, "ended")


def other_metric_non_finite(run: Run) -> None:
    run.log(1, valid_error=0.5, gradient_norm=float("inf"))


def not_a_number(run: Run, what: str, journal: str = "") -> None:
    note(journal, run, "began")
    run.log(1, valid_error=NOT_NUMBERS[what])
    note(journal, run, "ended")


def odd_number(run: Run, what: str) -> None:
    run.log(1, valid_error=NUMBERS[what][0])


def never_logs(run: Run) -> float:
    return 0.5


def goes_back(run: Run) -> None:
    run.log(400, valid_error=0.5)
    run.log(300, valid_error=0.4)


def raises(run: Run, journal: str = "") -> None:
    note(journal, run, "began")
    raise ValueError("the data are gone")


def raises_strange_text(run: Run) -> None:
    raise ValueError("half a character \ud800 and a NUL \x00 here")


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def raises_unprintable(run: Run) -> None:
    raise Unprintable


def swallows_everything(run: Run) -> None:
    for step in run.steps(10):
        try:
            run.log(step, valid_error=float("nan"))
        except BaseException:
            continue


def infeasible(run: Run) -> None:
    raise tunewright.errors.Infeasible("heads do not divide width")


def exits(run: Run, status: int = 0) -> None:
    run.log(1, valid_error=0.5)
    sys.exit(status)


def exits_hard(run: Run, status: int = 3, journal: str = "") -> None:
    note(journal, run, "began")
    print("about to leave")
    os._exit(status)


def segfaults(run: Run) -> None:
    ctypes.string_at(0)


def kills_itself(run: Run, journal: str = "") -> None:
    note(journal, run, "began")
    os.kill(os.getpid(), signal.SIGKILL)


def dies_once(run: Run, journal: str = "") -> None:
    """Saves at each step and dies at the fifth, but only in its first attempt."""
    note(journal, run, f"began after {run.start_step}")
    state = run.restored or {"steps": 0}
    for step in run.steps(10):
        state["steps"] += 1
        run.log(step, valid_error=1.0 / state["steps"])
        run.save(state)
        if step == 5 and run.attempt == 1:
            os.kill(os.getpid(), signal.SIGKILL)
    note(journal, run, f"ended with {state['steps']}")


def hangs(run: Run, after: int = 0, journal: str = "") -> None:
    note(journal, run, "began")
    for step in range(1, after + 1):
        run.log(step, valid_error=0.5)
    time.sleep(600)


def hangs_without_threads(run: Run) -> None:
    """Holds the interpreter's lock, so that no thread of its own process can end it."""
    re.match(r"(a+)+$", "a" * 40 + "b")


def eats_memory(run: Run, megabytes: int = 600) -> None:
    held = []
    for step in range(1, megabytes // 20 + 1):
        held.append(np.ones(20 * 2**17))
        run.log(step, valid_error=0.5)
        time.sleep(0.02)
    time.sleep(600)  # memory is looked at from outside, now and then


def eats_memory_below(run: Run, megabytes: int = 600) -> None:
    """A child takes the memory, not the trial's own process."""
    run.log(1, valid_error=0.5)
    program = f"import time; held = bytearray({megabytes} * 2**20); time.sleep(600)"
    subprocess.run([sys.executable, "-c", program], check=False)


def runs_out_of_memory(run: Run) -> None:
    raise MemoryError


def prints(run: Run, megabytes: int = 100) -> None:
    print("the first line")
    line = "x" * 1023 + "\n"
    for _ in range(megabytes):
        sys.stdout.write(line * 1024)
    print("the last line")
    run.log(1, valid_error=0.5)


def prints_one_long_line(run: Run, megabytes: int = 5) -> None:
    for _ in range(megabytes):
        sys.stdout.write("y" * 2**20)
    run.log(1, valid_error=0.5)


def leaves_processes(run: Run, pids: str, then: str = "ends") -> None:
    """Forks a child, a child in a session of its own, and one that nobody is the parent of."""
    sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
    left = [subprocess.Popen(sleeper), subprocess.Popen(sleeper, start_new_session=True)]
    daemon = (
        "import os, subprocess, sys; os.setsid(); sleeper = subprocess.Popen([sys.executable, '-c',"
        " 'import time; time.sleep(600)'], stdout=2); print(sleeper.pid); os._exit(0)"
    )
    orphan = subprocess.run([sys.executable, "-uc", daemon], stdout=subprocess.PIPE, check=True)
    if (forked := os.fork()) == 0:
        os.setsid()
        time.sleep(600)
        os._exit(0)
    all_pids = [*(p.pid for p in left), int(orphan.stdout), forked]
    Path(pids).write_text(" ".join(map(str, all_pids)))
    run.log(1, valid_error=0.5)
    for child in left:
        child.returncode = 0  # they are forgotten on purpose: no warning when they are collected
    if then == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if then == "hangs":
        time.sleep(600)


def logs_much(run: Run, points: int = 10**6) -> None:
    for step in range(1, points + 1):
        run.log(step, valid_error=0.5)


def logs_in_a_child(run: Run) -> None:
    """A forked child uses the handle; the record must not hear of it."""
    run.log(1, valid_error=0.5)
    if (child := os.fork()) == 0:
        try:
            run.log(2, valid_error=0.1)
        except Exception as error:
            print("refused:", error, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    run.log(3, valid_error=0.3)


def trains_until_stopped(run: Run, journal: str = "", saves: bool = True) -> None:
    """An endless training, which saves when it is asked to."""
    state = run.restored or {"steps": 0}
    note(journal, run, f"began after {run.start_step}")
    for step in run.steps(10**6):
        state["steps"] = step
        time.sleep(0.01)
        run.log(step, valid_error=1.0 / step)
        if saves and run.save_due(step):
            note(journal, run, f"saved {step}")
            run.save(state)


def changes_its_process(run: Run, what: str = "folder") -> None:
    """Leaves something changed for whoever comes next in this process."""
    print("pid", os.getpid())
    if what == "folder":
        os.chdir("/")
    elif what == "dtype":
        import torch

        torch.set_default_dtype(torch.float64)
    elif what == "threads":
        import torch

        torch.set_num_threads(torch.get_num_threads() + 1)
    elif what == "environment":
        os.environ["PATH"] = "/nowhere"
    run.log(1, valid_error=0.5)


def tells_its_process(run: Run) -> None:
    (run.folder / "pid").write_text(str(os.getpid()))
    run.log(1, valid_error=0.5)
