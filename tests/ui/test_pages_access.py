"""Keyboard, screen readers, phones: every page without a mouse and without violations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tunewright as tw

pytestmark = pytest.mark.beyond_core
Look = Callable[..., Any]
PAGES = {
    "home": ("/", "table.rounds tbody a"),
    "round": ("/round/width?sel=1-3", ".panel.isolation svg"),
    "compare": ("/compare?t=width:32&t=width:33", ".panels.wide .u-wrap"),
    "trial": ("/trial/width/3", ".panels.wide .u-wrap"),
    "campaign": ("/campaign/autopilot", ".timeline li"),
    "probes": ("/probes", "section.verdict"),
}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_no_violation_of_wcag(
    look: Look, server: Any, axe: str, violations: Callable[..., Any], name: str, dark: bool
) -> None:
    place, shown = PAGES[name]
    # the tool is injected as script, which our own policy forbids
    own = look(server, bypass_csp=True, color_scheme="dark" if dark else "light")
    page = own.open(place)
    page.locator(shown).first.wait_for()
    page.locator("main details summary").evaluate_all(
        "all => all.forEach(s => s.parentElement.open = true)"
    )
    assert violations(page, axe) == []


def test_a_round_by_keyboard_alone(look: Look, server: Any, filled: str) -> None:
    page = look(server).open("/")
    page.locator("table.rounds tbody a").first.wait_for()
    page.keyboard.press("?")
    page.locator(".help").wait_for()
    page.keyboard.press("Escape")
    page.locator(".help").wait_for(state="detached")
    page.keyboard.press("/")
    page.keyboard.type("width")
    links = page.locator("table.rounds tbody a")
    links.nth(1).wait_for(state="detached")
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.textContent") == "width":
            break
    page.keyboard.press("Enter")
    grid = page.locator("[role=grid]")
    grid.wait_for()
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.getAttribute('role')") == "grid":
            break
    best = [t.number for t in tw.load(filled, "width").top(3)]
    assert grid.get_attribute("aria-activedescendant") == f"trial-{best[0]}"
    page.keyboard.press("x")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("x")
    page.locator(".selection b").wait_for()
    numbers = sorted(int(n or 0) for n in (best[0], best[2]))
    address = f"?sel={numbers[0]}%2C{numbers[1]}"
    page.wait_for_function("end => location.href.endsWith(end)", arg=address)
    assert page.url.endswith(address)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name=f"width trial {best[2]}").wait_for()


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_needs_no_sideways_scrolling(look: Look, server: Any, name: str) -> None:
    place, shown = PAGES[name]
    own = look(server)
    own.page.set_viewport_size({"width": 390, "height": 844})
    page = own.open(place)
    page.locator(shown).first.wait_for()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


def test_focus_is_visible(look: Look, server: Any) -> None:
    page = look(server).open("/")
    page.locator("table.rounds tbody a").first.wait_for()
    for _ in range(5):
        page.keyboard.press("Tab")
        style = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
        assert style != "none"
