"""Do watching pages slow the workers that write, or make one fail?

    python bench/ui_workers.py [--workers 16] [--periods 12] [--seconds 5]

Ask-and-tell processes write one store for the whole run. Three pages in Chromium follow the round
in every second period and are blank in the others, so that other load falls on both alike. Of each
trial the workers record how long calls of the store took (claim, 50 points, finish) and how much of
that was processor time; the rest is waiting, for the store or for a processor. Prints markdown.
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import psutil
from bench.ui import server
from bench.ui_browser import opened
from tests.faults.watched_round import NAME, OBJECTIVE, Told, a_round, work

import tunewright as tw
from tunewright.store.store import Store

SPAWN = multiprocessing.get_context("spawn")
TRIALS, POINTS, WATCHERS = 4000, 50, 3
WORK_S = 1.0  # of training for each trial: workers that only write measure the lock
SETTLES_S = 1.0  # at the begin of a period, not counted


def periods(
    workers: int, count: int, seconds: float
) -> tuple[list[tuple[bool, float, float]], list[Told], float]:
    """When pages watched, every trial that was told, and the processor time of the watchers."""
    with tempfile.TemporaryDirectory() as scratch:
        url = f"{scratch}/tuning.db"
        with tw.open_round(a_round(TRIALS), OBJECTIVE, store=url):
            pass
        start, over, answers = SPAWN.Event(), SPAWN.Event(), SPAWN.Queue()
        train = functools.partial(time.sleep, WORK_S)
        given = (url, TRIALS, start, answers, POINTS, train, over)
        own = [SPAWN.Process(target=work, args=given) for _ in range(workers)]
        for one in own:
            one.start()
        for _ in own:
            assert answers.get(timeout=300) == "ready"
        spans: list[tuple[bool, float, float]] = []
        spent = 0.0
        with server(url) as (base, process, _), opened() as browser:
            tabs = [browser.new_page() for _ in range(WATCHERS)]
            start.set()
            for number in range(count):
                watched = number % 4 in (1, 2)  # none, watched, watched, none
                before = _cpu(process)
                for tab in tabs:
                    tab.goto(f"{base}#/round/{NAME}" if watched else "about:blank")
                began = time.monotonic()
                tabs[0].wait_for_timeout(seconds * 1000)
                spans.append((watched, began + SETTLES_S, time.monotonic()))
                if watched:
                    spent += _cpu(process) - before
            over.set()
            found = [answers.get(timeout=300) for _ in own]
        for one in own:
            one.join(60)
        assert [problem for _, problem in found if problem] == [], "a worker failed"
        told = [one for some, _ in found for one in some]
        with Store.open(url, create=False, read_only=True) as store:
            assert store.round(NAME).counts["completed"] == len(told), "a trial was lost"
        return spans, told, spent


def _cpu(process: psutil.Process) -> float:
    used = process.cpu_times()
    return float(used.user + used.system + used.children_user + used.children_system)


def report(workers: int, count: int, seconds: float) -> list[str]:
    """The run as markdown."""
    spans, told, spent = periods(workers, count, seconds)
    lines = [
        f"## {workers} workers, with and without {WATCHERS} pages in Chromium that watch",
        "",
        f"{len(told):,} trials of {POINTS} points, {WORK_S} s of training each; {os.cpu_count()} "
        f"cores, load {os.getloadavg()[0]:.1f}. No worker failed and no trial was lost.",
        "",
        "| period | watched | trials per s | ms in the store per trial | its processor | p95 ms |",
        "|---|---|---|---|---|---|",
    ]
    rows: dict[bool, list[Sequence[float]]] = {False: [], True: []}
    for number, (watched, began, ended) in enumerate(spans):
        own = [one for one in told if began <= one.ended < ended]
        waited = sorted(1e3 * one.waited for one in own)
        row = (
            len(own) / (ended - began),
            statistics.median(waited),
            statistics.median(1e3 * one.cpu for one in own),
            waited[int(0.95 * len(waited))],
        )
        rows[watched].append(row)
        cells = " | ".join(f"{value:.1f}" for value in row)
        lines.append(f"| {number + 1} | {'yes' if watched else 'no'} | {cells} |")
    names = ("trials per second", "time in the store", "its processor time", "its 95th percentile")
    lines.append("")
    for at, name in enumerate(names):
        off, on = (statistics.median(row[at] for row in rows[w]) for w in (False, True))
        lines.append(f"- {name}: {on:.1f} watched, {off:.1f} not, ratio {on / off:.3f}")
    share = spent / (sum(e - b for w, b, e in spans if w) + 1e-9)
    lines.append(f"- the server used {100 * share:.0f} % of one core while it was watched")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--periods", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=5.0)
    options: Any = parser.parse_args()
    if not shutil.which("chromium"):
        raise SystemExit("needs chromium on the path")
    print("\n".join(report(options.workers, options.periods, options.seconds)))


if __name__ == "__main__":
    main()
