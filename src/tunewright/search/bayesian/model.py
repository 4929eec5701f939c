"""The model of a study: a process of the warped objective, and if asked one of feasibility."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from tunewright.search.bayesian.encoding import Encoding
from tunewright.search.bayesian.feasibility import learn_feasibility
from tunewright.search.bayesian.gaussian_process import (
    GAUSSIAN,
    MATERN,
    GaussianProcess,
    Prior,
    condition,
    fit_parameters,
)
from tunewright.search.bayesian.history import History
from tunewright.search.bayesian.plausible import Data, Plausible, plausible

Array = npt.NDArray[np.float64]
_FIT_MOST = 150  # trials by which length scales are found
KEEP_MOST = 400  # trials the process is conditioned on: more add cost, hardly knowledge
_KERNELS = {"matern": MATERN, "gaussian": GAUSSIAN}


@dataclass(frozen=True)
class Model:
    """What is believed of the objective, in warped units: `value` leads back to the objective's."""

    encoding: Encoding
    process: GaussianProcess
    feasible: GaussianProcess | None
    warp: Warp
    shift: float
    spread: float
    data: Data  # what the process of the objective learnt from, all of it
    prior: Prior
    noisy: float = 0.0  # share of noise in the variance of plain values; 0: the values are warped

    def value(self, warped_values: Array) -> Array:
        """The objective at these warped values; smaller is better in both."""
        return self.warp.back(warped_values * self.spread + self.shift)

    def believing(self, rows: Array) -> Model:
        """The model as if trials at these rows had come out as predicted."""
        features = self.encoding.features(rows)
        feasible = self.feasible
        return replace(
            self,
            process=self.process.believing(features),
            feasible=None if feasible is None else feasible.believing(features),
        )


def learn(history: History, recipe: Recipe, feasibility: bool = False) -> Model:
    """Learn from the trials that came to an outcome; at least one of them.

    `feasibility` asks for the second process too, which the recipe may not need for its search.
    """
    encoding, kernel = history.encoding, _KERNELS[recipe.kernel]
    columns = len(encoding.space)
    features = encoding.features(history.rows)
    feasible = history.feasible
    outcomes, warp = warp_values(history.values[feasible], recipe.bend, recipe.halves)
    values = np.full(len(feasible), np.quantile(outcomes, recipe.level) if len(outcomes) else 0.0)
    values[feasible] = outcomes
    drops = recipe.diverged != "worst" and bool(feasible.any())
    learns = feasible if drops else np.ones(len(feasible), dtype=bool)
    shift, spread = float(values[learns].mean()), float(values[learns].std()) or 1.0
    values = (values - shift) / spread
    prior = Prior(length=recipe.length, least_noise=_least_noise(history, values))
    doubt = np.where(feasible, 0.0, recipe.softness)
    if history.measured[feasible].any():
        error = warp.spread_of(history.values[feasible], history.measured[feasible])
        doubt[feasible] = (error / spread) ** 2
    data = Data(features[learns], values[learns], doubt[learns])
    fit, keep = _few(data, _FIT_MOST), _few(data, KEEP_MOST)
    parameters = fit_parameters(
        kernel,
        encoding.group,
        columns=columns,
        features=fit.features,
        values=fit.values,
        prior=prior,
        doubt=fit.doubt,
    )
    fit_mean = recipe.mean == "fitted"
    process = condition(parameters, keep.features, keep.values, keep.doubt, fit_mean)
    second = None
    if (feasibility or recipe.diverged == "model") and not feasible.all():
        some = _some(values, _FIT_MOST)
        second = learn_feasibility(
            kernel, encoding.group, columns, features[some], feasible[some], Prior()
        )
    return Model(
        encoding=encoding,
        process=process,
        feasible=second,
        warp=warp,
        shift=shift,
        spread=spread,
        data=data,
        prior=prior,
    )


def for_search(history: History, recipe: Recipe) -> Model:
    """The model that suggestions come from: with plain values where noise hides small differences.

    Ranks and a stretched good end sharpen the search for a precise optimum. Where nothing diverged
    and the plain values show noise, they sharpen the noise, and everything far from the best looks
    equally bad: plain values around their average keep unknown places worth a trial.
    """
    if recipe.noisy and len(history.rows) >= recipe.noisy_after and history.feasible.all():
        plain = learn(history, replace(recipe, halves=False, bend=0.0, mean="average"))
        parameters = plain.process.parameters
        noise = parameters.noise + float(plain.data.doubt.mean())
        share = noise / (noise + parameters.scale)
        if share > recipe.noisy:
            return replace(plain, noisy=share)
    return learn(history, recipe)


def others(model: Model) -> Plausible:
    """All processes of the objective that the data leave plausible, the model's own among them."""
    fit, keep = _few(model.data, _FIT_MOST), _few(model.data, KEEP_MOST)
    return plausible(model.process.parameters, model.prior, fit, keep)


def _few(data: Data, most: int) -> Data:
    some = _some(data.values, most)
    return Data(data.features[some], data.values[some], data.doubt[some])


def _some(values: Array, most: int) -> npt.NDArray[np.intp]:
    """At most so many of them: the best half, the most recent quarter, and an even spread."""
    count = len(values)
    if count <= most:
        return np.arange(count)
    best = np.argsort(values, kind="stable")[: most // 2]
    recent = np.arange(count - most // 4, count)
    even = np.linspace(0, count - 1, most).astype(np.intp)
    wanted = dict.fromkeys(np.concatenate([best, recent, even]).tolist())
    return np.array(sorted(list(wanted)[:most]), dtype=np.intp)


def _least_noise(history: History, values: Array) -> float:
    """The variance between trials of one configuration, where there are repeats; else next to 0."""
    groups: dict[tuple[float, ...], list[float]] = {}
    feasible = history.feasible
    for key, value in zip(
        history.encoding.keys(history.rows[feasible]), values[feasible].tolist(), strict=True
    ):
        groups.setdefault(key, []).append(value)
    repeated = [group for group in groups.values() if len(group) > 1]
    freedom = sum(len(group) - 1 for group in repeated)
    least = Prior().least_noise
    if freedom < 2:
        return least
    squares = sum(float(np.var(group)) * len(group) for group in repeated)
    return max(squares / freedom, least)


# ---- What can be exchanged in the Bayesian search; the defaults are those ahead in the ablation.


@dataclass(frozen=True)
class Recipe:
    """How the model is made and asked; docs/methods_search.md has what each part is worth."""

    kernel: Literal["matern", "gaussian"] = "matern"
    halves: bool = True  # the worse half of the values keeps its order alone
    bend: float = 0.5  # how much steeper the good end is made than the bad one, by a logarithm
    diverged: Literal["worst", "model", "dropped"] = "worst"  # value given, own model, or nothing
    level: float = 1.0  # "worst": which quantile of the feasible values a diverged trial gets
    softness: float = 0.0  # variance of the value of a diverged trial, beside the noise
    acquisition: Literal["improvement", "bound"] = "improvement"
    waiting: Literal["believed", "ignored"] = "believed"  # trials without an outcome yet
    length: float = -1.6  # logarithm of the length scale expected in one dimension
    first: int = 0  # quasi-random trials before the model is asked; 0: by the number of dimensions
    mean: Literal["average", "fitted"] = "fitted"  # what is expected far from all data
    # weight of the user's beliefs after 10 outcomes, times 10; it falls with their square; 0: none
    belief: float = 3.0
    # noise's share in the variance of plain values from which a study without divergence is noisy:
    # the model then sees plain values around their average; 0: never
    noisy: float = 0.005
    noisy_after: int = 20  # outcomes before that is asked
    surely: float = 0.01  # share from which single suggestions are by the bound


# ---- What a model sees instead of the objective: bad values pulled in, good ones spread out.
#
# A few terrible trials would otherwise stretch the scale until all good ones look alike. Smaller is
# better throughout.


_BEND = 0.5  # of the log warp: how much steeper the good end is than the bad one


@dataclass(frozen=True)
class Warp:
    """A rising function of the objective, known at the given values and between them."""

    values: Array  # of the objective, rising, each once
    warped: Array  # the same, as the model sees it

    def back(self, warp_values: Array) -> Array:
        """The objective at these warped values; beyond the best one, by the slope there."""
        if len(self.values) == 1:
            return np.full_like(warp_values, self.values[0])
        inside = np.interp(warp_values, self.warped, self.values)
        at = 1
        while at < len(self.warped) - 1 and self.warped[at] - self.warped[0] < 0.1:
            at += 1  # a slope over two nearly equal values would be noise
        steep = (self.values[at] - self.values[0]) / (self.warped[at] - self.warped[0])
        below = warp_values < self.warped[0]
        return np.where(below, self.values[0] + steep * (warp_values - self.warped[0]), inside)

    def spread_of(self, values: Array, sd: Array) -> Array:
        """What a standard deviation of each value is as the model sees it: the steeper side."""
        if len(self.values) == 1:
            return np.zeros_like(values)
        ends = [np.interp(values + side * sd, self.values, self.warped) for side in (-1.0, 1.0)]
        middle = np.interp(values, self.values, self.warped)
        return np.maximum(middle - ends[0], ends[1] - middle)


def warp_values(values: Array, bend: float = _BEND, halves: bool = True) -> tuple[Array, Warp]:
    """The values as the model sees them, of mean 0 and standard deviation 1; and the way back.

    The worse half keeps its order only: it is spread like the worse half of a normal distribution
    that fits the better half. Then a logarithm makes differences at the good end larger.
    """
    if len(values) == 0:
        return values, Warp(np.zeros(1), np.zeros(1))
    distinct, inverse = np.unique(values, return_inverse=True)
    if len(distinct) == 1:
        return np.zeros(len(values)), Warp(distinct, np.zeros(1))
    # in units of the range: the squares of huge values would overflow
    unit = distinct / 2 - distinct[0] / 2
    unit = unit / unit[-1]
    spread = _half_ranked(unit, np.bincount(inverse)) if halves else unit
    spread = spread / spread[-1]
    bent = np.log1p(bend * spread) / math.log1p(bend) if bend else spread
    bent_values = bent[inverse]
    mean, sd = float(bent_values.mean()), float(bent_values.std())
    rising = (bent - mean) / sd
    return (bent_values - mean) / sd, Warp(distinct, rising)


def _half_ranked(rising: Array, counts: npt.NDArray[np.intp]) -> Array:
    """Rising values from 0 with those above the median replaced by quantiles of a normal."""
    from scipy.special import ndtri

    every = np.repeat(rising, counts)
    median = float(np.median(every))
    good = every[every <= median]
    sd = math.sqrt(float(np.mean((good - median) ** 2)))
    if sd == 0.0:  # half of all values are equal: ranks would invent differences below them
        sd = float(every.std())
    ranks = np.cumsum(counts) - (counts - 1) / 2  # of equal values the middle one
    quantiles = ndtri((ranks - 0.5) / len(every))
    return np.where(rising > median, median + sd * np.maximum(quantiles, 0.0), rising)
