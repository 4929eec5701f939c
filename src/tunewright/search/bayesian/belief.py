"""What the Bayesian search believes: the best value to expect, what diverges, and what is left.

Beliefs come from the stored trials, by the same model that suggests. They are no proof: `repeat`
and the checks show what can be relied on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tunewright.design.ranges import Value
from tunewright.design.study import Study
from tunewright.messages import worded
from tunewright.search.bayesian.bayesian import LEAST_KNOWN, Bayesian, first_trials, recommendation
from tunewright.search.bayesian.feasibility import log_probability
from tunewright.search.bayesian.history import History, history
from tunewright.search.bayesian.model import Model, learn, others
from tunewright.search.search import search_trials
from tunewright.store.joined import alone
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_Array = npt.NDArray[np.float64]
NEXT = 10  # trials whose gain is foretold
_PLACES = 9  # along every axis of the map
# beyond 90 % on paper, so that 90 of 100 intervals hold the truth (docs/methods_search.md)
_SPREAD = 1.96
_QUANTILES = (0.025, 0.975)
_DRAWS = 512
_WORTHWHILE = 0.02  # of what tuning has gained so far over the median trial
_LEAST_TRIALS = 20  # before anything is called saturated
_LEAST_NEAR = 3  # trials about as good as the best: one alone may be the rim of something deeper
_NEAR = 3.0  # times the worthwhile gain: about as good
_LAST = 10  # trials that brought no worthwhile gain


@dataclass(frozen=True)
class Estimate:
    """A value of the objective with its 90 % interval, without the noise of a single trial."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Axis:
    """How probably a trial is feasible along one hyperparameter, the others as recommended."""

    column: str
    values: tuple[Value, ...]
    feasible: tuple[float, ...]


@dataclass(frozen=True)
class Belief:
    """What is believed of one study; None and empty where the trials are too few for a model."""

    study: Study
    outcomes: int  # trials it was learnt from
    earlier: int  # of them, of other rounds
    infeasible: int  # of them
    recommended: Trial | None  # of the best predicted value, and feasible with probability 0.95
    predicted: Estimate | None  # there
    feasible: float | None  # probability there
    axes: tuple[Axis, ...]
    gain: float | None  # expected of the next 10 trials, in units of the objective; never negative
    worthwhile: float | None  # a gain below it is not worth 10 trials
    saturated: bool
    says: str

    @property
    def configuration(self) -> Mapping[str, Value]:
        """What is recommended; empty without a recommendation."""
        return {} if self.recommended is None else self.recommended.configuration


def believe(results: Results, search: Bayesian | None = None) -> tuple[Belief, ...]:
    """What a Bayesian search believes of every study of a round, whichever search ran it.

    Trials of the rounds that this one continues count too, where they fit: those that `load` has
    joined to the results.

    Args:
        results: a round as `tw.run` or `tw.load` returns it.
        search: whose settings to use; None: `tw.search.Bayesian()`.
    """
    before = [earlier.with_objective(results.objective) for earlier in results.earlier]
    learner = search or Bayesian(earlier=before)
    here = alone(results)
    return tuple(_belief(here, study, learner) for study in here.studies)


def _belief(results: Results, study: Study, search: Bayesian) -> Belief:
    trials = search_trials(results, study)
    known = history(study, trials, search.earlier)
    outcomes, feasible = len(known.rows), int(known.feasible.sum())
    if outcomes < LEAST_KNOWN or not known.feasible[: known.study_count].any() or not study.space:
        why = (
            "there is nothing to search"
            if not study.space
            else f"{feasible} of {outcomes} trials completed, too few to believe anything"
        )
        nothing = (None, None, None, (), None, None)
        here, diverged = known.study_count, outcomes - feasible
        return Belief(
            study, outcomes, outcomes - here, diverged, *nothing, saturated=False, says=why
        )
    model = learn(known, search.recipe, feasibility=True)
    chosen = recommendation(known, model)
    row = known.encoding.positions([chosen.unit or study.unit(chosen.configuration)])
    predicted, low, high = _estimate(model, row)
    sign = -results.objective.sign
    gain = _gain(search, study, trials, known, model, row)
    worthwhile = _worthwhile(results.round.detect, known, predicted)
    enough = max(_LEAST_TRIALS, 2 * first_trials(study))
    surveyed = confirmed(known, model, worthwhile)
    saturated = outcomes >= enough and gain < worthwhile and surveyed
    low, high = sorted((sign * low, sign * high))
    return Belief(
        study=study,
        outcomes=outcomes,
        earlier=outcomes - known.study_count,
        infeasible=outcomes - feasible,
        recommended=results.trial(chosen.number) if chosen.number is not None else chosen,
        predicted=Estimate(sign * predicted, low, high),
        feasible=_probability(model, row)[0],
        axes=_axes(study, known, model, row[0]),
        gain=gain,
        worthwhile=worthwhile,
        saturated=saturated,
        says=_sentence(saturated, outcomes, enough),
    )


def _estimate(model: Model, row: _Array) -> tuple[float, float, float]:
    """The prediction, and an interval of the most probable process and of all plausible ones.

    Either alone is too sure: the first of its length scales, the second of how much is noise.
    """
    features = model.encoding.features(row)
    mean, sd = (float(value[0]) for value in model.process.predict(features))
    low, high = others(model).quantiles(features, _QUANTILES)
    ends = (mean, min(low, mean - _SPREAD * sd), max(high, mean + _SPREAD * sd))
    predicted, least, most = model.value(np.array(ends)).tolist()
    return predicted, least, most


def _probability(model: Model, rows: _Array) -> list[float]:
    if model.feasible is None:
        return [1.0] * len(rows)
    latent = model.feasible.predict(model.encoding.features(rows))
    probabilities: list[float] = np.exp(log_probability(*latent)).tolist()
    return probabilities


def _axes(study: Study, known: History, model: Model, row: _Array) -> tuple[Axis, ...]:
    """The map; of a conditional hyperparameter only where the recommendation has it active."""
    axes = []
    for column, h in enumerate(study.space):
        if math.isnan(row[column]) or known.encoding.parents[column]:
            continue
        bins = known.encoding.bins(column)
        places = list(bins) if 0 < len(bins) <= _PLACES else np.linspace(0, 1, _PLACES).tolist()
        rows = np.tile(row, (len(places), 1))
        rows[:, column] = places
        snapped = known.encoding.snap(rows)
        values = tuple(h.range.value(place) for place in places)
        axes.append(Axis(h.column, values, tuple(_probability(model, snapped))))
    return tuple(axes)


def _gain(
    search: Bayesian, study: Study, trials: list[Trial], known: History, model: Model, row: _Array
) -> float:
    """What the best of the next trials is expected to be better by, were they run all at once."""
    ahead = search.suggest(study, trials, NEXT)
    if not ahead:
        return 0.0
    rows = np.vstack([row, known.encoding.positions([suggestion.unit for suggestion in ahead])])
    mean, covariance = model.process.predict_jointly(known.encoding.features(rows))
    random = np.random.default_rng([study.seed, known.next_index])
    drawn = random.multivariate_normal(mean, covariance, _DRAWS, method="eigh")
    values = model.value(drawn)
    lives = random.random((_DRAWS, len(ahead))) < np.array(_probability(model, rows[1:]))
    best = np.where(lives, values[:, 1:], np.inf).min(axis=1)
    return float(np.maximum(values[:, 0] - best, 0.0).mean())


def _worthwhile(detect: float | None, known: History, predicted: float) -> float:
    """The difference the round wants to find, else a share of what tuning has gained so far."""
    if detect is not None:
        return detect
    middle = float(np.median(known.values[known.feasible]))
    return _WORTHWHILE * max(middle - predicted, 0.0)


def confirmed(known: History, model: Model, worthwhile: float) -> bool:
    """Whether the trials themselves show a floor, whatever the model expects beyond them.

    Several trials must be predicted to be about as good as the best one, and the last ten must
    have brought nothing worthwhile. A model that has seen one point of a narrow basin, or the rim
    of a deeper one, expects no gain either.
    """
    features = model.encoding.features(known.rows[known.feasible])
    predicted = model.value(model.process.predict(features)[0])
    near = int((predicted <= predicted.min() + _NEAR * worthwhile).sum())
    values = known.values[: known.study_count]
    before, after = values[:-_LAST], values[-_LAST:]
    before, after = before[np.isfinite(before)], after[np.isfinite(after)]
    gained = before.min() - after.min() if len(before) and len(after) else 0.0
    return near >= _LEAST_NEAR and bool(gained < worthwhile)


def _sentence(saturated: bool, outcomes: int, enough: int) -> str:
    if saturated:
        return worded("belief.saturated")
    if outcomes < enough:
        return worded("belief.few", trials=outcomes, enough=enough)
    return worded("belief.pays")
