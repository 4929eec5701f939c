"""A Slurm cluster of one node on this machine: munge, controller and node, started by a test.

It needs root and Debian's packages slurm-wlm and munge. Everything it writes is below one folder.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "sinfo")
PATIENCE_S = 60.0
CONF = """\
ClusterName=tw
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket={folder}/munge.sock
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/d.pid
SlurmctldPort={first}
SlurmdPort={second}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=100000,bf_interval=1
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
SlurmctldTimeout=30
SlurmdTimeout=10
ReturnToService=2
MinJobAge=300
KillWait=10
OverTimeLimit=0
NodeName={host} NodeAddr=127.0.0.1 CPUs=1 RealMemory=1000 State=UNKNOWN
PartitionName=low Nodes={host} Default=YES MaxTime=INFINITE State=UP PriorityTier=1 GraceTime=20
PartitionName=high Nodes={host} MaxTime=INFINITE State=UP PriorityTier=10
"""


def missing() -> list[str]:
    """What this machine lacks."""
    absent = [name for name in NEEDED if shutil.which(name) is None]
    return absent if absent or os.geteuid() == 0 else ["root"]


def _port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@dataclass
class RealSlurm:
    """The daemons of one cluster."""

    folder: Path
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self) -> None:
        """Start all three, and wait until the node is idle."""
        self.folder.mkdir(parents=True, mode=0o755)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        (self.folder / "munge.key").write_bytes(os.urandom(128))
        (self.folder / "munge.key").chmod(0o600)
        facts = {"host": socket.gethostname(), "first": _port(), "second": _port()}
        conf = CONF.format(folder=self.folder, **facts)
        (self.folder / "slurm.conf").write_text(conf)
        os.environ["SLURM_CONF"] = str(self.folder / "slurm.conf")
        self._daemon(
            *("munged", "--foreground", "--force", f"--key-file={self.folder}/munge.key"),
            *(f"--socket={self.folder}/munge.sock", f"--pid-file={self.folder}/munge.pid"),
            *(f"--log-file={self.folder}/munge.log", f"--seed-file={self.folder}/munge.seed"),
        )
        self.start_controller()
        self.start_node()

    def start_controller(self) -> None:
        """The controller; it resumes from its saved state."""
        self._daemon("slurmctld", "-D")
        self.wait("sinfo", lambda text: text != "")

    def start_node(self) -> None:
        """The node; waits until it takes jobs."""
        self._daemon("slurmd", "-D", "-N", socket.gethostname())
        self.wait(
            "sinfo -h -o %T -p low", lambda text: text.strip() in ("idle", "mixed", "allocated")
        )

    def end(self, name: str, by: int = signal.SIGTERM) -> None:
        """End a daemon; by SIGKILL as a power cut does."""
        own = self.daemons.pop(name)
        own.send_signal(by)
        own.wait()

    def close(self) -> None:
        """End every job and daemon."""
        subprocess.run(["scancel", "--full", "--user=root"], capture_output=True, check=False)
        for name in ("slurmd", "slurmctld", "munged"):
            if name in self.daemons:
                own = self.daemons.pop(name)
                own.terminate()
                try:
                    own.wait(20)
                except subprocess.TimeoutExpired:
                    own.kill()
                    own.wait()

    def wait(self, command: str, over: object) -> str:
        """Ask until the answer fits."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            done = subprocess.run(command.split(), capture_output=True, text=True, check=False)
            if done.returncode == 0 and over(done.stdout):  # type: ignore[operator]
                return done.stdout
            assert time.monotonic() < deadline, (command, done.stdout, done.stderr)
            time.sleep(0.2)

    def _daemon(self, *words: str) -> None:
        with (self.folder / f"{words[0]}.log").open("ab") as log:
            self.daemons[words[0]] = subprocess.Popen(
                words, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
            )
        if words[0] == "munged":
            deadline = time.monotonic() + PATIENCE_S
            while not (self.folder / "munge.sock").exists():
                assert time.monotonic() < deadline, "munged does not start"
                time.sleep(0.1)
