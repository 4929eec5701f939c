"""Part of bench/ui.py: do watching pages slow the workers that write?

Ask-and-tell processes run a round with and without three clients that follow it, in turn, several
times, so that other load on the machine falls on both alike.
"""

from __future__ import annotations

import multiprocessing
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress
from typing import Any

import httpx

import tunewright as tw

SPAWN = multiprocessing.get_context("spawn")
TRIALS, POINTS, TURNS, WATCHERS = 480, 50, 3, 3
WORK_S = 0.05  # a trial trains a little: workers that only write measure the lock
NAME = "watched"


def a_round() -> tw.Round:
    return tw.Round(
        NAME,
        goal="Does a watcher disturb the workers?",
        nuisance={"rate": tw.log(1e-4, 1.0)},
        trials_per_study=TRIALS,
    )


def work(url: str, start: Any, answers: Any) -> None:
    told = 0
    writing = 0.0
    with tw.open_round(a_round(), tw.minimize("valid_error"), store=url) as session:
        answers.put("ready")
        start.wait()
        while True:
            began = time.perf_counter()
            trial = session.ask()
            if trial is None:
                break
            for step in range(1, POINTS + 1):
                trial.log(step, valid_error=trial.configuration["rate"] + 1 / step)
            trial.finish()
            writing += time.perf_counter() - began
            told += 1
            time.sleep(WORK_S)
    answers.put((told, writing))


def watch(base: str, over: threading.Event, events: list[int]) -> None:
    """A page: it loads the round once, follows it, and loads what has ended."""
    at = f"/api/round/{NAME}"
    with suppress(httpx.RemoteProtocolError), httpx.Client(base_url=base, timeout=60) as client:
        cursor = client.get(at).json()["cursor"]
        client.get(f"{at}/table")
        with client.stream("GET", f"{at}/events", params={"cursor": cursor}) as stream:
            for line in stream.iter_lines():
                if line.startswith("data: "):
                    events.append(1)
                    client.get(f"{at}/table", params={"key": [1, 2, 3]})
                if over.is_set():
                    return


def turn(workers: int, watched: bool, server: Callable[[str], Any]) -> tuple[float, float, int]:
    """Wall seconds of all trials, seconds of writing per trial, events that pages received."""
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        url = f"{scratch}/tuning.db"
        with tw.open_round(a_round(), tw.minimize("valid_error"), store=url):
            pass
        over, events = threading.Event(), list[int]()
        if watched:
            base = stack.enter_context(_base(server(url)))
            for _ in range(WATCHERS):
                threading.Thread(target=watch, args=(base, over, events), daemon=True).start()
        start, answers = SPAWN.Event(), SPAWN.Queue()
        own = [SPAWN.Process(target=work, args=(url, start, answers)) for _ in range(workers)]
        for one in own:
            one.start()
        for _ in own:
            assert answers.get(timeout=300) == "ready"
        began = time.perf_counter()
        start.set()
        found = [answers.get(timeout=300) for _ in own]
        took = time.perf_counter() - began
        over.set()
        for one in own:
            one.join(60)
        assert sum(told for told, _ in found) == TRIALS, "a trial was lost"
        return took, sum(writing for _, writing in found) / TRIALS, len(events)


def _base(made: Any) -> AbstractContextManager[str]:
    class First(AbstractContextManager[str]):
        def __enter__(self) -> str:
            return str(made.__enter__()[0])

        def __exit__(self, *about: Any) -> None:
            made.__exit__(*about)

    return First()


def effect_on_workers(workers: int, server: Callable[[str], Any]) -> list[str]:
    alone, watched, events = [], [], 0
    lines = [
        f"## {workers} workers, with and without {WATCHERS} watching clients",
        "",
        f"{TRIALS} trials of {POINTS} points each, {WORK_S} s of training; every turn as measured.",
        "",
        "| turn | watched | wall s | ms of writing per trial | events received |",
        "|---|---|---|---|---|",
    ]
    for number in range(TURNS):
        for is_watched in (False, True) if number % 2 == 0 else (True, False):
            took, writing, heard = turn(workers, is_watched, server)
            (watched if is_watched else alone).append((took, writing))
            events += heard
            said = "yes" if is_watched else "no"
            lines.append(f"| {number + 1} | {said} | {took:.2f} | {writing * 1e3:.1f} | {heard} |")
            print(lines[-1], flush=True)
    for name, at in (("wall time", 0), ("time of writing", 1)):
        ratio = statistics.median(x[at] for x in watched) / statistics.median(x[at] for x in alone)
        lines.append("")
        lines.append(f"Ratio of the medians, {name}: {ratio:.3f}. No worker failed.")
    return lines
