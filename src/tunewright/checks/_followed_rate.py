"""Does the logged learning rate follow the value, the schedule and the warm-up that were given?

A program may scale its rate, log a factor, log rarely or end early; each rule speaks only where
none of these explains what was logged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tunewright.checks._doubt import Doubt, Kind, numbers
from tunewright.checks.logged_rate import learning_rates
from tunewright.design.names import Meaning
from tunewright.design.ranges import as_number
from tunewright.store.curves import Curve
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_FEWEST = 3  # trials with different values
_APART = 1.5  # ratio of values that no rounding explains
SAME = 1e-6  # relative
_FOLLOWS = 0.01  # relative: a peak this near to the given value is the value
SHARE = 0.8  # of the trials follow: then one that does not is an exception
_POINTS = 5  # of a logged rate, to see a shape
_FLAT, _FALLEN = 0.01, 0.1  # relative changes: below nothing decays, above something does
_CONSTANT = ("constant", "none", "fixed")
_DECAYING = ("cosine", "linear", "polynomial", "exponential", "rsqrt", "inverse_sqrt", "onecycle")


@dataclass(frozen=True)
class RateSigns:
    """What the logged learning rates say."""

    doubts: tuple[Doubt, ...] = ()
    read: int = 0  # completed trials that logged their learning rate
    follows: frozenset[str] = frozenset()  # hyperparameters that the logged rate follows


@dataclass(frozen=True, eq=False)
class _Logged:
    trial: Trial
    rates: Curve
    given: float | None

    @property
    def peak(self) -> float:
        """The highest rate that was logged."""
        return float(self.rates.values.max())

    @property
    def flat(self) -> bool:
        """Whether the rate never changes."""
        return bool(np.ptp(self.rates.values) <= _FLAT * self.peak)


def rate_signs(results: Results) -> RateSigns:
    """Compare the rates that completed trials logged with what they were given."""
    meaning = results.meaning
    logged = [
        _Logged(t, rates, as_number(t.configuration.get(meaning.name("learning_rate"))))
        for t in results.rows
        if t.status == "completed" and (rates := learning_rates(t, meaning)) is not None
    ]
    value = _value(meaning, logged)
    doubts = [*value, *_schedule(meaning, logged), *_warmup(meaning, logged)]
    followed = frozenset(() if value or not _follow(logged) else (meaning.name("learning_rate"),))
    return RateSigns(tuple(doubts), len(logged), followed)


def _follow(logged: Sequence[_Logged]) -> bool:
    """Whether the peaks are the given values, all of them."""
    known = [each for each in logged if each.given]
    return len(known) > 0 and all(_ratio(each, _FOLLOWS) for each in known)


def _ratio(logged: _Logged, tolerance: float) -> bool:
    return logged.given is not None and abs(logged.peak - logged.given) <= tolerance * logged.given


def _value(meaning: Meaning, logged: Sequence[_Logged]) -> list[Doubt]:
    """One peak for all values, or single trials whose peak is not theirs."""
    known = [run for run in logged if run.given is not None and run.given > 0]
    if len(known) < _FEWEST:
        return []
    name = meaning.name("learning_rate")
    given = np.array([run.given for run in known], dtype=float)
    peaks = np.array([run.peak for run in known])
    if given.max() >= _APART * given.min() and np.ptp(peaks) <= SAME * peaks.max():
        if abs(peaks[0] - 1.0) <= SAME:  # a factor of the learning rate was logged
            return []
        return [_doubt("rate", name, known, known)]
    follows = [_ratio(run, _FOLLOWS) for run in known]
    if sum(follows) < max(_FEWEST, SHARE * len(known)):
        return []
    # a lower peak may be a warm-up that never ended
    odd = [
        run
        for run, fits in zip(known, follows, strict=True)
        if not fits
        and run.given
        and (run.peak > _APART * run.given or (run.flat and run.peak * _APART < run.given))
    ]
    return [_doubt("rate", name, odd, known)] if odd else []


def _doubt(kind: Kind, name: str, odd: Sequence[_Logged], of: Sequence[_Logged]) -> Doubt:
    trials = [each.trial for each in odd]
    given = tuple(t.configuration.get(name) for t in trials[:3])
    return Doubt(
        kind=kind,
        name=name,
        runs=len(odd),
        of=len(of),
        trials=numbers(trials),
        given=given,
        seen=tuple(each.peak for each in odd[:3]),
    )


# ---- the shape


def _schedule(meaning: Meaning, logged: Sequence[_Logged]) -> Iterator[Doubt]:
    """A schedule that is called constant and decays, or the other way round."""
    name = meaning.name("schedule")
    seen = [run for run in logged if len(run.rates) >= _POINTS]
    constant = [run for run in seen if _called(run.trial, name, _CONSTANT)]
    decaying = [run for run in seen if _called(run.trial, name, _DECAYING)]
    falls = [run for run in constant if _falls(run)]
    stays = [run for run in decaying if run.flat]
    if falls and len(falls) > len(constant) / 2:
        yield _doubt("decays", name, falls, constant)
    if stays and len(stays) > len(decaying) / 2:
        yield _doubt("no_decay", name, stays, decaying)


def _called(trial: Trial, name: str, names: Sequence[str]) -> bool:
    given = trial.configuration.get(name)
    return isinstance(given, str) and given.lower().startswith(tuple(names))


def _falls(logged: _Logged) -> bool:
    """Whether the rate falls in several steps; a single one may be a reaction to a plateau."""
    after = logged.rates.values[int(np.argmax(logged.rates.values)) :]
    lower = np.count_nonzero(np.diff(after) < -SAME * logged.peak)
    return bool(after[-1] < (1 - _FALLEN) * logged.peak and lower >= _POINTS - 1)


def _warmup(meaning: Meaning, logged: Sequence[_Logged]) -> Iterator[Doubt]:
    """A warm-up whose first half is logged, at the peak already.

    Steps are known to be updates only where the last one is near max_train_steps.
    """
    name, total = meaning.name("warmup_steps"), meaning.name("max_train_steps")
    could, shows = [], []
    for each in logged:
        given = each.trial.configuration
        length, last = as_number(given.get(name)), as_number(given.get(total))
        steps, values = each.rates.steps, each.rates.values
        if length is None or last is None or not 0.9 * last <= steps[-1] <= 1.1 * last:
            continue
        early = (steps >= 0) & (steps < length / 2)
        if length >= last or early.sum() < 2:
            continue
        could.append(each)
        # a warm-up rises; one that is left out starts at the peak and at most decays from there
        if values[0] >= (1 - SAME) * each.peak and bool((np.diff(values[early]) <= 0).all()):
            shows.append(each)
    if shows and len(shows) > len(could) / 2:
        yield _doubt("no_warmup", name, shows, could)
