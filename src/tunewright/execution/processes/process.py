"""One worker process as its supervisor holds it: three pipes, an exit status, an end."""

from __future__ import annotations

import contextlib
import os
import site
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

import tunewright
from tunewright.execution.processes import process_tree
from tunewright.execution.processes.frames import Head, Receiver, to_bytes

_CHUNK = 2**18  # bytes read at once
_WORKER = "tunewright.execution.processes.worker"
PACKAGE = str(Path(tunewright.__file__).parents[1])  # the folder it can be imported from


class WorkerProcess:
    """A started worker; nothing here waits, so that one loop can hold many."""

    def __init__(
        self, mark: str, environment: Mapping[str, str], module: str = _WORKER, *more: str
    ) -> None:
        """Start it in a separate session, with its own mark in the environment."""
        self.mark = mark
        orders, self.orders = os.pipe()
        self.messages, messages = os.pipe()
        self.printed, printed = os.pipe()
        theirs = (orders, messages, printed)
        try:
            given = (str(os.getpid()), os.environ.get("PYTHONPATH", ""), *more)
            variables = {**environment, process_tree.MARK: mark}
            self._process = start_worker(module, (orders, messages), given, printed, variables)
        except BaseException:
            self._close_pipes()
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        for descriptor in (self.orders, self.messages, self.printed):
            os.set_blocking(descriptor, False)
        self.pid = self._process.pid
        # readable once the process has ended; without it the supervisor looks from time to time
        self.exit = os.pidfd_open(self.pid) if hasattr(os, "pidfd_open") else None
        self._receiver = Receiver()
        self._unsent = bytearray()

    def send(self, head: Head, body: bytes = b"") -> None:
        """Send an order, or as much of it as the pipe takes now; `send_rest` sends the rest."""
        self._unsent += to_bytes(head, body)
        self.send_rest()

    def send_rest(self) -> bool:
        """Send what is left, and say whether anything still is."""
        try:
            while self._unsent:
                del self._unsent[: os.write(self.orders, self._unsent)]
        except BlockingIOError:
            return True
        except BrokenPipeError:  # it has gone, which its exit shows
            self._unsent.clear()
        return False

    @property
    def unsent(self) -> bool:
        """Whether the pipe was too full for the last order."""
        return bool(self._unsent)

    def receive(self) -> Iterator[tuple[Head, bytes]]:
        """The messages that have arrived."""
        while data := _read(self.messages):
            yield from self._receiver.feed(data)

    def read_output(self) -> Iterator[bytes]:
        """What it has printed since the last look."""
        while data := _read(self.printed):
            yield data

    @property
    def status(self) -> int | None:
        """Its exit status; None while it lives."""
        return self._process.poll()

    def kill(self) -> int:
        """End it with everything it has started, and say its exit status."""
        process_tree.kill_tree(self.pid, self.mark)
        return self._process.wait()

    def close(self) -> None:
        """Give the pipes back; the process must have ended."""
        self._close_pipes()
        if self.exit is not None:
            os.close(self.exit)

    def _close_pipes(self) -> None:
        for descriptor in (self.orders, self.messages, self.printed):
            with contextlib.suppress(OSError):
                os.close(descriptor)


def start_worker(
    module: str,
    pipes: Sequence[int],
    given: Sequence[str],
    printed: int | IO[bytes],
    environment: Mapping[str, str],
    errors: int | None = subprocess.STDOUT,
) -> subprocess.Popen[bytes]:
    """Start a program of this package in a separate session; `pipes` are its first arguments."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, *map(str, pipes), *given],
        stdin=subprocess.DEVNULL,
        stdout=printed,
        stderr=errors,
        pass_fds=pipes,
        start_new_session=True,
        env={**environment, "PYTHONPATH": python_path()},
    )


def start_warden(mark: str) -> tuple[subprocess.Popen[bytes], int]:
    """Start the process that cleans up after a killed supervisor; closing the pipe ends it."""
    theirs, ours = os.pipe()
    try:
        given = (str(os.getpid()), mark)
        module = process_tree.__name__
        warden = start_worker(module, (theirs,), given, subprocess.DEVNULL, os.environ, None)
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    return warden, ours


def python_path() -> str:
    """PYTHONPATH for a new interpreter, which must find this package wherever we found it."""
    given = os.environ.get("PYTHONPATH", "")
    if PACKAGE in (*site.getsitepackages(), site.getusersitepackages()):
        return given  # found anyway; at the front it would hide modules of the standard library
    return f"{given}{os.pathsep}{PACKAGE}" if given else PACKAGE


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return b""
