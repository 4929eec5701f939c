"""The rounds of a campaign under its numbers, and all its trials together."""

from __future__ import annotations

from dataclasses import replace

from tunewright.campaigns.campaign import Campaign
from tunewright.campaigns.step import Kind
from tunewright.design.round import Round
from tunewright.messages import Message
from tunewright.store.joined import joined
from tunewright.store.results import Results


def together(campaign: Campaign) -> Results:
    """The newest round of the search with every earlier trial that fits it."""
    long = {results.round.name for results in campaign.extended}
    newest, *earlier = [r for r in reversed(campaign.searched) if r.round.name not in long]
    return joined(newest, *earlier)


def named(campaign: Campaign, round: Round, kind: Kind, trials: int, reason: Message) -> Round:
    """A round under the campaign's next number, on the same data split as all of them."""
    number = len(campaign.rounds) + 1
    return replace(
        round,
        goal=campaign.space.goal,
        change=reason,
        name=f"{campaign.name}_{number}_{kind}",
        seed=campaign.space.seed,
        detect=campaign.space.detect,
        trials_per_study=trials,
    )
