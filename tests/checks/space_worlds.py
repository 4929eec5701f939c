"""Simulated studies for the checks of the search space: how often does each rule speak?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.stats import qmc

from tunewright.checks._region import Feature, Region, region
from tunewright.checks.checklist import check
from tunewright.checks.density import sampling
from tunewright.checks.edge_of_divergence import nearness
from tunewright.checks.variance import spread
from tunewright.design.ranges import log, log_from_one
from tunewright.design.round import Round
from tunewright.stats.crowding import look, pooled_look
from tunewright.stats.half_sampling import shared_halves, shared_region
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.results import Results
from tunewright.store.trial import Trial
from tunewright.testing import Bowl, World, noise, results, trial_noise

OPTIMA = {"inside": 0.5, "0.95": 0.95, "outside": 1.2}


def halton(seed: int, count: int, dimensions: int) -> np.ndarray:
    """Scrambled Halton points, as a study has them."""
    random = np.random.default_rng([seed, count, dimensions])
    return qmc.Halton(dimensions, scramble=True, rng=random).random(count)


def study(
    seed: int, count: int, optimum: float, infeasible: float, dimensions: int = 4
) -> tuple[np.ndarray, np.ndarray]:
    """Feasible trials: the first axis has this optimum, the second one inside, the rest none."""
    units = halton(seed, count, dimensions)
    random = np.random.default_rng([seed, 1])
    losses = (units[:, 0] - optimum) ** 2 + 0.5 * (units[:, 1] - 0.5) ** 2
    losses += 0.02 * random.normal(size=count)
    feasible = random.random(count) >= infeasible
    return units[feasible], losses[feasible]


def narrow(seed: int, count: int, infeasible: float) -> tuple[np.ndarray, np.ndarray]:
    """Flat but for a narrow basin at the high end of the first axis."""
    units = halton(seed, count, 4)
    random = np.random.default_rng([seed, 1])
    losses = 1 - 0.8 * np.exp(-(((units[:, 0] - 1.0) / 0.1) ** 2))
    losses += 0.02 * random.normal(size=count)
    feasible = random.random(count) >= infeasible
    return units[feasible], losses[feasible]


def edge_flags(
    count: int, optimum: float | None, infeasible: float, studies: int
) -> tuple[int, int, int]:
    """How often the crowd rule and the lone rule flag the first axis, and any the irrelevant ones.

    Without an optimum it is the narrow basin.
    """
    crowd = lone = irrelevant = 0
    for seed in range(studies):
        if optimum is None:
            units, losses = narrow(seed, count, infeasible)
        else:
            units, losses = study(seed, count, optimum, infeasible)
        if len(units) < 8:
            continue
        seen = look(units[:, 0], losses)
        crowd += seen.rule == "crowd"
        lone += seen.rule == "lone"
        irrelevant += sum(look(units[:, axis], losses).side != "" for axis in (2, 3))
    return crowd, lone, irrelevant


def pooled_flags(
    arms: int, count: int, optimum: float, studies: int, axis: int = 0, shared: bool = False
) -> int:
    """How often several studies of which half is infeasible flag an axis together."""
    flagged = 0
    for seed in range(studies):
        made = []
        for arm in range(arms):
            units = halton(1000 * seed + (0 if shared else arm), count, 4)
            random = np.random.default_rng([seed, arm, 7])
            losses = (units[:, 0] - optimum) ** 2 + 0.5 * (units[:, 1] - 0.5) ** 2
            losses += 0.02 * random.normal(size=count)
            made.append((units, losses, np.flatnonzero(random.random(count) >= 0.5)))
        seen = pooled_look(
            [units[rows, axis] for units, _, rows in made],
            [losses[rows] for _, losses, rows in made],
            [rows.tolist() for _, _, rows in made] if shared else None,
        )
        flagged += seen is not None and seen.side != ""
    return flagged


def list_flags(values: int, count: int, studies: int, axis: int = 0) -> int:
    """How often the last of so many listed values, which is the best, is flagged."""
    flagged = 0
    for seed in range(studies):
        units, losses = study(seed, count, 1.0, 0.0)
        place = np.minimum((units * values).astype(int), values - 1) / (values - 1)
        random = np.random.default_rng([seed, 2])
        losses = (place[:, 0] - 1) ** 2 + 0.5 * (units[:, 1] - 0.5) ** 2
        losses += 0.02 * random.normal(size=count)
        flagged += look(place[:, axis], losses).side == "high"
    return flagged


def diverging(
    seed: int, count: int, world: str, flips: float = 0.0, best: float = -1.5
) -> tuple[list[Feature], np.ndarray, np.ndarray, int]:
    """Features, who diverged, losses and the number of single features.

    Worlds: `rate` (30 % above a learning rate), `ratio` (40 % above learning_rate / (1 -
    momentum)), `random` (a quarter anywhere). The optimum lies so many decades below the threshold.
    """
    units = halton(seed, count, 4)
    random = np.random.default_rng([seed, 3])
    rate, momentum = -4 + 3 * units[:, 0], -2 + 1.3 * units[:, 1]  # decades, of 1 - momentum
    decides = {"rate": rate, "ratio": rate - momentum, "random": random.random(count)}[world]
    share = {"rate": 0.3, "ratio": 0.4, "random": 0.25}[world]
    everywhere = {
        "rate": -4 + 3 * (1 - share),
        "ratio": float(np.quantile(_ratio(), 1 - share)),
        "random": 1 - share,
    }[world]
    bad = (decides > everywhere) != (random.random(count) < flips)
    losses = (decides - everywhere - best) ** 2 + 0.05 * random.normal(size=count)
    columns = {"learning_rate": rate, "1 - momentum": momentum, "a": units[:, 2], "b": units[:, 3]}
    singles = [Feature(name, values, True) for name, values in columns.items()]
    pairs = [
        Feature(f"{one.name} {word} {other.name}", one.values + sign * other.values, True)
        for number, one in enumerate(singles)
        for other in singles[number + 1 :]
        for sign, word in ((1.0, "*"), (-1.0, "/"))
    ]
    singles.append(Feature("learning_rate / (1 - momentum)", rate - momentum, True))
    return singles + pairs, bad, np.where(bad, np.inf, losses), len(singles)


def _ratio() -> np.ndarray:
    random = np.random.default_rng(9)
    return (-4 + 3 * random.random(20000)) - (-2 + 1.3 * random.random(20000))


def regions(count: int, world: str, studies: int, flips: float = 0.0) -> tuple[int, int]:
    """How often a clear region is found, and how often it is named right."""
    found = right = 0
    wanted = {"rate": "learning_rate", "ratio": "learning_rate / (1 - momentum)"}.get(world, "")
    for seed in range(studies):
        features, bad, _, singles = diverging(seed, count, world, flips)
        own = region(features, bad, singles)
        if own is not None and own.clear:
            found += 1
            right += own.feature.name == wanted
    return found, right


def near_edge(count: int, best: float, studies: int, world: str = "rate") -> int:
    """How often the best trials are said to lie at the edge when they lie so far below it."""
    near = 0
    for seed in range(studies):
        features, bad, losses, singles = diverging(seed, count, world, best=best)
        own: Region | None = region(features, bad, singles)
        if own is not None and own.clear:
            seen = nearness(own, losses, range(count))
            near += seen is not None and seen.near
    return near


def arms(
    seed: int, count: int, gap: float, surface: float = 10.0, moved: float = 0.0, wall: float = 0.33
) -> tuple[np.ndarray, np.ndarray]:
    """Two settings on shared points, in trial standard deviations; b is worse by the gap."""
    units = halton(seed, count, 4)
    random = np.random.default_rng([seed, 4])
    optimum = random.uniform(0.2, 0.7, 4)
    found = []
    for arm in range(2):
        at = optimum + (moved if arm else 0.0)
        squares = ((units - at) ** 2).sum(axis=1)
        losses = surface * squares / 0.25 + random.normal(size=count) + gap * arm
        found.append(np.where(units[:, 0] > 1 - wall, np.inf, losses))
    return found[0], found[1]


def calls(
    count: int, gap: float, studies: int, surface: float = 10.0, moved: float = 0.0
) -> tuple[int, int, int]:
    """How often a is called better, b is, and the shared region's interval holds the gap."""
    a_better = b_better = covered = 0
    for seed in range(studies):
        a, b = arms(seed, count, gap, surface, moved)
        halves, same = shared_halves(a, b), shared_region(a, b)
        says = "" if halves is None else halves.verdict()
        a_better += says == "a is better"
        b_better += says == "b is better"
        covered += same is not None and same.interval[0] <= gap <= same.interval[1]
    return a_better, b_better, covered


def speaks(count: int, surface: float, reference: float, studies: int) -> tuple[int, float, float]:
    """How often a study is called too small; what doubling gained, and what it was said to gain.

    Gains are means over all studies, in units of the reference.
    """
    spoke, gained, promised = 0, 0.0, 0.0
    for seed in range(studies):
        units = halton(seed, 2 * count, 4)
        random = np.random.default_rng([seed, 5])
        optimum = random.uniform(0.2, 0.8, 4)
        squares = ((units - optimum) ** 2).sum(axis=1)
        losses = surface * squares / 0.25 + random.normal(size=2 * count)
        seen = sampling(losses[:count])
        spoke += seen.too_few(reference)
        gained += float(losses[:count].min() - losses.min()) / reference / studies
        promised += seen.expected_gain / reference / studies
    return spoke, gained, promised


def covers(repeats: int, kind: str, groups: int) -> int:
    """How often the interval of the trial standard deviation holds the true one."""
    random = np.random.default_rng([repeats, len(kind)])
    truth = np.sqrt(1 + 64 * 0.05 * 0.95) if kind == "outlier" else 1.0
    held = 0
    for _ in range(groups):
        found = spread([list(trial_noise(random, repeats, kind))])
        assert found is not None
        held += found.low <= truth <= found.high
    return held


def healthy(
    seed: int, trials: int = 16, scientific: bool = False, detect: float | None = 0.01
) -> Results:
    """A study with its optimum well inside, 100 evaluations, nothing wrong.

    The trial standard deviation is 0.004, a best value 0.2; the third axis does not matter.
    """
    random = np.random.default_rng([seed, 6])
    round = Round(
        "healthy",
        goal="Is all well?",
        scientific={"layers": ["two", "three"]} if scientific else {},
        nuisance={
            "learning_rate": log(1e-4, 1e-1),
            "momentum": log_from_one(0.8, 0.99),
            "weight_decay": log(1e-6, 1e-2),
        },
        trials_per_study=trials,
        seed=seed,
        detect=detect,
    )
    optimum = {name: random.uniform(0.35, 0.65) for name in ("learning_rate", "momentum")}
    surface = Bowl(optimum, {"learning_rate": 0.5, "momentum": 0.1})
    made = results(round, World(surface, noise_sd=0.004, seed=seed), repeats={0: 5})
    recorded = [replace(trial, curves=_curves(random, trial)) for trial in made.trials]
    return replace(made, recorded=tuple(recorded))


def _curves(random: np.random.Generator, trial: Trial) -> Curves:
    """Curves that fall until they have settled, after the middle of training."""
    steps, t = np.arange(10, 1010, 10), np.arange(1, 101) / 100
    error = (trial.value or 1.0) + 0.8 * np.exp(-t / 0.12) + 0.002 * noise(random, 100, 0.3)
    loss = (0.3 + np.exp(-t / 0.25)) * np.exp(0.05 * noise(random, 100, 0.3))
    points = {"valid_error": (steps, error), "train_loss": (steps, loss)}
    return Curves([Batch(1, 0, pack(points))])


def warnings(make: Callable[[int], Results], rounds: int) -> dict[str, int]:
    """How many of these rounds each question warns about, and how many any does."""
    counts: dict[str, int] = {"any": 0}
    for seed in range(rounds):
        warned = {f.check for f in check(make(seed)) if f.verdict == "warn"}
        for name in warned:
            counts[name] = counts.get(name, 0) + 1
        counts["any"] += bool(warned)
    return counts
