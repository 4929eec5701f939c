"""The command believe: what a Bayesian search has learnt from a round. It trains nothing."""

from __future__ import annotations

from tunewright.cli._answer import answer
from tunewright.cli._options import JsonOption, RoundName, StoreOption
from tunewright.cli._project import read_round
from tunewright.present.envelope import each_without
from tunewright.present.terminal.plan_page import print_beliefs
from tunewright.present.terminal.screen import screen
from tunewright.search.bayesian.belief import believe as learnt


def believe(round: RoundName, store: StoreOption = None, json: JsonOption = False) -> None:
    """Show what a model of the trials believes: the best to expect, what diverges, what is left.

    It is the model of the Bayesian search, and works for rounds of any search. Trials of the rounds
    that this one continues count too, where they fit.
    """
    results = read_round(round, store)
    beliefs = learnt(results)
    answer(
        json,
        {"round": results.round.name, "beliefs": each_without(beliefs, "says")},
        lambda: print_beliefs(results, beliefs, screen()),
    )
