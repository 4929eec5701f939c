"""Draw progress.png and axis.png and write report.txt and report.html from the example's store.

python docs/worked_example/make.py STORE
"""

from __future__ import annotations

import sys
from pathlib import Path

import tunewright as tw
from tunewright.campaigns.campaign import read_campaign
from tunewright.campaigns.definition import read_definition
from tunewright.store.store import Store

HERE = Path(__file__).parent


def main(address: str) -> None:
    """Read the campaign, and write what the page shows of it."""
    with Store.open(address, create=False) as store:
        definition = read_definition(store, "tune")
        assert definition is not None
        campaign = read_campaign(store, definition)
    tw.plots.progress(campaign.rounds).save(HERE / "progress.png")
    made = tw.report(campaign)
    made.save(HERE / "report.txt")
    made.save(HERE / "report.html")
    together = made.results
    tw.plots.axis(together).save(HERE / "axis.png")


if __name__ == "__main__":
    main(sys.argv[1])
