"""Exploitation at the end of a range: a best trial there shows that the box was cut too small.

Exploitation searches around what exploration found best. When its own best trials press against an
end, the end is moved: back to where the campaign has searched already, or further out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from tunewright.advice.proposal import names_of, ranges_by_column, with_ranges
from tunewright.campaigns.campaign import Campaign
from tunewright.checks.boundary import natural_bound
from tunewright.design.ranges import Range
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.store.results import Results

_NEAR = 0.1  # of a range: this close to its end is at it
LEANS = 0.2  # ... where quasi-random trials are all that is known, which hit no end exactly
_BEST, MOST = 3, 2  # of the best three trials, the best and so many in all at an end move it
_WALL = 0.5  # of the trials at an end are infeasible: nothing is to be found beyond it


def beyond(
    campaign: Campaign, results: Results, near: float = _NEAR
) -> tuple[Round, dict[str, Range]] | None:
    """The round with the ends moved that the best trials press against, and which; None: none."""
    ranges, names = ranges_by_column(results.round), names_of(results.round)
    top = results.top(_BEST)
    moved: dict[str, Range] = {}
    for column, range in ranges.items():
        if range.choices is not None or names[column] not in results.round.nuisance:
            continue
        side = _end_under_pressure(
            results, column, [t.unit[column] for t in top if column in t.unit], near
        )
        if side is not None:
            wide = _range_moved_out(campaign, results, column, range, side)
            if wide is not None and wide != range:
                moved[column] = wide
    if not moved:
        return None
    try:
        nuisance = with_ranges(results.round.nuisance, moved)
        wide_round = replace(results.round, nuisance=nuisance)
    except DesignError:
        return None
    return wide_round, moved


def reaching(base: Round, moved: dict[str, Range]) -> Round:
    """A round around the best that reaches out to the ends that were moved."""
    base_ranges, ranges = ranges_by_column(base), {}
    for column, wide in moved.items():
        range = base_ranges.get(column)
        if range is None or range.ends is None or wide.ends is None:
            continue
        low, high = range.ends
        stretched = wide.with_ends(min(low, wide.ends[0]), max(high, wide.ends[1]))
        if stretched is not None:
            ranges[column] = stretched
    return replace(base, nuisance=with_ranges(base.nuisance, ranges)) if ranges else base


def _end_under_pressure(
    results: Results, column: str, units: list[float], near: float
) -> Literal["low", "high"] | None:
    """The end of a range at which the best lie, where trials can be trained at all."""
    sides: tuple[Literal["low", "high"], ...] = ("low", "high")
    for side in sides:
        there = [(u if side == "low" else 1 - u) <= near for u in units]
        if sum(there) < MOST or not there[0]:
            continue
        ended = [t for t in results.rows if t.ended and column in t.unit]
        outer = [
            t.status == "infeasible"
            for t in ended
            if (t.unit[column] if side == "low" else 1 - t.unit[column]) <= near
        ]
        if sum(outer) <= _WALL * len(outer):
            return side
    return None


def _range_moved_out(
    campaign: Campaign, results: Results, column: str, range: Range, side: Literal["low", "high"]
) -> Range | None:
    """The range with one end moved out; None where no value can lie beyond it."""
    widest = range
    for other in campaign.searched:
        known = ranges_by_column(other.round).get(column)
        if known is not None:
            widest = widest.hull(known)
    if range.ends is None or widest.ends is None:
        return None
    if side == "low" and widest.ends[0] != range.ends[0]:  # cut away by an earlier step
        return range.with_ends(widest.ends[0], range.ends[1])
    if side == "high" and widest.ends[1] != range.ends[1]:
        return range.with_ends(range.ends[0], widest.ends[1])
    name = names_of(results.round)[column]
    if natural_bound(name, range, side, results.meaning):
        return None
    widening = range.widen(side)
    if widening is None:
        return None
    wide = widening.range
    if wide.count is None and wide.ends is not None and wide.ends[0] < 0 <= range.ends[0]:
        return wide.with_ends(0.0, wide.ends[1])
    return wide
