"""The one palette: colours that everybody can tell apart, and shapes for those who print in grey.

The colours are those of Okabe and Ito (Color Universal Design).
"""

from __future__ import annotations

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#000000")
SHAPES = ("o", "s", "D", "^", "v", "P")  # one for each colour
INFEASIBLE = "#C8102E"  # always an X too
BEST = "#111111"  # the ring of the best trials
FAINT = "#B8B8B8"
EDGE = "#777777"  # the ends of a range
GRID = "#E6E6E6"


def colour(position: int) -> str:
    """The colour of the setting at this position; they return after six."""
    return COLOURS[position % len(COLOURS)]


def shape(position: int) -> str:
    """The shape that goes with the colour."""
    return SHAPES[position % len(SHAPES)]
