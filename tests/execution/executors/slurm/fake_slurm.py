"""A Slurm of one machine for tests: real executables that run real processes, with state files.

`install(folder)` writes `sbatch`, `squeue`, `scontrol` and `scancel` into folder/bin. Every task is
a process that a small node process looks after. Faults: `preempt`, `lose_node`, `forget`, and a
file `down`, while which every command fails as it does when the controller restarts.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

COMMANDS = ("sbatch", "squeue", "scontrol", "scancel")
OVER = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "PREEMPTED", "NODE_FAIL")


def install(folder: Path) -> Path:
    """Write the commands; the folder to put on PATH."""
    own = folder / "bin"
    own.mkdir(parents=True)
    for name in COMMANDS:
        words = [sys.executable, str(Path(__file__).resolve()), str(folder), name]
        (own / name).write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        (own / name).chmod(0o755)
    return own


class Cluster:
    """The state: one JSON file a task, written whole."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, task: str) -> Path:
        return self.folder / f"task-{task}.json"

    def get(self, task: str) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self.path(task).read_text())
        return read

    def put(self, task: str, **fields: Any) -> None:
        known = self.get(task) if self.path(task).exists() else {}
        part = self.path(task).with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps({**known, **fields}))
        part.replace(self.path(task))

    def tasks(self) -> list[str]:
        return sorted(p.stem.removeprefix("task-") for p in self.folder.glob("task-*.json"))

    def end(self, task: str, state: str, number: int) -> None:
        """End a task by a signal, under this state."""
        known = self.get(task)
        if known["state"] in OVER:
            return
        self.put(task, state=state if known["pid"] is None else known["state"], final=state)
        if known["pid"] is not None:
            signal_all(known["pid"], number)

    def preempt(self, task: str) -> None:
        self.end(task, "PREEMPTED", signal.SIGTERM)

    def lose_node(self, task: str) -> None:
        self.end(task, "NODE_FAIL", signal.SIGKILL)

    def forget(self, task: str) -> None:
        """Lose a task as a controller without its newest state does: the node kills the job."""
        known = self.get(task)
        self.path(task).unlink()
        signal_all(known["pid"], signal.SIGKILL)


def signal_all(pid: int, number: int) -> None:
    """Signal every process of a job, as Slurm does."""
    with contextlib.suppress(psutil.NoSuchProcess):
        leader = psutil.Process(pid)
        for own in [leader, *leader.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                own.send_signal(number)


def options(script: Path) -> dict[str, str]:
    found = re.findall(r"^#SBATCH --([\w-]+)(?:=(.*))?$", script.read_text(), re.MULTILINE)
    return dict(found)


def seconds(text: str) -> float:
    whole = 0.0
    for part in text.split(":"):
        whole = 60 * whole + float(part)
    return whole


def sbatch(cluster: Cluster, arguments: list[str]) -> int:
    script = Path(arguments[-1])
    own = options(script)
    if own.get("partition", "debug") != "debug":
        print("sbatch: error: invalid partition specified: " + own["partition"], file=sys.stderr)
        print("sbatch: error: Batch job submission failed: Invalid partition", file=sys.stderr)
        return 1
    if "--test-only" in arguments:
        return 0
    (array,) = [a for a in arguments if a.startswith("--array=")]
    job = str(1 + len({task.partition("_")[0] for task in cluster.tasks()}))
    held = (cluster.folder / "hold").exists()
    for index in range(int(array.partition("-")[2].rpartition("-")[2]) + 1):
        task = f"{job}_{index}"
        cluster.put(task, state="PENDING", pid=None, final=None)
        if held:
            continue
        subprocess.Popen(
            [sys.executable, __file__, str(cluster.folder), "node", task, str(script)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    print(job)
    return 0


def node(cluster: Cluster, arguments: list[str]) -> int:
    """Run one task to its end, within its time limit."""
    task, script = arguments[0], Path(arguments[1])
    own = options(script)
    environment = {**os.environ, "SLURM_ARRAY_TASK_ID": task.partition("_")[2]}
    output = own["output"].replace("%a", task.partition("_")[2])
    with open(output, "ab") as file:
        process = subprocess.Popen(
            ["bash", str(script)], stdout=file, stderr=file, env=environment, start_new_session=True
        )
    cluster.put(task, state="RUNNING", pid=process.pid)
    limit = seconds(own["time"]) if "time" in own else float("inf")
    notice = float(own["signal"].partition("@")[2])
    began, warned = time.monotonic(), False
    while process.poll() is None:
        ran = time.monotonic() - began
        if not warned and ran > limit - notice:
            warned = True
            process.send_signal(signal.SIGUSR1)
        if ran > limit:
            cluster.put(task, final="TIMEOUT")
            signal_all(process.pid, signal.SIGKILL)
        time.sleep(0.02)
    if not cluster.path(task).exists():
        return 0
    final = cluster.get(task)["final"] or ("COMPLETED" if process.returncode == 0 else "FAILED")
    cluster.put(task, state=final)
    return 0


def squeue(cluster: Cluster, arguments: list[str]) -> int:
    (jobs,) = [a.partition("=")[2].split(",") for a in arguments if a.startswith("--jobs=")]
    for task in cluster.tasks():
        if task.partition("_")[0] in jobs and not never_ran(cluster, task):
            print(f"{task}|{cluster.get(task)['state']}")
    return 0


def never_ran(cluster: Cluster, task: str) -> bool:
    """Cancelled while it waited: Slurm 22.05 then knows the job, but not the task."""
    known = cluster.get(task)
    return known["state"] == "CANCELLED" and known["pid"] is None


def scontrol(cluster: Cluster, arguments: list[str]) -> int:
    if not cluster.path(arguments[-1]).exists():
        print("slurm_load_jobs error: Invalid job id specified", file=sys.stderr)
        return 1
    if never_ran(cluster, arguments[-1]):
        print(f"Job {arguments[-1]} not found")
        return 1
    print(f"JobId=1 JobState={cluster.get(arguments[-1])['state']} Reason=None")
    return 0


def scancel(cluster: Cluster, arguments: list[str]) -> int:
    for task in (a for a in arguments if not a.startswith("-")):
        pending = cluster.get(task)["state"] == "PENDING"
        if pending or "--state=PENDING" not in arguments:
            cluster.end(task, "CANCELLED", signal.SIGTERM)
    return 0


def main(arguments: list[str]) -> int:
    cluster = Cluster(Path(arguments[0]))
    if arguments[1] != "node" and (cluster.folder / "down").exists():
        print(f"{arguments[1]}: error: Unable to contact slurm controller", file=sys.stderr)
        return 1
    verbs = {f.__name__: f for f in (sbatch, squeue, scontrol, scancel, node)}
    return verbs[arguments[1]](cluster, arguments[2:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
