"""Markup escapes everything, shows control characters, and cuts what is too long."""

from __future__ import annotations

import pytest

from tunewright.messages import Text, Words, markup

HOSTILE = "<script>alert(1)</script>\x1b[31m\n"


def test_a_card_escapes_every_part() -> None:
    table = markup.Table((HOSTILE,), ((HOSTILE,),) * 100)
    page = markup.card(
        HOSTILE, [HOSTILE], facts={HOSTILE: HOSTILE}, table=table, actions=[(HOSTILE, HOSTILE)]
    )
    assert "<script" not in page and "\x1b" not in page
    assert page.count("<tr>") == markup.MOST_ROWS + 1


def test_a_finding_escapes_every_part_and_nests_unescaped_once() -> None:
    found = Words(Text(HOSTILE), (Text(HOSTILE),))
    entry = markup.finding("warn", HOSTILE, [((HOSTILE,), found)], [(HOSTILE, HOSTILE)], HOSTILE)
    page = markup.alone(entry)
    assert "<script" not in page and "&amp;lt;" not in page
    assert page.count("<li>") == 1
    folded = markup.with_folds([entry], [("more", [entry]), ("none", [])], "title")
    assert folded.count("<li>") == 2 and folded.count("<details>") == 1


def test_a_value_that_is_missing_is_an_error() -> None:
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError):
        markup.render("card.html")
