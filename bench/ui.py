"""How quick and small is the dashboard's server, beside optuna-dashboard where it is installed?

    python bench/ui.py [--trials 200,2000,10000] [--store FILE] [--optuna VENV]

For each size a store is generated (1,000 points x 3 metrics, 16 % infeasible, a conditional space,
two settings) and one server process is measured: CPU and wall time until the first data, bytes to
open a round as a browser receives them, peak memory, time until a finished trial is announced and
its bytes. Then Chromium opens the page of the round until axis plots, curves and table are drawn.
`--optuna` is a virtual environment with optuna-dashboard, made where there is none; its page is
opened until the points of its first plot are drawn. Medians of five. Prints markdown and writes the
first section of bench/results/ui.md; bench/ui_workers.py measures workers that are watched.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.ui_browser import page_costs
from bench.ui_store import METRICS, NAME, fill, finish

from tunewright.store.store import Store

ROUND = f"/api/round/{NAME}"
LEFT = 20  # trials that end while the page is open
OPENING = (  # what the page of a round asks for, in its order
    *("/", "/static/main.js", ROUND, f"{ROUND}/table"),
    *(f"{ROUND}/density?metric={metric}" for metric in METRICS[:2]),
    f"{ROUND}/curves?metric={METRICS[0]}&" + "&".join(f"trial={n}" for n in range(5)),
    f"{ROUND}/rows?" + "&".join(f"trial={n}" for n in range(40)),
)
TIMES = 5
DRAWN = (".panels.axes canvas", ".curves .u-wrap canvas", "[role=grid] tbody tr[id]")
OTHERS = (".js-plotly-plot .scatterlayer .points path",)  # optuna-dashboard has drawn a trial
LIMIT_S = 120.0
BUDGET = {
    "first data, wall s": 2.0,
    "its browser CPU s": 1.5,
    "its bytes in the browser": 500_000,
    "bytes to open a round": 500_000,
    "peak memory, MB": 300,
    "a finished trial is announced, s": 2.0,
    "its bytes": 10_000,
}


@contextmanager
def server(store: str) -> Iterator[tuple[str, psutil.Process, float]]:
    """The command `tunewright ui` in a process of its own; its address, and when it began."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "tunewright", "ui", store, "--json", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        text = ""
        for line in process.stdout:
            text += line
            if line.rstrip() == "}":
                break
        yield json.loads(text)["data"]["url"], psutil.Process(process.pid), began
    finally:
        process.kill()
        process.wait()


def started(store: str) -> dict[str, float]:
    """From the command to the data of a round: wall and CPU seconds."""
    with server(store) as (url, process, began), httpx.Client(base_url=url, timeout=300) as client:
        for path in ("/api/home", ROUND, f"{ROUND}/table"):
            client.get(path).raise_for_status()
        wall = time.perf_counter() - began
        return {"first data, wall s": wall, "first data, CPU s": cpu(process)}


def measured(store: str) -> dict[str, float]:
    """Every line of the budget, for one store."""
    starts = [started(store) for _ in range(TIMES)]
    made = {name: statistics.median(one[name] for one in starts) for name in starts[0]}
    with server(store) as (url, process, began), httpx.Client(base_url=url, timeout=300) as client:
        del began
        page = client.get(ROUND).json()
        received = 0
        before = cpu(process)
        for path in OPENING:
            received += transferred(client, path)
        made["bytes to open a round"] = received
        made["opening it, CPU s"] = cpu(process) - before
        before = cpu(process)
        for path in OPENING:
            transferred(client, path)
        made["opening it again, CPU s"] = cpu(process) - before
        made["a finished trial is announced, s"], made["its bytes"] = announced(
            store, client, page["cursor"]
        )
        made |= page_costs(f"{url}#/round/{NAME}", DRAWN, TIMES, LIMIT_S)
        made["peak memory, MB"] = peak_mb(process.pid)
    made["load average"] = os.getloadavg()[0]
    return made


def transferred(client: httpx.Client, path: str) -> int:
    """Bytes on the wire of one answer, compressed as browsers ask for it."""
    with client.stream("GET", path, headers={"accept-encoding": "gzip"}) as answer:
        return sum(len(part) for part in answer.iter_raw())


def announced(store: str, client: httpx.Client, cursor: str) -> tuple[float, float]:
    """Seconds from the end of a trial to the event with its row, and its bytes; the median."""
    waits, sizes = [], []
    noise = np.random.default_rng(1)
    with Store.open(store) as opened:
        record = opened.round(NAME)
        worker = opened.register(record.id, "session", exclusive=False)
        with client.stream("GET", f"{ROUND}/events", params={"cursor": cursor}) as events:
            lines = events.iter_lines()
            time.sleep(1.0)
            for _ in range(5):
                finish(opened, record, worker, 1, 1000, noise)
                began = time.perf_counter()
                keys: list[int] = []
                size = 0
                while not keys:
                    line = next(lines)
                    size += len(line) + 1
                    if line.startswith("data: "):
                        keys = json.loads(line.removeprefix("data: ")).get("keys", [])
                waits.append(time.perf_counter() - began)
                sizes.append(size)
        opened.retire(worker)
    return statistics.median(waits), statistics.median(sizes)


def cpu(process: psutil.Process) -> float:
    used = process.cpu_times()
    return float(used.user + used.system)


def peak_mb(pid: int) -> float:
    """The most memory that a process has held; without the checklist's own process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return float("nan")


def environment_of_optuna(folder: str) -> str:
    """The Python of a virtual environment with optuna-dashboard, which is made if need be."""
    python = Path(folder, "bin", "python")
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "optuna-dashboard"], check=True)
    return str(python)


def optuna_dashboard(python: str, trials: int, points: int, limit_s: float) -> dict[str, Any]:
    """The same store's trials in Optuna's SQLite storage, opened by its dashboard's server."""
    with tempfile.TemporaryDirectory() as scratch:
        url = f"sqlite:///{scratch}/optuna.db"
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        script = Path(__file__).with_name("ui_optuna.py")
        subprocess.run(
            [python, script, "fill", url, str(trials), str(points)],
            env=environment,
            check=True,
        )
        began = time.perf_counter()
        process = subprocess.Popen(
            [python, script, "serve", url, "18999"],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        own = psutil.Process(process.pid)
        try:
            while True:  # its page polls this address, and draws when it has answered
                try:
                    size = 0
                    with httpx.stream(
                        "GET",
                        "http://127.0.0.1:18999/api/studies/1?after=0",
                        timeout=limit_s,
                        headers={"accept-encoding": "gzip"},
                    ) as answer:
                        size = sum(len(part) for part in answer.iter_raw())
                    made = {
                        "first data, wall s": time.perf_counter() - began,
                        "first data, CPU s": cpu(own),
                        "bytes to open a round": size,
                    }
                    times = TIMES if trials <= 200 else 1
                    page = "http://127.0.0.1:18999/dashboard/studies/1"
                    made |= page_costs(page, OTHERS, times, limit_s)
                    made["peak memory, MB"] = peak_mb(process.pid)
                    return {**made, "load average": os.getloadavg()[0]}
                except httpx.ConnectError:
                    time.sleep(0.05)
                except httpx.TimeoutException:
                    return {
                        "first data, wall s": float("inf"),
                        "first data, CPU s": cpu(own),
                        "peak memory, MB": peak_mb(process.pid),
                        "load average": os.getloadavg()[0],
                    }
        finally:
            process.kill()
            process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", default="200,2000,10000")
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--store", default="", help="a store that ui_store.py made, for the last")
    parser.add_argument("--optuna", default="", help="a virtual environment for optuna-dashboard")
    options = parser.parse_args()
    sizes = [int(one) for one in options.trials.split(",") if one]
    lines = ["# The dashboard's server", "", __doc__.split("\n")[0], ""]
    lines += [
        f"{os.cpu_count()} cores. Other work ran meanwhile, see the load average: CPU seconds, "
        "bytes and counts are comparable, wall times are upper bounds. Optuna's storage holds one "
        "metric of 1,000 points for each trial, ours three.",
        "",
    ]
    found: dict[str, dict[str, float]] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as scratch:
            path = options.store if options.store and size == sizes[-1] else ""
            if not path:
                path = f"{scratch}/tuning.db"
                fill(path, size, options.points, leave=LEFT)
            found[f"{size:,} trials"] = measured(path)
            print(size, found[f"{size:,} trials"], flush=True)
        if options.optuna and size <= 2000:
            beside = optuna_dashboard(
                environment_of_optuna(options.optuna), size, options.points, LIMIT_S
            )
            found[f"optuna-dashboard, {size:,}"] = beside
            print("optuna", size, beside, flush=True)
    names = list(dict.fromkeys(name for one in found.values() for name in one))
    lines += ["| | budget | " + " | ".join(found) + " |", "|---" * (len(found) + 2) + "|"]
    for name in names:
        cells = [shown(one.get(name)) for one in found.values()]
        lines.append(f"| {name} | {shown(BUDGET.get(name))} | " + " | ".join(cells) + " |")
    text = "\n".join(lines) + "\n"
    print(text)
    results = Path(__file__).parent / "results" / "ui.md"
    _, section, others = results.read_text(encoding="utf-8").partition("\n## ")
    results.write_text(text + (f"\n## {others}" if section else ""), encoding="utf-8")


def shown(value: float | None) -> str:
    if value is None:
        return ""
    if value == float("inf"):
        return "none in 120 s"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    main()
