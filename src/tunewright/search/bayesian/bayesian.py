"""Bayesian search: a Gaussian process of the trials so far shows where the next one gains most.

A pure function of the study and its trials, as every search: it fits anew at every question, so
resuming and replaying are free. A trial that diverged is data, with the worst value there is; a
running one is taken to come out as predicted, so that nobody looks there again meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tunewright.design.objective import Objective
from tunewright.design.round import Round
from tunewright.design.study import Study
from tunewright.errors import DesignError
from tunewright.search.bayesian.candidates import Acquisition, Tried, every_configuration, highest
from tunewright.search.bayesian.feasibility import log_probability
from tunewright.search.bayesian.history import History, history
from tunewright.search.bayesian.model import KEEP_MOST, Model, Recipe, for_search, learn
from tunewright.search.bayesian.user_prior import UserPrior, beliefs_of, remaining
from tunewright.search.halton import Halton
from tunewright.search.search import Suggestion
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_Array = npt.NDArray[np.float64]
LEAST_KNOWN = 3  # outcomes before a model is asked
_AROUND = 6  # best points that candidates step away from
SURE = 0.95  # probability to be feasible of what is recommended
_CANDIDATES = 0x61  # what a stream of random numbers is for


@dataclass(frozen=True)
class Bayesian:
    """Bayesian search, for rounds that exploit: few trials at a time, and one question, the best.

    Quasi-random points come first. `earlier` are results of other rounds: their trials of the same
    objective and fixed values are learnt from, within the bounds of this round or beyond.
    A round with scientific hyperparameters is refused, since what they are compared on must cover
    the space evenly, unless `scientific` declares that this is known.
    """

    scientific: bool = False  # whether scientific hyperparameters are allowed
    earlier: Sequence[Results] = ()  # results of other rounds to learn from
    recipe: Recipe = field(default_factory=Recipe)  # settings of the model and the acquisition

    def __post_init__(self) -> None:
        """Take a copy of the list."""
        object.__setattr__(self, "earlier", tuple(self.earlier))

    @property
    def name(self) -> str:
        """Its name in the database."""
        return "bayesian"

    @property
    def adaptive(self) -> bool:
        """Yes: a suggestion depends on the trials before it."""
        return True

    def vet(self, round: Round, objective: Objective) -> None:
        """Refuse a round that asks about scientific hyperparameters, and results of another kind.

        Its later trials crowd around the best of each study, so settings are no longer compared on
        equal draws, and how each hyperparameter acts cannot be read off them.
        """
        if round.scientific and not self.scientific:
            raise DesignError(
                "bayesian.compares_settings", round=round.name, names=list(round.scientific)
            )
        for results in self.earlier:
            if results.objective != objective:
                raise DesignError(
                    "bayesian.earlier_objective",
                    round=results.round.name,
                    objective=results.objective,
                    own=objective,
                )

    def suggest(self, study: Study, trials: Sequence[Trial], count: int) -> list[Suggestion]:
        """The configurations from which the most is to be gained, each of them new."""
        known = history(study, trials, self.earlier)
        count = int(min(count, known.left))
        prior = beliefs_of(known.encoding) if self.recipe.belief else UserPrior(())
        rows = _first_points(known, int(min(count, self._to_cover(known))), prior)
        suggestions = [_suggestion(study, known, row) for row in rows]
        if len(suggestions) < count and len(known.rows):
            rest = self._by_model(known, rows, count - len(suggestions), prior)
            suggestions += [_suggestion(study, known, row) for row in rest]
        return suggestions

    def recommend(self, study: Study, trials: Sequence[Trial]) -> Trial | None:
        """The completed trial of the best predicted mean that is feasible with probability 0.95.

        Not that of the best value: among many, noise helped that one. If none is so sure to be
        feasible, the surest; None without a completed trial.
        """
        known = history(study, trials, self.earlier)
        if not known.feasible[: known.study_count].any():
            return None
        return recommendation(known, learn(known, self.recipe, feasibility=True))

    def _to_cover(self, known: History) -> float:
        """How many quasi-random points are to come before the model is asked."""
        outcomes = len(known.rows)
        if outcomes < LEAST_KNOWN:
            return math.inf
        wanted = self.recipe.first or first_trials(known.encoding.study)
        return max(0, wanted - known.claimed - (outcomes - known.study_count))

    def _by_model(
        self, known: History, chosen: _Array, count: int, prior: UserPrior
    ) -> Iterator[_Array]:
        """Row after row, each taken to come out as predicted before the next is sought."""
        encoding, recipe = known.encoding, self.recipe
        prior = remaining(prior, known, recipe.belief)
        model = for_search(known, recipe)
        tried = Tried(encoding, np.vstack([known.tried, chosen]))
        waiting = np.vstack([known.waiting, chosen])
        if recipe.waiting == "believed":
            model = model.believing(waiting)
        random = np.random.default_rng([encoding.study.seed, _CANDIDATES, known.next_index])
        best = _best_rows(known, model)
        alone = count == 1 and not len(waiting)
        kind = "bound" if alone and model.noisy > recipe.surely else recipe.acquisition
        for _ in range(count):
            incumbent = _incumbent(known, model, waiting)
            acquisition = Acquisition(model.process, incumbent, model.feasible, kind)
            row = highest(acquisition, tried, best, random, prior)
            if row is None:
                return
            yield row
            tried = tried.and_also(row)
            if recipe.waiting == "believed":
                model = model.believing(row[None, :])
                waiting = np.vstack([waiting, row])


def first_trials(study: Study) -> int:
    """How many quasi-random trials a model of this study learns from first."""
    dimensions = max(len(branch.dimensions) for branch in study.branches)
    return max(4, min(dimensions + 2, 10)) * min(len(study.branches), 3)


def recommendation(known: History, model: Model) -> Trial:
    """See `Bayesian.recommend`; at least one of the study's trials completed."""
    completed = np.flatnonzero(known.feasible[: known.study_count]).tolist()
    features = known.encoding.features(known.rows[completed])
    mean, _ = model.process.predict(features)
    if model.feasible is not None:
        sure = np.exp(log_probability(*model.feasible.predict(features)))
        if not np.any(sure >= SURE):
            return known.trials[completed[int(np.argmax(sure))]]
        mean = np.where(sure >= SURE, mean, np.inf)
    return known.trials[completed[int(np.argmin(mean))]]


def _first_points(known: History, count: int, prior: UserPrior) -> _Array:
    """The next points of the study's own quasi-random sequence that have not been tried.

    Every other one is moved to where the user believes the best values to be.
    """
    encoding = known.encoding
    tried = Tried(encoding, known.tried)
    rows = np.empty((0, len(encoding.space)))
    start, looked = known.next_index, 0
    while len(rows) < count and looked < 64 * (count + 16):
        ahead = Halton().suggest(encoding.study, (_at(start - 1),), max(count, 64))
        points = encoding.positions([suggestion.unit for suggestion in ahead])
        if prior.columns:
            points = encoding.snap(prior.first(points, start))
        start, looked = start + len(ahead), looked + len(ahead)
        for row in points:
            if len(rows) < count and not tried.among(row[None, :])[0]:
                rows = np.vstack([rows, row])
                tried = tried.and_also(row)
    if len(rows) < count:  # a small space: whatever the sequence has not come to
        every = every_configuration(encoding)
        rows = np.vstack([rows, every[~tried.among(every)][: count - len(rows)]])
    return rows


def _at(index: int) -> Trial:
    return Trial(number=None, study=0, index=index, configuration={}, unit={}, status="running")


def _suggestion(study: Study, known: History, row: _Array) -> Suggestion:
    unit = known.encoding.unit(row)
    return Suggestion(study.configuration(unit), unit)


def _best_rows(known: History, model: Model) -> _Array:
    """The rows of this study that are predicted to be the best."""
    rows = known.rows[_promising(known.values[: known.study_count])]
    if not len(rows):
        rows = known.tried if len(known.tried) else known.rows[:1]
    mean, _ = model.process.predict(known.encoding.features(rows))
    return np.clip(rows[np.argsort(mean, kind="stable")[:_AROUND]], 0.0, 1.0)


def _incumbent(known: History, model: Model, waiting: _Array) -> float:
    """The best predicted mean: the best value seen may be noise."""
    rows = known.rows[_promising(known.values)] if known.feasible.any() else known.rows
    mean, _ = model.process.predict(known.encoding.features(np.vstack([rows, waiting])))
    return float(mean.min())


def _promising(values: _Array) -> npt.NDArray[np.intp]:
    """Where the feasible trials are; of very many the best, the only ones that can matter."""
    feasible = np.flatnonzero(np.isfinite(values))
    best = np.argsort(values[feasible], kind="stable")[:KEEP_MOST]
    return np.sort(feasible[best])
