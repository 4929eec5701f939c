"""The three variances of a round together: trial, study and data, each with its uncertainty.

The playbook: before adopting a change, know how much of a difference is due to the seed (trial
variance), to the search (study variance), and to the data that was collected and split (data
variance).

Two models are evaluated on the same examples, so the difference between them is known much better
than either value: per example, the variance of its mean is that of the paired differences over
their number (for right and wrong answers this is McNemar's (b + c - (b - c)^2 / n) / n^2). A
training program keeps them as `per_example.npy` in its folder: one number for each evaluation
example, at the checkpoint that is judged, in the same order in every trial.

What other splits into training and validation do is seen by training on several: `by_split`.

From one study it is the spread of the best of half of its trials, exactly over every half: right
within a factor of 2 from eight feasible trials on (median ratio to the truth 1.42, 1.22, 1.12, .87
at 10, 16, 30, 100 trials). Replicate studies with new points are the honest way: with three or five
a chi-square interval covers 92 and 90 %.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from tunewright import messages
from tunewright.actions import Action, Advise, MeasureVariance, Repeat
from tunewright.checks.positions import losses_of, study_trials
from tunewright.checks.trial_sd import seedless_trials
from tunewright.checks.variance import optimism, spread
from tunewright.errors import DesignError
from tunewright.execution.repeat import run_repeats
from tunewright.execution.run import watcher_of
from tunewright.execution.workload import Workload
from tunewright.facts import Facts
from tunewright.launches.arm import Arm
from tunewright.launches.launch import FEWEST_SPLITS
from tunewright.launches.looks import arm_on_splits, as_recorded, replicate, replicates, resplit
from tunewright.messages import Message, markup, words
from tunewright.progress.choose import Wanted
from tunewright.progress.watcher import Summary, Watcher
from tunewright.stats.best_of_k import best_of
from tunewright.stats.half_sampling import separate_halves, shared_halves
from tunewright.stats.noise import Floats
from tunewright.stats.spread import Spread, chi_square_interval
from tunewright.store.results import Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial

FILE = "per_example.npy"
_DRAWS = 1000  # of the bootstrap
_FEWEST_EXAMPLES = 30
_THIRD = 3.0  # of the degrees of freedom are used, as for repeats: the noise is not normal
Statistic = Callable[[Floats], float]
_FEWEST_TRIALS = 8  # feasible ones of a study
_FEWEST_STUDIES = 3
_WITHIN = 2.0  # the factor a spread from halves is right within
_HALVES_FREEDOM = 2.0  # what such a spread is worth: its logarithm varies by about 0.5
_NINETY = 3.29  # a normal 5 to 95 % interval, in standard deviations
Unknown = Literal["trial", "study", "data", "splits"]


def of_value(examples: npt.ArrayLike) -> Spread:
    """How well the value of one run is known from finitely many examples, being their mean.

    Give one number per example, or a row of them for each run: the variance is then the mean of
    the runs' own. Averaging the runs first would measure how well their average is known, which is
    less than the variance of the one run that is used.

    >>> right = [1, 1, 0, 1] * 25
    >>> of_value(right).sd.__round__(4), of_value([right, right[::-1]]).sd.__round__(4)
    (0.0435, 0.0435)
    """
    values = np.atleast_2d(np.asarray(examples, dtype=float))
    runs = [_rows(run, "the examples") for run in values]
    sd = float(np.sqrt(np.mean([run.var(ddof=1) for run in runs]) / len(runs[0])))
    low, high = chi_square_interval(sd, len(runs[0]) - 1)
    facts = {"examples": len(runs[0]), "runs": len(runs)}
    how = Message("variance.examples" if len(runs) == 1 else "variance.examples_of_runs", facts)
    return Spread("data", sd, low, high, len(runs[0]) - 1, how)


def of_gain(
    candidate: npt.ArrayLike, baseline: npt.ArrayLike, statistic: Statistic | None = None
) -> Spread:
    """How well the difference of two values is known from finitely many shared examples.

    Give one number per example, or a row of them for each run, which are then averaged. A metric
    that is no mean of its examples is named by `statistic` and bootstrapped in pairs.

    >>> of_gain([1, 1, 0, 1] * 25, [1, 0, 0, 1] * 25).sd.__round__(4)
    0.0435
    """
    b, a = _rows(candidate, "the candidate's examples"), _rows(baseline, "the baseline's examples")
    if len(a) != len(b):
        raise DesignError("launch.examples_differ", candidate=len(b), baseline=len(a))
    if statistic is None:
        return _of_mean(b - a, "variance.shared_examples")
    picks = np.random.default_rng(0xDA7A).integers(len(a), size=(_DRAWS, len(a)))
    gaps = [statistic(b[pick]) - statistic(a[pick]) for pick in picks]
    sd = float(np.std(gaps, ddof=1))
    low, high = chi_square_interval(sd, len(a) - 1)
    how = Message("variance.bootstrap", {"examples": len(a), "draws": _DRAWS})
    return Spread("data", sd, low, high, len(a) - 1, how)


def by_split(arm: Arm) -> Spread | None:
    """How far the value moves from one data split to the next, seeds included."""
    means = [float(values.mean()) for values in arm.by_split().values()]
    if len(means) < FEWEST_SPLITS:
        return None
    sd = float(np.std(means, ddof=1))
    low, high = chi_square_interval(sd, max(1.0, (len(means) - 1) / _THIRD))
    how = Message("variance.splits", {"splits": len(means)})
    return Spread("data", sd, low, high, len(means) - 1, how)


def examples_of(results: Results, trials: Iterable[Trial]) -> Floats | None:
    """What the trials kept per example, averaged over them; None if none kept anything."""
    rows = _runs_of(results, trials)
    return None if rows is None else np.asarray(rows.mean(axis=0))


def _runs_of(results: Results, trials: Iterable[Trial]) -> Floats | None:
    """What each of the trials kept per example, a row for each that did; None if none did."""
    rows = []
    for trial in trials:
        path = Path(results.root, trial.folder, FILE) if results.root and trial.folder else None
        if path is not None and path.is_file():
            rows.append(_read(path))
    if not rows:
        return None
    if len({len(row) for row in rows}) > 1:
        raise DesignError("launch.trials_differ_in_examples", file=FILE)
    return np.stack(rows)


def _read(path: Path) -> Floats:
    try:
        return np.asarray(np.load(path, allow_pickle=False), dtype=float).reshape(-1)
    except (OSError, ValueError) as error:
        raise DesignError("launch.not_an_array", path=path, error=error) from None


def _of_mean(values: Floats, how: str) -> Spread:
    count = len(values)
    sd = float(np.std(values, ddof=1)) / np.sqrt(count)
    low, high = chi_square_interval(sd, count - 1)
    return Spread("data", float(sd), low, high, count - 1, Message(how, {"examples": count}))


def _rows(examples: npt.ArrayLike, what: str) -> Floats:
    values = np.asarray(examples, dtype=float)
    if values.ndim == 2:
        values = values.mean(axis=0)
    if values.ndim != 1 or len(values) < _FEWEST_EXAMPLES or not np.isfinite(values).all():
        raise DesignError("launch.too_few_examples", what=what, fewest=_FEWEST_EXAMPLES)
    return values


def from_halves(results: Results, study: int) -> Spread | None:
    """The spread of a study's best, from halves of its trials; None with fewer than eight."""
    losses = _losses(results, study)
    feasible = losses[np.isfinite(losses)]
    if len(feasible) < _FEWEST_TRIALS:
        return None
    sd = best_of(feasible, len(feasible) // 2).sd
    how = Message("variance.halves", {"trials": len(feasible), "each": False})
    return Spread("study", sd, sd / _WITHIN, sd * _WITHIN, _HALVES_FREEDOM, how)


def from_replicates(replicates: Sequence[Results], study: int) -> Spread | None:
    """The spread of the best over studies of the same space with separate points."""
    bests = [best for r in replicates if np.isfinite(best := _best(r, study))]
    return _over(bests, "variance.studies")


def study_spread_of_gain(
    candidate: Results,
    candidate_study: int,
    baseline: Results,
    baseline_study: int,
    replicates: Sequence[Results] = (),
) -> Spread | None:
    """How much tuning noise changes the gain of one study's best over another's.

    Studies of a round share their points, and with them part of their noise, so that the difference
    is looked at half by half (or replicate by replicate), not each study on its own.
    """
    if len(replicates) >= _FEWEST_STUDIES:
        gaps = [_best(r, baseline_study) - _best(r, candidate_study) for r in replicates]
        return _over([gap for gap in gaps if np.isfinite(gap)], "variance.replicates")
    a, b = _losses(baseline, baseline_study), _losses(candidate, candidate_study)
    if min(np.isfinite(a).sum(), np.isfinite(b).sum()) < _FEWEST_TRIALS:
        return None
    if candidate.round.name == baseline.round.name and candidate_study != baseline_study:
        candidate_losses, baseline_losses = (
            _by_index(candidate, candidate_study),
            _by_index(baseline, baseline_study),
        )
        points = sorted(candidate_losses.keys() & baseline_losses.keys())
        a, b = (
            np.array([losses_at[point] for point in points])
            for losses_at in (baseline_losses, candidate_losses)
        )
        halves = shared_halves(a, b)
    else:
        halves = separate_halves(a, b)
    if halves is None:
        return None
    sd = (halves.interval[1] - halves.interval[0]) / _NINETY
    how = Message("variance.halves", {"trials": halves.trials, "each": True})
    return Spread("study", sd, sd / _WITHIN, sd * _WITHIN, _HALVES_FREEDOM, how)


def _over(values: Sequence[float], how: str) -> Spread | None:
    if len(values) < _FEWEST_STUDIES:
        return None
    sd = float(np.std(values, ddof=1))
    low, high = chi_square_interval(sd, len(values) - 1)
    known = Message(how, {"studies": len(values)})
    return Spread("study", sd, low, high, len(values) - 1, known)


def _best(results: Results, study: int) -> float:
    return float(_losses(results, study).min(initial=np.inf))


def _by_index(results: Results, study: int) -> dict[int, float]:
    """The loss at each point of the study's sequence."""
    for positions in study_trials(results):
        if positions.study.number == study:
            losses = losses_of(results, positions.trials)
            return {
                trial.index: float(loss)
                for trial, loss in zip(positions.trials, losses, strict=True)
                if trial.index is not None
            }
    return {}


def _losses(results: Results, study: int) -> Floats:
    """The losses of a study's trials in the order of their points, infinite where infeasible."""
    for positions in study_trials(results):
        if positions.study.number == study:
            return losses_of(results, positions.trials)
    return np.empty(0)


@dataclass(frozen=True)
class Variances(Facts):
    """How far chance moves the best value of a round, by where the chance comes from."""

    round: str
    metric: str
    trial: Spread | None  # the same configuration under other seeds
    study: Mapping[str, Spread]  # the best of each study, if its search were done again
    data: Spread | None  # the best value, on other examples of the same kind
    data_of_gain: Spread | None  # the difference between the two best studies, on other examples
    splits: Spread | None  # the best configuration, on other splits
    optimism: float | None  # by which the best value is too good, at least: it was picked
    missing: Mapping[Unknown, Action] = field(default_factory=dict)  # how to measure the rest
    rough: Mapping[Unknown, Action] = field(default_factory=dict)  # how to measure it better
    seedless: tuple[int, ...] = ()  # trials whose repeats were all the same: no seed is used
    interrupted: bool = False  # somebody stopped the training that was to measure it

    def __repr__(self) -> str:
        """What is known, a line each."""
        return f"<Variances of {self.round!r}>\n{self}"

    def _repr_html_(self) -> str:
        """A table for a notebook: each source with its standard deviation, and how to know more."""
        known = [self.trial, *self.study.values(), self.data, self.data_of_gain, self.splits]
        rows = tuple(
            (s.source, s.sd, f"{words.number(s.low)} … {words.number(s.high)}", s.how)
            for s in known
            if s is not None
        )
        names = ("source", "sd", "interval", "how")
        columns = tuple(Message(f"card.label.{name}").text for name in names)
        facts = {"round": self.round, "metric": self.metric}
        title = Message("card.variances", facts).text
        seedless = {"trials": list(self.seedless)}
        lines = [messages.text("repeat.identical", seedless)] if self.seedless else []
        calls = [(action.call, action.text) for action in self.missing.values()]
        return markup.card(title, lines, table=markup.Table(columns, rows), actions=calls)

    def __str__(self) -> str:
        """One line for each that is known."""
        known = [self.trial, *self.study.values(), self.data, self.data_of_gain, self.splits]
        lines = [str(spread_) for spread_ in known if spread_ is not None]
        if self.seedless:
            lines.insert(0, messages.text("repeat.identical", {"trials": list(self.seedless)}))
        return "\n".join(lines) or messages.text("variance.nothing_known", {})


def variance(
    results: Results,
    workload: Workload | None = None,
    *,
    times: int | None = None,
    studies: int | None = None,
    splits: int | None = None,
    store: str | os.PathLike[str] | None = None,
    progress: Wanted = "auto",
) -> Variances:
    """Trial, study and data variance of a round, from what its store has.

    Nothing is trained unless a count is given.

        print(tw.launches.variance(tw.load("tuning.db", "depth")))
        tw.launches.variance(results, workload, times=5, studies=3)

    Args:
        results: the round.
        workload: its training program; needed where something is to be trained.
        times: train the best trial again until it has so many repeats.
        studies: run the whole search again until there are so many of it.
        splits: train the best trial on each of so many data splits.
        store: None: the workload's, or the one the results were read from; needed for results of
            a PostgreSQL store with a password.
        progress: as for `tw.run`.
    """
    summary: Summary | None = None
    if times or studies or splits:
        if workload is None:
            raise DesignError("variance.no_workload")
        watch = watcher_of(progress, workload)
        summary = _measure(results, workload, times, studies, splits, watch)
    address = store or (workload.store if workload is not None else results.store)
    if not address:  # results that were never in a store
        return variances_of(results)
    with Store.open(address, create=False) as opened:
        recorded = as_recorded(opened, results.round.name, results)
        best = recorded.top(1)
        arm = arm_on_splits(opened, recorded, best[0]) if best else None
        known = variances_of(recorded, replicates(opened, recorded.round), arm)
    stopped = _stopped(summary)
    return replace(known, interrupted=True) if stopped else known


def variances_of(
    results: Results, replicates: Sequence[Results] = (), splits: Arm | None = None
) -> Variances:
    """The variances of a round, its replicates and the best configuration on several splits.

    `replicates` are the same round with other seeds (its own points count as one of them); `splits`
    is the best configuration trained on several data splits.
    """
    name = results.round.name
    seedless = seedless_trials(results)
    trial_spread = None if seedless else spread(_groups(results))
    trial = None
    if trial_spread is not None:
        freedom = trial_spread.repeats - trial_spread.groups
        how = Message("variance.repeats", {"repeats": trial_spread.repeats})
        trial = Spread("trial", trial_spread.sd, trial_spread.low, trial_spread.high, freedom, how)
    studies = {}
    for study in results.studies:
        study_spread = from_replicates([results, *replicates], study.number) if replicates else None
        study_spread = study_spread or from_halves(results, study.number)
        if study_spread is not None:
            studies[study.label] = study_spread
    best = results.top(1)
    data, gap = _data(results, best[0]) if best else (None, None)
    missing: dict[Unknown, Action] = {}
    if trial is None:
        missing["trial"] = Advise("use_the_seed") if seedless else Repeat(name)
    rough: dict[Unknown, Action] = {}
    if not replicates:  # halves are right within a factor of two
        known = rough if len(studies) == len(results.studies) else missing
        known["study"] = MeasureVariance(name, studies=3)
    if data is None:
        missing["data"] = Advise("save_per_example")
    if splits is None:
        missing["splits"] = MeasureVariance(name, splits=5)
    return Variances(
        round=name,
        metric=results.objective.metric,
        trial=trial,
        study=studies,
        data=data,
        data_of_gain=gap,
        splits=None if splits is None else by_split(splits),
        optimism=_optimism(results, trial),
        missing=missing,
        rough=rough,
        seedless=seedless,
    )


def _measure(
    results: Results,
    workload: Workload,
    times: int | None,
    studies: int | None,
    splits: int | None,
    watch: Watcher | None,
) -> Summary | None:
    """Train what it takes to know them; how the last training ended."""
    summary: Summary | None = None
    if times:
        _, summary, _ = run_repeats(results.best(), workload, times, watch)
    if studies and not _stopped(summary):
        _, summary = replicate(results, workload, studies, watch)
    if splits and not _stopped(summary):
        _, summary = resplit(results, results.best(), workload, splits, watch)
    return summary


def _stopped(summary: Summary | None) -> bool:
    return summary is not None and summary.why != "finished"


def _groups(results: Results) -> list[list[float]]:
    parents = dict.fromkeys(r.parent for r in results.recorded_repeats if r.parent is not None)
    return [[r.value for r in results.repeats(p) if r.value is not None] for p in parents]


def _data(results: Results, best: Trial) -> tuple[Spread | None, Spread | None]:
    """The data variance of the best value, and of its difference to the best other study."""
    runs, examples = _runs(results, best), _examples(results, best)
    if runs is None or examples is None:
        return None, None
    for rival in results.top():
        if rival.study != best.study or len(results.studies) == 1:
            other = _examples(results, rival) if rival.number != best.number else None
            if other is not None and len(other) == len(examples):
                return of_value(runs), of_gain(examples, other)
    return of_value(runs), None


def _runs(results: Results, trial: Trial) -> Floats | None:
    """What its repeats kept per example, a row for each of them; its own where they kept none."""
    rows = _runs_of(results, results.repeats(trial))
    return _runs_of(results, [trial]) if rows is None else rows


def _examples(results: Results, trial: Trial) -> Floats | None:
    """The same averaged over the repeats: their difference holds less of the seeds' noise."""
    rows = _runs(results, trial)
    return None if rows is None else np.asarray(rows.mean(axis=0))


def _optimism(results: Results, trial: Spread | None) -> float | None:
    """By how much the best value of the best study is too good, at least."""
    if trial is None or not trial.sd > 0:
        return None
    best = results.top(1)
    losses = losses_of(results, results.rows_of(best[0].study)) if best else np.empty(0)
    losses = losses[np.isfinite(losses)]
    return optimism(losses, trial.sd) if len(losses) >= 4 else None
