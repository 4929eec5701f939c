"""What was spent and what is left, on one line at the end of a page."""

from __future__ import annotations

from tunewright.budgets.cost import Price
from tunewright.budgets.spending import spending
from tunewright.campaigns.campaign import Campaign
from tunewright.costs.tune import spent_on
from tunewright.messages import words
from tunewright.present.terminal.screen import say
from tunewright.store.results import Results


def print_spent(results: Results, price: Price | None = None) -> None:
    """What a round has cost, what the rest of it will cost, and what is left of the budget."""
    say(words.printable(spending(results, price).message.text), style="dim")


def print_spent_of(campaign: Campaign, price: Price | None = None) -> None:
    """The same of all rounds of a campaign."""
    if campaign.rounds:
        say(words.printable(spent_on(campaign, price).message.text), style="dim")
