"""What a trial asks of a Ray cluster, how many fit on its nodes, and what to say when none does."""

from __future__ import annotations

import difflib
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tunewright.errors import TunewrightError, WorkloadError
from tunewright.messages import Message

_STANDARD = ("CPU", "GPU", "memory")  # what Ray has separate arguments for; memory is in bytes
_GIGABYTE = 1000**3
_SLACK = 1e-9  # 0.1 + 0.2 GPUs must still fit beside 0.7


@dataclass(frozen=True)
class Node:
    """One machine of a cluster, as Ray lists it."""

    id: str
    address: str
    resources: Mapping[str, float]  # in all, whoever uses them now

    @property
    def name(self) -> str:
        """Its address and what it has, for messages."""
        own = {n: a for n, a in self.resources.items() if not n.startswith(("node:", "object_"))}
        return f"{self.address}: {described(own) or 'nothing'}"


def checked(resources: Mapping[str, float] | None) -> dict[str, float]:
    """The resources of a trial, one CPU by default; refuses what Ray would not take.

    >>> checked({"GPU": 0.5})
    {'CPU': 1, 'GPU': 0.5}
    """
    problems: list[Message] = []
    for name, amount in (resources or {}).items():
        number = isinstance(amount, int | float) and not isinstance(amount, bool)
        if not isinstance(name, str) or not name.strip():
            problems.append(Message("resources.bad_name", {"name": name}))
        elif name not in _STANDARD and name.upper() in ("CPU", "GPU"):
            problems.append(Message("resources.misspelt", {"name": name, "right": name.upper()}))
        elif not number or not 0 <= amount < math.inf:
            problems.append(Message("resources.bad_amount", {"name": name, "amount": amount}))
        elif name == "GPU" and amount > 1 and amount != int(amount):
            problems.append(Message("resources.part_of_gpus", {"amount": amount}))
    if problems:
        raise WorkloadError.several(problems)
    return {"CPU": 1, **(resources or {})}


def as_options(needs: Mapping[str, float]) -> dict[str, Any]:
    """The same as the options of a Ray actor.

    >>> as_options({"CPU": 2, "GPU": 0.5, "fast_disk": 1})
    {'num_cpus': 2, 'num_gpus': 0.5, 'resources': {'fast_disk': 1}}
    """
    options: dict[str, Any] = {"num_cpus": needs.get("CPU", 0), "num_gpus": needs.get("GPU", 0)}
    if "memory" in needs:
        options["memory"] = needs["memory"]
    custom = {name: amount for name, amount in needs.items() if name not in _STANDARD}
    return {**options, "resources": custom} if custom else options


def room(needs: Mapping[str, float], nodes: Sequence[Node]) -> int:
    """How many trials these nodes can train at once, if nobody else uses them.

    >>> room({"CPU": 1, "GPU": 0.5}, [Node("a", "10.0.0.1", {"CPU": 8, "GPU": 2})])
    4
    """
    return sum(_fit(needs, node.resources) for node in nodes)


def _fit(needs: Mapping[str, float], has: Mapping[str, float]) -> int:
    # a trial that asks for nothing is still a process: one per CPU
    asked = {name: amount for name, amount in needs.items() if amount > 0} or {"CPU": 1.0}
    counts = []
    for name, amount in asked.items():
        have = has.get(name, 0.0)
        if name == "GPU" and amount < 1:  # a part of one device, never parts of two
            counts.append(int(have) * int(1 / amount + _SLACK))
        else:
            counts.append(int(have / amount + _SLACK))
    return min(counts)


def no_room(needs: Mapping[str, float], nodes: Sequence[Node]) -> WorkloadError:
    """Why no node can train a trial, with what the cluster has and the nearest name.

    >>> print(no_room({"GPU": 1}, [Node("a", "10.0.0.1", {"CPU": 8.0})]))
    a trial needs GPU 1, and no node of the Ray cluster has that. It has 10.0.0.1: CPU 8. Ask for \
less (resources=), or add a node that has it.
    """
    known = {name for node in nodes for name in node.resources}
    unknown = [name for name in needs if name not in known and name not in _STANDARD]
    near = [one for name in unknown for one in difflib.get_close_matches(name, known, n=1)]
    names = [node.name for node in nodes]
    return WorkloadError("ray.no_room", needs=described(needs), nodes=names, near=near)


def described(resources: Mapping[str, float]) -> str:
    """Resources in words.

    >>> described({"CPU": 2.0, "memory": 8e9})
    'CPU 2, memory 8 GB'
    """
    words = []
    for name, amount in resources.items():
        shown = f"{amount / _GIGABYTE:.3g} GB" if name == "memory" else f"{amount:g}"
        words.append(f"{name} {shown}")
    return ", ".join(words)


# ---- How many trials a cluster has room for, counted beside the supervisor's own thread.
#
# A cluster that has lost its head answers no question about its nodes, for a minute and longer,
# while trials that run may still end and be recorded. So the supervisor never waits for the count.


COUNT_S = 2.0  # how often it is counted
SILENT_S = 40.0  # a cluster is given up; Ray itself would end this process after 60 s


class Room:
    """The last count, renewed while it is asked for."""

    def __init__(self, count: Callable[[], int]) -> None:
        """Count for the first time, and wait for that."""
        self._count = count
        self._known = count()
        self._counted = time.monotonic()
        self._asked: float | None = None  # since when a count is under way

    def now(self) -> int:
        """How many fit, as far as is known; raises when the cluster has long been silent."""
        now = time.monotonic()
        if self._asked is None:
            if now - self._counted > COUNT_S:
                self._asked = now
                threading.Thread(target=self._renew, name="tunewright-room", daemon=True).start()
        elif now - self._asked > SILENT_S:
            raise TunewrightError("ray.silent", silent_s=SILENT_S)
        return self._known

    def _renew(self) -> None:
        try:
            self._known = self._count()
        except Exception:  # of Ray, which has lost its connection: nothing is known then
            return
        self._counted = time.monotonic()
        self._asked = None
