"""How many steps does a study need to a goal, and can its answer be trusted?

The fewest over its trials. Trusted if the fastest are not at the edge of the search space, three
trials or more reach the goal, and evaluations are close enough together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from tunewright.checks.boundary import Edge, edge
from tunewright.checks.positions import axes, has_edges, settled
from tunewright.design.conditions import Hyperparameter
from tunewright.design.objective import Objective
from tunewright.design.ranges import Value
from tunewright.messages import Message
from tunewright.probes.scaling import Label, Luck, luck
from tunewright.stats.crowding import FEWEST
from tunewright.store.curves import Curve
from tunewright.store.results import Results
from tunewright.store.trial import Trial

SHARE = 0.2  # of the feasible trials at the smallest batch size reach the goal
FEWEST_REACH = 3  # trials, at every batch size
FINE = 0.02  # of the steps: how close evaluations should be
COARSE = 0.1  # further apart than this, the steps are not known


@dataclass(frozen=True)
class SizePoint:
    """One batch size: the steps its study needed, and whether they count."""

    batch_size: int
    steps: float | None  # the fewest of any trial; None: none reached the goal
    low: float | None  # of the best of half the trials, 5 %
    high: float | None  # 95 %; None: half of the trials may well miss the goal
    reached: int  # trials that reached the goal
    trials: int
    feasible: int
    spacing: float | None  # steps between evaluations where the fastest reached it
    fastest: Mapping[str, Value]  # its configuration; empty when none reached the goal
    problems: tuple[Message, ...]  # why it does not count
    caveats: tuple[Message, ...]
    round: str  # the name of its round
    scaling: Label | None = None  # against the size before that counts

    @property
    def valid(self) -> bool:
        """Whether it counts."""
        return not self.problems


def goal_of(results: Results) -> float | None:
    """The value that a fifth of the feasible trials reach, three at least; None: too few trials."""
    values = [trial.value for trial in results.top(len(results.trials)) if trial.value is not None]
    place = max(FEWEST_REACH, math.ceil(SHARE * len(values)))
    return values[place - 1] if place <= len(values) else None


def steps_of(trial: Trial, objective: Objective, goal: float) -> tuple[float, float] | None:
    """The step at which a trial first is as good as the goal, interpolated, and the spacing there.

    None: it never is, or it is infeasible.
    """
    curve = trial.curves.only(objective.metric)
    if trial.status != "completed" or curve is None:
        return None
    return first_reached(curve, goal, objective.minimize)


def first_reached(curve: Curve, goal: float, minimize: bool) -> tuple[float, float] | None:
    """The step at which a curve first is as good as the goal, and how far apart evaluations are.

    >>> first_reached(Curve(np.array([10, 20, 30]), np.array([0.9, 0.5, 0.1])), 0.3, True)
    (25.0, 10.0)
    """
    good = curve.values <= goal if minimize else curve.values >= goal
    if not good.any():
        return None
    at = int(np.argmax(good))
    step = float(curve.steps[at])
    if at == 0:
        return step, step
    before, spacing = float(curve.values[at - 1]), step - float(curve.steps[at - 1])
    share = (before - goal) / (before - float(curve.values[at]))
    return step - (1 - share) * spacing, spacing


def size_point(results: Results, batch_size: int, goal: float) -> tuple[SizePoint, Luck]:
    """Judge one batch size's study against the goal."""
    ended = [t for t in results.trials if t.status in ("completed", "infeasible")]
    found = {t.number: steps_of(t, results.objective, goal) for t in ended}
    reached = [(steps[0], steps[1], t) for t in ended if (steps := found[t.number]) is not None]
    own_luck = luck([steps[0] if (steps := found[t.number]) else math.inf for t in ended] or [1.0])
    best = min(reached, key=lambda one: one[0], default=None)
    feasible = sum(t.status == "completed" for t in ended)
    problems, caveats = list[Message](), list[Message]()
    if len(reached) < FEWEST_REACH:
        counts = {"reached": len(reached), "trials": len(ended), "needed": FEWEST_REACH}
        problems.append(Message("probe.critical_batch.few_reach", {**counts, "goal": goal}))
    problems += _at_edge(results, found)  # often why so few reach it
    if best is not None and best[1] > max(1.0, FINE * best[0]):
        counts_still = best[1] <= COARSE * best[0]
        facts = {"spacing": best[1], "steps": best[0], "counts": counts_still}
        coarse = Message("probe.critical_batch.coarse", facts)
        (caveats if counts_still else problems).append(coarse)
    point = SizePoint(
        batch_size,
        None if best is None else best[0],
        own_luck.low if math.isfinite(own_luck.low) else None,
        own_luck.high if math.isfinite(own_luck.high) else None,
        len(reached),
        len(ended),
        feasible,
        None if best is None else best[1],
        {} if best is None else dict(best[2].configuration),
        tuple(problems),
        tuple(caveats),
        results.round.name,
    )
    return point, own_luck


def _at_edge(
    results: Results, found: Mapping[int | None, tuple[float, float] | None]
) -> list[Message]:
    """Whether the fastest trials crowd at an end of a range, and what to search instead."""
    own = settled(results)[0]
    lines = [axis for axis in axes(results, own) if has_edges(axis.hyperparameter.range)]
    problems = []
    for axis in lines:
        losses = _slowness(axis.trials, found, results.objective)
        feasible = int(np.isfinite(losses).sum())
        if feasible < FEWEST:
            few = {"feasible": feasible, "needed": FEWEST}
            return [Message("probe.critical_batch.few_for_edges", few)]
        edge_found = edge(results.meaning, replace(axis, losses=losses), len(lines))
        if edge_found.verdict == "warn":
            problems.append(_edge_message(axis.hyperparameter, edge_found))
    return problems


def _edge_message(searched: Hyperparameter, found: Edge) -> Message:
    """The end of a range at which the fastest trials lie."""
    proposed = found.proposed
    facts = {
        "column": searched.column,
        "range": str(searched.range),
        "side": found.seen.side,
        "alone": found.seen.rule == "lone",
        "best_few": found.seen.best_few,
        "proposed": None if proposed is None else str(proposed),
    }
    return Message("probe.critical_batch.at_edge", facts)


def _slowness(
    trials: tuple[Trial, ...],
    found: Mapping[int | None, tuple[float, float] | None],
    objective: Objective,
) -> np.ndarray:
    """Trials from the fastest down: by steps, then those that missed the goal by their value."""
    values = [t.value for t in trials if t.value is not None and found.get(t.number) is None]
    order = sorted(values, key=lambda value: -objective.sign * value)
    slowest = max((math.log(steps[0]) for t in trials if (steps := found.get(t.number))), default=0)
    losses = []
    for t in trials:
        steps = found.get(t.number)
        if steps is not None:
            losses.append(math.log(steps[0]))
        elif t.value is None:
            losses.append(math.inf)
        else:
            losses.append(slowest + (1 + order.index(t.value)) / len(order))
    return np.array(losses)
