"""Where the optimum of a problem lies, its median feasible value, and how much of it diverges.

Tables are read in full. Elsewhere: many quasi-random configurations, then a walk of shrinking steps
from the best of them (choices are left as the start has them, every branch gets starts).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

import tunewright as tw
from tunewright.design.ranges import Choice

from .bounded import Slice
from .problem import REFERENCES, Problem, Reference
from .problems import problems
from .real import Surrogate, Table

POINTS, STARTS, STEPS = 2**14, 12, 1500
_DIGITS = 10


def find(
    problem: Problem, points: int = POINTS, starts: int = STARTS, steps: int = STEPS
) -> Reference:
    """The reference by enumeration or by search."""
    table = getattr(problem.truth, "__self__", None)
    if isinstance(table, Table | Slice):
        means = table.values.mean(axis=-1, dtype=np.float64)
        return Reference(float(means.min()), float(np.median(means)), 0.0)
    study = problem.study(seed=0, trials=points)
    suggested = tw.search.Halton().suggest(study, [], points)
    values = [problem.truth(s.configuration) for s in suggested]
    feasible = np.array([v for v in values if v is not None])
    luck = problem.chance or (lambda _: 0.0)
    diverges = [
        1.0 if v is None else luck(s.configuration) for s, v in zip(suggested, values, strict=True)
    ]
    if isinstance(problem.truth, Surrogate):  # smooth, and slow to evaluate
        starts, steps = starts // 4, steps // 3
    ranked = sorted((v, i) for i, v in enumerate(values) if v is not None)
    best = ranked[0][0]
    if problem.best is not None and (known := problem.truth(problem.best)) is not None:
        best = min(best, known)
    branches: dict[str, int] = {}
    random = np.random.default_rng(0)
    for value, i in ranked:
        branch = str([v for v in suggested[i].configuration.values() if isinstance(v, str | bool)])
        branches[branch] = branches.get(branch, 0) + 1
        if branches[branch] <= starts:
            best = min(best, _walk(problem, suggested[i].unit, value, steps, random))
    return Reference(
        round(best, _DIGITS),
        round(float(np.median(feasible)), _DIGITS),
        round(float(np.mean(diverges)), 4),
    )


def _walk(
    problem: Problem,
    start: Mapping[str, float],
    value: float,
    steps: int,
    random: np.random.Generator,
) -> float:
    study = problem.study(seed=0, trials=1)
    moves = {h.column for h in study.space if not isinstance(h.range, Choice)}
    place, best = dict(start), value
    width = 0.1
    for _ in range(steps):
        column_share = random.random()
        tried = {
            c: min(max(u + width * random.standard_normal(), 0.0), 1.0)
            if c in moves and random.random() < max(column_share, 0.3)
            else u
            for c, u in place.items()
        }
        new = problem.truth(study.configuration(tried))
        if new is not None and new < best:
            place, best, width = tried, new, min(width * 1.5, 0.2)
        else:
            width = max(width * 0.985, 1e-7)
    return best


def write(names: Sequence[str] = ()) -> None:
    """Find those named (or all) anew and keep them at once; the others stay as they are."""
    for name in names or problems():
        reference = find(problems()[name])
        print(name, reference, flush=True)
        known = json.loads(REFERENCES.read_text()) if REFERENCES.exists() else {}
        known[name] = vars(reference)
        lines = ",\n".join(f"  {json.dumps(n)}: {json.dumps(known[n])}" for n in sorted(known))
        REFERENCES.write_text(f"{{\n{lines}\n}}\n")
