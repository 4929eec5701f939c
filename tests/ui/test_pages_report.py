"""A report opened from disk in Chromium: figures answer, paper has pictures, no script needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import tunewright as tw

pytestmark = pytest.mark.beyond_core
Look = Callable[..., Any]


@dataclass(frozen=True)
class Opened:
    url: str
    port: int | None = None  # no request may go anywhere


@pytest.fixture(scope="module")
def opened(filled: str, tmp_path_factory: pytest.TempPathFactory) -> Opened:
    path = tmp_path_factory.mktemp("report") / "width.html"
    tw.report(tw.load(filled, "width"), path)
    return Opened(path.as_uri())


def live(look: Look, opened: Opened, place: str = "", **options: Any) -> Any:
    page = look(opened, **options).open(place)
    page.locator('html[data-figures="live"]').wait_for()
    return page


def chosen(page: Any) -> list[int]:
    rows = page.locator("tr.chosen")
    return sorted(int(n) for n in rows.evaluate_all("e => e.map(r => r.dataset.trial)"))


def test_pictures_become_figures(look: Look, opened: Opened, filled: str) -> None:
    page = live(look, opened)
    results = tw.load(filled, "width")
    axes = {h.column for study in results.round.studies for h in study.space} | {"width"}
    page.locator(".live .canvas canvas").nth(len(axes) - 1).wait_for()
    assert page.locator(".live .canvas canvas").count() == len(axes)
    assert page.locator(".live .u-wrap").count() == 5  # two of each study, and the gradient norm
    for card in page.locator("figure.card").all():
        pictures, figures = card.locator(".still > svg"), card.locator(".live")
        assert pictures.count() == 1
        assert pictures.is_visible() == (figures.count() == 0)


def test_brushing_selects_in_the_table_and_the_address(
    look: Look, opened: Opened, filled: str
) -> None:
    page = live(look, opened)
    canvas = page.locator(".live .canvas canvas").nth(1)  # dropout, after width
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    middle = box["x"] + 52 + (box["width"] - 64) / 2
    page.mouse.move(box["x"] + 30, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(middle, box["y"] + box["height"] - 10, steps=4)
    page.mouse.up()
    trials = [t for t in tw.load(filled, "width").trials if t.status == "completed"]
    wanted = sorted(int(t.number or 0) for t in trials if t.configuration["dropout"] < 0.3)
    page.locator(".selection b").wait_for()
    assert chosen(page) == wanted
    again = live(look, opened, page.url.partition("#")[2])
    assert chosen(again) == wanted
    page.get_by_role("button", name="Clear selection").click()
    assert chosen(page) == [] and page.url.endswith("#")


def test_pointing_at_a_trial_and_at_a_curve(look: Look, opened: Opened, filled: str) -> None:
    page = live(look, opened)
    best = tw.load(filled, "width").best()
    plot = page.locator(".live .u-over").first
    plot.scroll_into_view_if_needed()
    plot.hover()
    page.locator(".legend .at output", has_text="30").first.wait_for()  # the middle of 60 steps
    canvas = page.locator(".live .canvas canvas").nth(1)
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    share = best.configuration["dropout"] / 0.6
    left = box["x"] + 52 + (box["width"] - 64) * share
    for down in range(216, 190, -2):  # the best stands near the lower edge
        page.mouse.move(left, box["y"] + down)
        if page.locator(".tip").count():
            break
    assert page.locator(".tip").inner_text().startswith(f"trial {best.number}:")


def test_a_row_is_selected_by_mouse_and_keyboard(look: Look, opened: Opened) -> None:
    page = live(look, opened)
    row = page.locator("tr[data-trial]").first
    number = int(row.get_attribute("data-trial"))
    row.locator("td").nth(1).click()
    assert chosen(page) == [number]
    button = row.get_by_role("button")
    button.press("Enter")
    assert chosen(page) == [] and button.get_attribute("aria-pressed") == "false"
    button.press("Space")
    assert chosen(page) == [number]
    page.get_by_role("button", name="valid_error").click()  # the table still sorts
    assert chosen(page) == [number]


def test_paper_has_pictures(look: Look, opened: Opened) -> None:
    page = live(look, opened)
    page.emulate_media(media="print")
    assert page.locator(".still > svg").first.is_visible()
    assert all(not one.is_visible() for one in page.locator(".live").all())


def test_without_script_it_is_the_report_of_before(look: Look, opened: Opened) -> None:
    page = look(opened, java_script_enabled=False).open("")
    cards = page.locator("figure.card .still > svg")
    assert cards.count() > 6 and all(one.is_visible() for one in cards.all())
    assert page.locator(".live").count() == 0


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_violation_of_wcag_in_a_report(
    look: Look, opened: Opened, axe: str, violations: Callable[..., Any], dark: bool
) -> None:
    page = live(look, opened, bypass_csp=True, color_scheme="dark" if dark else "light")
    assert violations(page, axe) == []


def test_a_report_on_a_phone(look: Look, opened: Opened) -> None:
    own = look(opened)
    own.page.set_viewport_size({"width": 390, "height": 844})
    page = own.open("")
    page.locator('html[data-figures="live"]').wait_for()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
