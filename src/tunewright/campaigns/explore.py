"""Exploration on autopilot: the findings of the rounds so far decide what is explored next.

Proposals come from `advice.next_round`, the most urgent first; what one asks for is done as far
as the trials for exploration allow. When nothing asks for more of it, or they are used up,
exploration is over.
"""

from __future__ import annotations

from dataclasses import replace

from tunewright.advice.next_round import next_round
from tunewright.advice.proposal import Proposal
from tunewright.campaigns.campaign import Campaign
from tunewright.campaigns.repair import asks_for_remedy, remedy_step, repaired_step
from tunewright.campaigns.round_names import named, together
from tunewright.campaigns.shares import FEWEST
from tunewright.campaigns.step import Step, reason_of
from tunewright.messages import Message
from tunewright.store.results import Results

# how often each may be done in one campaign
MOST: dict[str, int] = {"widen": 4, "narrow": 1, "regularise": 1, "fix": 1}


def first_round(campaign: Campaign, trials: int) -> Step:
    """The first quasi-random round, over the whole space."""
    made = campaign.space
    reason = Message("campaign.first_round", {"trials": trials, "names": list(made.nuisance)})
    return Step("explore", reason, trials, named(campaign, made, "explore", trials, reason))


def explore_on(campaign: Campaign, allowance: int, free: int, first: int) -> Step | None:
    """What the findings ask to explore next; None when exploration is over.

    `allowance` trials are left to exploration, `free` to all of the search; a space that was
    repaired is explored anew, with as many as the `first` round had.
    """
    again = repaired_step(campaign, min(free, first))
    if again is not None:
        return again
    results = together(campaign)
    if not results.top(1):
        return _again(campaign, results, allowance)
    for one in next_round(results):
        if one.kind == "exploit":
            break
        if asks_for_remedy(one):
            made = remedy_step(campaign, one, free)
        else:
            made = _taken(campaign, results, one, allowance)
        if made is not None:
            return made
    return None


def widening(campaign: Campaign) -> Proposal | None:
    """The widening that the findings still ask for."""
    results = together(campaign)
    asked = next_round(results) if results.top(1) else ()
    return next((one for one in asked if one.kind == "widen" and one.round is not None), None)


def _taken(campaign: Campaign, results: Results, asked: Proposal, allowance: int) -> Step | None:
    """The proposal as a step, if the campaign can and may take it."""
    wanted = asked.round
    if wanted is None or allowance < FEWEST:
        return None
    if asked.kind == "more_trials":
        own = results.round.trials_per_study
        more = min(wanted.trials_per_study - own, allowance)
        if wanted.name != results.round.name or more < 1:
            return None
        made = replace(results.round, trials_per_study=own + more)
        return Step("explore", reason_of(asked), more, made)
    kind = asked.kind
    if kind not in ("widen", "narrow", "regularise", "fix"):
        return None
    done = len(campaign.of_kind(kind))
    if done >= MOST[kind] or (kind == "narrow" and "infeasible" not in asked.because):
        return None
    # old trials that fit count, so only the difference is run
    known = sum(t.ended for t in results.trials) if kind == "widen" else 0
    trials = min(allowance, max(FEWEST, wanted.trials_per_study - known))
    if kind == "fix" and trials < wanted.trials_per_study // 2:
        return None  # trials with other values of what is fixed would be lost for nothing
    reason = reason_of(asked)
    return Step(kind, reason, trials, named(campaign, wanted, kind, trials, reason))


def _again(campaign: Campaign, results: Results, allowance: int) -> Step | None:
    """Nothing completed: once more, where trials diverge least, if they diverge at all."""
    ended = [t for t in results.trials if t.ended]
    if allowance < FEWEST or len(campaign.searched) > 1:
        return None
    if not all(t.status == "infeasible" for t in ended):
        return None
    own = results.round.trials_per_study
    more = min(own, allowance)
    made = replace(results.round, trials_per_study=own + more)
    reason = Message("campaign.all_infeasible", {"ended": len(ended), "more": more})
    return Step("explore", reason, more, made)
