"""Which search a round runs with: the one named, the one it began with, or what suits it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated

import typer

from tunewright.cli._options import chosen
from tunewright.design.round import Round
from tunewright.execution.join import search_of
from tunewright.present.terminal.plan_page import recorded
from tunewright.present.terminal.screen import sidelines
from tunewright.search.auto import pick
from tunewright.search.bayesian.bayesian import Bayesian
from tunewright.search.halton import Halton
from tunewright.search.search import Search

AUTO = "auto"
SEARCHES: Mapping[str, Callable[[], Search]] = {"halton": Halton, "bayesian": Bayesian}
SearchOption = Annotated[
    str | None,
    typer.Option(
        metavar="SEARCH",
        help="Which configurations: halton (quasi-random, the default), bayesian (a model of the "
        "trials so far; for a round without scientific hyperparameters), or auto (whichever suits "
        "the budget and the workers, with the reason).",
        show_default=False,
    ),
]


def search_for(
    named: tuple[str | None, str | None], round: Round, workers: int, store: str
) -> Search:
    """The search named by the option, or by a file; a round that has begun continues with its own.

    Only the option changes the search of a round that has begun, and is then refused.
    """
    asked, of_file = named
    if asked in (None, AUTO):
        before = recorded(store, round.name)
        if before is not None and before.search in SEARCHES:
            return search_of(before)
    asked = asked or of_file
    if asked == AUTO:
        picked = pick(round, workers)
        sidelines().print(picked.reason, soft_wrap=True)
        return picked.search
    names = {**SEARCHES, AUTO: Halton}
    return chosen(asked or "halton", names, "--search")()
