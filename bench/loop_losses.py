"""Where does each method of bench/loop.py lose? What it chose beside what it could have chosen.

    python bench/loop_losses.py [--task digits] [--seeds 8] [--first 20] [--trials 50] [--out FILE]

The ten best trials of each search are trained again under ten fresh seeds: five to know which of
them is best, five to say how good it is. So the test error of what was chosen stands beside that of
the best value seen (no repeats), of the best mean validation error (as many repeats as one could
wish), and of the best by the test set itself (an oracle, on other runs than it is judged by). What
lies between the chosen one and the oracle is lost to selection; the oracles of two methods differ
by what their searches found.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from loop import FRESH, METHODS, Configuration, interval, read
from loop_training import trained

TOP = 10  # trials of a search that are looked at again
RAW = Path(__file__).parent / "results" / "loop_losses.jsonl"
WAYS = ("chosen", "best value", "best of repeats", "oracle")


def again(task: str, seed: int, configuration: Configuration) -> list[tuple[float, float]]:
    """Validation and test error at the best validation step, under fresh seeds.

    The first five seeds are those by which bench/loop.py judges.
    """
    found = []
    for fresh in range(2 * FRESH):
        curve = trained(task, seed, 10**6 + 100 * seed + fresh, **configuration)
        finite = [point for point in curve if math.isfinite(point[2])]
        best = min(finite, key=lambda point: point[2]) if finite else None
        whole = best is not None and len(finite) == len(curve)
        found.append((best[2], best[3]) if whole and best is not None else (1.0, 1.0))
    return found


def losses(task: str, seed: int, trials: int, method: str) -> dict[str, Any]:
    """The test error of what a method chose, and of what it could have chosen."""
    chosen, more = METHODS[method](task, seed, trials)
    tried = sorted(more["tried"], key=lambda one: one[1])[:TOP]
    runs = [again(task, seed, configuration) for configuration, _ in tried]
    known = [statistics.fmean(test for _, test in own[FRESH:]) for own in runs]
    valid = [statistics.fmean(valid for valid, _ in own[FRESH:]) for own in runs]
    error = [statistics.fmean(test for _, test in own[:FRESH]) for own in runs]
    own = again(task, seed, chosen)[:FRESH]
    return {
        "chosen": statistics.fmean(test for _, test in own),
        "best value": error[0],
        "best of repeats": error[valid.index(min(valid))],
        "oracle": error[known.index(min(known))],
        "rank of chosen": next((n for n, one in enumerate(tried) if one[0] == chosen), None),
        "optimism": statistics.fmean(v for v, _ in runs[0]) - tried[0][1],
        "seed sd": statistics.fmean(statistics.stdev(v for v, _ in own) for own in runs),
        "spread of the ten": statistics.stdev(known + error),
    }


def main() -> None:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--task", action="append", choices=("digits", "fashion"))
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first", type=int, default=20)
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--methods", default="tune,optuna tpe,random")
    parser.add_argument("--out", type=Path, default=RAW)
    asked = parser.parse_args()
    known = {(line["task"], line["seed"], line["method"]) for line in read(asked.out)}
    for seed in range(asked.first, asked.first + asked.seeds):
        for task in asked.task or ("digits", "fashion"):
            for method in asked.methods.split(","):
                if (task, seed, method) in known:
                    continue
                line = {"task": task, "seed": seed, "method": method}
                line |= losses(task, seed, asked.trials, method)
                with asked.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
    print(table(read(asked.out)))


def table(lines: list[dict[str, Any]]) -> str:
    """One line per task and method: the test error of each way to choose."""
    rows = [
        "| task | method | seeds | chosen | best value | best of repeats | oracle | "
        "lost to selection (95 %) | seed sd | optimism |\n|---|---|---|---|---|---|---|---|---|---|"
    ]
    for task, method in sorted({(line["task"], line["method"]) for line in lines}):
        own = [line for line in lines if (line["task"], line["method"]) == (task, method)]
        means = [statistics.fmean(line[way] for line in own) for way in WAYS]
        gaps = [line["chosen"] - line["oracle"] for line in own]
        low, high = interval(gaps)
        shown = " | ".join(f"{mean:.4f}" for mean in means)
        rows.append(
            f"| {task} | {method} | {len(own)} | {shown} | {statistics.fmean(gaps):+.4f} "
            f"({low:+.4f} to {high:+.4f}) | {statistics.fmean(r['seed sd'] for r in own):.4f} | "
            f"{statistics.fmean(r['optimism'] for r in own):+.4f} |"
        )
    return "\n".join(rows)


if __name__ == "__main__":
    main()
