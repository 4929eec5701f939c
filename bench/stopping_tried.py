"""Other bounds for early stopping, tried on one half of each set; none was adopted.

    python bench/stopping_tried.py [--half 0] [--rounds 100] [--only baker2018 ...]
    python bench/stopping_tried.py --table

The rounds, orders and the measure of bench/stopping.py, with other ways to set the limit of a look:

* `k=1`, `k=3`: the rule as it is, against the best or the 3rd best finished value.
* `log`: the rule as it is on log(1 + (value - best) / (median - best)), so that the large
  improvements of curves that end badly weigh less.
* `noise`: its score divided by the curve's noise, the standard deviation of its steps after the
  last look (beside the median one of all curves).
* `bins`: a bound for each half of the values at the last look, by rank (Mondrian).
* `good Q`: the limit of a look is the value that the best share Q of the finished curves had there,
  by a normal prediction limit at 2 % for the largest of the looks, and never below what one had.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import scipy.stats
from stopping import LEAST, Rule, State, looks, train, upper
from stopping_worlds import World, worlds

from tunewright.stats.early_stopping import KTH, SPARED, Array, Bound, bound

RAW = Path(__file__).parent / "results" / "stopping_tried.jsonl.gz"
SHARE, RISK = 0.02, 0.02
Limits = Callable[
    [State, Array, Array, Array], Array | None
]  # values at the looks, finals, weights


def weights(state: State) -> Array:
    """How many trials each finished curve represents."""
    weight, out = np.ones(len(state.final)), np.array(state.out)
    if out.any():
        weight[out] = min(1 / SPARED, 1 + state.pruned / int(out.sum()))
    return weight


def kth(k: int) -> Limits:
    """The rule as it is, against the k-th best finished value."""

    def limits(_: State, at: Array, final: Array, weight: Array) -> Array | None:
        rule = bound(at, final, weight)
        if rule is None:
            return None
        return rule.limits - rule.reference + float(np.sort(final)[k - 1])

    return limits


def bent(of: Limits) -> Limits:
    """A rule on values in logarithms of their distance from the best one."""

    def limits(state: State, at: Array, final: Array, weight: Array) -> Array | None:
        best = float(final.min())
        unit = max(float(np.median(final)) - best, 1e-12)

        def bend(values: Array) -> Array:
            return np.log1p(np.maximum(values - best, 0.0) / unit)

        bent_limits = of(state, bend(at), bend(final), weight)
        return None if bent_limits is None else best + unit * np.expm1(np.minimum(bent_limits, 500))

    return limits


def quantile(scores: Array, weight: Array) -> float:
    """The conformal quantile, as in stats.early_stopping."""
    order = np.argsort(scores, kind="stable")
    mass = np.cumsum(weight[order])
    place = int(np.searchsorted(mass, (1 - RISK) * (mass[-1] + 1) - 1e-9))
    return float(scores[order][place]) if place < len(scores) else math.inf


def noise(state: State, at: Array, final: Array, weight: Array) -> Array | None:
    """The score of a curve in units of its late noise; the limit uses the noise of most curves."""
    late = int(looks(state.points)[-1])
    own = np.array([np.diff(curve[late:]).std() for curve in state.finished])
    own = np.maximum(own, np.median(own))
    gain = at - final[:, None]
    spread = np.maximum(gain.std(axis=0), 1e-12)
    most = quantile((gain / spread).max(axis=1) / own, weight) * float(np.median(own))
    return np.asarray(float(np.sort(final)[KTH - 1]) + np.maximum(most * spread, 0.0))


def bins(state: State, at: Array, final: Array, weight: Array) -> Array | None:
    """A bound for the worse half at each look; the better half is never stopped."""
    gain = at - final[:, None]
    worse = at > np.median(at, axis=0)
    spread = np.array(
        [g[w].std() if w.any() else 1.0 for g, w in zip(gain.T, worse.T, strict=True)]
    )
    spread = np.maximum(spread, 1e-12)
    scores = np.where(worse, gain / spread, -math.inf).max(axis=1)
    kept = np.isfinite(scores)
    if weight[kept].sum() < 49:
        return None
    most = quantile(scores[kept], weight[kept])
    limit = float(np.sort(final)[KTH - 1]) + np.maximum(most * spread, 0.0)
    return np.maximum(limit, np.median(at, axis=0))


def good(share: float, risk: float = RISK) -> Limits:
    """The values that the best share had at each look, by a prediction limit."""

    def limits(_: State, at: Array, final: Array, weight: Array) -> Array | None:
        count = max(15, round(share * len(final)))
        values = at[np.argsort(final, kind="stable")[:count]]
        middle, sd = values.mean(axis=0), np.maximum(values.std(axis=0, ddof=1), 1e-12)
        scores = ((values - middle) / sd).max(axis=1)
        factor = float(scipy.stats.t.ppf(1 - risk, count - 1)) * math.sqrt(1 + 1 / count)
        most = max(float(scores.mean() + factor * scores.std(ddof=1)), float(scores.max()))
        return np.maximum(middle + most * sd, float(np.sort(final)[KTH - 1]))

    return limits


RULES: dict[str, Limits] = {
    "as it is": kth(KTH),
    "k=3": kth(3),
    "k=1": kth(1),
    "log": bent(kth(KTH)),
    "noise": noise,
    "bins": bins,
    "good 0.25": good(0.25),
    "good 0.5": good(0.5),
    "log good 0.25": bent(good(0.25)),
    "log good 0.5": bent(good(0.5)),
}


def rule(name: str, limits: Limits) -> Rule:
    """A rule of bench/stopping.py that stops at these limits, and spares a random tenth."""

    def stop(state: State, curve: Array, length: int, _: int) -> int | None:
        state.spared = False
        if len(state.final) < LEAST:
            return None

        def make() -> Bound | None:
            at, final = np.array(state.at), np.array(state.final)
            found = limits(state, at, final, weights(state))
            return None if found is None else Bound(0.0, found, len(final))

        limit = state.once(make)
        if limit is None:
            return None
        places = looks(state.points)
        values = np.minimum.accumulate(curve[:length])
        look = limit.look_that_stops([values[p] if p < length else math.nan for p in places])
        if look is None:
            return None
        if state.rng.random() < SPARED:
            state.spared = True
            return None
        return int(places[look]) + 1

    return Rule(name, stop)


def half(world: World, which: int) -> World:
    """Half of a set's configurations, the same halves every time."""
    rows = np.sort(np.random.default_rng(5).permutation(len(world.curves))[which::2])
    return World(world.name, world.curves[rows], world.places[rows])


def table(lines: list[dict[str, Any]]) -> str:
    """Steps saved and the best stopped, by rule and set, both orders together."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        groups[line["half"], line["trials"], line["set"], line["rule"]].append(line)
    rows = ["| half | trials | set | rule | rounds | faster | best stopped | upper |"]
    rows += ["|---|---|---|---|---|---|---|---|"]
    for (which, trials, name, kind), own in sorted(groups.items()):
        hits = sum(line["best_stopped"] for line in own)
        faster = 1 / np.mean([line["steps"] for line in own])
        rows.append(
            f"| {which} | {trials} | {name} | {kind} | {len(own)} | {faster:.2f}x | "
            f"{hits / len(own):.3f} | {upper(hits, len(own)):.3f} |"
        )
    return "\n".join(rows)


def main() -> None:
    """Run what is asked for and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--half", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--rules", nargs="*", default=list(RULES))
    parser.add_argument("--out", type=Path, default=RAW)
    parser.add_argument("--table", action="store_true", help="print the table, run nothing")
    asked = parser.parse_args()
    if asked.table:
        with gzip.open(asked.out, "rt", encoding="utf-8") as file:
            print(table([json.loads(line) for line in file]))
        return
    lines: list[dict[str, Any]] = []
    for world in worlds(asked.only):
        for name in asked.rules:
            for kind in (name, f"{name}, earlier round"):
                for adaptive in (False, True):
                    for seed in range(asked.rounds):
                        made = train(
                            half(world, asked.half), rule(kind, RULES[name]), adaptive, seed
                        )
                        lines += [{**line, "half": asked.half} for line in made]
    with gzip.open(asked.out, "at", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    print(table(lines))


if __name__ == "__main__":
    main()
