"""Serve the dashboard: find a port, print the address, run until it is stopped."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass

from tunewright.errors import DesignError
from tunewright.ui.app import application
from tunewright.ui.guard import Access

PORT = 8686
TRIES = 20  # ports after the first that are tried, when none was chosen


@dataclass(frozen=True)
class Served:
    """A server that is about to run."""

    url: str  # with the token, where one is needed
    store: str
    allow: frozenset[str]


def serve(
    store: str,
    *,
    address: str = "127.0.0.1",
    port: int | None = None,
    allow: frozenset[str] = frozenset(),
    started: Callable[[Served], None] = lambda served: None,
) -> None:
    """Serve a store's dashboard until Ctrl-C; `started` is called with its address before."""
    import uvicorn

    bound = _bound(address, port)
    number = bound.getsockname()[1]
    access = Access.of(address, number)
    app = application(store, access, allow)
    shown = f"[{address}]" if ":" in address else address
    query = f"?token={access.token}" if access.token else ""
    started(Served(f"http://{shown}:{number}/{query}", store, allow))
    settings = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(settings).run(sockets=[bound])


def _bound(address: str, port: int | None) -> socket.socket:
    """A socket at the port, or at the first free one from the usual port on."""
    wanted = [port] if port is not None else [*range(PORT, PORT + TRIES), 0]
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for number in wanted:
        made = socket.socket(family)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((address, number))
            return made
        except OSError as error:
            made.close()
            reason = error.strerror
    raise DesignError("ui.port_taken", address=address, port=wanted[0], reason=reason)
