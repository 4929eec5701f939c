"""Events of an open page: a cursor resumes, what was missed is loaded anew, staleness is said."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.ui.small_world import NAME, Worker, a_round, read_frame, run_alone

import tunewright as tw
from tunewright.errors import NotFound
from tunewright.store.overview import STATUSES
from tunewright.ui import changes
from tunewright.ui.changes import Changes
from tunewright.ui.source import Source

MOST_S = 20.0  # a test that waits longer has failed


@pytest.fixture
def worker(store_url: str, tmp_path: Path) -> Iterator[Worker]:
    made = Worker(store_url, a_round(trials=300))
    yield made
    made.close()


class Page:
    """An open page: the events it receives, one by one."""

    def __init__(self, stream: AsyncIterator[str]) -> None:
        self.stream = stream
        self.last = ""

    async def next(self) -> dict[str, Any]:
        while True:
            text = await asyncio.wait_for(anext(self.stream), MOST_S)
            if text.startswith("id: "):
                head, data = text.strip().split("\n")
                self.last = head.removeprefix("id: ")
                found: dict[str, Any] = json.loads(data.removeprefix("data: "))
                return found

    async def close(self) -> None:
        await self.stream.aclose()  # type: ignore[attr-defined]


@contextlib.asynccontextmanager
async def watching(address: str) -> AsyncIterator[Changes]:
    source = Source(address)
    made = Changes(source)
    made.start()
    try:
        yield made
    finally:
        await made.close()
        source.close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "EVERY_S", 0.02)
    monkeypatch.setattr(changes, "SLOWEST_S", 0.02)
    monkeypatch.setattr(changes, "KEEP_S", 0.0)
    monkeypatch.setattr("tunewright.ui.source._ALIKE_S", 1.0)


async def end(worker: Worker, count: int = 1) -> list[int]:
    return await asyncio.to_thread(worker.end, count)


def test_two_pages_receive_what_ends(store_url: str, worker: Worker) -> None:
    async def story() -> None:
        async with watching(store_url) as own:
            _, cursor = await own.states(NAME)
            pages = [Page(own.stream(NAME, cursor)) for _ in range(2)]
            waiting = [asyncio.create_task(page.next()) for page in pages]
            await asyncio.sleep(0.05)
            keys = await end(worker, 3)
            seen: list[set[int]] = []
            for page, first in zip(pages, waiting, strict=True):
                heard = set((await first)["keys"])
                while heard < set(keys):
                    heard |= set((await page.next())["keys"])
                seen.append(heard)
                await page.close()
            assert seen == [set(keys)] * 2

    run_alone(story())


def test_an_event_holds_the_rows_that_changed(store_url: str, worker: Worker) -> None:
    async def story() -> None:
        async with watching(store_url) as own:
            _, cursor = await own.states(NAME)
            page = Page(own.stream(NAME, cursor))
            waiting = asyncio.create_task(page.next())
            await asyncio.sleep(0.05)
            (key,) = await end(worker)
            event = await waiting
            while STATUSES[_rows(event)["status"][-1]] != "completed":  # claimed, then ended
                event = await page.next()
            assert event["keys"] == [key]
            (trial,) = (t for t in tw.load(store_url, NAME).trials if t.identity == key)
            rows = _rows(event)
            assert rows["number"].tolist() == [trial.number]
            assert rows["value"][0] == np.float32(trial.value or 0.0)
            await page.close()

    run_alone(story())


def _rows(event: dict[str, Any]) -> dict[str, Any]:
    _, found = read_frame(base64.b64decode(event["rows"]))
    return found


def test_a_page_that_opens_its_stream_late_misses_nothing(
    store_url: str, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large round takes seconds to load: its page must not be asked to load it again."""
    monkeypatch.setattr(changes, "KEEP_S", 60.0)

    async def story() -> None:
        async with watching(store_url) as own:
            _, cursor = await own.states(NAME)
            await asyncio.sleep(0.1)  # turns in which no page looks
            keys = await end(worker, 2)
            page = Page(own.stream(NAME, cursor))
            event = await page.next()
            assert (event["kind"], set(event["keys"])) == ("trials", set(keys))
            await page.close()

    run_alone(story())


@pytest.mark.parametrize("used", [0.0, 0.001, 0.02, 0.05, 1.0, 100.0])
def test_a_costly_turn_is_followed_by_a_longer_pause(
    used: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    pause = changes.pause_after(used)
    assert changes.EVERY_S <= pause <= changes.SLOWEST_S < 2.0, "within the budget of two seconds"
    if pause < changes.SLOWEST_S:
        assert used / pause <= changes.SHARE


def test_a_cursor_resumes(store_url: str, worker: Worker) -> None:
    async def story() -> None:
        async with watching(store_url) as own:
            _, cursor = await own.states(NAME)
            kept = Page(own.stream(NAME, cursor))  # another page, so that the round stays watched
            lost = Page(own.stream(NAME, cursor))
            first = asyncio.create_task(lost.next()), asyncio.create_task(kept.next())
            await asyncio.sleep(0.05)
            await end(worker)
            await asyncio.gather(*first)
            await lost.close()
            keys = await end(worker, 2)
            heard: set[int] = set()
            while not heard >= set(keys):
                heard |= set((await kept.next()).get("keys", ()))
            back = Page(own.stream(NAME, lost.last))
            missed: set[int] = set()
            while not missed >= set(keys):
                event = await back.next()
                assert event["kind"] == "trials"
                missed |= set(event["keys"])
            for page in (kept, back):
                await page.close()

    run_alone(story())


@pytest.mark.parametrize("cursor", ["", "nonsense", "0badc0de-3", "{epoch}-99", "{epoch}--1", "-"])
def test_a_cursor_that_means_nothing_here_reloads(
    store_url: str, worker: Worker, cursor: str
) -> None:
    async def story() -> None:
        async with watching(store_url) as own:
            page = Page(own.stream(NAME, cursor.format(epoch=own.epoch)))
            assert await page.next() == {"kind": "reload"}
            await page.close()

    run_alone(story())


def test_who_missed_too_much_reloads(
    store_url: str, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        async with watching(store_url) as own:
            _, cursor = await own.states(NAME)
            kept = Page(own.stream(NAME, cursor))
            waiting = asyncio.create_task(kept.next())
            await asyncio.sleep(0.05)
            for _ in range(changes.KEPT + 1):  # more than is kept, without as many trials
                own._append(own._watched[NAME], {"kind": "trials", "keys": [1]})
            await waiting
            late = Page(own.stream(NAME, cursor))
            assert await late.next() == {"kind": "reload"}
            for page in (kept, late):
                await page.close()

    run_alone(story())


def test_many_at_once_are_one_reload(
    store_url: str, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MOST_ROWS", 5)

    async def story() -> None:
        async with watching(store_url) as own:
            _, cursor = await own.states(NAME)
            page = Page(own.stream(NAME, cursor))
            waiting = asyncio.create_task(page.next())
            await asyncio.sleep(0.05)
            await end(worker, changes.MOST_ROWS + 1)
            assert await waiting == {"kind": "reload"}
            await page.close()

    run_alone(story())


def test_a_removed_round_reloads(tmp_path: Path) -> None:
    store = str(tmp_path / "tuning.db")
    worker = Worker(store, a_round(trials=2))
    worker.close()

    async def story() -> None:
        async with watching(store) as own:
            _, cursor = await own.states(NAME)
            page = Page(own.stream(NAME, cursor))
            waiting = asyncio.create_task(page.next())
            await asyncio.sleep(0.05)
            await asyncio.to_thread(tw.stores.remove, store, NAME)
            assert await waiting == {"kind": "reload"}
            with pytest.raises(NotFound):
                await asyncio.to_thread(own._read, NAME)
            await page.close()

    run_alone(story())


@pytest.mark.parametrize("back", ["moved back", "restored"])
def test_a_store_that_is_gone_is_stale_and_comes_back(tmp_path: Path, back: str) -> None:
    store, aside = tmp_path / "tuning.db", tmp_path / "aside.db"
    worker = Worker(str(store), a_round(trials=2))
    worker.end()
    worker.close()

    async def story() -> None:
        async with watching(str(store)) as own:
            _, cursor = await own.states(NAME)
            page = Page(own.stream(NAME, cursor))
            waiting = asyncio.create_task(page.next())
            await asyncio.sleep(0.05)
            store.rename(aside)
            assert await waiting == {"kind": "stale"}
            if back == "moved back":
                aside.rename(store)
                assert await page.next() == {"kind": "live"}
            else:  # another file: a page must not mix what it knows with what is there now
                shutil.copy(aside, store)
                assert await page.next() == {"kind": "reload"}
                assert await page.next() == {"kind": "live"}
            await page.close()

    run_alone(story())


def test_nobody_looks_while_nobody_watches(store_url: str, worker: Worker) -> None:
    async def story() -> None:
        async with watching(store_url) as own:
            await own.states(NAME)
            for _ in range(100):
                if not own._watched:
                    break
                await asyncio.sleep(0.02)
            assert not own._watched

    run_alone(story())


def test_what_ends_while_nobody_watches_is_loaded_anew(store_url: str, worker: Worker) -> None:
    """A page that took its cursor, and opens its stream after the watch was dropped."""

    async def story() -> None:
        async with watching(store_url) as own:
            _, cursor = await own.states(NAME)
            while own._watched:  # nobody has opened a stream: the round is no longer watched
                await asyncio.sleep(0.02)
            await end(worker)
            page = Page(own.stream(NAME, cursor))
            assert await page.next() == {"kind": "reload"}
            await page.close()

    run_alone(story())
