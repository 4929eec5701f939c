"""Chinese, Japanese and Korean names are drawn with an installed font, or a note stands below."""

from __future__ import annotations

import io

import pytest
from tests.present.figures.known_rounds import one_study

import tunewright as tw
from tunewright.present.figures import axis, figure
from tunewright.present.figures.figure import Figure


def chinese() -> Figure:
    return axis(
        one_study([{"m": [0.5]}] * 3, tw.minimize("m"), nuisance={"学习率": tw.linear(0, 1)})
    )


def height(png: bytes) -> int:
    from matplotlib.image import imread

    return int(imread(io.BytesIO(png)).shape[0])


def test_fonts_that_are_installed_follow_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure, "EAST_ASIAN", ("No Such Font", "STIXGeneral"))
    figure.families.cache_clear()
    try:
        assert figure.families() == (figure.FIRST, "STIXGeneral")
    finally:
        figure.families.cache_clear()


def test_without_a_font_a_note_stands_below(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tunewright.present.figures.figure.families", lambda: (figure.FIRST,))
    plain = axis(one_study([{"m": [0.5]}] * 3, tw.minimize("m")))
    assert height(chinese().png()) > height(plain.png())
    assert "学习率" in chinese().svg()  # a browser has fonts of its own


def test_with_a_font_there_is_no_note(monkeypatch: pytest.MonkeyPatch) -> None:
    if len(figure.families()) == 1:
        pytest.skip("no East Asian font is installed here")
    plain = axis(one_study([{"m": [0.5]}] * 3, tw.minimize("m")))
    assert height(chinese().png()) == height(plain.png())
