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
    shade,
)
from tunewright.present.html import SURFACES

TEXT = ("ink", "muted", "best", "rank-2", "rank-3", "rank-4", "rank-5")
MARKS = ("infeasible", "pruned", "accent", "edge", "study-1", "study-3")


def test_no_colour_has_two_meanings() -> None:
    meanings = [*COLOURS, *RANKS, INFEASIBLE, PRUNED, NOISE, ACCENT, FAINT]
    assert len(meanings) == len({colour.lower() for colour in meanings})
    assert RANKS[0] == BEST == shade(0) and shade(99) == RANKS[-1]


def contrast(colour: str, surface: str) -> float:
    """The contrast of two colours by WCAG 2: from 1 to 21."""
    lighter, darker = sorted((luminance(colour), luminance(surface)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_black_on_white_has_the_most_contrast() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21.0)


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_text_and_marks_can_be_seen_on_every_surface(mode: int) -> None:
    for surface in (VARIABLES["paper"][mode], SURFACES["card"][mode]):
        for name in TEXT:
            assert contrast(VARIABLES[name][mode], surface) >= 4.5, name
        for name in MARKS:
            assert contrast(VARIABLES[name][mode], surface) >= 3.0, name
