"""What a sink costs: time per logged point in the training loop, and in the sink's own process.

    python bench/sinks.py [--points 4000] [--turns 5] [--sink tensorboard ...]

A trial logs `points` values in a loop that does nothing else, with no sink and with each sink, in
turn and in the same process, so that the machine's load falls on all of them alike. What a loop
waits for is the time inside `log`; the processor time of the sink's process is what it takes from
others on the machine. Afterwards `sync` writes the same round from nothing. Prints markdown, writes
bench/results/sinks.md and a raw line per measurement to bench/results/sinks.jsonl.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import importlib.util
import json
import os
import platform
import resource
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import tunewright as tw
from tunewright.sinks import sync

RESULTS = Path(__file__).parent / "results"
TRACKERS = {
    "tensorboard": "tensorboard",
    "mlflow": "mlflow-skinny",
    "wandb": "wandb",
    "trackio": "trackio",
    "swanlab": "swanlab",
}
NONE = "none"


def asked(name: str, points: int) -> tw.Round:
    """A round of one trial."""
    return tw.Round(
        name,
        goal="what does a sink cost?",
        nuisance={"learning_rate": tw.log(1e-3, 1.0)},
        fixed={"max_train_steps": points},
        trials_per_study=1,
        seed=0,
    )


def logging_trial(run: Any, learning_rate: float, max_train_steps: int) -> None:
    """Log as fast as it goes, and leave the time that each call took as a metric of the trial."""
    taken = []
    for step in range(1, max_train_steps + 1):
        before = time.perf_counter()
        run.log(step, valid_error=1 / step)
        taken.append(time.perf_counter() - before)
    taken.sort()
    run.log(max_train_steps, log_mean_us=1e6 * statistics.fmean(taken))
    run.log(max_train_steps, log_median_us=1e6 * statistics.median(taken))
    run.log(max_train_steps, log_p99_us=1e6 * taken[int(0.99 * len(taken))])


def one_trial(folder: Path, sink: str, turn: int, points: int) -> dict[str, Any]:
    """One trial with a sink, or none: what a call of `log` took, and the time of the round."""
    store, name = str(folder / f"{sink}-{turn}.db"), f"{sink}-{turn}"
    sinks = [] if sink == NONE else [f"{sink}:{place(folder, sink, turn)}"]
    workload = tw.Workload(
        logging_trial,
        tw.minimize("valid_error"),
        store=store,
        executor=tw.executors.Inline(),
        sinks=sinks,
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    results = tw.run(asked(name, points), workload, progress="off")
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    curves = results.trial(0).curves
    return {
        "sink": sink,
        "turn": turn,
        "points": points,
        "log_mean_us": float(curves["log_mean_us"].values[-1]),
        "log_median_us": float(curves["log_median_us"].values[-1]),
        "log_p99_us": float(curves["log_p99_us"].values[-1]),
        "round_s": wall,
        "sink_cpu_s": cpu,
        "store": store,
        "round": name,
    }


def place(folder: Path, sink: str, turn: int) -> str:
    """Where a tracker writes: a folder of the turn."""
    own = folder / f"{sink}-{turn}"
    own.mkdir(exist_ok=True)
    return str(own)


def synced(folder: Path, row: dict[str, Any], sink: str) -> dict[str, Any]:
    """Write the round without a sink to a tracker from nothing."""
    own = folder / f"sync-{sink}-{row['turn']}"
    own.mkdir()
    began = time.perf_counter()
    (answer,) = sync(row["store"], row["round"], f"{sink}:{own}")
    return {
        "sync": sink,
        "turn": row["turn"],
        "points": row["points"],
        "sync_s": time.perf_counter() - began,
        "whole": answer.whole,
        "error": answer.error,
    }


def table(rows: list[dict[str, Any]], sinks: list[str]) -> list[str]:
    """A line per sink: medians over the turns."""
    lines = [
        "| sink | version | `log`, median | mean | 99 % | mean over no sink | "
        "processor time a point | `sync` from nothing, a point |",
        "|---|---|---|---|---|---|---|---|",
    ]

    def median(sink: str, key: str) -> float:
        return statistics.median(row[key] for row in rows if row.get("sink") == sink)

    base = median(NONE, "log_mean_us")
    points = rows[0]["points"]
    for sink in (NONE, *sinks):
        mean = median(sink, "log_mean_us")
        cells = [sink, version(sink), f"{median(sink, 'log_median_us'):.2f} us"]
        cells += [f"{mean:.2f} us", f"{median(sink, 'log_p99_us'):.2f} us"]
        if sink == NONE:
            cells += ["", "", ""]
        else:
            differences = [
                own["log_mean_us"] - other["log_mean_us"]
                for own in rows
                for other in rows
                if own.get("sink") == sink
                and other.get("sink") == NONE
                and own["turn"] == other["turn"]
            ]
            low, high = min(differences), max(differences)
            cpu = 1e6 * median(sink, "sink_cpu_s") / points
            whole = statistics.median(r["sync_s"] for r in rows if r.get("sync") == sink)
            cells += [
                f"{mean - base:+.2f} us ({low:+.2f} to {high:+.2f})",
                f"{cpu:.0f} us",
                f"{1e6 * whole / points:.0f} us",
            ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def version(sink: str) -> str:
    """The version of a tracker's library."""
    return importlib.metadata.version(TRACKERS[sink]) if sink in TRACKERS else ""


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=4000)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--sink", nargs="*", default=list(TRACKERS))
    given = parser.parse_args()
    sinks = [one for one in given.sink if importlib.util.find_spec(one)]
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="bench-sinks-") as made:
        folder = Path(made)
        one_trial(folder, NONE, -1, given.points)  # what only the first trial pays is not counted
        for turn in range(given.turns):
            order = [NONE, *sinks]
            order = (
                order[turn % len(order) :] + order[: turn % len(order)]
            )  # nobody is always first
            for sink in order:
                rows.append(one_trial(folder, sink, turn, given.points))
                print(json.dumps(rows[-1]), flush=True)
            plain = next(row for row in rows if row.get("sink") == NONE and row["turn"] == turn)
            for sink in sinks:
                rows.append(synced(folder, plain, sink))
                print(json.dumps(rows[-1]), flush=True)
    text = [
        "# What a sink costs",
        "",
        f"{datetime.date.today()}, Python {platform.python_version()}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f} at the end.",
        f"`python bench/sinks.py --points {given.points} --turns {given.turns}`",
        "",
        "A trial logs as fast as it can, in the process that runs the round (`Inline`). `log` is "
        "the time that the training loop waits. Medians over the turns; in brackets the "
        "smallest and the largest difference to the trial without a sink of the same turn. The "
        "processor time includes starting the tracker's process and importing its library.",
        "",
        *table(rows, sinks),
    ]
    RESULTS.mkdir(exist_ok=True)
    raw = [{k: v for k, v in row.items() if k not in ("store", "round")} for row in rows]
    (RESULTS / "sinks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in raw))
    (RESULTS / "sinks.md").write_text("\n".join(text) + "\n")
    print("\n".join(text))


if __name__ == "__main__":
    main()
