"""What training shows while it runs: events as data, and watchers that follow them.

    class Losses(tw.progress.Silent):
        def ended(self, ended):
            print(ended.number, ended.value)

    tw.run(round, workload, progress=Losses())

`progress="auto"`, the default of everything that trains, chooses what fits: a live region in a
terminal, a block that updates in place in a notebook, a line now and then elsewhere.
"""

from __future__ import annotations

from tunewright.progress.watcher import (
    CampaignStep,
    Concluded,
    Reached,
    RoundStarted,
    Silent,
    Started,
    Summary,
    Watcher,
)

__all__ = [
    "CampaignStep",
    "Concluded",
    "Reached",
    "RoundStarted",
    "Silent",
    "Started",
    "Summary",
    "Watcher",
]
