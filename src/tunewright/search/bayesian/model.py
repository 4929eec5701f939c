"""The model of a study: a process of the warped objective, and if asked one of feasibility."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tunewright.search.bayesian.encoding import Encoding
from tunewright.search.bayesian.feasibility import learned_feasibility
from tunewright.search.bayesian.gaussian_process import (
    GAUSSIAN,
    MATERN,
    GaussianProcess,
    Prior,
    conditioned,
    fitted,
)
from tunewright.search.bayesian.history import History
from tunewright.search.bayesian.plausible import Data, Plausible, plausible
from tunewright.search.bayesian.recipe import Recipe
from tunewright.search.bayesian.warping import Warp, warped

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

    def value(self, told: Array) -> Array:
        """The objective at these warped values; smaller is better in both."""
        return self.warp.back(told * self.spread + self.shift)

    def believing(self, rows: Array) -> Model:
        """The model as if trials at these rows had come out as predicted."""
        features = self.encoding.features(rows)
        feasible = self.feasible
        return replace(
            self,
            process=self.process.believing(features),
            feasible=None if feasible is None else feasible.believing(features),
        )


def learned(history: History, recipe: Recipe, feasibility: bool = False) -> Model:
    """Learn from the trials that came to an outcome; at least one of them.

    `feasibility` asks for the second process too, which the recipe may not need for its search.
    """
    encoding, kernel = history.encoding, _KERNELS[recipe.kernel]
    columns = len(encoding.space)
    features = encoding.features(history.rows)
    feasible = history.feasible
    told, warp = warped(history.values[feasible], recipe.bend, recipe.halves)
    values = np.full(len(feasible), np.quantile(told, recipe.level) if len(told) else 0.0)
    values[feasible] = told
    drops = recipe.diverged != "worst" and bool(feasible.any())
    learns = feasible if drops else np.ones(len(feasible), dtype=bool)
    shift, spread = float(values[learns].mean()), float(values[learns].std()) or 1.0
    values = (values - shift) / spread
    prior = Prior(length=recipe.length, least_noise=_least_noise(history, values))
    doubt = np.where(feasible, 0.0, recipe.softness)
    if history.measured[feasible].any():
        told_sd = warp.spread_of(history.values[feasible], history.measured[feasible])
        doubt[feasible] = (told_sd / spread) ** 2
    data = Data(features[learns], values[learns], doubt[learns])
    fit, keep = _few(data, _FIT_MOST), _few(data, KEEP_MOST)
    parameters = fitted(kernel, encoding.group, columns, fit.features, fit.values, prior, fit.doubt)
    fit_mean = recipe.mean == "fitted"
    process = conditioned(parameters, keep.features, keep.values, keep.doubt, fit_mean)
    second = None
    if (feasibility or recipe.diverged == "model") and not feasible.all():
        some = _some(values, _FIT_MOST)
        second = learned_feasibility(
            kernel, encoding.group, columns, features[some], feasible[some], Prior()
        )
    return Model(encoding, process, second, warp, shift, spread, data, prior)


def for_search(history: History, recipe: Recipe) -> Model:
    """The model that suggestions come from: with plain values where noise hides small differences.

    Ranks and a stretched good end sharpen the search for a precise optimum. Where nothing diverged
    and the plain values show noise, they sharpen the noise, and everything far from the best looks
    equally bad: plain values around their average keep unknown places worth a trial.
    """
    if recipe.noisy and len(history.rows) >= recipe.noisy_after and history.feasible.all():
        plain = learned(history, replace(recipe, halves=False, bend=0.0, mean="average"))
        own = plain.process.parameters
        noise = own.noise + float(plain.data.doubt.mean())
        share = noise / (noise + own.scale)
        if share > recipe.noisy:
            return replace(plain, noisy=share)
    return learned(history, recipe)


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
