"""The referee against greedy, three seeds and the launch rule, on simulated streams of changes.

    python bench/referee.py [lineages] [seed] [world ...]     three CPU minutes for 200 lineages

Every lineage has 300 runs. The judge's 300 include the 16 fresh runs of the total it quotes; the
others quote for free. `minus_greedy_quoted` compares with greedy that keeps 16 runs back as well.
Writes bench/results/referee.jsonl, one line per world, rule and seed (lines of the same are
replaced), and prints the tables of bench/results/referee.md.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import fields
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.referee_worlds import WORLDS, Floats, Stream, World

from tunewright.referee import _effects as effects, rule as rules
from tunewright.referee._effects import Prior
from tunewright.referee.rule import Belief, Rule

RUNS, FRESH = 300, 16
OUT = Path(__file__).parent / "results" / "referee.jsonl"
RULES = ("greedy", "three seeds", "launch", "judge")


def greedy(world: World, lineages: int, seed: int, runs: int = RUNS) -> tuple[Stream, Floats]:
    """One run of each change; it is kept if it is better than the best run so far."""
    stream = Stream.of(world, lineages, RUNS, seed, 0)
    best = stream.run(False)
    first = best.copy()
    for _ in range(runs - 1):
        value = stream.run()
        better = value < best
        stream.decide(np.ones(lineages, dtype=bool), better)
        best = np.where(better, value, best)
    return stream, first - best


def three_seeds(world: World, lineages: int, seed: int) -> tuple[Stream, Floats]:
    """Three runs of each change against the three of the baseline; kept at one-sided 0.95."""
    stream = Stream.of(world, lineages, RUNS, seed, 1)
    base = np.stack([stream.run(False) for _ in range(3)], axis=1)
    first, squares, freedom = base.mean(axis=1), base.var(axis=1) * 3, 2
    for _ in range(RUNS // 3 - 1):
        values = np.stack([stream.run() for _ in range(3)], axis=1)
        squares, freedom = squares + values.var(axis=1) * 3, freedom + 2
        error = np.sqrt(squares / freedom * 2 / 3)
        better = base.mean(axis=1) - values.mean(axis=1) > 1.645 * error
        stream.decide(np.ones(lineages, dtype=bool), better)
        base = np.where(better[:, None], values, base)
    return stream, first - base.mean(axis=1)


def launch(world: World, lineages: int, seed: int) -> tuple[Stream, Floats]:
    """Five fresh runs of each of the two, in pairs; kept if the 90 % limit is above zero."""
    from scipy.stats import t

    stream = Stream.of(world, lineages, RUNS, seed, 2)
    claimed = np.zeros(lineages)
    for _ in range(RUNS // 10):
        pairs = np.stack([stream.run(False) - stream.run() for _ in range(5)], axis=1)
        error = pairs.std(axis=1, ddof=1) / np.sqrt(5)
        better = pairs.mean(axis=1) > t.ppf(0.9, 4) * error
        stream.decide(np.ones(lineages, dtype=bool), better)
        claimed += np.where(better, pairs.mean(axis=1), 0.0)
    return stream, claimed


def judge(
    world: World, lineages: int, seed: int, rule: Rule | None = None
) -> tuple[Stream, Floats]:
    """The keep rule as the referee has it; the prior is learnt every ten runs."""
    rule = rule or Rule()
    stream = Stream.of(world, lineages, RUNS, seed, 3)
    first = np.stack([stream.run(False) for _ in range(rule.first_runs)], axis=1)
    belief, left = rules.begin(first), RUNS - FRESH - rule.first_runs
    one = effects.prior()
    generic = Prior(*(np.repeat(getattr(one, f.name), lineages) for f in fields(Prior)))
    prior, price = generic, np.zeros(lineages)
    values, count = np.full((lineages, rule.most_runs), np.nan), np.zeros(lineages, dtype=int)
    seen, variance = (np.full((lineages, RUNS), np.nan) for _ in range(2))
    since, nothing = np.zeros(lineages, dtype=int), np.zeros(lineages)
    for turn in range(left):
        due, fresh_price = rules.run_baseline(
            belief, prior, since, np.full(lineages, float(left - turn)), rule
        )
        price = np.where(count == 0, fresh_price, price)
        due &= count == 0
        value = stream.run(~due)
        belief = chosen(due, rules.add_baseline_run(belief, value, rule), belief)
        since = np.where(due, 0, since + 1)
        rows = np.flatnonzero(~due)
        values[rows, count[rows]] = value[rows]
        count = count + ~due
        found = rules.judge(belief, prior, values, rule)
        advice = rules.advise(belief, prior, found, count, nothing, rule, price)
        done, keep = ~due & ~advice.again, ~due & advice.keep
        mean, spread = rules.summary(belief, values)
        at = np.flatnonzero(done)
        seen[at, stream.at[at]], variance[at, stream.at[at]] = mean[at], spread[at]
        belief = chosen(
            done, rules.add_noise(rules.after(belief, found, keep, values), values, rule), belief
        )
        stream.decide(done, keep)
        since = np.where(keep, 0, since)
        values[done], count = np.nan, np.where(done, 0, count)
        belief = rules.after_drift(belief, rule)
        if turn % 10 == 9:
            most = max(1, int(stream.at.max()))
            prior = effects.learn(generic, seen[:, :most], variance[:, :most], 3)
    return stream, belief.total


def chosen(where: np.ndarray, new: Belief, old: Belief) -> Belief:
    """The new belief of some lineages, the old one of the others."""
    pairs = ((getattr(new, f.name), getattr(old, f.name)) for f in fields(Belief))
    return Belief(*(np.where(where, a, b) for a, b in pairs))


def quoted(stream: Stream, seed: int) -> Floats:
    """The total of eight fresh runs of each end, interleaved."""
    random = np.random.default_rng([seed, 99, sum(map(ord, stream.world.name))])
    count, total = len(stream.true), np.zeros(len(stream.true))
    for _ in range(FRESH // 2):
        total += stream.true + stream.world.noise(random, count) - stream.world.noise(random, count)
    return total / (FRESH // 2)


def interval(values: Floats) -> tuple[float, float, float]:
    """Mean and 95 % interval."""
    half = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean()), float(values.mean() - half), float(values.mean() + half)


def main() -> None:
    lineages = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    chosen = sys.argv[3:] or [world.name for world in WORLDS]
    lines = []
    for world in (own for own in WORLDS if own.name in chosen):
        base: Floats | None = None
        for name, play in zip(RULES, (greedy, three_seeds, launch, judge), strict=True):
            began = time.process_time()
            stream, claimed = play(world, lineages, seed)
            true = stream.true
            base = true if base is None else base
            line = {
                "world": world.name,
                "rule": name,
                "lineages": lineages,
                "seed": seed,
                "true": interval(true),
                "claimed": interval(claimed),
                "minus_greedy": interval(true - base),
                "changes": float(stream.at.mean()),
                "kept": float(stream.kept.mean()),
                "useless": float(stream.useless.mean()),
                "cpu_s": round(time.process_time() - began, 1),
            }
            if name == "judge":
                fresh = quoted(stream, seed)
                line |= {"quoted": interval(fresh), "quoted_error": interval(fresh - true)}
                short, _ = greedy(world, lineages, seed, RUNS - FRESH)
                line["minus_greedy_quoted"] = interval(true - short.true)
            lines.append(line)
            minus = "{:.2f} [{:.2f}, {:.2f}]".format(*line["minus_greedy"])
            print(
                f"| {world.name} | {name} | {line['true'][0]:.2f} | {line['claimed'][0]:.2f} | "
                f"{minus if name != 'greedy' else ''} | {line['changes']:.0f} | "
                f"{line['kept']:.1f} | {line['useless']:.1f} |",
                flush=True,
            )
    known = [json.loads(line) for line in OUT.read_text().splitlines()] if OUT.exists() else []
    kept = [one for one in known if one["seed"] != seed or one["world"] not in chosen]
    OUT.write_text("".join(json.dumps(line) + "\n" for line in (*kept, *lines)))
    for line in lines:
        if line["rule"] == "judge":
            triples = (line["quoted_error"], line["minus_greedy_quoted"])
            shown = ["{:.3f} [{:.3f}, {:.3f}]".format(*one) for one in triples]
            gained = line["true"][0] > 0.05
            ratio = f"{line['claimed'][0] / line['true'][0]:.2f}" if gained else "no gain"
            print(f"| {line['world']} | {shown[0]} | {ratio} | {shown[1]} |")


if __name__ == "__main__":
    main()
