"""Runs: one contestant, one problem, one seed, a line of JSON each; those that are missing."""

from __future__ import annotations

import dataclasses
import gzip
import itertools
import json
import multiprocessing
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from .entries import ALIKE, STATIC, opening
from .problem import Configuration, Problem
from .problems import problems, seeds
from .real import PREPARED

RUNS = PREPARED / "runs.jsonl"
TRIALS = {1: 100, 8: 96}  # by workers; quasi-random search gets twice as many
AFTER = {1: (10, 25, 50, 100), 8: (48, 96)}  # trials that the tables are of, by workers
FEWER = 20  # trials after which the infeasible ones are counted: a search should know by then


@dataclass(frozen=True)
class Task:
    """What a run is of: a line with the same four is not run again."""

    problem: str
    contestant: str
    seed: int
    workers: int
    most: int = 0  # trials, where the full budget would take too long


@dataclass(frozen=True)
class Run:
    """What came of it."""

    task: Task
    regret: tuple[float, ...]  # of the best trial seen, after every trial
    infeasible: int  # trials after the first 20
    later: int  # how many those are
    seconds: float  # CPU, of all asks and tells
    error: str = ""  # why it stopped early
    # what is recommended by a model rather than by its luck: trials and regret, where that differs
    recommended: tuple[tuple[int, float], ...] = ()


def play(task: Task) -> Run:
    """Ask, observe and tell until the budget is spent."""
    problem = problems()[task.problem]
    doubled = 2 if task.contestant == "halton" else 1
    trials = task.most or TRIALS[task.workers] * doubled
    at_once = trials if task.contestant in STATIC else task.workers
    start = time.process_time()
    session = opening(task.contestant)(problem, task.seed, trials)
    seconds = time.process_time() - start
    regrets: list[float] = []
    diverged: list[bool] = []
    best: float | None = None
    regret = 1.0
    error = ""
    recommended: list[tuple[int, float]] = []
    while len(regrets) < trials:
        start = time.process_time()
        try:
            asked: Sequence[Configuration] = session.ask(min(at_once, trials - len(regrets)))
        except Exception as raised:  # a contestant that breaks keeps what it had
            error = f"{type(raised).__name__}: {raised}"
            break
        seconds += time.process_time() - start
        if not asked:
            break  # a finite space, all tried
        seen = [problem.observe(c, task.seed, len(regrets) + i) for i, c in enumerate(asked)]
        for configuration, value in zip(asked, seen, strict=True):
            diverged.append(value is None)
            if value is not None and (best is None or value < best):
                best, regret = value, problem.regret(configuration)
            regrets.append(regret)
        first = len(regrets) - len(asked)
        start = time.process_time()
        for i, value in enumerate(seen):
            session.tell(first + i, value)
        seconds += time.process_time() - start
        named = session.recommended() if len(regrets) in AFTER[task.workers] else None
        if named is not None:
            recommended.append((len(regrets), problem.regret(named)))
    regrets += [regret] * (trials - len(regrets))
    later = diverged[FEWER:]
    counts = sum(later), len(later)
    return Run(task, tuple(regrets), *counts, round(seconds, 4), error, tuple(recommended))


def wanted(
    chosen: Iterable[Problem],
    contestants: Sequence[str],
    count: int,
    workers: Sequence[int],
    start: int = 0,
    most: int = 0,
) -> Iterator[Task]:
    """Every run asked for, seed by seed, so that what is cut short is cut evenly."""
    of = list(chosen)
    for nth, each, contestant in itertools.product(range(count), workers, contestants):
        for problem in of:
            if contestant in ALIKE and problem.reference.infeasible == 0:
                continue  # the table takes the other's
            if contestant in STATIC and each != 1:
                continue  # the table takes that with one worker
            yield Task(problem.name, contestant, seeds(problem, 1, start + nth)[0], each, most)


def add(
    tasks: Iterable[Task], jobs: int, out: Path = RUNS, minutes: float = float("inf")
) -> tuple[int, int]:
    """Run what `out` has not; how many were run and how many are left when time was up."""
    done = {run.task for run in read(out)}
    todo = [task for task in dict.fromkeys(tasks) if task not in done]
    until = time.monotonic() + 60 * minutes
    out.parent.mkdir(parents=True, exist_ok=True)
    made = 0
    with out.open("a") as file:
        for run in _played(todo, jobs, until):
            file.write(json.dumps(dataclasses.asdict(_rounded(run))) + "\n")
            file.flush()
            made += 1
    return made, len(todo) - made


def _played(todo: Sequence[Task], jobs: int, until: float) -> Iterator[Run]:
    if jobs == 1:
        for task in todo:
            if time.monotonic() > until:
                return
            yield play(task)
        return
    context = multiprocessing.get_context("spawn")
    left = iter(todo)
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        going: set[Future[Run]] = {pool.submit(play, t) for t in itertools.islice(left, jobs)}
        while going:
            ended, going = wait(going, return_when=FIRST_COMPLETED)
            for future in ended:
                if time.monotonic() < until and (task := next(left, None)) is not None:
                    going.add(pool.submit(play, task))
                yield future.result()


def _rounded(run: Run) -> Run:
    return dataclasses.replace(
        run,
        regret=tuple(float(f"{r:.4g}") for r in run.regret),
        recommended=tuple((n, float(f"{r:.4g}")) for n, r in run.recommended),
    )


def read(out: Path = RUNS) -> list[Run]:
    """All runs of a file, packed by gzip or not; a line cut off by a kill is passed over."""
    if not out.exists():
        return []
    text = gzip.decompress(out.read_bytes()) if out.suffix == ".gz" else out.read_bytes()
    runs = []
    for line in text.decode().splitlines():
        try:
            fields = json.loads(line)
        except json.JSONDecodeError:
            continue
        task = Task(**fields.pop("task"))
        regret = tuple(fields.pop("regret"))
        recommended = tuple((n, r) for n, r in fields.pop("recommended", ()))
        runs.append(Run(task, regret, **fields, recommended=recommended))
    return runs
