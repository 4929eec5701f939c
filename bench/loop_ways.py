"""The ways that bench/loop_users.py compares: `tune`, and searches alone as users run them.

Every way trains one problem within the same number of steps. A trial that diverges counts as whole;
one that is stopped counts the steps that it took, so a pruner has more trials. What a way chose is
what it names in the end: `tune` its winner, a search alone the trial of the best value.
"""

from __future__ import annotations

import inspect
import logging
import math
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import tunewright as tw

Configuration = Mapping[str, Any]
Curve = Sequence[tuple[int, float]]
MEMORY = Path("/dev/shm")
RIVALS = ("tpe", "tpe pruned", "gp worst", "random")


class Asked(Protocol):
    """What a way needs to know of a problem."""

    seed: int
    space: Mapping[str, Any]
    steps: int  # of a training
    options: Mapping[str, Any]  # what the program takes beside the space, with its default
    extend_to: int | None  # the search may train for less, and only this length counts

    def curve(self, configuration: Configuration, seed: int) -> Curve:
        """Steps and validation values of one training; nan at the end when it diverges."""
        ...

    def report(self, run: tw.protocols.Run, configuration: Configuration) -> int:
        """One training that logs all it has; the steps it took, a diverged one counting whole."""
        ...


@dataclass(frozen=True)
class Chosen:
    """What a way named after so many trainings' worth of steps."""

    trials: int  # the budget
    configuration: Configuration | None
    trained: int  # trainings begun
    steps: int  # of training
    more: Mapping[str, Any]


def by_tune(problem: Asked, trials: int) -> Chosen:
    """Ours: exploration, widening, exploitation, repeats, all within the trials."""
    logging.disable(logging.WARNING)
    used = 0

    def train(run: tw.protocols.Run, **given: Any) -> None:
        nonlocal used
        used += problem.report(run, given)

    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    arguments = [inspect.Parameter(n, positional) for n in ("run", *problem.space)]
    defaults = {**problem.options, "max_train_steps": problem.steps}
    arguments += [inspect.Parameter(n, positional, default=v) for n, v in defaults.items()]
    train.__signature__ = inspect.Signature(arguments)  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.exists() else None) as folder:
        workload = tw.Workload(
            train,
            tw.minimize("valid_error"),
            store=Path(folder) / "tuning.db",
            executor=tw.executors.Inline(),
        )
        terms = tw.campaigns.TuneTerms(seed=problem.seed, extend_to=problem.extend_to)
        length = {} if problem.extend_to is not None else {"max_train_steps": problem.steps}
        space = {**problem.space, **length}
        campaign = tw.tune(workload, space, trials=trials, terms=terms, progress="off")
        log = [
            (own.kind, own.round, sum(t.ended for t in _trials(campaign, own.round)))
            for own in campaign.log
        ]
        ranges = {r.round.name: _ranges(r.round.nuisance, problem.space) for r in campaign.rounds}
    winner = campaign.winner
    chosen = None if winner is None else dict(winner.trial.configuration)
    stopped = sum(t.status == "pruned" for t in campaign.all_trials())
    more = {"log": log, "ranges": ranges, "stopped": stopped}
    return Chosen(trials, chosen, campaign.spent, used, more)


def _trials(campaign: Any, name: str) -> Sequence[Any]:
    return next((r.trials for r in campaign.rounds if r.round.name == name), ())


def _ranges(now: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, str]:
    return {n: str(r) for n, r in now.items() if n in given and str(r) != str(given[n])}


def by_search(way: str) -> Callable[[Asked, Sequence[float]], list[Chosen]]:
    """One of Optuna's samplers; what it names at each of several budgets of one run."""

    def search(problem: Asked, budgets: Sequence[float]) -> list[Chosen]:
        import optuna
        from search.optuna_contestants import _suggest

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        warnings.simplefilter("ignore")
        seed, steps = problem.seed, problem.steps
        samplers: Mapping[str, Callable[[], Any]] = {
            "tpe": lambda: optuna.samplers.TPESampler(seed=seed),
            "tpe pruned": lambda: optuna.samplers.TPESampler(seed=seed),
            "gp worst": lambda: optuna.samplers.GPSampler(seed=seed),
            "random": lambda: optuna.samplers.RandomSampler(seed=seed),
        }
        pruner = (
            optuna.pruners.MedianPruner() if way == "tpe pruned" else optuna.pruners.NopPruner()
        )
        study = optuna.create_study(sampler=samplers[way](), pruner=pruner)
        used, worst, found = 0, None, []
        waiting: list[Any] = []
        best: tuple[float, Configuration | None] = (math.inf, None)
        for budget in sorted(budgets):
            while used < budget * steps:
                trial = study.ask()
                configuration = {n: _suggest(trial, n, r) for n, r in problem.space.items()}
                reached, last, pruned = math.inf, 0, False
                for step, value in problem.curve(configuration, 10_000 * seed + trial.number):
                    if not math.isfinite(value):
                        used, reached = used + steps - last, math.nan
                        break
                    used, last, reached = used + step - last, step, min(reached, value)
                    trial.report(value, step)
                    if trial.should_prune():
                        pruned = True
                        break
                if math.isfinite(reached) and not pruned:
                    study.tell(trial, reached)
                    worst = reached if worst is None else max(worst, reached)
                    best = min(best, (reached, configuration), key=lambda own: own[0])
                    for own in waiting:
                        study.tell(own, worst)
                    waiting = []
                elif pruned:
                    study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                elif way != "gp worst":
                    study.tell(trial, state=optuna.trial.TrialState.FAIL)
                elif worst is None:
                    waiting.append(trial)
                else:
                    study.tell(trial, worst)
            found.append(Chosen(round(budget), best[1], len(study.trials), used, {}))
        return found

    return search


def interval(gaps: Sequence[float]) -> tuple[float, float]:
    """95 % of the mean's bootstrap distribution over problems."""
    own = np.array(gaps)
    random = np.random.default_rng(0)
    drawn = own[random.integers(len(own), size=(10_000, len(own)))].mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)
