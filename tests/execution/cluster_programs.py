"""Training programs for tests on clusters; each keeps an event log of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PATIENCE_S = 120.0


def note(events: str, what: str, run: Any, **more: Any) -> None:
    """Append one line, whole, whoever else appends."""
    about = {"what": what, "number": run.number, "attempt": run.attempt, "pid": os.getpid(), **more}
    handle = os.open(events, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, (json.dumps(about) + "\n").encode())
    finally:
        os.close(handle)


def read(events: Path) -> list[dict[str, Any]]:
    """What the programs noted."""
    if not events.exists():
        return []
    return [json.loads(line) for line in events.read_text().splitlines()]


def wait_for(happened: Any) -> None:
    """Wait until it is true; a hang alone reaches the end of the patience."""
    until = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.05)


def steady(run: Any, events: str, steps: int, sleep_s: float, x: float = 0.0) -> None:
    """Train step by step, saving every fifth, with every step noted."""
    restored = run.restored
    note(events, "start", run, step=run.start_step, restored=restored)
    for step in run.steps(steps):
        note(events, "step", run, step=step)
        run.log(step, valid_error=1.0 / step + x)
        if step % 5 == 0 or run.save_due(step):
            run.save({"step": step})
        time.sleep(sleep_s)
    note(events, "finish", run)


def together(run: Any, events: str, many: int) -> None:
    """Note the devices, and end only when `many` run at once."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    note(events, "start", run, visible=visible, devices=list(run.devices))
    wait_for(lambda: len([one for one in read(Path(events)) if one["what"] == "start"]) >= many)
    run.log(1, valid_error=0.5)


def patient(run: Any, events: str) -> None:
    """Log a point, and end only when the file `go` appears."""
    note(events, "start", run)
    run.log(1, valid_error=0.5)
    wait_for((run.folder / "go").exists)
    run.log(2, valid_error=0.25)


def stubborn(run: Any, events: str) -> None:
    """Start a child in a session of its own, and heed nothing."""
    print("a line for the log", flush=True)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], close_fds=True)
    note(events, "start", run, child=child.pid)
    run.log(1, valid_error=0.5)
    time.sleep(600)


def saves_and_prints(run: Any, events: str) -> None:
    """Save once, print, and end."""
    note(events, "start", run, folder=str(run.folder))
    run.log(1, valid_error=0.5)
    run.save({"step": 1})
    print("printed on the node", flush=True)


def dies(run: Any) -> None:
    """End like a program that the machine has killed."""
    run.log(1, valid_error=0.5)
    os._exit(7)
