"""The one palette, one meaning per colour, light and dark, shapes for print in grey; and sizes.

The colours of studies are those of Okabe and Ito (Color Universal Design) as far as no other
meaning has them. Trials of one study are ranked by shade: the best is ink, the next ones violet.
"""

from __future__ import annotations

# a report has two figures in a row; one with many panels takes the whole row
SINGLE, DOUBLE, HEIGHT = 6.4, 13.1, 4.0  # inches

# the studies of a round: one colour and one shape each
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#7F4F24")
SHAPES = ("o", "s", "D", "^", "v", "P")
# single trials by their rank, where several are drawn next to each other
RANKS = ("#111111", "#3F007D", "#5E3C99", "#7A5BB0", "#8666BB")
INFEASIBLE = "#C8102E"  # always an X too
PRUNED = "#75706B"  # always an upright bar too
BEST = "#111111"  # the best trials: rings, bars, lines
NOISE = "#CDB98F"  # how far chance alone moves a value
ACCENT = "#3D5A80"  # what matters among several hyperparameters
FAINT = "#B8B8B8"  # all the other trials
EDGE = "#777777"  # the ends of a range
GRID = "#E6E6E6"
INK = "#222222"  # text
MUTED = "#555555"  # text of less weight
PAPER = "#FFFFFF"
MAP = "viridis"  # the objective as a colour, in the one figure that has no axis for it

# every colour as a page names it, with its counterpart on a dark page
VARIABLES: dict[str, tuple[str, str]] = {
    "study-1": (COLOURS[0], "#5AB4F0"),
    "study-2": (COLOURS[1], "#F0B23E"),
    "study-3": (COLOURS[2], "#2FC79A"),
    "study-4": (COLOURS[3], "#E9A6CC"),
    "study-5": (COLOURS[4], "#9AD4F7"),
    "study-6": (COLOURS[5], "#C79A6B"),
    "best": (BEST, "#F5F5F5"),
    "rank-2": (RANKS[1], "#C9B8F0"),
    "rank-3": (RANKS[2], "#B09BE0"),
    "rank-4": (RANKS[3], "#A08DD6"),
    "rank-5": (RANKS[4], "#9684CB"),
    "infeasible": (INFEASIBLE, "#FF7A85"),
    "pruned": (PRUNED, "#A8A29C"),
    "noise": (NOISE, "#7A6B45"),
    "accent": (ACCENT, "#9DB9DD"),
    "faint": (FAINT, "#70767D"),
    "edge": (EDGE, "#9AA0A6"),
    "grid": (GRID, "#33383E"),
    "ink": (INK, "#E4E6E8"),
    "muted": (MUTED, "#B4B9BF"),
    "paper": (PAPER, "#1B1F24"),
}


def colour(position: int) -> str:
    """The colour of the study at this position; they return after six."""
    return COLOURS[position % len(COLOURS)]


def shape(position: int) -> str:
    """The shape that goes with the colour."""
    return SHAPES[position % len(SHAPES)]


def shade(rank: int) -> str:
    """The colour of the trial of this rank among those drawn together: 0 is the best."""
    return RANKS[min(rank, len(RANKS) - 1)]
