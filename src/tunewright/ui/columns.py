"""Columns for the browser: a round as arrays, and curves of a crowd as a density image."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tunewright.present.live_figures import frame
from tunewright.store.fenced_writes import BUCKETS, Buckets
from tunewright.store.overview import Overview

_WIDE = 20.0  # a ratio of the 95th to the 5th percentile beyond which a loss is drawn by logarithm
HEIGHT = 160  # rows of a density image; it has a column per bucket


def table(overview: Overview) -> bytes:
    """Every trial of a round: what axis plots, tables and selections need."""
    small = np.uint8 if len(overview.record.round.studies) < 256 else np.uint16
    return frame(
        {"rows": len(overview), "columns": overview.columns},
        {
            "number": overview.numbers.astype(np.uint32),
            "study": overview.studies.astype(small),
            "status": overview.statuses,
            "value": overview.values.astype(np.float32),
            "step": overview.steps.astype(np.int32),
            "seconds": overview.seconds.astype(np.float32),
            "position": overview.positions,
        },
    )


@dataclass
class Density:
    """How many curves of a crowd pass through each cell of an image; curves are added one by one.

    The limits stay as they were chosen until `stale`, so that adding a curve costs nothing else.
    """

    low: float  # of the image, as drawn: a logarithm where `logarithmic`
    high: float
    last: int  # the largest step
    logarithmic: bool
    # where curves begin and end going up a column: adding one touches two cells of each column
    edges: npt.NDArray[np.int32] = field(
        default_factory=lambda: np.zeros((HEIGHT + 1, BUCKETS), np.int32), repr=False
    )
    keys: set[int] = field(default_factory=set, repr=False)  # of the trials that are in it
    stale: bool = False  # a curve lies outside the limits in a way that matters

    def add(self, key: int, curve: Buckets) -> None:
        """Count one curve."""
        if key in self.keys:
            return
        self.keys.add(key)
        if curve.last > self.last * 1.05:
            self.stale = True
        line = _line(curve, self.last)
        if line is None:
            return
        column, low, high = line
        bottom, top = (self._row(values) for values in (low, high))
        self.edges[bottom, column] += 1  # each column occurs once
        self.edges[top + 1, column] -= 1

    @property
    def counts(self) -> npt.NDArray[np.int32]:
        """How many curves pass through each cell; the lowest row first."""
        return np.cumsum(self.edges, axis=0, dtype=np.int32)[:HEIGHT]

    def _row(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        if self.logarithmic:
            values = np.log10(np.maximum(values, 1e-300))
        share = (values - self.low) / max(self.high - self.low, 1e-300)
        return np.clip((share * HEIGHT).astype(np.int64), 0, HEIGHT - 1)

    def image(self) -> bytes:
        """The image for the browser: brightness by the logarithm of the count."""
        counts = self.counts
        most = max(int(counts.max()), 1)
        bright = np.log1p(counts) / math.log1p(most)
        head = {
            "low": self.low,
            "high": self.high,
            "last": self.last,
            "logarithmic": self.logarithmic,
            "curves": len(self.keys),
            "most": most,
        }
        return frame(head, {"image": np.round(bright * 255).astype(np.uint8)})


def density_of(curves: Iterable[tuple[int, Buckets]]) -> Density:
    """The density of many curves; limits from their own spread, outliers at the margin."""
    kept = [(key, curve) for key, curve in curves if np.isfinite(curve.low).any()]
    if not kept:
        return Density(0.0, 1.0, 1, False)
    sample = kept[:: -(-len(kept) // 2000)]  # enough for percentiles
    lows = np.concatenate([curve.low[np.isfinite(curve.low)] for _, curve in sample]).astype(float)
    highs = np.concatenate([curve.high[np.isfinite(curve.high)] for _, curve in sample]).astype(
        float
    )
    low, high = float(lows.min()), float(np.percentile(highs, 98))
    spread = np.percentile(lows, [5, 95])
    logarithmic = bool(low > 0 and spread[1] / max(spread[0], 1e-300) > _WIDE)
    if logarithmic:
        low, high = math.log10(low), math.log10(max(high, low))
    if high <= low:
        low, high = low - 0.5, high + 0.5
    density = Density(low, high, max(curve.last for _, curve in kept), logarithmic)
    for key, curve in kept:
        density.add(key, curve)
    return density


def _line(
    curve: Buckets, last: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.float64]] | None:
    """A curve over the columns of an image that ends at step `last`; gaps are drawn straight."""
    known = np.flatnonzero(np.isfinite(curve.low))
    if not len(known):
        return None
    if curve.last == last and len(known) == known[-1] - known[0] + 1:  # no gaps: nothing to draw
        return known, curve.low[known].astype(float), curve.high[known].astype(float)
    at = curve.steps[known] * BUCKETS / (last + 1.0)
    column = np.arange(max(int(at[0]), 0), min(int(at[-1]), BUCKETS - 1) + 1)
    low = np.interp(column + 0.5, at, curve.low[known].astype(float))
    high = np.interp(column + 0.5, at, curve.high[known].astype(float))
    return column, low, high


def lines(curves: Mapping[int, Buckets]) -> bytes:
    """Curves of chosen trials, to be drawn as lines: the lowest and highest of each bucket."""
    keys = list(curves)
    lasts = [curves[key].last for key in keys]
    empty = np.zeros((0, BUCKETS), np.float32)
    return frame(
        {"trials": keys, "last": lasts, "buckets": BUCKETS},
        {
            "low": np.stack([curves[key].low for key in keys]) if keys else empty,
            "high": np.stack([curves[key].high for key in keys]) if keys else empty,
        },
    )
