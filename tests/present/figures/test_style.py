"""One meaning per colour, and enough contrast on light and dark pages (WCAG AA)."""

from __future__ import annotations

import pytest

from tunewright.present.figures.style import (
    ACCENT,
    BEST,
    COLOURS,
    FAINT,
    INFEASIBLE,
    NOISE,
    PRUNED,
    RANKS,
    VARIABLES,
    contrast,
    shade,
)
from tunewright.present.html import SURFACES

TEXT = ("ink", "muted", "best", "rank-2", "rank-3", "rank-4", "rank-5")
MARKS = ("infeasible", "pruned", "accent", "edge", "study-1", "study-3")


def test_no_colour_has_two_meanings() -> None:
    meanings = [*COLOURS, *RANKS, INFEASIBLE, PRUNED, NOISE, ACCENT, FAINT]
    assert len(meanings) == len({colour.lower() for colour in meanings})
    assert RANKS[0] == BEST == shade(0) and shade(99) == RANKS[-1]


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_text_and_marks_can_be_seen_on_every_surface(mode: int) -> None:
    for surface in (VARIABLES["paper"][mode], SURFACES["card"][mode]):
        for name in TEXT:
            assert contrast(VARIABLES[name][mode], surface) >= 4.5, name
        for name in MARKS:
            assert contrast(VARIABLES[name][mode], surface) >= 3.0, name
