"""The whole loop within a budget, each step a round with its reason.

tw.tune(workload, space, trials=60, terms=tw.campaigns.TuneTerms(extend_to=100_000))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunewright._namespace import offer

if TYPE_CHECKING:
    from tunewright.campaigns.request import TuneTerms as TuneTerms

__all__ = ["TuneTerms"]

offer(__name__, {"campaigns.request": ("TuneTerms",)})
