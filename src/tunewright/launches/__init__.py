"""Launch decisions: variance, terms, the decision, its lineage.

tw.launch(results, workload, terms=tw.launches.LaunchTerms(complexity=0.002))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunewright._namespace import offer

if TYPE_CHECKING:
    from tunewright.launches.final import final_test as final_test
    from tunewright.launches.launch import Launch as Launch, LaunchTerms as LaunchTerms
    from tunewright.launches.variance import variance as variance

offer(
    __name__,
    {
        "launches.final": ("final_test",),
        "launches.launch": ("Launch", "LaunchTerms"),
        "launches.variance": ("variance",),
    },
)
