"""One process of a rig: what it finds in its environment, its pipes, last words and end."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tunewright.execution.processes import memory, process_tree
from tunewright.execution.processes.frames import Head, Receiver, write_all
from tunewright.execution.processes.process import PACKAGE

LOOK_S = 0.05  # how often memory is looked at while waiting
TAIL = 1500  # characters of a dead process's last words


class Member:
    """One process of a rig."""

    def __init__(
        self, rank: int, folder: Path, environment: Mapping[str, str], worker: str
    ) -> None:
        """Start it."""
        self.rank = rank
        folder.mkdir()
        self._log = folder / "output"
        theirs, self._orders = os.pipe()
        self.messages, messages = os.pipe()
        self.kills = memory.OomKills()
        self._receiver = Receiver()
        try:
            with self._log.open("wb") as output:
                self._process = subprocess.Popen(
                    [
                        *(sys.executable, "-P", "-m", worker),
                        *(str(theirs), str(messages), str(folder)),
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    pass_fds=(theirs, messages),
                    start_new_session=True,
                    env=environment,
                )
        finally:
            os.close(theirs)
            os.close(messages)
        self.pid = self._process.pid

    def send(self, message: bytes) -> None:
        """Give it an order."""
        with contextlib.suppress(BrokenPipeError):  # its exit reports its end
            write_all(self._orders, message)

    def read(self) -> Head | None:
        """Its answer, if all of it has arrived."""
        data = os.read(self.messages, 2**18)
        for head, _ in self._receiver.feed(data):
            return head  # one answer to one order
        if not data:
            time.sleep(LOOK_S)  # the pipe is closed: the exit status follows
        return None

    @property
    def gone(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    @property
    def status(self) -> int | None:
        """With which status it ended."""
        return self._process.poll()

    def last_words(self) -> str:
        """The end of what it has printed."""
        with contextlib.suppress(OSError):
            return self._log.read_text(errors="replace").strip()[-TAIL:]
        return ""

    def close(self, mark: str) -> None:
        """End it with everything it has started."""
        process_tree.kill_tree(self.pid, mark)
        self._process.wait()
        for descriptor in (self._orders, self.messages):
            with contextlib.suppress(OSError):
                os.close(descriptor)


def environment_of(rank: int, processes: int, port: int, mark: str) -> dict[str, str]:
    """What a process finds in its environment: torchrun's variables, where there are several."""
    given = os.environ.get("PYTHONPATH", "")
    own: dict[str, Any] = {
        **os.environ,
        process_tree.MARK: mark,
        "PYTHONPATH": f"{given}{os.pathsep}{PACKAGE}" if given else PACKAGE,
    }
    if processes > 1:
        own |= {
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(processes),
            "LOCAL_WORLD_SIZE": str(processes),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
        }
    return own


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
