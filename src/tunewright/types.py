"""Types of what the functions return, for annotations.

def summary(results: tw.types.Results) -> str: ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunewright._namespace import offer

if TYPE_CHECKING:
    from tunewright.advice.proposal import Proposal as Proposal
    from tunewright.campaigns.campaign import Campaign as Campaign
    from tunewright.design.objective import Objective as Objective
    from tunewright.finding import Finding as Finding
    from tunewright.store.results import Results as Results
    from tunewright.store.trial import Trial as Trial

offer(
    __name__,
    {
        "advice.proposal": ("Proposal",),
        "campaigns.campaign": ("Campaign",),
        "design.objective": ("Objective",),
        "finding": ("Finding",),
        "store.results": ("Results",),
        "store.trial": ("Trial",),
    },
)
