"""A Ray cluster as a supervisor holds it: the connection, what a trial asks of it, how many fit.

It is joined quietly or started, and left as it was found.
"""

from __future__ import annotations

import contextlib
import difflib
import logging
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tunewright.causes import causes
from tunewright.errors import TunewrightError, WorkloadError, need
from tunewright.messages import Message

_AUTHENTICATION = "RAY_AUTH_MODE"  # "token": only who has the token may give orders
_STANDARD = ("CPU", "GPU", "memory")  # what Ray has separate arguments for; memory is in bytes
_GIGABYTE = 1000**3
_SLACK = 1e-9  # 0.1 + 0.2 GPUs must still fit beside 0.7
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Node:
    """One machine of a cluster, as Ray lists it."""

    id: str
    address: str
    resources: Mapping[str, float]  # in all, whoever uses them now

    @property
    def name(self) -> str:
        """Its address and what it has, for messages."""
        usable = {n: a for n, a in self.resources.items() if not n.startswith(("node:", "object_"))}
        return f"{self.address}: {in_words(usable) or 'nothing'}"


def package() -> Any:
    """The package ray, or the message with how to get it."""
    return need("ray", extra="ray", purpose="Ray()")


@dataclass
class Cluster:
    """A connection; `close` ends only what `join` has begun."""

    ours: bool  # we connected, so we disconnect
    unhush: Callable[[], None] = lambda: None

    def nodes(self) -> list[Node]:
        """The nodes that are alive."""
        return [
            Node(node["NodeID"], node["NodeManagerAddress"], dict(node["Resources"]))
            for node in package().nodes()
            if node["Alive"]
        ]

    def close(self) -> None:
        """Disconnect; a cluster that we started ends with it, any other continues."""
        if self.ours and package().is_initialized():
            package().shutdown()
        self.ours = False
        self.unhush()


def join(address: str | None, runtime_env: Mapping[str, Any] | None = None) -> Cluster:
    """Connect to a cluster: the given one, else RAY_ADDRESS, else this machine's, else a new one.

    A connection that the program has made already is used, and stays. Nothing is printed, and the
    handlers of signals are left alone.
    """
    ray = package()
    if ray.is_initialized():
        if runtime_env:
            raise WorkloadError("ray.runtime_env_too_late")
        return Cluster(ours=False)
    if address is not None and address.startswith("ray://"):
        raise WorkloadError("ray.client_address", address=address)
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR, "include_dashboard": False}
    try:
        with _signals_kept():
            if address is None:  # a new cluster's token must not be everybody's to read
                with contextlib.suppress(OSError):
                    Path.home().joinpath(".ray").mkdir(mode=0o700, exist_ok=True)
            ray.init(address=address, runtime_env=dict(runtime_env or {}) or None, **quiet)
    except (OSError, RuntimeError, TypeError, ValueError, ray.exceptions.RayError) as error:
        where = address or os.environ.get("RAY_ADDRESS") or "this machine"
        raise WorkloadError("ray.no_cluster", place=where, reason=_reason(error)) from error
    if os.environ.get(_AUTHENTICATION, "").lower() != "token":
        log.warning(
            "the Ray cluster asks for no token: whoever reaches its ports can run code in it. "
            "Start it with %s=token.",
            _AUTHENTICATION,
        )
    return Cluster(ours=True, unhush=_hush(ray))


def _reason(error: BaseException) -> str:
    """Why a cluster could not be joined, in one line."""
    for cause in causes(error):
        if "AuthToken" in str(cause) or type(cause).__name__ == "AuthenticationError":
            return (
                f"its token is missing or wrong here ({_AUTHENTICATION}=token, and RAY_AUTH_TOKEN "
                "or ~/.ray/auth_token)"
            )
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__


def _hush(ray: Any) -> Callable[[], None]:
    """Send to the log what Ray's daemons have to say, and return what undoes it.

    Ray writes it to standard output, whatever `ray.init` receives; there is no other way.
    """
    worker = getattr(getattr(ray, "_private", None), "worker", None)
    loud = getattr(worker, "print_to_stdstream", None)
    if loud is None:
        return lambda: None

    def to_the_log(data: Mapping[str, Any], *others: object, **named: object) -> None:
        for line in data.get("lines", ()):
            log.info("%s", line)

    setattr(worker, "print_to_stdstream", to_the_log)  # noqa: B010
    return lambda: setattr(worker, "print_to_stdstream", loud)


@contextlib.contextmanager
def _signals_kept() -> Iterator[None]:
    """Put the handlers back that `ray.init` replaces: the supervisor handles signals itself."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            # a handler that was not set from Python reads as None and cannot be put back as such
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


# ---- What a trial asks of a cluster, and how many trials fit on its nodes.


def check_resources(resources: Mapping[str, float] | None) -> dict[str, float]:
    """The resources of a trial, one CPU by default; refuses what Ray would not take.

    >>> check_resources({"GPU": 0.5})
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
    amounts = {name: amount for name, amount in needs.items() if amount > 0} or {"CPU": 1.0}
    counts = []
    for name, amount in amounts.items():
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
    near = [match for name in unknown for match in difflib.get_close_matches(name, known, n=1)]
    names = [node.name for node in nodes]
    return WorkloadError("ray.no_room", needs=in_words(needs), nodes=names, near=near)


def in_words(resources: Mapping[str, float]) -> str:
    """Resources in words.

    >>> in_words({"CPU": 2.0, "memory": 8e9})
    'CPU 2, memory 8 GB'
    """
    words = []
    for name, amount in resources.items():
        text = f"{amount / _GIGABYTE:.3g} GB" if name == "memory" else f"{amount:g}"
        words.append(f"{name} {text}")
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
        self._counting_since: float | None = None  # since when a count is under way

    def now(self) -> int:
        """How many fit, as far as is known; raises when the cluster has long been silent."""
        now = time.monotonic()
        if self._counting_since is None:
            if now - self._counted > COUNT_S:
                self._counting_since = now
                threading.Thread(target=self._renew, name="tunewright-room", daemon=True).start()
        elif now - self._counting_since > SILENT_S:
            raise TunewrightError("ray.silent", silent_s=SILENT_S)
        return self._known

    def _renew(self) -> None:
        try:
            self._known = self._count()
        except Exception:  # of Ray, which has lost its connection: nothing is known then
            return
        self._counted = time.monotonic()
        self._counting_since = None
