"""Where does each method of bench/loop.py lose? What it chose beside what it could have chosen.

The ten best trials of each search are trained again under ten fresh seeds: five to know which of
them is best, five to say how good it is. So the test error of what was chosen stands beside that of
the best value seen (no repeats), of the best mean validation error (as many repeats as one could
wish), and of the best by the test set itself (an oracle, on other runs than it is judged by). What
lies between the chosen one and the oracle is lost to selection; the oracles of two methods differ
by what their searches found.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from loop_training import trained

FRESH = 5  # trainings of what was chosen, the same seeds for everybody
TOP = 10  # trials of a search that are looked at again
WAYS = ("chosen", "best value", "best of repeats", "oracle")
Configuration = dict[str, Any]


def again(task: str, seed: int, chosen: Configuration, runs: int) -> list[tuple[float, float]]:
    """Validation and test error at the best validation step, by fresh seed; 1 if it diverged."""
    found = []
    for fresh in range(runs):
        curve = trained(task, seed, 10**6 + 100 * seed + fresh, **chosen)
        finite = [point for point in curve if math.isfinite(point[2])]
        best = min(finite, key=lambda point: point[2]) if finite else None
        whole = best is not None and len(finite) == len(curve)
        found.append((best[2], best[3]) if whole and best is not None else (1.0, 1.0))
    return found


def losses(
    task: str, seed: int, error: float, tried: Sequence[tuple[Configuration, float]]
) -> dict[str, float]:
    """The test error of what was chosen, and of what could have been."""
    best = sorted(tried, key=lambda one: one[1])[:TOP]
    runs = [again(task, seed, configuration, 2 * FRESH) for configuration, _ in best]
    judged = [statistics.fmean(test for _, test in own[:FRESH]) for own in runs]
    valid = [statistics.fmean(valid for valid, _ in own[FRESH:]) for own in runs]
    known = [statistics.fmean(test for _, test in own[FRESH:]) for own in runs]
    return {
        "chosen": error,
        "best value": judged[0],
        "best of repeats": judged[valid.index(min(valid))],
        "oracle": judged[known.index(min(known))],
        "seed sd": statistics.fmean(statistics.stdev(v for v, _ in own) for own in runs),
        "optimism": statistics.fmean(v for v, _ in runs[0]) - best[0][1],
    }


def table(
    lines: list[dict[str, Any]], interval: Callable[[Sequence[float]], tuple[float, float]]
) -> str:
    """One line per task and method: the test error of each way to choose."""
    rows = [
        "| task | trials | method | seeds | chosen | best value | best of repeats | oracle | "
        "lost to selection (95 % interval) | sd of a seed | best value too good by |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|"
    ]
    kept = [line for line in lines if "losses" in line]
    for task, trials, method in sorted({(r["task"], r["trials"], r["method"]) for r in kept}):
        same = (task, trials, method)
        own = [r["losses"] for r in kept if (r["task"], r["trials"], r["method"]) == same]
        if len(own) < 2:
            continue
        means = " | ".join(f"{statistics.fmean(line[way] for line in own):.4f}" for way in WAYS)
        gaps = [line["chosen"] - line["oracle"] for line in own]
        low, high = interval(gaps)
        lost = f"{statistics.fmean(gaps):+.4f} ({low:+.4f} to {high:+.4f})"
        rows.append(
            f"| {task} | {trials} | {method} | {len(own)} | {means} | {lost} | "
            f"{statistics.fmean(r['seed sd'] for r in own):.4f} | "
            f"{statistics.fmean(r['optimism'] for r in own):+.4f} |"
        )
    return "\n".join(rows)
