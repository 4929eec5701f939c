"""Exploitation at the end of a range: a best trial there shows that the box was cut too small.

Exploitation searches around what exploration found best. When its own best trials press against an
end, the end is moved: back to where the campaign has searched already, or further out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from tunewright.advice.rewrite import names_of, searched_ranges, with_ranges
from tunewright.campaigns.campaign import Campaign
from tunewright.checks.natural_bound import natural_bound
from tunewright.design.ranges import Range
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.store.results import Results

NEAR = 0.03  # of a range: this close to its end is at it
BEST, MOST = 3, 2  # of the best three trials, so many at an end move it


def beyond(campaign: Campaign, results: Results) -> tuple[Round, dict[str, Range]] | None:
    """The round with the ends moved that the best trials press against, and which; None: none."""
    own, names = searched_ranges(results.round), names_of(results.round)
    top = results.top(BEST)
    moved: dict[str, Range] = {}
    for column, range in own.items():
        if range.choices is not None or names[column] not in results.round.nuisance:
            continue
        units = [t.unit[column] for t in top if column in t.unit]
        side: Literal["low", "high"] | None = None
        if sum(unit <= NEAR for unit in units) >= MOST:
            side = "low"
        elif sum(unit >= 1 - NEAR for unit in units) >= MOST:
            side = "high"
        if side is not None:
            made = _moved(campaign, results, column, range, side)
            if made is not None and made != range:
                moved[column] = made
    if not moved:
        return None
    try:
        nuisance = with_ranges(results.round.nuisance, moved)
        made_round = replace(results.round, nuisance=nuisance)
    except DesignError:
        return None
    return made_round, moved


def _moved(
    campaign: Campaign, results: Results, column: str, range: Range, side: Literal["low", "high"]
) -> Range | None:
    """The range with one end moved out; None where no value can lie beyond it."""
    widest = range
    for other in campaign.searched:
        known = searched_ranges(other.round).get(column)
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
    found = range.widen(side)
    if found is None:
        return None
    made = found.range
    if made.count is None and made.ends is not None and made.ends[0] < 0 <= range.ends[0]:
        return made.with_ends(0.0, made.ends[1])
    return made
