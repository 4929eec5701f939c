"""Do trials with different values give the same curve, digit for digit? Then these change nothing.

Studies of a round share points and seeds, so that trials of one index differ in the scientific
values alone. Two curves are the same only if every hyperparameter in which the trials differ has no
effect. Curves that carry little information, such as counts of few errors, tie by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tunewright.checks._doubt import Doubt, numbers
from tunewright.design.names import Meaning
from tunewright.design.ranges import Value, is_number, same_value
from tunewright.stats.noise import Floats
from tunewright.store.curves import Curve
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_BITS = 40.0  # of information that a curve needs, so that two do not agree by chance
_EXACT_BITS = 20.0  # of a value on no coarse grid
_FINEST_GRID = 20_000  # values that are all multiples of 1 / n up to this n are rounded or counts
_FEWEST_PAIRS = 3  # of rounded curves, and all of them must agree
_SMALLEST_DECAY = 1e-4  # a weaker weight decay may change no digit
# a different value of these changes every update
_ALWAYS_ACT = frozenset(
    ("learning_rate", "batch_size", "optimizer", "momentum", "beta1", "beta2", "max_train_steps")
)
_FLAT = "constant"  # schedules of this name may be one and the same


@dataclass(frozen=True)
class CurveSigns:
    """What the comparison of curves found."""

    doubts: tuple[Doubt, ...] = ()
    compared: int = 0  # trials whose curves carry enough information
    acts: frozenset[str] = frozenset()  # hyperparameters that changed a curve, all else equal


@dataclass(frozen=True, eq=False)
class _Read:
    """A trial, and its curves as one key."""

    trial: Trial
    key: bytes
    exact: bool  # on no coarse grid


def same_curves(results: Results) -> CurveSigns:
    """Look for trials with different configurations and the same curves."""
    readable = [read for t in results.rows if (read := _read(results, t)) is not None]
    pairs = list(_pairs(readable))
    acts = frozenset(
        differing[0]
        for read, other in pairs
        if read.key != other.key and len(differing := _differing(read.trial, other.trial)) == 1
    )
    same = [(a, b) for a, b in _identical(readable) if _differing(a.trial, b.trial)]
    same = _beyond_chance(same, pairs)
    doubts = tuple(_doubts(results.meaning, same, acts, len(readable)))
    return CurveSigns(doubts, len(readable), acts)


def _read(results: Results, trial: Trial) -> _Read | None:
    """The curves of a completed trial; None where they carry too little information."""
    if trial.status != "completed":
        return None
    curves = [c for name in _metrics(results) if (c := trial.curves.only(name)) is not None]
    if not curves or any(not np.isfinite(c.values).all() for c in curves):
        return None
    content = [information(curve.values) for curve in curves]
    if max(bits for bits, _ in content) < _BITS:
        return None
    exact = any(exact and bits >= _BITS for bits, exact in content)
    return _Read(trial, b"".join(map(_key, curves)), exact)


def _metrics(results: Results) -> tuple[str, ...]:
    """What training decides; times and memory differ between equal trials."""
    named = (results.meaning.name(m) for m in ("train_loss", "valid_loss", "gradient_norm"))
    return tuple(dict.fromkeys((results.objective.metric, *named)))


def _key(curve: Curve) -> bytes:
    return curve.steps.tobytes() + np.asarray(curve.values, dtype=np.float64).tobytes()


def information(values: Floats) -> tuple[float, bool]:
    """How many bits a curve carries at most, and whether it lies on no coarse grid.

    >>> information(np.array([0.5, 0.25, 0.25, 0.25]))[1]
    False
    >>> information(np.array([0.5123456789, 0.2512345, 0.1512345678]))
    (40.0, True)
    """
    distinct = np.unique(values)
    if len(distinct) < 2:
        return 0.0, False
    grid = _grid(distinct)
    if grid is None:
        return (len(distinct) - 1) * _EXACT_BITS, True
    levels = float(np.ptp(distinct)) * grid
    return (len(distinct) - 1) * min(math.log2(levels + 1), _EXACT_BITS), False


def _grid(distinct: Floats) -> int | None:
    """The n for which every value is a multiple of 1 / n; None where there is no such n."""
    few = distinct[np.linspace(0, len(distinct) - 1, min(len(distinct), 24)).astype(int)]
    many = np.arange(1, _FINEST_GRID + 1)
    scaled = np.outer(many, few)
    near = np.abs(scaled - np.round(scaled)) <= 1e-7 * np.abs(scaled) + 1e-9
    fits = np.flatnonzero(near.all(axis=1))
    # few values fit some fine grid by chance; then they are taken for rounded
    return int(many[fits[0]]) if len(fits) else None


def _pairs(readable: Sequence[_Read]) -> Iterator[tuple[_Read, _Read]]:
    """Trials of one index and seed in different studies: the scientific values alone differ."""
    by_place: dict[tuple[int, int], list[_Read]] = {}
    for read in readable:
        if read.trial.index is not None and read.trial.origin is None:
            by_place.setdefault((read.trial.index, read.trial.seed), []).append(read)
    for group in by_place.values():
        for read in group[1:]:
            if _differing(group[0].trial, read.trial):
                yield group[0], read


def _identical(readable: Sequence[_Read]) -> Iterator[tuple[_Read, _Read]]:
    """Pairs of trials with the same curves, each trial with the first of its kind and its index."""
    groups: dict[bytes, list[_Read]] = {}
    for read in readable:
        groups.setdefault(read.key, []).append(read)
    for group in groups.values():
        if len(group) <= 12:
            yield from combinations(group, 2)
        else:
            yield from ((group[0], read) for read in group[1:])


def _beyond_chance(
    same: Sequence[tuple[_Read, _Read]], pairs: Sequence[tuple[_Read, _Read]]
) -> list[tuple[_Read, _Read]]:
    """The pairs that chance does not explain: of rounded curves all must agree, and several."""
    rounded = [pair for pair in same if not pair[0].exact]
    others = [a for a, b in pairs if a.key != b.key and not a.exact]
    enough = len(rounded) >= _FEWEST_PAIRS and not others
    return [pair for pair in same if pair[0].exact or enough]


def _differing(trial: Trial, other: Trial) -> list[str]:
    names = dict.fromkeys((*trial.configuration, *other.configuration))
    missing = object()
    return [n for n in names if not _same(trial.configuration, other.configuration, n, missing)]


def _same(
    left: Mapping[str, Value], other: Mapping[str, Value], name: str, missing: object
) -> bool:
    if name not in left or name not in other:
        return left.get(name, missing) is other.get(name, missing)
    return same_value(left[name], other[name])


def _doubts(
    meaning: Meaning,
    same: Sequence[tuple[_Read, _Read]],
    acts: frozenset[str],
    readable: int,
) -> Iterator[Doubt]:
    """One doubt for each hyperparameter that changed nothing; one that acts elsewhere has none."""
    by_name: dict[str, dict[int, Trial]] = {}
    certain: set[str] = set()
    for trial, other in ((a.trial, b.trial) for a, b in same):
        for name in _differing(trial, other):
            by_name.setdefault(name, {}).update({id(trial): trial, id(other): other})
            if must_act(meaning, name, trial, other):
                certain.add(name)
    for name, by_id in by_name.items():
        if name in acts:
            continue
        trials = sorted(by_id.values(), key=lambda t: t.number or 0)
        given = tuple(dict.fromkeys(t.configuration.get(name) for t in trials))[:3]
        yield Doubt(
            "curves",
            name,
            len(trials),
            readable,
            numbers(trials),
            given,
            certain=name in certain,
        )


def must_act(meaning: Meaning, name: str, trial: Trial, other: Trial) -> bool:
    """Whether two values of a hyperparameter cannot give the same training, if they are used."""
    a, b = trial.configuration.get(name), other.configuration.get(name)
    if a is None or b is None:
        return False
    if is_number(a) and is_number(b):
        apart = abs(float(a) - float(b)) > 1e-3 * max(abs(float(a)), abs(float(b)))
    else:
        apart = not same_value(a, b)
    means = meaning.of(name)
    if means == "weight_decay":
        largest = max((float(v) for v in (a, b) if is_number(v)), default=0.0)
        return apart and largest >= _SMALLEST_DECAY
    if means == "schedule":
        return apart and not all(str(v).lower().startswith(_FLAT) for v in (a, b))
    return apart and (means in _ALWAYS_ACT or name in meaning.regularisers)
