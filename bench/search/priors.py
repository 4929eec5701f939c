"""What a belief about the best values is worth: a good one, a misleading one, none.

    python -m bench.search.priors run --seeds 5
    python -m bench.search.priors table

The best configuration of each building problem is the lowest truth of 4,000 quasi-random ones. A
good belief is one standard deviation (a tenth of the range) off it at the most, drawn by the seed;
a misleading one lies half a range away or more. Both are about the first one to three continuous
hyperparameters that are not conditional. A line of JSON per run.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import tunewright as tw
from tunewright.design.ranges import Range
from tunewright.search.bayesian.bayesian import Bayesian
from tunewright.search.bayesian.model import Recipe

from .contestant import Suggesting
from .problem import Configuration, Problem
from .problems import chosen
from .real import PREPARED

RUNS = PREPARED / "priors.jsonl"
PROBLEMS = (
    *("momentum_sgd", "adam_warmup", "memory_limit", "hartmann_6_noisy", "rosenbrock_4_noisy"),
    *("griewank_5", "michalewicz_5", "rnn_gru64", "rpart_6_noisy", "rpart_42_noisy"),
    *("ridge_1", "ridge_3", "ridge_5", "ridge_7"),
)
KINDS = ("none", "good", "misleading")
SD = 0.1  # of the range
MOST_BELIEFS = 3
TRIALS = 50
AFTER = (10, 25, 50)
LOOKED = 4000  # configurations among which the best is found
FLOOR = 1e-4


@cache
def best(problem: str) -> Configuration:
    """The lowest truth among many quasi-random configurations, or where it is known to lie."""
    (own,) = chosen([problem])
    if own.best is not None:
        return own.best
    session = Suggesting(tw.search.Halton(), own, 12345, LOOKED)
    truths = [(own.truth(c), n, c) for n, c in enumerate(session.ask(LOOKED))]
    return min((t, n, c) for t, n, c in truths if t is not None)[2]


def with_belief(problem: Problem, kind: str, seed: int) -> Problem:
    """The problem with beliefs about some of its ranges."""
    random = np.random.default_rng([0xBE11EF, seed])
    place = best(problem.name)
    ranges: dict[str, Any] = dict(problem.nuisance)
    smooth = [n for n, r in ranges.items() if isinstance(r, Range) and r.count is None]
    for name in smooth[:MOST_BELIEFS] if kind != "none" else ():
        own = ranges[name]
        at = own.unit(place[name])
        if kind == "good":
            centre = min(max(at + SD * float(random.uniform(-1, 1)), 0.02), 0.98)
        else:  # half a range away or more, on the side where there is room
            room = at - 0.5 if at >= 0.5 else 0.5 - at
            away = 0.5 + float(random.uniform(0, 1)) * room
            centre = min(max(at - away if at >= 0.5 else at + away, 0.02), 0.98)
        ranges[name] = believed(own, centre)
    return replace(problem, nuisance=ranges)


def believed(own: Range, centre: float) -> Range:
    """A belief one standard deviation of which is a tenth of the range."""
    value = float(own.value(centre))  # type: ignore[arg-type]
    low, high = own.ends or (0.0, 1.0)
    if own.scale == "linear":
        return own.around(value, width=SD * (high - low))
    ratio = high / low if own.scale == "log" else (1 - low) / (1 - high)
    return own.around(value, factor=ratio**SD)


def run(
    problem: Problem, kind: str, seed: int, strength: float, trials: int = TRIALS
) -> dict[str, Any]:
    """One trial at a time; the regret after every trial."""
    own = with_belief(problem, kind, seed)
    session = Suggesting(Bayesian(recipe=Recipe(belief=strength)), own, seed, trials)
    lowest, regret, regrets = None, 1.0, []
    for number in range(trials):
        asked = session.ask(1)
        if not asked:
            break
        value = problem.observe(asked[0], seed, number)
        session.tell(number, value)
        if value is not None and (lowest is None or value < lowest):
            lowest, regret = value, problem.regret(asked[0])
        regrets.append(float(f"{regret:.4g}"))
    regrets += [regrets[-1]] * (trials - len(regrets))
    key = {"problem": problem.name, "kind": kind, "seed": seed, "strength": strength}
    return {**key, "regret": regrets}


def table(lines: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Regrets, and the paired difference to no belief in decades and in normalised regret."""
    base = {(x["problem"], x["seed"]): x["regret"] for x in lines if x["kind"] == "none"}
    yield "| belief | runs | after | regret (without) | decades ahead | mean regret (without) |"
    yield "|---|---|---|---|---|---|"
    for kind in KINDS[1:]:
        for strength in sorted({x["strength"] for x in lines if x["kind"] == kind}):
            own = [x for x in lines if x["kind"] == kind and x["strength"] == strength]
            own = [x for x in own if (x["problem"], x["seed"]) in base]
            shown = [n for n in AFTER if own and all(len(x["regret"]) >= n for x in own)]
            for after in shown:
                mine = np.array([x["regret"][after - 1] for x in own])
                other = np.array([base[x["problem"], x["seed"]][after - 1] for x in own])
                logs = np.log10(np.maximum(other, FLOOR) / np.maximum(mine, FLOOR))
                ends = [float(10 ** np.log10(np.maximum(y, FLOOR)).mean()) for y in (mine, other)]
                error = float(logs.std(ddof=1) / len(logs) ** 0.5)
                yield (
                    f"| {kind}, strength {strength:g} | {len(own)} | {after} "
                    f"| {ends[0]:.4f} ({ends[1]:.4f}) | {logs.mean():+.2f} +- {error:.2f} "
                    f"| {mine.mean():.3f} ({other.mean():.3f}), "
                    f"{(mine - other).mean():+.3f} +- "
                    f"{float((mine - other).std(ddof=1) / len(own) ** 0.5):.3f} |"
                )


def read(path: Path) -> list[dict[str, Any]]:
    """Every line of a file, packed by gzip or not."""
    if not path.exists():
        return []
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in text.decode().splitlines()]


def main() -> None:
    """Add the runs that are missing, or print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.search.priors", description=__doc__)
    parser.add_argument("verb", choices=["run", "table"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--strengths", type=float, nargs="+", default=[Recipe().belief])
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS))
    parser.add_argument("--out", type=Path, default=RUNS)
    args = parser.parse_args()
    lines = read(args.out)
    if args.verb == "table":
        print("\n".join(table(lines)))
        return
    done = {(x["problem"], x["kind"], x["seed"], x["strength"]) for x in lines}
    with args.out.open("a") as file:
        for seed in range(args.first_seed, args.first_seed + args.seeds):
            for problem in chosen(args.problems):
                for kind in args.kinds:
                    for strength in args.strengths if kind != "none" else [Recipe().belief]:
                        if (problem.name, kind, seed, strength) not in done:
                            line = run(problem, kind, seed, strength, args.trials)
                            file.write(json.dumps(line) + "\n")
                            file.flush()


if __name__ == "__main__":
    main()
