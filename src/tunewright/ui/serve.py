"""Serve the dashboard: find a port, report the address, run until it is stopped."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tunewright.errors import DesignError, Misuse, need
from tunewright.store.address import parse

if TYPE_CHECKING:
    from starlette.applications import Starlette


PORT = 8686
_TRIES = 20  # ports after the first that are tried, when none was chosen
_PERMITS = ("actions", "run")  # notes and stops; starting rounds, which includes both
_STARTS_WITHIN_S = 30.0
_NICE = 2  # how much the server gives way to what else runs on its machine


@dataclass(frozen=True)
class Served:
    """A dashboard that is being served."""

    url: str  # with the token, where one is needed
    store: str  # without a password
    token: bool  # whether requests need the token
    permits: tuple[str, ...]  # read, then what else


def serve(
    store: str,
    *,
    address: str = "127.0.0.1",
    port: int | None = None,
    allow: Iterable[str] = (),
    started: Callable[[Served], None] = lambda served: None,
) -> None:
    """Serve a store's dashboard until Ctrl-C; `started` receives its address before.

    It reads the store and changes nothing. `allow=["actions"]` permits notes and stop requests,
    `allow=["run"]` starting rounds of the project too. An address that other machines can reach, or
    any permission, needs a token, which is part of the address. The thread that serves lowers its
    priority, so that training on the same machine comes first, unless it may start rounds.

        tw.serve("tuning.db", port=8686)

    Args:
        store: the store: a path, or an address such as `postgresql://...`.
        address: where to listen; the default is reachable from this machine only.
        port: None: the usual port, or the next one that is free.
        allow: permissions, "actions" and "run".
        started: receives the address and the token when the server listens.
    """
    with _prepare(store, address, port, allow) as (server, served, bound):
        started(served)
        if "run" not in served.permits:  # a round that is started here would inherit it
            with contextlib.suppress(OSError, AttributeError):
                os.nice(_NICE)
        with contextlib.suppress(KeyboardInterrupt):  # which is how it ends
            server.run(sockets=[bound])


@contextlib.contextmanager
def serve_in_thread(
    store: str, *, allow: Iterable[str] = (), frames: str = "'none'"
) -> Iterator[Served]:
    """A dashboard in a thread of this process, on any free port of this machine, for a block."""
    with _prepare(store, "127.0.0.1", 0, allow, frames) as (server, about, bound):
        thread = threading.Thread(
            target=server.run, kwargs={"sockets": [bound]}, name="tunewright-ui", daemon=True
        )
        thread.start()
        try:
            _wait_for(server, thread)
            yield about
        finally:
            server.should_exit = True
            thread.join(_STARTS_WITHIN_S)


@contextlib.contextmanager
def _prepare(
    store: str, address: str, port: int | None, allow: Iterable[str], frames: str = "'none'"
) -> Iterator[tuple[Any, Served, socket.socket]]:
    """A server that is ready to run, what it is, and its socket."""
    for module in ("starlette", "uvicorn"):
        need(module, extra="ui", purpose="the dashboard")
    import uvicorn

    from tunewright.ui.app import application
    from tunewright.ui.guard import Access

    permitted = _permissions(allow)
    with _bound(address, port) as bound:
        number = bound.getsockname()[1]
        access = Access.of(address, number, actions=bool(permitted), frames=frames)
        app: Starlette = application(store, access, permitted)
        config = uvicorn.Config(
            app,
            log_level="error",
            access_log=False,  # the address of the first request holds the token
            server_header=False,
            lifespan="on",
            loop="asyncio",  # uvloop starts processes by os.fork, which threads do not survive
            timeout_graceful_shutdown=1,
        )
        permits = ("read", *(permit for permit in _PERMITS if permit in permitted))
        about = Served(access.url(address), parse(store).masked, bool(access.token), permits)
        yield uvicorn.Server(config), about, bound


def _wait_for(server: Any, thread: threading.Thread) -> None:
    waiting = threading.Event()
    for _ in range(int(_STARTS_WITHIN_S / 0.02)):
        if server.started or not thread.is_alive():
            break
        waiting.wait(0.02)
    if not server.started:
        raise Misuse("ui.not_started")


def _permissions(allow: Iterable[str]) -> frozenset[str]:
    """What is permitted; who may start a round may stop it too."""
    permits = frozenset(allow)
    if not permits <= set(_PERMITS):
        raise Misuse("ui.unknown_permission", asked=sorted(permits - set(_PERMITS)), known=_PERMITS)
    return frozenset(_PERMITS) if "run" in permits else permits


def _bound(address: str, port: int | None) -> socket.socket:
    """A socket at the port, or at the first free one from the usual port on."""
    wanted = [port] if port is not None else [*range(PORT, PORT + _TRIES), 0]
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    reason = ""
    for number in wanted:
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address, number))
            listener.listen()  # who is given the address may use it at once
            return listener
        except OSError as error:
            listener.close()
            reason = error.strerror or str(error)
    raise DesignError("ui.port_taken", address=address, port=wanted[0], reason=reason)
