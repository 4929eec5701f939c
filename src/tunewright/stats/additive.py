"""What does each axis add to a result? An additive quadratic on normal scores, fit axis by axis.

With few trials a fit of every axis at once leaves no degrees of freedom. `choose_axes` therefore
picks the axes that rule, one after the other, and everything else is judged beside these alone.
Where one axis rules, taking its effect off (`without`) shows what the others do: the best trials of
the study are those with a good value of the ruling axis, whatever the others are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tunewright.stats.noise import Floats

_LEVEL = 0.05  # of choosing any axis where none has an effect
_SPARE = 6  # trials that are not spent on the axes chosen
_PER_AXIS = 4  # trials for each further axis


def normal_scores(losses: Floats) -> Floats:
    """The losses as if they were drawn from a normal distribution: only their order counts."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    return np.asarray(ndtri((rankdata(losses) - 0.375) / (len(losses) + 0.25)))


def line_and_curve(units: Floats) -> Floats:
    """The terms of an ordered axis: a line and a parabola around its mean; two values, a line."""
    centred = units - units.mean()
    if len(np.unique(units)) == 2:
        return np.asarray(centred[:, None])
    return np.stack([centred, centred**2], axis=1)


def levels(units: Floats) -> Floats:
    """The terms of an axis without order: one column for each value but the first."""
    values = np.unique(units)
    return np.asarray((units[:, None] == values[None, 1:]).astype(float))


def basis(columns: Floats) -> Floats:
    """An orthonormal basis of the columns, without those that add nothing."""
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(left[:, sizes > 1e-9 * max(float(sizes[0]), 1e-300)])


def with_ones(blocks: Sequence[Floats], count: int) -> Floats:
    """The columns of these axes beside a constant."""
    return np.concatenate([np.ones((count, 1)), *blocks], axis=1)


def choose_axes(blocks: Sequence[Floats], scores: Floats) -> list[int]:
    """The axes that rule, the clearest first: each explains more than chance beside those before.

    Forward selection: the axis with the smallest p of an F test joins, as long as that p times
    the number of candidates stays below 5 %.
    """
    count, ruling = len(scores), list[int]()
    most = min(len(blocks), max(1, (count - _SPARE) // _PER_AXIS))
    while len(ruling) < most:
        rest = basis(with_ones([blocks[n] for n in ruling], count))
        room = count - _SPARE // 2 - rest.shape[1]
        p = {
            n: p_beyond(block, rest, scores)
            for n, block in enumerate(blocks)
            if n not in ruling and block.shape[1] <= room
        }
        if not p:
            break
        clearest = min(p, key=lambda n: p[n])
        if p[clearest] * len(p) > _LEVEL:
            break
        ruling.append(clearest)
    return ruling


def p_beyond(block: Floats, rest: Floats, scores: Floats) -> float:
    """The chance that an axis explains so much beyond a basis if it has no effect; 1 if untested.

    >>> x = np.linspace(0, 1, 12)
    >>> p_beyond(line_and_curve(x), np.ones((12, 1)) / np.sqrt(12), x**2) < 1e-6
    True
    """
    from scipy.special import fdtrc

    beyond = block - rest @ (rest.T @ block)
    if not np.any(np.abs(beyond) > 1e-9):
        return 1.0
    beyond = basis(beyond)
    size, freedom = beyond.shape[1], len(scores) - rest.shape[1] - beyond.shape[1]
    if freedom < 1:
        return 1.0
    left = scores - rest @ (rest.T @ scores)
    explained = float(((beyond.T @ left) ** 2).sum())
    noise = max(float(left @ left) - explained, 0.0) / freedom
    return float(fdtrc(size, freedom, explained / max(size * noise, 1e-300)))


def without(blocks: Sequence[Floats], block: Floats, scores: Floats) -> Floats:
    """The scores with the effects of these axes taken off, fitted together with the axis's own."""
    columns = with_ones(blocks, len(scores))
    weights = np.linalg.lstsq(np.concatenate([columns, block], axis=1), scores, rcond=None)[0]
    return np.asarray(scores - columns @ weights[: columns.shape[1]])
