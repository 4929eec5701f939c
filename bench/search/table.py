"""Tables of the runs: regret, who beats quasi-random search with twice the budget, and by how much.

Regrets are averaged as geometric means, none counted as less than 0.0001. "Beats" is the
probability that a run of the contestant ends lower than one of Halton with twice the trials on the
same problem, over all pairs of seeds, a tie counting a half. Differences between two contestants
are of the same problem and seed; intervals are of the bootstrap, which draws seeds anew within each
problem, and in a second column problems too. "Recommended" is the same share by what a contestant
would name: ours by its model, the others the trial of the lowest value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .entries import ALIKE, STATIC
from .problem import KINDS, Kind
from .problems import problems
from .run import AFTER, Run

HEADLINE = {1: 50, 8: 48}  # what the field's figures are of
FLOOR = 1e-4
LEAST_PAIRS = 10  # for a difference to be shown
MANY_SEEDS = 5  # below, a rival's place is luck: the best of the others is shown beside it
OURS = "bayesian"
_NOT_RIVALS = ("halton", "random")
_TITLES: Mapping[Kind, str] = {
    "diverging": "Diverging problems",
    "feasible": "Always feasible problems",
    "real": "Real tasks",
}
Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Field:
    """All runs of some problems with so many workers, by contestant, problem and seed."""

    workers: int
    runs: Mapping[str, Mapping[str, Mapping[int, Run]]]

    @classmethod
    def of(cls, runs: Iterable[Run], names: Sequence[str], workers: int) -> Field:
        """Those of the named problems; where nothing diverges, who is alike there fills in."""
        found: dict[str, dict[str, dict[int, Run]]] = {}
        for run in runs:
            fits = run.task.workers == (1 if run.task.contestant in STATIC else workers)
            if run.task.problem in names and fits:
                by_problem = found.setdefault(run.task.contestant, {})
                by_seed = by_problem.setdefault(run.task.problem, {})
                other = by_seed.get(run.task.seed)
                if other is None or len(other.regret) < len(run.regret):
                    by_seed[run.task.seed] = run  # of two lengths the longer
        for name, other in ALIKE.items():
            if name in found:
                for problem, by_seed in found.get(other, {}).items():
                    if problems()[problem].reference.infeasible == 0:
                        found[name][problem] = by_seed
        return cls(workers, found)

    def problems(self, contestant: str) -> list[str]:
        """Those it was run on."""
        return sorted(self.runs[contestant])

    def regrets(self, contestant: str, problem: str, after: int) -> dict[int, float]:
        """By seed, after so many trials."""
        runs = sorted(self.runs[contestant][problem].items())
        return {s: max(run.regret[after - 1], FLOOR) for s, run in runs if len(run.regret) >= after}

    def recommended(self, contestant: str, problem: str, after: int) -> dict[int, float]:
        """By seed, at what is recommended then: by a model where it has one, else the lowest."""
        seen = self.regrets(contestant, problem, after)
        runs = self.runs[contestant][problem]
        return {s: max(dict(runs[s].recommended).get(after, seen[s]), FLOOR) for s in seen}

    def seeds(self, contestant: str, after: int) -> int:
        """How many every problem was run with for at least so many trials."""
        return min(len(self.regrets(contestant, p, after)) for p in self.problems(contestant))

    def mean_regret(self, contestant: str, after: int) -> float:
        """Geometric, every problem counting the same."""
        logs = [
            np.mean(np.log(list(self.regrets(contestant, p, after).values())))
            for p in self.problems(contestant)
        ]
        return float(np.exp(np.mean(logs)))

    def beats(self, contestant: str, problem: str, after: int) -> dict[int, float]:
        """By seed: the share of Halton runs with twice the trials that this run beats."""
        return self._shares(self.regrets(contestant, problem, after), problem, after)

    def _shares(self, regrets: Mapping[int, float], problem: str, after: int) -> dict[int, float]:
        bar = np.array(list(self.regrets("halton", problem, 2 * after).values()))
        return {s: float(np.mean((r < bar) + 0.5 * (r == bar))) for s, r in regrets.items()}

    def mean_beats(self, contestant: str, after: int, recommended: bool = False) -> float:
        """Every problem counting the same; by what it saw, or by what it recommends."""
        of = self.recommended if recommended else self.regrets
        each = [
            np.mean(list(self._shares(of(contestant, p, after), p, after).values()))
            for p in self.problems(contestant)
        ]
        return float(np.mean(each))

    def infeasible(self, contestant: str) -> float:
        """Share of the trials after the twentieth."""
        each = []
        for by_seed in self.runs[contestant].values():
            runs = by_seed.values()
            each.append(sum(r.infeasible for r in runs) / max(1, sum(r.later for r in runs)))
        return float(np.mean(each))


@dataclass(frozen=True)
class Paired:
    """A difference between two contestants, positive where the first is ahead."""

    pairs: int  # runs of each
    difference: float
    seeds: tuple[float, float]  # 95 % interval, these problems, other seeds
    problems: tuple[float, float]  # 95 % interval, other problems like these


def paired(differences: Sequence[Vector], draws: int = 4000) -> Paired:
    """The mean over problems of the mean over seeds, with both intervals."""
    random = np.random.default_rng(0)
    means = np.array([d.mean() for d in differences])
    by_seed = np.stack(
        [d[random.integers(len(d), size=(draws, len(d)))].mean(axis=1) for d in differences]
    )
    drawn = random.integers(len(means), size=(draws, len(means)))
    both = np.take_along_axis(by_seed.T, drawn, axis=1).mean(axis=1)
    inner = np.quantile(by_seed.mean(axis=0), [0.025, 0.975])
    outer = np.quantile(both, [0.025, 0.975])
    return Paired(
        sum(map(len, differences)),
        float(means.mean()),
        (float(inner[0]), float(inner[1])),
        (float(outer[0]), float(outer[1])),
    )


def compare(field: Field, one: str, other: str, after: int) -> tuple[Paired, Paired] | None:
    """By share of Halton runs beaten, and by decades of regret; None without common runs."""
    shares, decades = [], []
    for problem in sorted(set(field.problems(one)) & set(field.problems(other))):
        a, b = (field.regrets(c, problem, after) for c in (one, other))
        x, y = (field.beats(c, problem, after) for c in (one, other))
        common = sorted(set(a) & set(b))
        if common:
            shares.append(np.array([x[s] - y[s] for s in common]))
            decades.append(np.array([np.log10(b[s] / a[s]) for s in common]))
    return (paired(shares), paired(decades)) if shares else None


def best_rival(field: Field, least_seeds: int = 1) -> str | None:
    """The one of the others that is ahead by share of Halton runs beaten, of so many seeds."""
    rivals = [
        c
        for c in field.runs
        if not c.startswith(OURS)
        and c not in _NOT_RIVALS
        and ".py:" not in c
        and field.seeds(c, HEADLINE[field.workers]) >= least_seeds
    ]
    widest = max((len(field.runs[c]) for c in rivals), default=0)
    full = [c for c in rivals if len(field.runs[c]) == widest]  # not one that lacks the hard ones
    return max(full, key=lambda c: field.mean_beats(c, HEADLINE[field.workers]), default=None)


def tables(runs: Sequence[Run], names: Sequence[str]) -> str:
    """Every table as markdown."""
    parts = []
    for kind in KINDS:
        own = [n for n in names if n in problems() and problems()[n].kind == kind]
        for workers in AFTER:
            field = Field.of(runs, own, workers)
            if "halton" in field.runs:
                parts += [_table(field, kind), ""]
    return "\n".join(parts)


def _table(field: Field, kind: Kind) -> str:
    after = AFTER[field.workers]
    how = "one at a time" if field.workers == 1 else f"{field.workers} in parallel"
    count = len(field.runs["halton"])
    share = np.mean([problems()[p].reference.infeasible for p in field.runs["halton"]])
    head = [
        f"### {_TITLES[kind]} ({count}), {how}",
        "",
        f"{share:.2f} of the box is infeasible on average. Regret after so many trials, then the",
        "probability of beating Halton with twice as many.",
        "",
        f"| contestant | seeds | {' | '.join(f'regret {n}' for n in after)} | "
        f"{' | '.join(f'beats {n}' for n in after)} | recommended beats {HEADLINE[field.workers]} "
        "| infeasible after 20 |",
        f"|---|---|{'---|' * (2 * len(after) + 2)}",
    ]
    ranked = sorted(field.runs, key=lambda c: -field.mean_beats(c, HEADLINE[field.workers]))
    rows = [_row(field, c, after, count) for c in ranked]
    return "\n".join([*head, *rows, "", *_differences(field)]).rstrip()


def _row(field: Field, contestant: str, after: Sequence[int], count: int) -> str:
    seeds = {n: field.seeds(contestant, n) for n in after}
    first, last = seeds[after[0]], seeds[after[-1]]
    own = len(field.runs[contestant])
    cells = [
        contestant if own == count else f"{contestant} (on {own})",
        f"{first} ({last} at {after[-1]})" if 0 < last < first else f"{first}",
        *(f"{field.mean_regret(contestant, n):.4f}" if seeds[n] else "-" for n in after),
        *(f"{field.mean_beats(contestant, n):.2f}" if seeds[n] else "-" for n in after),
        f"{field.mean_beats(contestant, HEADLINE[field.workers], recommended=True):.2f}",
        f"{field.infeasible(contestant):.2f}",
    ]
    return f"| {' | '.join(cells)} |"


def _differences(field: Field) -> list[str]:
    """To the best rival, and if that was run with few seeds to the best of those with more too."""
    rivals = dict.fromkeys((best_rival(field), best_rival(field, MANY_SEEDS)))
    if OURS not in field.runs:
        return []
    return [line for rival in rivals if rival is not None for line in _difference(field, rival)]


def _difference(field: Field, rival: str) -> list[str]:
    seeds = field.seeds(rival, HEADLINE[field.workers])
    few = "" if seeds >= MANY_SEEDS else f", {seeds} seed{'s' * (seeds > 1)} only"
    lines = [
        f"bayesian less {rival}, the best rival here{few} (positive: ours is ahead):",
        "",
        "| after | pairs | beats | 95 %, seeds | 95 %, problems too | decades of regret "
        "| 95 %, seeds | 95 %, problems too |",
        "|---|---|---|---|---|---|---|---|",
    ]
    found = {n: compare(field, OURS, rival, n) for n in AFTER[field.workers]}
    most = max((one[0].pairs for one in found.values() if one is not None), default=0)
    for n, one in found.items():
        if one is None or one[0].pairs < min(LEAST_PAIRS, most):
            continue  # hardly anybody has run so long
        cells = [
            f"{p.difference:+.3f} | {_interval(p.seeds)} | {_interval(p.problems)}" for p in one
        ]
        lines.append(f"| {n} | {one[0].pairs} | {' | '.join(cells)} |")
    return [*lines, ""]


def _interval(ends: tuple[float, float]) -> str:
    return f"{ends[0]:+.3f} to {ends[1]:+.3f}"


def per_problem(runs: Sequence[Run], names: Sequence[str], contestants: Sequence[str]) -> str:
    """Geometric mean regret by problem at the headline budget, for looking where it goes wrong."""
    lines = []
    for workers, after in HEADLINE.items():
        field = Field.of(runs, names, workers)
        shown = [c for c in contestants if c in field.runs]
        if not shown:
            continue
        lines += [f"| {workers} worker(s), {after} trials | {' | '.join(shown)} |"]
        lines += ["|---" * (len(shown) + 1) + "|"]
        for problem in names:
            cells = [_cell(field, c, problem, after) for c in shown]
            lines.append(f"| {problem} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def _cell(field: Field, contestant: str, problem: str, after: int) -> str:
    if problem not in field.runs[contestant]:
        return "-"
    regrets = list(field.regrets(contestant, problem, after).values())
    beats = np.mean(list(field.beats(contestant, problem, after).values()))
    return f"{np.exp(np.mean(np.log(regrets))):.4f} ({beats:.2f})"
