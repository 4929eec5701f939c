"""The rig: processes that build one thing at one batch size after another, and step on request.

They are started at once and import torch, but touch neither what is probed nor the device until the
first order: one may wait, started ahead, beside another that measures.
With several processes the rig sets torchrun's variables and gives all ranks the same orders; the
slowest rank's time counts, as training waits for it.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from tunewright.errors import WorkloadError
from tunewright.execution.command import Command
from tunewright.execution.processes import memory, process_tree
from tunewright.execution.processes.frames import Head, Receiver, to_bytes, write_all
from tunewright.execution.processes.process import start_worker
from tunewright.execution.processes.shipping import ship
from tunewright.probes.throughput.loader_ladder import Depth, Loader, Rung, Stage
from tunewright.probes.throughput.observed import Waits
from tunewright.probes.throughput.subject import Subject

# ---- one process of a rig: what it finds in its environment, its pipes, last words and end


LOOK_S = 0.05  # how often memory is looked at while waiting
_TAIL = 1500  # characters of a dead process's last words


class _Member:
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
                given = (str(folder),)
                self._process = start_worker(worker, (theirs, messages), given, output, environment)
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
    def has_ended(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    @property
    def status(self) -> int | None:
        """With which status it ended."""
        return self._process.poll()

    def last_words(self) -> str:
        """The end of what it has printed."""
        with contextlib.suppress(OSError):
            return self._log.read_text(errors="replace").strip()[-_TAIL:]
        return ""

    def close(self, mark: str) -> None:
        """End it with everything it has started."""
        process_tree.kill_tree(self.pid, mark)
        self._process.wait()
        for descriptor in (self._orders, self.messages):
            with contextlib.suppress(OSError):
                os.close(descriptor)


def _environment_of(rank: int, processes: int, port: int, mark: str) -> dict[str, str]:
    """What a process finds in its environment: torchrun's variables, where there are several."""
    environment = {**os.environ, process_tree.MARK: mark}
    if processes > 1:
        environment |= {
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(processes),
            "LOCAL_WORLD_SIZE": str(processes),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
        }
    return environment


def _free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


# ---- rig


_PATIENCE_S = 600.0  # for one answer; compilation may take minutes
_WORKERS = {  # which program a rig's processes run
    "factory": "tunewright.probes.throughput.probe_worker",
    "training": "tunewright.probes.throughput.probe_worker",
    "command": "tunewright.probes.throughput.command_worker",
}


class OutOfMemory(Exception):
    """The batch size does not fit; the rig is of no further use."""


class CannotStep(WorkloadError):
    """What is probed raised an error, or died."""


@dataclass(frozen=True)
class Device:
    """Where the steps run, and the memory there."""

    kind: str  # cuda or cpu
    total_mb: float | None  # of the device; of this machine, what is available; None: unknown
    free_mb: float | None  # of which nobody else holds


@dataclass(frozen=True)
class Ran:
    """What some windows of steps took."""

    seconds: tuple[float, ...]  # of each window; of the slowest process
    waits: tuple[tuple[float, ...], ...]  # of each window: seconds waited for each batch
    peak_mb: float | None  # of the fullest device; on a CPU of all processes; None: unknown
    reserved_mb: float | None  # the same with what the allocator holds in reserve
    host_waits: Waits | None = None  # where it was asked for
    unused: Mapping[str, float] = field(default_factory=dict)  # entries of a batch, by their bytes


class Rig(Protocol):
    """Something that can be built at a batch size and does steps on request."""

    def build(self, batch_size: int, synthetic: bool = False) -> Device:
        """Build it, up to its first step."""
        ...

    def run(
        self, windows: Sequence[int], cached: Sequence[bool] = (), count_waits: bool = False
    ) -> Ran:
        """Do steps, one after the other, timed in windows; `cached` leaves the input out."""
        ...

    def identify(self) -> dict[str, str]:
        """What is being trained; after at least one step."""
        ...

    def rest(self) -> float:
        """Give back what was built; the share of the device's memory that stayed behind."""
        ...

    def close(self) -> None:
        """End its processes."""
        ...


class ProcessRig:
    """A rig of real processes."""

    def __init__(
        self,
        subject: Subject,
        processes: int = 1,
        memory_mb: float | None = None,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        """Start them; above `memory_mb` on a CPU they are ended."""
        self._subject, self._memory_mb, self._patience_s = subject, memory_mb, patience_s
        self._shipment = _shipment_of(subject)
        self._loaded = False
        self._folder = tempfile.TemporaryDirectory(prefix="tunewright-probe-")
        self._mark = process_tree.new_mark()
        self._members: list[_Member] = []
        try:
            port = _free_port() if processes > 1 else 0
            for rank in range(processes):
                environment = _environment_of(rank, processes, port, self._mark)
                folder = Path(self._folder.name) / str(rank)
                self._members.append(_Member(rank, folder, environment, _WORKERS[subject.kind]))
        except BaseException:
            self.close()
            raise

    def _load(self) -> None:
        subject, (what, body) = self._subject, self._shipment
        head = {
            "kind": "load",
            "subject": subject.kind,
            "batch_name": subject.batch_name,
            "configuration": dict(subject.configuration),
            "takes_synthetic": subject.takes_synthetic,
            "eval_every": subject.eval_every,
            **what,
        }
        self._order(head, body)
        self._loaded = True

    def build(self, batch_size: int, synthetic: bool = False) -> Device:
        """Build what is probed at a batch size, up to its first step; the first time, load it."""
        if not self._loaded:
            self._load()
        order = {"kind": "build", "batch_size": batch_size, "synthetic": synthetic}
        answers = self._order(order, about=f"at batch size {batch_size}")
        least = min(answers, key=lambda head: head["free_mb"] or 0.0)
        return Device(least["device"], least["total_mb"], least["free_mb"])

    def run(
        self, windows: Sequence[int], cached: Sequence[bool] = (), count_waits: bool = False
    ) -> Ran:
        """Do steps; the slowest process's times, the fullest device's memory."""
        modes = cached or [False] * len(windows)
        order = {"kind": "run", "windows": list(zip(windows, modes, strict=True))}
        answers = self._order({**order, "count_waits": count_waits})
        slowest = [max(times) for times in zip(*(head["seconds"] for head in answers), strict=True)]
        host_waits = answers[0]["host_waits"]
        if host_waits is not None:
            places = tuple((place, rate) for place, rate in host_waits.pop("places"))
            host_waits = Waits(places=places, **host_waits)
        return Ran(
            tuple(slowest),
            tuple(tuple(window) for window in answers[0]["waits"]),
            self._together([head["peak_mb"] for head in answers]),
            self._together([head["reserved_mb"] for head in answers]),
            host_waits,
            answers[0].get("unused", {}),
        )

    def identify(self) -> dict[str, str]:
        """What rank 0 trains."""
        identity: dict[str, str] = self._order({"kind": "identify"})[0]["identity"]
        return identity

    def trace(self, steps: int, path: Path) -> None:
        """Do steps under a profiler, whose trace rank 0 writes to a file."""
        self._order(
            {
                "kind": "run",
                "windows": [(steps, False)],
                "count_waits": False,
                "trace": str(path.absolute()),
            }
        )

    def loader(self) -> tuple[Loader | None, float | None]:
        """The DataLoader that the training iterates, and the memory free for its data in MB."""
        answer = self._order({"kind": "loader"})[0]
        known = answer["loader"]
        return None if known is None else Loader(**known), answer["free_mb"]

    def climb(self, workers: Sequence[int], seconds: float) -> list[Rung]:
        """Batches per second of the input pipeline alone at each number of workers."""
        answers = self._order({"kind": "climb", "workers": list(workers), "seconds": seconds})
        return [Rung(count, rate) for count, rate in answers[0]["rates"]]

    def depths(
        self, workers: int, factors: Sequence[int], step_s: float, seconds: float
    ) -> list[Depth]:
        """How long steps of this length wait for the loader at each prefetch factor."""
        question = {"workers": workers, "factors": list(factors), "step_s": step_s}
        answers = self._order({"kind": "depths", "seconds": seconds, **question})
        return [Depth(**depth) for depth in answers[0]["depths"]]

    def stages(self, seconds: float) -> list[Stage]:
        """What each stage of the input pipeline takes and is like."""
        answers = self._order({"kind": "stages", "seconds": seconds})
        return [Stage(**stage) for stage in answers[0]["stages"]]

    def rest(self) -> float:
        """Give back what was built; the largest share of a device's memory that stayed behind."""
        return max(float(head["left_share"]) for head in self._order({"kind": "rest"}))

    def close(self) -> None:
        """End the processes and everything they have started."""
        for member in self._members:
            member.close(self._mark)
        with contextlib.suppress(OSError):
            self._folder.cleanup()

    # ---- orders and answers

    _on_cpu = True

    @property
    def _apart(self) -> bool:
        """Whether what trains is not the rig's own process, but a program that it has started."""
        return self._subject.kind == "command"

    def _order(self, head: Head, body: bytes = b"", about: str = "") -> list[Head]:
        """Give all processes an order, and wait for all their answers."""
        for member in self._members:
            member.send(to_bytes(head, body))
        answers: dict[int, Head] = {}
        until = time.monotonic() + self._patience_s
        with selectors.DefaultSelector() as selector:
            for member in self._members:
                selector.register(member.messages, selectors.EVENT_READ, member)
            while len(answers) < len(self._members):
                for key, _ in selector.select(LOOK_S):
                    answer = key.data.read()
                    if answer is not None:
                        answers[key.data.rank] = answer
                        self._judge(answer, about)
                self._watch_memory(head)
                for member in self._members:
                    if member.rank not in answers and member.has_ended:
                        self._raise_end(member)
                if time.monotonic() > until:
                    raise CannotStep(
                        "throughput.hangs",
                        subject=self._subject.name,
                        about=about,
                        patience_s=self._patience_s,
                    )
        in_order = [answers[member.rank] for member in self._members]
        if head["kind"] == "build":
            self._on_cpu = in_order[0]["device"] == "cpu"
        return in_order

    def _together(self, held: Sequence[float | None]) -> float | None:
        known = [each for each in held if each is not None]
        if len(known) < len(held):
            return None
        return float(sum(known) if self._on_cpu else max(known))

    def _judge(self, answer: Head, about: str) -> None:
        if answer["kind"] != "failed":
            return
        if answer["out_of_memory"]:
            raise OutOfMemory(answer["error"])
        doing = {"loading": "could not be loaded", "building": "failed"}
        did = doing.get(answer["phase"], "failed in a step")
        where = f", at {answer['where']}" if answer["where"] else ""
        raise CannotStep(
            "throughput.cannot_step",
            subject=self._subject.name,
            verb=did,
            about=about,
            error=answer["error"],
            place=where,
        )

    def _watch_memory(self, head: Head) -> None:
        if self._memory_mb is None or not self._on_cpu or head["kind"] not in ("build", "run"):
            return
        table = process_tree.table()
        processes = [
            process
            for member in self._members
            for process in (
                *(table[pid] for pid in (member.pid,) if pid in table and not self._apart),
                *process_tree.descendants(member.pid, table),
            )
        ]
        used = memory.tree_mb(processes)
        if used > self._memory_mb:
            raise OutOfMemory(f"{used:.0f} MB of the {self._memory_mb:.0f} MB allowed")

    def _raise_end(self, member: _Member) -> None:
        status = member.status
        if status == -9 and member.kills.more():
            raise OutOfMemory("the kernel ended the process for want of memory")
        last_words = member.last_words()
        raise CannotStep(
            "throughput.process_ended",
            subject=self._subject.name,
            status=status,
            detail=f"; its last words:\n{last_words}" if last_words else " without a word.",
        )


def _shipment_of(subject: Subject) -> tuple[Head, bytes]:
    """What the processes are to load."""
    if isinstance(subject.function, Command):
        command = subject.function
        about = {
            "command": command.template,
            "booleans": command.booleans,
            "read": list(command.read),
        }
        return {**about, "folder": os.getcwd()}, b""
    shipment = ship(subject.function)
    head = {"path": shipment.path, "folder": shipment.folder}
    return {**head, "module": shipment.module, "name": shipment.name}, shipment.pickled


OpenRig = Callable[[], Rig]


# ---- which size is measured in which process?
#
# A separate process costs seconds: Python, torch, the device's context, the first call of every
# library. So sizes share one where nothing is at stake, and have one to themselves where it
# matters:
#
#     the ladder, and the first timing of sizes that surely fit    one process
#     the largest size, tried and corrected                        a second one
#     what is timed a second time                                  the one that tried the largest
#     sizes that take much of the memory                           one each, with no other beside it
#
# Between two sizes a process gives everything back and forgets what it has compiled. One in which
# something failed, or stayed behind, is never used again.


_LEFT = 0.02  # of the device's memory: what a size may leave behind in a process that continues
Outcome = TypeVar("Outcome")
Work = Callable[[Rig], Outcome]


class Rigs:
    """The rigs of one probe: opened when they are needed, shared, and closed in the end."""

    def __init__(self, open_rig: OpenRig, sharing: bool = True, ahead: bool = False) -> None:
        """Without `sharing` every size has its own; `ahead` starts the second with the first."""
        self.out_of_memory = 0  # how often memory has run out
        self._open_rig, self._sharing, self._ahead = open_rig, sharing, ahead
        self._kept: dict[int, Rig] = {}
        self._spare: Rig | None = None

    def use(self, work: Work[Outcome], turn: int = 0) -> Outcome:
        """Do some work in the process that measures for the first time (0), or again (1)."""
        if not self._sharing:
            return self.alone(work)
        kept = self._kept.pop(turn, None)
        if kept is None:
            return self._do(work, self._open(), turn)
        try:
            return self._do(work, kept, turn)
        except (CannotStep, OutOfMemory):
            outcome = self.alone(work)  # fails again if it was not for the company
            self._sharing = False
            return outcome

    def trial(self, work: Work[Outcome]) -> Outcome:
        """Try a large size in a separate process; a failure there is the size's.

        The process then tries the next one, and later measures what is measured again.
        """
        rig = self._kept.pop(1, None) or self._open()
        return self._do(work, rig, 1 if self._sharing else None)

    def alone(self, work: Work[Outcome]) -> Outcome:
        """Do some work in a separate process, while there is no other."""
        self._close(0)
        self._close(1)
        return self._do(work, self._open(), None)

    def close(self) -> None:
        """End all processes."""
        self._close(0)
        self._close(1)
        if self._spare is not None:
            self._spare.close()

    def _open(self) -> Rig:
        spare, self._spare = self._spare, None
        if spare is not None:
            return spare
        rig = self._open_rig()
        if self._ahead:
            self._ahead, self._spare = False, self._open_rig()
        return rig

    def _do(self, work: Work[Outcome], rig: Rig, turn: int | None) -> Outcome:
        try:
            outcome = work(rig)
        except BaseException as error:
            self.out_of_memory += isinstance(error, OutOfMemory)
            rig.close()
            raise
        if turn is None or not _rested(rig):
            rig.close()
        else:
            self._kept[turn] = rig
        return outcome

    def _close(self, turn: int) -> None:
        kept = self._kept.pop(turn, None)
        if kept is not None:
            kept.close()


def _rested(rig: Rig) -> bool:
    """Whether it has given back what it took."""
    try:
        return rig.rest() <= _LEFT
    except (CannotStep, OutOfMemory):  # a training that cannot be ended between its steps
        return False
