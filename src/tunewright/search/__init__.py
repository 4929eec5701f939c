"""Which point next: quasi-random, listed, Bayesian.

    tw.run(round, workload, search=tw.search.Bayesian())

`Halton` is the default. `believe` shows what a Gaussian process makes of a round's results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunewright._namespace import offer

if TYPE_CHECKING:
    from tunewright.search.bayesian.bayesian import Bayesian as Bayesian
    from tunewright.search.bayesian.belief import believe as believe
    from tunewright.search.halton import Halton as Halton
    from tunewright.search.listed import Listed as Listed

__all__ = ["Bayesian", "Halton", "Listed", "believe"]

offer(
    __name__,
    {
        "search.bayesian.bayesian": ("Bayesian",),
        "search.bayesian.belief": ("believe",),
        "search.halton": ("Halton",),
        "search.listed": ("Listed",),
    },
)
