"""What does early stopping save, and how often does it stop the best? On recorded curves.

    python bench/stopping.py [--rounds 300] [--only taskset_GRU64 ...]      # runs, then writes
    python bench/stopping.py --verify                                      # our Optuna rules
    python bench/stopping.py --table                                       # from the raw lines

A round draws configurations of a recorded set without replacement, at random or by an adaptive
order (near the best finished ones), and trains them one after another; a rule may end a curve. The
curves are read from ../shared/data; two sets are simulated, with curves that cross when the
learning rate decays. Optuna's pruners are numpy versions with its default arguments, which --verify
compares with Optuna itself. Raw lines: bench/results/stopping.jsonl.gz, table: stopping.md.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import math
import os
import platform
import zlib
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import numpy.typing as npt
import scipy.stats
from stopping_worlds import World, simulated, worlds

from tunewright.stats.early_stopping import KTH, LEAST, LOOKS, SPARED, Array, Bound, bound

RESULTS = Path(__file__).parent / "results"
RAW, PAGE = RESULTS / "stopping.jsonl.gz", RESULTS / "stopping.md"
SIZES = (50, 100, 200)
FIRST, NEAR, TOP = 20, 0.15, 5  # the adaptive order: random trials first, step, parents
OTHERS = 100  # rounds of the other rules: their shares are large
POOL = 4  # candidates per trial of the round


# ---- the rules: each sees the trials in order


@dataclass
class Rule:
    """A pruner: `stop` gives the number of evaluations after which it ends the curve, or None."""

    name: str
    stop: Callable[[State, Array, int, int], int | None]


@dataclass
class State:
    """What has been trained so far."""

    rng: np.random.Generator
    points: int  # evaluations of a whole curve
    finished: list[Array] = field(default_factory=list)  # whole curves
    at: list[Array] = field(default_factory=list)
    final: list[float] = field(default_factory=list)
    out: list[bool] = field(default_factory=list)  # it was spared
    pruned: int = 0
    rungs: dict[tuple[int, int], list[float]] = field(default_factory=lambda: defaultdict(list))
    spared: bool = False
    cached: tuple[int, Any] = (-1, None)  # what the finished curves gave, by their number

    def once(self, make: Callable[[], Any]) -> Any:
        """What the finished curves give; made again when one more has finished."""
        if self.cached[0] != len(self.final):
            self.cached = (len(self.final), make())
        return self.cached[1]


def looks(points: int) -> npt.NDArray[np.int64]:
    """The evaluations of the looks, as places."""
    return np.unique([max(0, round(share * points) - 1) for share in LOOKS])


def _bound(state: State) -> Bound | None:
    weight, out = np.ones(len(state.final)), np.array(state.out)
    if out.any():
        weight[out] = min(1 / SPARED, 1 + state.pruned / int(out.sum()))
    return bound(np.array(state.at), np.array(state.final), weight)


def ours(state: State, curve: Array, length: int, _: int) -> int | None:
    """The conformal bound; a random tenth of what it rules out is finished."""
    state.spared = False
    if len(state.final) < LEAST:
        return None
    rule = state.once(lambda: _bound(state))
    places = looks(state.points)
    values = np.minimum.accumulate(curve[:length])
    reached = [values[p] if p < length else math.nan for p in places]
    look = rule.look_that_stops(reached)
    if look is None:
        return None
    if state.rng.random() < SPARED:
        state.spared = True
        return None
    return int(places[look]) + 1


def percentile(share: float) -> Callable[[State, Array, int, int], int | None]:
    """Optuna's PercentilePruner; 50 is its MedianPruner."""

    def stop(state: State, curve: Array, length: int, _: int) -> int | None:
        if len(state.finished) < 5:
            return None
        limit = state.once(lambda: np.percentile(np.array(state.finished), share, axis=0))
        worse = np.flatnonzero(np.minimum.accumulate(curve[:length]) > limit[:length])
        return int(worse[0]) + 1 if len(worse) else None

    return stop


def halving(
    state: State, curve: Array, length: int, factor: int, rate: int = 0, bracket: int = 0
) -> int | None:
    """Optuna's SuccessiveHalvingPruner (asynchronous) from a minimum of one evaluation on."""
    rung = 0
    while (at := factor ** (rate + rung)) <= length:
        value = float(curve[at - 1])
        competing = state.rungs[bracket, rung]
        competing.append(value)
        promoted = sorted(competing)[max(len(competing) // factor - 1, 0)]
        if value > promoted:
            return at
        rung += 1
    return None


def asha(state: State, curve: Array, length: int, _: int) -> int | None:
    """Its smallest budget is one evaluation, known once a trial has finished."""
    return halving(state, curve, length, 4) if state.finished else None


def hyperband(state: State, curve: Array, length: int, number: int) -> int | None:
    """Optuna's HyperbandPruner: brackets of successive halving, by a hash of the trial's number."""
    if not state.finished:
        return None
    count = int(math.log(state.points + 1, 3)) + 1
    budgets = [math.ceil(count * 3 ** (count - 1 - b) / (count - b)) for b in range(count)]
    left = zlib.crc32(f"bench_{number}".encode()) % sum(budgets)
    bracket = 0
    while left >= budgets[bracket]:
        left -= budgets[bracket]
        bracket += 1
    return halving(state, curve, length, 3, bracket, bracket)


RULES = (
    Rule("early stopping", ours),
    Rule("early stopping, earlier round", ours),
    Rule("MedianPruner", percentile(50.0)),
    Rule("PercentilePruner(25)", percentile(25.0)),
    Rule("HyperbandPruner", hyperband),
    Rule("SuccessiveHalvingPruner (ASHA)", asha),
)


# ---- one round


def train(world: World, rule: Rule, adaptive: bool, seed: int) -> list[dict[str, Any]]:
    """One round of up to 200 trials, reported at 50, 100 and 200: each is a prefix of the next."""
    rng = np.random.default_rng([seed, adaptive])
    count, points = world.curves.shape
    size = max(n for n in SIZES if n <= 0.8 * count)
    state = State(np.random.default_rng([seed, 99]), points)
    order = rng.permutation(count)
    known = best = math.inf
    best_stopped = False
    if "earlier" in rule.name:
        before = order[world.lengths[order] == points][:LEAST]
        for c in before:
            _finish(state, world.curves[c])
        known = best = min(state.final)
        order = order[~np.isin(order, before)]
    pool = order[: max(size, min(len(order), POOL * size))]
    left = np.ones(len(pool), bool)
    lengths = world.lengths
    steps = whole = stopped = 0
    done: list[tuple[float, int]] = []
    lines = []
    for number in range(min(size, len(pool))):
        place = _next(world, rng, pool, left, done, number, adaptive)
        left[place] = False
        c = int(pool[place])
        length = int(lengths[c])
        ends = min(length + 1, points)
        curve = world.curves[c]
        at = rule.stop(state, curve, length, number)
        final = float(curve.min()) if length == points else math.inf
        if final < best:
            best, best_stopped = final, at is not None
        whole += ends
        steps += ends if at is None else at
        if at is not None:
            stopped += 1
            state.pruned += 1
        elif length == points:
            known = min(known, final)
            done.append((final, c))
            _finish(state, curve)
        if number + 1 in SIZES:
            lines.append(
                {
                    **{"set": world.name, "rule": rule.name, "adaptive": adaptive, "seed": seed},
                    **{"trials": number + 1, "steps": round(steps / whole, 4), "stopped": stopped},
                    **{"best_stopped": best_stopped, "regret": round(known - best, 6)},
                }
            )
    return lines


def _finish(state: State, curve: Array) -> None:
    state.finished.append(curve)
    state.at.append(np.minimum.accumulate(curve)[looks(state.points)])
    state.final.append(float(curve.min()))
    state.out.append(state.spared)
    state.spared = False


def _next(
    world: World,
    rng: np.random.Generator,
    pool: npt.NDArray[np.int64],
    left: npt.NDArray[np.bool_],
    done: list[tuple[float, int]],
    number: int,
    adaptive: bool,
) -> int:
    """The next configuration, as a place in the pool."""
    free = np.flatnonzero(left)
    if not adaptive or number < FIRST or len(done) < TOP or rng.random() < 0.2:
        return int(free[rng.integers(len(free))])
    parent = sorted(done)[:TOP][int(rng.integers(TOP))][1]
    wanted = world.places[parent] + rng.normal(0, NEAR, world.places.shape[1])
    return int(free[((world.places[pool[free]] - wanted) ** 2).sum(axis=1).argmin()])


# ---- Optuna itself


def verify(rounds: int = 2) -> str:
    """How many decisions of our versions differ from Optuna's, on a set with divergence."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    world = simulated("crossing_mild", 0.15)
    pruners: dict[str, Callable[[], Any]] = {
        "MedianPruner": optuna.pruners.MedianPruner,
        "PercentilePruner(25)": lambda: optuna.pruners.PercentilePruner(25.0),
        "HyperbandPruner": optuna.pruners.HyperbandPruner,
        "SuccessiveHalvingPruner (ASHA)": optuna.pruners.SuccessiveHalvingPruner,
    }
    lines = []
    for name, make in pruners.items():
        rule = next(r for r in RULES if r.name == name)
        differ = trials = 0
        for seed in range(rounds):
            order = np.random.default_rng(seed).permutation(len(world.curves))[:100]
            study = optuna.create_study(study_name="bench", pruner=make())
            state = State(np.random.default_rng(0), world.curves.shape[1])
            for number, c in enumerate(order):
                curve, length = world.curves[c], int(world.lengths[c])
                expected = rule.stop(state, curve, length, number)
                trial, found = study.ask(), None
                for step in range(1, length + 1):
                    trial.report(float(curve[step - 1]), step)
                    if trial.should_prune():
                        found = step
                        break
                if found is not None:
                    study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                elif length < len(curve):
                    study.tell(trial, state=optuna.trial.TrialState.FAIL)
                else:
                    study.tell(trial, float(curve.min()))
                    _finish(state, curve)
                differ += found != expected
                trials += 1
        lines.append(f"- {name}: {trials - differ} of {trials} trials end at the same evaluation")
    return "\n".join([f"Optuna {optuna.__version__}:", "", *lines])


# ---- the page


def upper(hits: int, rounds: int) -> float:
    """The one-sided 95 % upper bound of a share (Clopper and Pearson)."""
    if hits == rounds:
        return 1.0
    return float(scipy.stats.beta.ppf(0.95, hits + 1, rounds - hits))


def page(lines: list[dict[str, Any]], verified: str) -> str:
    """The tables, one for each number of trials."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        groups[line["trials"], line["set"], line["adaptive"], line["rule"]].append(line)
    sets = list(dict.fromkeys(line["set"] for line in lines))
    out = [
        "# Early stopping: steps saved, and how often the best is stopped",
        "",
        f"`python bench/stopping.py`, {datetime.date.today()}, Python {platform.python_version()}. "
        f"Looks at {', '.join(f'{share:.0%}' for share in LOOKS)} of the schedule; from {LEAST} "
        f"finished curves on; reference: the {KTH}th best; a tenth is finished all the same. "
        "Trials are trained one after another. Faster: steps without stopping divided by steps "
        "with it. Best stopped: share of rounds in which the trial that would have ended best was "
        "stopped, with the one-sided 95 % upper bound. Regret: best finished value less the best "
        "of the same trials trained to the end, mean over rounds, in the metric's unit. `earlier "
        f"round`: {LEAST} finished curves are there when the round begins. opda: the number of "
        "epochs is searched, so curves are compared at shares of each trial's schedule, which "
        "Tunewright itself refuses to do. Raw lines: stopping.jsonl.gz.",
    ]
    for size in sorted(SIZES, reverse=True):
        out += ["", f"## {size} trials", ""]
        out += [
            "| set | order | rule | rounds | faster | stopped | best stopped | upper | regret |"
        ]
        out += ["|---|---|---|---|---|---|---|---|---|"]
        for name in sets:
            for adaptive in (False, True):
                for rule in RULES:
                    found = groups.get((size, name, adaptive, rule.name), [])
                    if not found:
                        continue
                    n, hits = len(found), sum(f["best_stopped"] for f in found)
                    faster = 1 / np.mean([f["steps"] for f in found])
                    out.append(
                        f"| {name} | {'adaptive' if adaptive else 'random'} | {rule.name} | {n} | "
                        f"{faster:.2f}x | {np.mean([f['stopped'] for f in found]):.0f} | "
                        f"{hits / n:.3f} | {upper(hits, n):.3f} | "
                        f"{np.mean([f['regret'] for f in found]):.2g} |"
                    )
    out += ["", "## Our versions of Optuna's rules", "", verified, ""]
    return "\n".join(out)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    if asked.verify:
        print(verify())
        return
    if not asked.table:
        lines = []
        for world in worlds(asked.only):
            for rule in RULES:
                for adaptive in (False, True):
                    few = asked.rounds if rule.stop is ours else min(asked.rounds, OTHERS)
                    for seed in range(few):
                        lines += train(world, rule, adaptive, seed)
            print(world.name, world.curves.shape, len(lines), flush=True)
        with gzip.open(RAW, "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    with gzip.open(RAW, "rt", encoding="utf-8") as file:
        PAGE.write_text(page([json.loads(line) for line in file], verify()), encoding="utf-8")


if __name__ == "__main__":
    main()
