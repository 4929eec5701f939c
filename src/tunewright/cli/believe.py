"""The command believe: what a Bayesian search has learnt from a round. It trains nothing."""

from __future__ import annotations

from dataclasses import replace

from tunewright.cli._earlier import knowing_earlier
from tunewright.cli._options import JsonOption, RoundName, StoreOption
from tunewright.cli._project import open_store
from tunewright.present.terminal.belief_page import print_beliefs
from tunewright.present.terminal.screen import screen, show_json
from tunewright.search.bayesian.bayesian import Bayesian
from tunewright.search.bayesian.belief import Belief, believe as learnt
from tunewright.store.curves import Curves


def believe(round: RoundName, store: StoreOption = None, json: JsonOption = False) -> None:
    """Show what a model of the trials believes: the best to expect, what diverges, what is left.

    It is the model of the Bayesian search, and works for rounds of any search. Trials of the rounds
    that this one continues count too, where they fit.
    """
    with open_store(store) as opened:
        results = opened.results(round)
        search = knowing_earlier(Bayesian(), results.round, opened, results.objective)
    beliefs = learnt(results, search)
    if json:
        show_json([_without_curves(belief) for belief in beliefs])
    else:
        print_beliefs(results, beliefs, screen())


def _without_curves(belief: Belief) -> Belief:
    """Its recommended trial without curves, which `trial --json` gives."""
    chosen = belief.recommended
    return (
        belief
        if chosen is None
        else replace(belief, recommended=replace(chosen, curves=Curves(())))
    )
