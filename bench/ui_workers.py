"""Do watching pages slow the workers that write, or make one fail?

    python bench/ui_workers.py [--workers 16] [--periods 8] [--seconds 20]

Ask-and-tell processes write one store for the whole run. Three pages in Chromium follow the round
in every second period and are blank in the others, so that other load falls on both alike. A trial
waits 1.5 s, as a process does whose GPU trains: the workers leave the processors idle most of the
time. A worker slows by as much as its trials take longer, training included. Of each trial the
workers also record how long calls of the store took (claim, 50 points, finish) and how much of that
was processor time; the rest is waiting, for the store or for a processor. Prints markdown, and puts
it into bench/results/ui.md in place of the section of the same heading.
"""

from __future__ import annotations

import argparse
import functools
import itertools
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
from bench.ui_browser import browser_cpu, opened
from tests.faults.watched_round import NAME, OBJECTIVE, Told, a_round, work

import tunewright as tw
from tunewright.store.store import Store

SPAWN = multiprocessing.get_context("spawn")
TRIALS, POINTS, WATCHERS = 4000, 50, 3
WORK_S = 1.5  # of training for each trial: workers that only write measure the lock
SETTLES_S = 1.0  # at the begin of a period, not counted
RESULTS = Path(__file__).parent / "results" / "ui.md"
HEADING = "## 16 workers, with and without 3 pages in Chromium that watch"


def periods(
    workers: int, count: int, seconds: float
) -> tuple[list[tuple[bool, float, float]], list[list[Told]], float, float]:
    """When pages watched, the trials of each worker, the processor time of server and browser."""
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
        spent = drawn = 0.0
        with server(url) as (base, process, _), opened() as browser:
            tabs = [browser.new_page() for _ in range(WATCHERS)]
            start.set()
            for number in range(count):
                watched = number % 4 in (1, 2)  # none, watched, watched, none
                before, drew = _cpu(process), browser_cpu()
                for tab in tabs:
                    tab.goto(f"{base}#/round/{NAME}" if watched else "about:blank")
                began = time.monotonic()
                tabs[0].wait_for_timeout(seconds * 1000)
                spans.append((watched, began + SETTLES_S, time.monotonic()))
                if watched:
                    spent += _cpu(process) - before
                    drawn += browser_cpu() - drew
            over.set()
            found = [answers.get(timeout=300) for _ in own]
        for one in own:
            one.join(60)
        assert [problem for _, problem in found if problem] == [], "a worker failed"
        told = [some for some, _ in found]
        with Store.open(url, create=False, read_only=True) as store:
            ended = store.round(NAME).counts["completed"]
            assert ended == sum(map(len, told)), "a trial was lost"
        return spans, told, spent, drawn


def _cpu(process: psutil.Process) -> float:
    used = process.cpu_times()
    return float(used.user + used.system + used.children_user + used.children_system)


def report(workers: int, count: int, seconds: float) -> list[str]:
    """The run as markdown."""
    spans, told, spent, drawn = periods(workers, count, seconds)
    trials = [one for own in told for one in own]
    lines = [
        HEADING,
        "",
        f"{len(trials):,} trials of {POINTS} points; each waits {WORK_S} s, as a process does "
        f"whose GPU trains, so that {workers} workers leave some of the {os.cpu_count()} cores "
        f"idle. Load average {os.getloadavg()[0]:.1f}. No worker failed and no trial was lost.",
        "",
        "| period | watched | trials per s | s per trial | ms in the store | its CPU | p95 ms |",
        "|---|---|---|---|---|---|---|",
    ]
    rows: dict[bool, list[Sequence[float]]] = {False: [], True: []}
    for number, (watched, began, ended) in enumerate(spans):
        own = [one for one in trials if began <= one.ended < ended]
        waited = sorted(1e3 * one.waited for one in own)
        row = (
            len(own) / (ended - began),
            statistics.fmean(s for some in told for s in lengths(some, [(began, ended)])),
            statistics.median(waited),
            statistics.median(1e3 * one.cpu for one in own),
            waited[int(0.95 * len(waited))],
        )
        rows[watched].append(row)
        cells = " | ".join(f"{value:.2f}" for value in row)
        lines.append(f"| {number + 1} | {'yes' if watched else 'no'} | {cells} |")
    lines.append("")
    names = (
        *("trials per second", "seconds per trial", "ms in the store"),
        *("its processor time", "its 95th percentile"),
    )
    for at, name in enumerate(names):
        off, on = (statistics.median(row[at] for row in rows[w]) for w in (False, True))
        lines.append(f"- {name}: {on:.3g} watched, {off:.3g} not, ratio {on / off:.3f}")
    slower = sorted(slowed(some, spans) for some in told)
    lines.append(
        f"- a worker's trials, watched to not: median ratio {statistics.median(slower):.3f}, "
        f"of the worker that slowed most {slower[-1]:.3f}"
    )
    watched_s = sum(e - b + SETTLES_S for w, b, e in spans if w)
    lines.append(
        f"- the server and its verdicts used {100 * spent / watched_s:.1f} % of one core while it "
        f"was watched, the browser {100 * drawn / watched_s:.0f} %"
    )
    return lines


def lengths(own: Sequence[Told], spans: Sequence[tuple[float, float]]) -> list[float]:
    """Seconds from the end of a worker's trial to the end of its next, for those inside spans."""
    pairs = itertools.pairwise(one.ended for one in own)
    return [b - a for a, b in pairs if any(began <= a and b < ended for began, ended in spans)]


def slowed(own: Sequence[Told], spans: Sequence[tuple[bool, float, float]]) -> float:
    """How much longer a worker's trials take while pages watch."""
    on, off = (
        statistics.fmean(lengths(own, [(b, e) for w, b, e in spans if w is watched]))
        for watched in (True, False)
    )
    return on / off


def placed(text: str, section: str) -> str:
    """A page with the section of this heading replaced; the sections after it stay."""
    before, found, rest = text.partition(HEADING)
    _, more, after = rest.partition("\n## ") if found else ("", "", "")
    return f"{before.rstrip()}\n\n{section}\n" + (f"\n## {after}" if more else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--periods", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20.0)
    options: Any = parser.parse_args()
    if not shutil.which("chromium"):
        raise SystemExit("needs chromium on the path")
    text = "\n".join(report(options.workers, options.periods, options.seconds))
    print(text)
    RESULTS.write_text(placed(RESULTS.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main()
