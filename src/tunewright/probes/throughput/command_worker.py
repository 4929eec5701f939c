"""The process of a probe of a command: starts its program and stamps the steps it prints.

Started by the rig as `probe_worker` is, and given the same orders. The program cannot be stopped
between its steps: it trains on, and a window lasts from one of its step lines to another. What only
its own process could measure (waiting for input, work of the device) stays unknown.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective, minimize
from tunewright.design.ranges import Value
from tunewright.execution.command import Command
from tunewright.execution.executors.executor import Assignment
from tunewright.execution.processes import memory, process_tree
from tunewright.execution.processes.attempt import OUT_OF_MEMORY, judge
from tunewright.execution.processes.frames import Head
from tunewright.execution.processes.pipe_worker import PipeWorker
from tunewright.execution.processes.program import run_program
from tunewright.execution.reported_values import as_step
from tunewright.probes.throughput.observed import available_mb, cpu
from tunewright.probes.throughput.subject import ProbeHandle

# ---- how long do the steps of a program take that only prints where it is? Stamp its step lines.
#
# A program may print every step or every hundredth, and several lines may arrive at once. A window
# of so many steps therefore reaches from one stamp to the first that lies far enough on, and its
# seconds are those of the steps asked for: the slope between the two.


TOGETHER_S = 0.002  # a line this soon after another came from the same buffer: the last one counts
_FEWEST = 3  # windows, however seldom the program prints
ENOUGH_S = 20.0  # with the fewest windows, no longer than this is waited for more
LOOK_S = 0.01


@dataclass(frozen=True)
class Stamp:
    """A step, and when its line arrived."""

    step: int
    at: float


class Silent(Exception):
    """No step line came: the program has ended, or keeps quiet."""


class Stamps:
    """The step lines of one program, stamped as they arrive; listening and reading may overlap."""

    def __init__(
        self, clock: Callable[[], float] = time.perf_counter, look_s: float = LOOK_S
    ) -> None:
        """Nothing has arrived; whoever waits looks every `look_s`."""
        self._clock, self._look_s = clock, look_s
        self._arrived: list[Stamp] = []
        self._lock = threading.Lock()

    def add(self, step: int) -> None:
        """A step line has arrived; one that does not advance (a second line of a step) is none."""
        with self._lock:
            now = self._clock()
            if self._arrived and step <= self._arrived[-1].step:
                return
            if self._arrived and now - self._arrived[-1].at < TOGETHER_S:
                self._arrived.pop()
            self._arrived.append(Stamp(step, now))

    @property
    def last(self) -> Stamp | None:
        """The newest."""
        with self._lock:
            return self._arrived[-1] if self._arrived else None

    def beyond(self, step: int, alive: Callable[[], bool], patience_s: float) -> Stamp:
        """The first stamp at a step or after it, which is waited for as long as there is hope."""
        until = self._clock() + patience_s
        while True:
            going = alive()  # asked first: a last line may come before the end is seen
            with self._lock:
                beyond = next((stamp for stamp in self._arrived if stamp.step >= step), None)
            if beyond is not None:
                return beyond
            if not going or self._clock() > until:
                raise Silent
            time.sleep(self._look_s)  # being woken by each line would delay the stamp of the next

    def windows(
        self, steps: Sequence[int], alive: Callable[[], bool], patience_s: float
    ) -> list[float]:
        """The seconds of windows of so many steps, from now on.

        Fewer windows than asked for, but three, are enough of a program that prints seldom, and of
        one that ends.
        """
        began = self._clock()
        base = self.last or self.beyond(0, alive, patience_s)
        self._forget_before(base)
        seconds: list[float] = []
        fewest = min(_FEWEST, len(steps))
        for count in steps:
            try:
                end = self.beyond(base.step + count, alive, patience_s)
            except Silent:
                if len(seconds) >= fewest:
                    break
                raise
            seconds.append((end.at - base.at) * count / (end.step - base.step))
            base = end
            if len(seconds) >= fewest and self._clock() - began > ENOUGH_S + sum(seconds):
                break
        return seconds

    def _forget_before(self, base: Stamp) -> None:
        with self._lock:
            self._arrived = [stamp for stamp in self._arrived if stamp.step >= base.step]


# ---- command worker


_EVAL_EVERY = 100  # steps, where the workload has none: seldom enough not to be most of the time
_FIRST_LINE_S = 580.0  # compilation may take minutes; the rig waits a little longer
_NEXT_LINE_S = 120.0
_LARGEST_FILE = 10 * 2**20  # bytes; a larger one is data, not the program
_GPU_FILE = re.compile(r"/dev/nvidia(-uvm|\d+)$")  # open in every process that computes on one
_LAST_WORDS = 20_000  # characters that are searched for words about memory
_HINT = 'print a line {"step": n} every second or so, from the first steps on'


class StampedHandle(ProbeHandle):
    """The handle of a program: each step line is stamped."""

    def __init__(
        self, configuration: Mapping[str, Value], folder: Path, stamps: Stamps, eval_every: int
    ) -> None:
        """Stamps go into `stamps`."""
        super().__init__(configuration, folder, lambda: None)
        self._stamps, self.eval_every = stamps, eval_every

    def log(self, step: int, metrics: Mapping[str, Any] | None = None, **named: Any) -> None:
        """It has arrived at a step; what it measured there does not matter."""
        self._stamps.add(as_step(step))


class _StampedControl:
    """What a probed program needs beside its handle; no trial is behind it."""

    def __init__(self, run: StampedHandle) -> None:
        """The program's lines go to `run`."""
        self.run = run

    @property
    def given(self) -> tuple[Assignment, Objective, Meaning]:
        """What `current_run` in the program makes a handle from: no trial of a round."""
        run = self.run
        trial = Assignment(
            trial=0,
            attempt=1,
            number=None,
            round="",
            configuration=run.configuration,
            seed=0,
            split_seed=0,
            folder=run.folder,
            eval_every=run.eval_every,
        )
        return trial, minimize("loss"), Meaning()

    def saves_itself(self) -> None:
        """Snapshots of a probe are of no use."""

    def relay_saved(self, step: int, path: str, sha256: str) -> None:
        """The folder is removed when the probe ends."""


class _Program:
    """One run of the command's program, listened to by a thread."""

    def __init__(self, command: Command, handle: StampedHandle, stamps: Stamps) -> None:
        """Start it."""
        self.stamps = stamps
        self.error: BaseException | None = None
        self._peak_mb = 0.0
        self._thread = threading.Thread(target=self._listen, args=(command, handle), daemon=True)
        self._thread.start()

    def _listen(self, command: Command, handle: StampedHandle) -> None:
        try:
            run_program(command, _StampedControl(handle))
        except BaseException as error:  # reported when the rig asks
            self.error = error

    @property
    def alive(self) -> bool:
        """Whether it still trains."""
        return self._thread.is_alive()

    @property
    def on_gpu(self) -> bool:
        """Whether one of its processes has a GPU open."""
        return any(
            _GPU_FILE.match(target)
            for process in self._processes()
            for target in _open_files(process.pid)
        )

    def peak_mb(self) -> float:
        """The most that its processes, those still there, have taken together."""
        self._peak_mb = max(self._peak_mb, memory.tree_peak_mb(self._processes()))
        return self._peak_mb

    def end(self) -> None:
        """End it with all it has started."""
        process_tree.kill_children()
        self._thread.join()

    def _processes(self) -> list[process_tree.Process]:
        return process_tree.descendants(os.getpid(), process_tree.table())


class _CommandWorker(PipeWorker):
    """Takes the rig's orders about a command."""

    def __init__(self, source: int, target: int, folder: Path) -> None:
        """Listen on one pipe, speak on the other."""
        super().__init__(source, target)
        self._folder = folder
        self._about: Head = {}
        self._command: Command | None = None
        self._program: _Program | None = None

    def work(self) -> NoReturn:
        """Obey until the rig goes away."""
        self.begin()
        while True:
            order, _ = self._orders.get()
            try:
                self._obey(order)
            except Silent:
                self._silent(order["kind"])
            except Exception as error:
                self._send_failure(
                    order["kind"], f"{type(error).__name__}: {error}", memory_short=False
                )

    def _obey(self, order: Head) -> None:
        match order["kind"]:
            case "load":
                self._about = order
                os.chdir(order["folder"])
                self._command = Command(
                    order["command"], order["booleans"], read=tuple(order["read"])
                )
                self._sender.send({"kind": "loaded"})
            case "build":
                self._build(order["batch_size"])
            case "run":
                self._run([steps for steps, _ in order["windows"]])
            case "identify":
                self._sender.send({"kind": "identified", "identity": self._identity()})
            case "rest":
                self._end_program()
                self._sender.send({"kind": "rested", "left_share": 0.0})

    def _end_program(self) -> None:
        if self._program is not None:
            self._program.end()
            self._program = None

    def _build(self, batch_size: int) -> None:
        assert self._command is not None
        self._end_program()
        configuration = {**self._about["configuration"], self._about["batch_name"]: batch_size}
        stamps = Stamps()
        every = self._about["eval_every"] or _EVAL_EVERY
        handle = StampedHandle(configuration, self._folder, stamps, every)
        self._program = program = _Program(self._command, handle, stamps)
        stamps.beyond(0, lambda: program.alive, _FIRST_LINE_S)
        facts: Head = {"device": "cuda", "total_mb": None, "free_mb": None}
        if not program.on_gpu:
            room = available_mb(program.peak_mb())
            facts = {"device": "cpu", "total_mb": room, "free_mb": room}
        self._sender.send({"kind": "built", **facts})

    def _run(self, windows: list[int]) -> None:
        assert self._program is not None
        program = self._program
        seconds = program.stamps.windows(windows, lambda: program.alive, _NEXT_LINE_S)
        peak = None if program.on_gpu else program.peak_mb()
        self._sender.send(
            {
                "kind": "ran",
                "seconds": seconds,
                "waits": [[] for _ in seconds],
                "host_waits": None,
                "peak_mb": peak,
                "reserved_mb": peak,
            }
        )

    def _identity(self) -> dict[str, str]:
        assert self._command is not None and self._program is not None
        digest = hashlib.sha256()
        for word in self._command.words:
            named = Path("".join(word.texts))
            with contextlib.suppress(OSError):
                if not word.fields and named.is_file() and named.stat().st_size < _LARGEST_FILE:
                    digest.update(named.read_bytes())
        device = "GPU of the same machine, " if self._program.on_gpu else ""
        return {
            "program": f"{self._command.template} ({digest.hexdigest()[:12]})",
            "device": device + cpu(),
            "processes": "its own",
        }

    # ---- endings

    def _silent(self, kind: str) -> None:
        program = self._program
        assert program is not None
        if program.alive:
            last = program.stamps.last
            after = f" after step {last.step}" if last else ""
            waited = _NEXT_LINE_S if last else _FIRST_LINE_S
            text = f"it printed no step{after} for {waited:.0f} s: {_HINT}"
            return self._send_failure(kind, text, memory_short=False)
        if program.error is not None:
            outcome, reason, _ = judge(program.error)
            words = self._last_words()
            short = outcome == "infeasible" or any(each in words for each in OUT_OF_MEMORY)
            tail = words[-1500:].strip()
            text = f"{reason}; its last words:\n{tail}\n" if tail and not short else str(reason)
            return self._send_failure(kind, text, short)
        last = program.stamps.last
        if last is None:
            return self._send_failure(kind, f"it ended without printing a step: {_HINT}", False)
        self._send_failure(
            kind,
            f"it ended after step {last.step}, before it could be timed: it must be able to run "
            "until the probe has seen enough (give it {max_train_steps}, or print more steps)",
            memory_short=False,
        )
        return None

    def _send_failure(self, kind: str, text: str, memory_short: bool) -> None:
        phases = {"load": "loading", "build": "building"}
        self._sender.send(
            {
                "kind": "failed",
                "phase": phases.get(kind, "stepping"),
                "error": text,
                "where": "",
                "out_of_memory": memory_short,
            }
        )

    def _last_words(self) -> str:
        """What the program has printed beside its steps: all of it goes to our own output."""
        with contextlib.suppress(OSError):
            return (self._folder / "output").read_text(errors="replace")[-_LAST_WORDS:]
        return ""


def _open_files(pid: int) -> list[str]:
    targets = []
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                targets.append(os.readlink(entry.path))
    return targets


def main(arguments: list[str]) -> NoReturn:
    """Begin to work."""
    _CommandWorker(int(arguments[0]), int(arguments[1]), Path(arguments[2])).work()


if __name__ == "__main__":
    main(sys.argv[1:])
