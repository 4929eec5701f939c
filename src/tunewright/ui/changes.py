"""What happens in a store while somebody watches: events for open pages, with a cursor.

One task asks the store whether anything changed, whatever the number of pages, and every page gets
the same event with the rows that changed. It asks twice a second, and less often where that costs
more than a small share of a processor, so that a watched round runs as fast as one that nobody
watches. A page resumes after a lost connection by the number of the last event it saw; one that has
missed too much, or watched another server, is asked to load everything again.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from anyio import to_thread

from tunewright.errors import NotFound
from tunewright.store import overview
from tunewright.ui import columns
from tunewright.ui.source import Source

EVERY_S = 0.5
SLOWEST_S = 1.4  # a trial that ends must be on the pages within two seconds
SHARE = 0.04  # of one processor that the server may use before it looks less often
KEPT = 200  # events of a round that a page may have missed
_ALIVE_S = 10.0  # a comment is sent so often, so that both sides notice a dead connection
MOST_ROWS = 500  # trials in one event; a page loads the whole table where more have changed
KEEP_S = 60.0  # a round that no page looks at: a page that is opened, or comes back, needs less

States = dict[int, tuple[str, int, float]]


@dataclass
class _Watched:
    """One round that pages look at."""

    name: str
    states: States = field(default_factory=dict)
    events: deque[tuple[int, dict[str, Any]]] = field(default_factory=lambda: deque(maxlen=KEPT))
    start: int = 0  # a page that saw an earlier event may have missed some
    last: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    pages: int = 0
    written: object = None  # what the store's file was when its states were read
    used: float = field(default_factory=time.monotonic)  # when somebody asked for it last
    looking: asyncio.Lock = field(default_factory=asyncio.Lock)

    def wake(self) -> None:
        """Let every page of the round look again."""
        self.changed.set()
        self.changed = asyncio.Event()


class Changes:
    """The events of a store's rounds; `start` it inside the server's loop."""

    def __init__(self, source: Source) -> None:
        """Watch a store."""
        self.epoch = secrets.token_hex(4)  # a cursor of another server means nothing here
        self.healthy = True
        self._source = source
        self._generation = source.generation
        self._numbers = itertools.count(1)  # of events, over all rounds
        self._watched: dict[str, _Watched] = {}
        self._task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    def start(self) -> None:
        """Begin to watch."""
        self._task = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """Stop watching; a read that is under way comes to its end first."""
        self._closing.set()
        if self._task is not None:
            await self._task

    async def states(self, name: str) -> tuple[States, str]:
        """What the trials of a round are at, and the cursor that goes with it."""
        watched = await self._of(name)
        return watched.states, f"{self.epoch}-{watched.last}"

    async def stream(self, name: str, cursor: str) -> AsyncIterator[str]:
        """Events of a round after a cursor, as text for server-sent events, until the page goes."""
        watched = await self._of(name)
        watched.pages += 1
        try:
            epoch, _, number = cursor.rpartition("-")
            at = int(number) if epoch == self.epoch and number.isdigit() else -1
            known = watched.start if len(watched.events) < KEPT else watched.events[0][0]
            if not known <= at <= watched.last:
                at = watched.last
                yield self._text(at, {"kind": "reload"})
            healthy = True  # as far as this page knows
            while True:
                for number_, event in [entry for entry in watched.events if entry[0] > at]:
                    at = number_
                    yield self._text(at, event)
                if healthy != self.healthy:
                    healthy = self.healthy
                    yield self._text(at, {"kind": "live" if healthy else "stale"})
                waiting = watched.changed
                try:
                    await asyncio.wait_for(waiting.wait(), _ALIVE_S)
                except TimeoutError:
                    yield ": alive\n\n"
        finally:
            watched.pages -= 1
            watched.used = time.monotonic()

    def _text(self, number: int, event: dict[str, Any]) -> str:
        data = json.dumps(event, allow_nan=False)
        return f"id: {self.epoch}-{number}\ndata: {data}\n\n"

    async def _of(self, name: str) -> _Watched:
        watched = self._watched.get(name)
        if watched is None:
            states = await to_thread.run_sync(self._read, name)
            # a new number: what happened while nobody watched has none
            number = next(self._numbers)
            watched = self._watched.setdefault(
                name, _Watched(name, states, start=number, last=number)
            )
        elif not watched.pages:
            await self._look(watched)  # nobody has done so meanwhile
            watched = self._watched.setdefault(name, watched)  # dropped while it was looked at
        watched.used = time.monotonic()
        return watched

    def _read(self, name: str) -> States:
        store = self._source.store
        return overview.states(store, overview.round_key(store, name))

    async def _watch(self) -> None:
        used = time.process_time()
        while not self._closing.is_set():
            for watched in list(self._watched.values()):
                if watched.pages:
                    await self._look(watched)
                elif time.monotonic() - watched.used >= KEEP_S:
                    self._watched.pop(watched.name, None)  # the next page begins anew
            before, used = used, time.process_time()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), pause_after(used - before))

    async def _look(self, watched: _Watched) -> None:
        async with watched.looking:
            written = self._source.stamp()
            if written is not None and written == watched.written and self.healthy:
                return
            try:
                states, event = await to_thread.run_sync(self._read_changes, watched)
            except NotFound as error:
                if error.code == "round.not_found":  # removed or renamed: the page shows it
                    self._publish(watched, {}, {"kind": "reload"} if watched.states else None)
                    return
                self._turn(False)
            except Exception:  # whatever keeps us from reading may pass: pages show that
                self._turn(False)
            else:
                watched.written = written
                self._turn(True)
                self._publish(watched, states, event)

    def _turn(self, healthy: bool) -> None:
        """Note whether the store can be read; pages show the change at once."""
        if healthy and self._generation != self._source.generation:
            self._generation = self._source.generation
            for watched in self._watched.values():  # another file: what a page knows means nothing
                self._append(watched, {"kind": "reload"})
        if healthy != self.healthy:
            self.healthy = healthy
            for watched in self._watched.values():
                watched.wake()

    def _read_changes(self, watched: _Watched) -> tuple[States, dict[str, Any] | None]:
        """What the trials of a round are at now, and the event that brings pages there."""
        states = self._read(watched.name)
        changed = [key for key, state in states.items() if watched.states.get(key) != state]
        if watched.states.keys() - states.keys() or len(changed) > MOST_ROWS:
            return states, {"kind": "reload"}
        if not changed:
            return states, None
        rows = columns.table(overview.read_overview(self._source.store, watched.name, changed))
        encoded = base64.b64encode(rows).decode("ascii")
        return states, {"kind": "trials", "keys": changed, "rows": encoded}

    def _publish(self, watched: _Watched, states: States, event: dict[str, Any] | None) -> None:
        watched.states = states
        if event is not None:
            self._append(watched, event)

    def _append(self, watched: _Watched, event: dict[str, Any]) -> None:
        watched.last = next(self._numbers)
        watched.events.append((watched.last, event))
        watched.wake()


def pause_after(used: float) -> float:
    """Seconds until the store is looked at again, where the last turn took `used` of a processor.

    >>> pause_after(0.001), pause_after(0.04), pause_after(3.0)
    (0.5, 1.0, 1.4)
    """
    return min(max(used / SHARE, EVERY_S), max(SLOWEST_S, EVERY_S))
