"""A Ray cluster as a supervisor holds it: joined quietly or started, and left as it was found."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tunewright.causes import causes
from tunewright.errors import WorkloadError, need
from tunewright.execution.executors.ray.resources import Node

_AUTHENTICATION = "RAY_AUTH_MODE"  # "token": only who has the token may give orders
log = logging.getLogger(__name__)


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
