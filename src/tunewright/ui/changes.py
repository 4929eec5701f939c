"""What happens in a store while somebody watches: events for open pages, with a cursor.

One task asks the store twice a second whether anything changed, whatever the number of pages. A
page resumes after a lost connection by the number of the last event it saw; one that has missed
too much, or watched another server, is asked to load everything again.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import secrets
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from anyio import to_thread

from tunewright.errors import TunewrightError
from tunewright.store import overview
from tunewright.store.store import Store

EVERY_S = 0.5
KEPT = 500  # events of a round that a page may have missed
ALIVE_S = 10.0  # a comment is sent so often, so that both sides notice a dead connection
MOST_ROWS = 200  # trials in one event; a page loads the whole table where more have changed

States = dict[int, tuple[str, int, float]]


@dataclass
class Watched:
    """One round that pages look at."""

    name: str
    states: States = field(default_factory=dict)
    events: deque[tuple[int, dict[str, Any]]] = field(default_factory=lambda: deque(maxlen=KEPT))
    numbers: Any = field(default_factory=lambda: itertools.count(1))
    last: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    pages: int = 0


class Changes:
    """The events of a store's rounds; `start` it inside the server's loop."""

    def __init__(self, store: Store) -> None:
        """Watch a store."""
        self.epoch = secrets.token_hex(4)  # a cursor of another server means nothing here
        self.healthy = True
        self._store = store
        self._watched: dict[str, Watched] = {}
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to watch."""
        self._task = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """Stop watching."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def states(self, name: str) -> tuple[States, str]:
        """What the trials of a round are at, and the cursor that goes with it."""
        own = await self._of(name)
        return own.states, f"{self.epoch}-{own.last}"

    async def stream(self, name: str, cursor: str) -> AsyncIterator[str]:
        """Events of a round after a cursor, as text for server-sent events, until the page goes."""
        own = await self._of(name)
        own.pages += 1
        try:
            epoch, _, number = cursor.rpartition("-")
            at = int(number) if epoch == self.epoch and number.isdigit() else -1
            oldest = own.events[0][0] if own.events else own.last + 1
            if at < 0 or at > own.last or at < oldest - 1:
                at = own.last
                yield self._text(at, {"kind": "reload"})
            while True:
                for number_, event in [one for one in own.events if one[0] > at]:
                    at = number_
                    yield self._text(at, event)
                waiting = own.changed
                try:
                    await asyncio.wait_for(waiting.wait(), ALIVE_S)
                except TimeoutError:
                    yield ": alive\n\n" if self.healthy else self._text(at, {"kind": "stale"})
        finally:
            own.pages -= 1

    def _text(self, number: int, event: dict[str, Any]) -> str:
        data = json.dumps(event, allow_nan=False)
        return f"id: {self.epoch}-{number}\ndata: {data}\n\n"

    async def _of(self, name: str) -> Watched:
        own = self._watched.get(name)
        if own is None:
            states = await to_thread.run_sync(self._read, name)
            own = self._watched.setdefault(name, Watched(name, states))
        return own

    def _read(self, name: str) -> States:
        return overview.states(self._store, self._store.round(name).id)

    async def _watch(self) -> None:
        while True:
            for own in list(self._watched.values()):
                if not own.pages:
                    self._watched.pop(own.name, None)  # the next page begins anew
                    continue
                try:
                    states = await to_thread.run_sync(self._read, own.name)
                    self.healthy = True
                except TunewrightError:
                    self.healthy = False  # the store may be restored; pages say that they are stale
                    continue
                self._publish(own, states)
            await asyncio.sleep(EVERY_S)

    def _publish(self, own: Watched, states: States) -> None:
        changed = [key for key, state in states.items() if own.states.get(key) != state]
        own.states = states
        if not changed:
            return
        event: dict[str, Any] = {"kind": "trials", "keys": changed}
        if len(changed) > MOST_ROWS:
            event = {"kind": "reload"}
        own.last = next(own.numbers)
        own.events.append((own.last, event))
        own.changed.set()
        own.changed = asyncio.Event()
