"""What `tw.Measured` buys: the search and the launch on small validation sets, with and without.

    python bench/measured.py search > bench/results/measured_search.jsonl   # `mixed`: one part
    python bench/measured.py launch > bench/results/measured_launch.jsonl
    python bench/measured.py table

Search: the bounded ridges of `bench/search/bounded.py` as error rates, evaluated on n shared
examples: each measurement is off by a part that all trials of a run share and by one of its own
(a quarter of the variance), and a new seed moves it a little. Launch: two arms of five repeats on
one validation set; the arms differ by nothing, by what their own measurement errors are, or by a
gain that is worth it.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
from bench.search.bounded import BOUNDED
from bench.search.problem import Problem

from tunewright.design.objective import minimize
from tunewright.launches.arm import Arm
from tunewright.launches.decide import decide
from tunewright.measured import Measured
from tunewright.search.bayesian.bayesian import Bayesian
from tunewright.stats.measurement import SHARED
from tunewright.store.trial import Trial

RESULTS = Path(__file__).parent / "results"
TRIALS = 50
SEEDS = 10
SEED_SD = 0.003  # of an error rate, from seed to seed
EXAMPLES = (100, 300, 1000)
MIXED = (30, 3000)  # a run in which every other trial is evaluated on few examples


def error_rate(problem: Problem, configuration: dict[str, object]) -> float:
    """The ridge as an error rate between about 0.06 and 0.9."""
    loss = problem.truth(configuration)  # type: ignore[arg-type]
    assert loss is not None
    return min(max(0.03 + 0.85 * loss, 0.01), 0.9)


def search() -> None:
    for seed in range(SEEDS):
        for problem in BOUNDED:
            for examples in (*((size,) for size in EXAMPLES), MIXED):
                for told in (True, False):
                    print(json.dumps(_run(problem, examples, seed, told)), flush=True)


def mixed() -> None:
    for seed in range(SEEDS):
        for problem in BOUNDED:
            for told in (True, False):
                print(json.dumps(_run(problem, MIXED, seed, told)), flush=True)


def _run(problem: Problem, sizes: tuple[int, ...], seed: int, told: bool) -> dict[str, object]:
    study = problem.study(seed, TRIALS)
    offset = float(np.random.default_rng([1, seed]).standard_normal())  # of the validation set
    trials: list[Trial] = []
    truths: list[float] = []
    for number in range(TRIALS):
        (point,) = Bayesian().suggest(study, trials, 1)
        truth = error_rate(problem, dict(point.configuration))
        examples = sizes[int(np.random.default_rng([4, seed, number]).integers(len(sizes)))]
        sd = math.sqrt(truth * (1 - truth) / examples)
        own, luck = np.random.default_rng([2, seed, number]).standard_normal(2)
        value = truth + sd * (math.sqrt(SHARED) * offset + math.sqrt(1 - SHARED) * own)
        value += SEED_SD * luck
        truths.append(truth)
        trials.append(
            Trial(
                number=number,
                study=0,
                index=number,
                configuration=point.configuration,
                unit=point.unit,
                status="completed",
                value=float(value),
                measured=Measured(value, sd=sd, n=examples) if told else None,
            )
        )
    chosen = Bayesian().recommend(study, trials)
    assert chosen is not None
    lowest = min(trials, key=lambda t: t.value or 0.0)
    return {
        "problem": problem.name,
        "examples": sizes[0] if len(sizes) == 1 else 0,  # 0: mixed
        "seed": seed,
        "told": told,
        "recommended": truths[chosen.number or 0],
        "lowest": truths[lowest.number or 0],
        "best_tried": min(truths),
    }


def launch(repetitions: int = 1000) -> None:
    objective = minimize("error")
    for examples in (200, 1000, 5000):
        sd = math.sqrt(0.1 * 0.9 / examples)
        own = math.sqrt(1 - SHARED) * sd
        for gain in (0.0, 0.005, 0.01):
            for told in (True, False):
                random = np.random.default_rng([3, examples, int(1000 * gain)])
                launched = 0
                for _ in range(repetitions):
                    arms = []
                    for mean in (0.1 - gain, 0.1):
                        level = mean + own * random.standard_normal()
                        values = level + SEED_SD * random.standard_normal(5)
                        known = {"measured_sd": sd, "examples": examples} if told else {}
                        arms.append(Arm(f"{mean}", tuple(values.tolist()), objective, **known))
                    launched += decide(arms[0], arms[1]).verdict == "launch"
                row = {"examples": examples, "gain": gain, "told": told}
                print(json.dumps({**row, "launched": launched, "of": repetitions}), flush=True)


def table() -> None:
    rows = [json.loads(line) for line in (RESULTS / "measured_search.jsonl").open()]
    keyed = {(r["problem"], r["examples"], r["seed"], r["told"]): r for r in rows}
    for examples in (*EXAMPLES, 0):
        for what in ("recommended", "lowest", "best_tried"):
            pairs = [
                (own[what], keyed[(*key[:3], False)][what])
                for key, own in keyed.items()
                if key[1] == examples and key[3] and (*key[:3], False) in keyed
            ]
            with_, without = (np.array(side) for side in zip(*pairs, strict=True))
            apart = with_ - without
            random = np.random.default_rng(0)
            drawn = [random.choice(apart, len(apart)).mean() for _ in range(2000)]
            low, high = np.quantile(drawn, [0.025, 0.975])
            print(
                f"{examples:6} {what:12} with {with_.mean():.4f} without {without.mean():.4f} "
                f"difference {apart.mean():+.4f} ({low:+.4f} to {high:+.4f}), {len(pairs)} pairs"
            )


if __name__ == "__main__":
    {"search": search, "mixed": mixed, "launch": launch, "table": table}[sys.argv[1]]()
