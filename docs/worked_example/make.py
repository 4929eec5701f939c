"""Draw progress.png and axis.png and write report.txt and report.html from the example's store.

python docs/worked_example/make.py STORE
"""

from __future__ import annotations

import sys
from pathlib import Path

import tunewright as tw

HERE = Path(__file__).parent


def main(address: str) -> None:
    """Read the campaign, and write what the page shows of it."""
    campaign = tw.campaign(address, "tune")
    tw.plots.progress(campaign.rounds).save(HERE / "progress.png")
    made = tw.report(campaign)
    made.save(HERE / "report.txt")
    made.save(HERE / "report.html")
    tw.plots.axis(made.results).save(HERE / "axis.png")


if __name__ == "__main__":
    main(sys.argv[1])
