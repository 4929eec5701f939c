"""Does a round of many declared trials cost more to begin, to ask, to end a trial of, to read?

    python bench/store_declared.py [--declared 100,10000,100000] [--asks 20] [--turns 3]

For each number of declared trials: CPU seconds, rows written and thousands of steps of SQLite's
virtual machine (a count without noise: it grows with every row that is looked at) of beginning the
round, of one ask of Halton and of the Bayesian search, of ending a trial, of resuming, and of
reading: the round with its best trial, the checklist, what `show` prints. Each turn is a process
with a separate store. Prints one JSON line per measurement, then a table.
"""

from __future__ import annotations

import argparse
import io
import json
import multiprocessing
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from sqlalchemy import Engine, event

import tunewright as tw
from tunewright.present.terminal.round_page import print_round

SPAWN = multiprocessing.get_context("spawn")
OBJECTIVE = tw.minimize("valid_error")
EVERY = 100  # steps of the virtual machine between two counts
_connections: list[sqlite3.Connection] = []
_steps = [0]


@event.listens_for(Engine, "connect")
def _count(connection: Any, _: Any) -> None:
    def tick() -> int:
        _steps[0] += EVERY
        return 0

    _connections.append(connection)
    connection.set_progress_handler(tick, EVERY)


class Meter:
    """CPU seconds, rows written and virtual machine steps of a block."""

    def __enter__(self) -> Meter:
        self._cpu, self._vm, self._rows = time.process_time(), _steps[0], _rows()
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu = time.process_time() - self._cpu
        self.steps = _steps[0] - self._vm
        self.rows = _rows() - self._rows


def _rows() -> int:
    total = 0
    for connection in _connections:
        try:
            total += connection.total_changes
        except sqlite3.ProgrammingError:  # closed
            continue
    return total


def a_round(declared: int) -> tw.Round:
    return tw.Round(
        "bench",
        goal="What does a declared trial cost?",
        nuisance={"learning_rate": tw.log(1e-4, 1e-1), "weight_decay": tw.log(1e-6, 1e-2)},
        trials_per_study=declared,
    )


def search(kind: str) -> Any:
    return tw.search.Halton() if kind == "halton" else tw.search.Bayesian()


def one_turn(answers: Any, kind: str, declared: int, asks: int, folder: str) -> None:
    url, found = str(Path(folder, "tuning.db")), {}
    with tw.open_round(a_round(2), OBJECTIVE, store=str(Path(folder, "first.db"))) as session:
        warm = session.ask()  # imports and the first use of every library are nobody's
        warm.log(1, valid_error=0.5)
        warm.finish()
    search(kind).suggest(a_round(4).studies[0], (), 2)
    first = tw.load(str(Path(folder, "first.db")), "bench")
    tw.check(first)
    print_round(first, Console(file=io.StringIO(), width=100))

    def noted(name: str, work: Callable[[], Any], times: int = 1) -> Any:
        with Meter() as meter:
            result = work()
        found[name] = [meter.cpu / times, meter.rows / times, meter.steps / times]
        return result

    session = noted("begin", lambda: tw.open_round(a_round(declared), OBJECTIVE, url, search(kind)))
    open_trials = noted("ask", lambda: [session.ask() for _ in range(asks)], asks)

    def end() -> None:
        for place, asked in enumerate(open_trials):
            asked.log(1, valid_error=0.5 + place / 100)
            asked.finish()

    noted("end", end, asks)
    later = noted("ask, some ended", lambda: [session.ask() for _ in range(asks)], asks)
    assert len({one.number for one in (*open_trials, *later)}) == 2 * asks
    session.close()
    with noted("resume", lambda: tw.open_round(a_round(declared), OBJECTIVE, url, search(kind))):
        pass
    results = noted("load", lambda: tw.load(url, "bench"))
    noted("best and counts", lambda: (results.best(), results.counts, results.size))
    noted("check", lambda: tw.check(results))
    noted("show", lambda: print_round(results, Console(file=io.StringIO(), width=100)))
    answers.put(found)


def measured(kind: str, declared: int, asks: int) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory(prefix="bench") as folder:
        answers = SPAWN.Queue()
        worker = SPAWN.Process(target=one_turn, args=(answers, kind, declared, asks, folder))
        worker.start()
        found: dict[str, list[float]] = answers.get()
        worker.join()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--declared", default="100,10000,100000")
    parser.add_argument("--asks", type=int, default=20)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--label", default="")
    options = parser.parse_args()
    lines = [
        "| search | what | declared | CPU s | rows written | thousand VM steps |",
        "|---|---|---|---|---|---|",
    ]
    sizes = [int(text) for text in options.declared.split(",")]
    for kind in ("halton", "bayesian"):
        turns = {n: [measured(kind, n, options.asks) for _ in range(options.turns)] for n in sizes}
        for n, found in turns.items():
            for turn in found:
                raw = {"label": options.label, "search": kind, "declared": n, "found": turn}
                print(json.dumps(raw), flush=True)
        for what in turns[sizes[0]][0]:
            for n in sizes:
                middle = [
                    statistics.median(turn[what][column] for turn in turns[n])
                    for column in range(3)
                ]
                lines.append(
                    f"| {kind} | {what} | {n:,} | {middle[0]:.4f} | {middle[1]:.1f} "
                    f"| {middle[2] / 1000:.1f} |"
                )
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
