"""What came of a campaign, in one answer: launch, keep the baseline, undecided, or not yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tunewright.messages import Message

if TYPE_CHECKING:
    from tunewright.campaigns.campaign import Campaign


def verdict(campaign: Campaign) -> Message:
    """The answer as a code with its facts; its sentence is a headline.

    A candidate that does not beat the baseline is never announced: the answer is the baseline.
    """
    winner, decided = campaign.winner, campaign.launched
    if winner is None:
        return Message("campaign.verdict.nothing")
    facts: dict[str, Any] = {"candidate": str(winner.place)}
    if decided is None or decided.candidate != winner.place:
        return Message("campaign.verdict.open", facts)
    if decided.baseline is None:
        return Message("campaign.verdict.first", facts)
    facts = {**facts, "baseline": str(decided.baseline)}
    return Message(f"campaign.verdict.{decided.verdict}", facts)
