"""How fast is the store, against Optuna's SQLite storage in the same run?

    python bench/store.py [--processes 2,4,8,16] [--trials 2000] [--quick]

Three questions: trials per second of several ask-and-tell processes that train nothing; CPU time to
store curves; CPU time to open a large round. Optuna's storage is measured with fewer trials where
it would take too long, and the table says how many. Prints markdown and writes it to
bench/results/store.md; exits with 1 when a trial was lost or done twice.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import multiprocessing
import os
import platform
import sqlite3
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import sqlalchemy

import tunewright as tw
from tunewright.design.names import Meaning
from tunewright.store.curves import pack
from tunewright.store.outcome import Outcome
from tunewright.store.store import Store

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
SPAWN = multiprocessing.get_context("spawn")
OBJECTIVE = tw.minimize("valid_error")
METRICS = ("valid_error", "train_loss", "learning_rate")


def a_round(trials: int) -> tw.Round:
    return tw.Round(
        "bench",
        goal="How fast is the store?",
        nuisance={"learning_rate": tw.log(1e-4, 1e-1), "weight_decay": tw.log(1e-6, 1e-2)},
        trials_per_study=trials,
    )


# ---- ask and tell from several processes


def ask_ours(url: str, trials: int, start: Any, answers: Any) -> None:
    told: list[int] = []
    with tw.open_round(a_round(trials), OBJECTIVE, store=url) as session:
        start.wait()
        longest = 0.0
        while True:
            began = time.perf_counter()
            asked = session.ask()
            if asked is None:
                break
            asked.log(1, valid_error=0.5)
            asked.finish()
            longest = max(longest, time.perf_counter() - began)
            told.append(asked.number)
        answers.put((told, longest, 0))


def ask_optuna(url: str, trials: int, start: Any, answers: Any) -> None:
    study = optuna.load_study(
        study_name="bench", storage=patient(url), sampler=optuna.samplers.RandomSampler()
    )
    told: list[int] = []
    longest, errors = 0.0, 0
    start.wait()
    for _ in range(trials):
        began = time.perf_counter()
        try:
            asked = study.ask()
            asked.suggest_float("learning_rate", 1e-4, 1e-1, log=True)
            asked.suggest_float("weight_decay", 1e-6, 1e-2, log=True)
            study.tell(asked, 0.5)
            told.append(asked.number)
        except optuna.exceptions.StorageInternalError:
            errors += 1
        longest = max(longest, time.perf_counter() - began)
    answers.put((told, longest, errors))


def patient(url: str) -> optuna.storages.RDBStorage:
    """Optuna's storage with the minute of patience that ours has."""
    return optuna.storages.RDBStorage(url, engine_kwargs={"connect_args": {"timeout": 60}})


def together(work: Callable[..., None], url: str, processes: int, trials: int) -> dict[str, Any]:
    """Run the work in several processes that begin at once; trials are asked for in all."""
    answers = SPAWN.Queue()
    start = SPAWN.Barrier(processes + 1)
    workers = [
        SPAWN.Process(target=work, args=(url, trials, start, answers)) for _ in range(processes)
    ]
    for worker in workers:
        worker.start()
    start.wait()
    began = time.perf_counter()
    replies = [answers.get() for _ in workers]
    seconds = time.perf_counter() - began
    for worker in workers:
        worker.join()
    told = sorted(number for numbers, _, _ in replies for number in numbers)
    return {
        "rate": len(told) / seconds,
        "told": told,
        "longest": max(longest for _, longest, _ in replies),
        "errors": sum(errors for _, _, errors in replies),
    }


def many_writers(processes: int, ours: int, theirs: int, repeats: int) -> tuple[str, bool]:
    rates: dict[str, list[float]] = {"ours": [], "optuna": []}
    longest = {"ours": 0.0, "optuna": 0.0}
    exact, errors = True, 0
    for _ in range(repeats):
        with folder() as here:
            found = together(ask_ours, str(here / "tuning.db"), processes, ours)
            with Store.open(here / "tuning.db") as store:
                counts = dict(store.round("bench").counts)
            exact &= found["told"] == list(range(ours)) and counts == {"completed": ours}
            rates["ours"].append(found["rate"])
            longest["ours"] = max(longest["ours"], found["longest"])
        with folder() as here:
            url = f"sqlite:///{here}/optuna.db"
            optuna.create_study(study_name="bench", storage=url)
            found = together(ask_optuna, url, processes, theirs // processes)
            rates["optuna"].append(found["rate"])
            longest["optuna"] = max(longest["optuna"], found["longest"])
            errors += found["errors"]
    own, other = (statistics.median(rates[name]) for name in ("ours", "optuna"))
    row = (
        f"| {processes} | {own:.0f} | {other:.1f} | **{own / other:.0f}x** | "
        f"{longest['ours']:.2f} / {longest['optuna']:.2f} | {'yes' if exact else 'NO'} | {errors} |"
    )
    return row, exact


# ---- storing and opening


def measured(work: Callable[..., float], *arguments: Any) -> float:
    """CPU seconds of the work in a process of its own, imports left out."""
    answers = SPAWN.Queue()
    worker = SPAWN.Process(target=_measure, args=(answers, work, arguments))
    worker.start()
    seconds = answers.get()
    worker.join()
    return float(seconds)


def _measure(answers: Any, work: Callable[..., float], arguments: tuple[Any, ...]) -> None:
    answers.put(work(*arguments))


def store_ours(url: str, trials: int, points: int) -> float:
    values = np.random.default_rng(0).random((points, len(METRICS)))
    with tw.open_round(a_round(trials), OBJECTIVE, store=url) as session:
        began = time.process_time()
        while (asked := session.ask()) is not None:
            for step in range(points):
                asked.log(step + 1, dict(zip(METRICS, values[step], strict=True)))
            asked.finish()
        return time.process_time() - began


def store_optuna(url: str, trials: int, points: int) -> float:
    values = np.random.default_rng(0).random(points)
    study = optuna.create_study(
        study_name="bench", storage=url, sampler=optuna.samplers.RandomSampler()
    )
    began = time.process_time()
    for _ in range(trials):
        asked = study.ask()
        for step in range(points):
            asked.report(values[step], step)
        study.tell(asked, 0.5)
    return time.process_time() - began


def open_ours(url: str) -> float:
    began = time.process_time()
    results = tw.load(url, "bench")
    assert results.best().value is not None
    return time.process_time() - began


def open_optuna(url: str) -> float:
    began = time.process_time()
    study = optuna.load_study(study_name="bench", storage=url)
    assert study.best_trial.value is not None and study.trials[-1].intermediate_values
    return time.process_time() - began


def fill_ours(url: str, trials: int, points: int) -> None:
    """Fill a round as a supervisor would, many trials to a commit."""
    steps = np.arange(1, points + 1)
    random = np.random.default_rng(0)
    search = tw.search.Halton()
    with Store.open(url) as store:
        record = store.begin(
            a_round(trials),
            OBJECTIVE,
            Meaning(),
            search=search.name,
            suggestions=lambda study, count: search.suggest(study, (), count),
        )
        worker = store.register(record.id, "session", exclusive=False)
        while claims := store.claim(record.id, worker, 200):
            with store.transaction():
                for claim in claims:
                    batch = pack({name: (steps, random.random(points)) for name in METRICS})
                    store.end(claim, Outcome("completed", batches=[batch], first=0))


def fill_optuna(url: str, trials: int, points: int) -> None:
    study = optuna.create_study(study_name="bench", storage=url)
    random = np.random.default_rng(0)
    floats = optuna.distributions.FloatDistribution(1e-6, 1e-1, log=True)
    for _ in range(trials):
        study.add_trial(
            optuna.trial.create_trial(
                params={"learning_rate": 1e-3, "weight_decay": 1e-3},
                distributions={"learning_rate": floats, "weight_decay": floats},
                value=random.random(),
                intermediate_values=dict(enumerate(random.random(points))),
            )
        )


def storing(trials: int, points: int, optuna_trials: int) -> str:
    with folder() as here:
        own = measured(store_ours, str(here / "tuning.db"), trials, points)
        other = measured(store_optuna, f"sqlite:///{here}/optuna.db", optuna_trials, points)
    other *= trials / optuna_trials
    return (
        f"| store {trials} trials x {points} points, CPU s | {own:.2f} (3 metrics) | {other:.1f} "
        f"(1 metric; {optuna_trials} trials measured, scaled) | **{other / own:.0f}x** |"
    )


def opening(trials: int, points: int, optuna_trials: int) -> str:
    with folder() as here:
        fill_ours(str(here / "tuning.db"), trials, points)
        fill_optuna(f"sqlite:///{here}/optuna.db", optuna_trials, points)
        own = statistics.median(measured(open_ours, str(here / "tuning.db")) for _ in range(3))
        other = measured(open_optuna, f"sqlite:///{here}/optuna.db")
    other *= trials / optuna_trials
    return (
        f"| open {trials:,} trials x {points} points, CPU s | {own:.2f} (3 metrics, judged) | "
        f"{other:.1f} (1 metric; {optuna_trials:,} trials measured, scaled) | "
        f"**{other / own:.0f}x** |"
    )


# ---- the report


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="bench") as name:
        yield Path(name)


def machine() -> str:
    versions = (
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, SQLAlchemy "
        f"{sqlalchemy.__version__}, Optuna {optuna.__version__}, tunewright {tw.__version__}"
    )
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return (
        f"{datetime.date.today()}, {platform.machine()}, {os.cpu_count()} cores, load average at "
        f"the start {load}; {versions}."
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--processes", default="2,4,8,16")
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--optuna-trials", type=int, default=160)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a hundredth of it, to see it works")
    options = parser.parse_args()
    share = 100 if options.quick else 1
    trials = max(options.trials // share, 20)
    lines = [
        "# The store against Optuna's SQLite storage",
        "",
        f"`python {' '.join(sys.argv)}`: {machine()}",
        "",
        f"Ask and tell by several processes, no-op trials: {trials} of ours, "
        f"{options.optuna_trials} of Optuna's (too slow for more; `RandomSampler`, two "
        f"hyperparameters, lock time-out 60 s), medians of {options.repeats} turns each. Ours is "
        "`open_round`: ask, log one point, finish; an end is on the disk before `finish` returns.",
        "",
        "| processes | trials/s | Optuna | ratio | longest trial, s | total exact, none twice "
        "| Optuna's lock errors |",
        "|---|---|---|---|---|---|---|",
    ]
    whole = True
    for processes in (int(text) for text in options.processes.split(",")):
        row, exact = many_writers(processes, trials, options.optuna_trials, options.repeats)
        print(row, file=sys.stderr, flush=True)
        lines.append(row)
        whole &= exact
    lines += ["", "| | tunewright | Optuna | ratio |", "|---|---|---|---|"]
    lines.append(storing(max(200 // share, 5), 200, max(10 // share, 2)))
    lines.append(opening(max(10_000 // share, 50), 100, max(500 // share, 10)))
    report = "\n".join(lines) + "\n"
    print(report)
    if not options.quick:
        target = Path(__file__).parent / "results" / "store.md"
        target.parent.mkdir(exist_ok=True)
        target.write_text(report, encoding="utf-8")
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())
