"""Every page in a real Chromium: it shows its data, and what is selected is selected everywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.ui.filled_store import fill_large

import tunewright as tw

pytestmark = [pytest.mark.beyond_core, pytest.mark.filterwarnings("ignore::UserWarning")]
Look = Callable[..., Any]


def selected(page: Any) -> list[int]:
    """Numbers of the trials that the table shows as selected."""
    rows = page.locator('[role=grid] tbody tr[aria-selected="true"]')
    return sorted(
        int(one.removeprefix("trial-")) for one in rows.evaluate_all("e => e.map(r => r.id)")
    )


def test_home_lists_rounds_campaigns_and_decisions(look: Look, server: Any, filled: str) -> None:
    page = look(server).open("/")
    page.get_by_role("link", name="width", exact=True).wait_for()
    best = tw.load(filled, "width").best()
    page.locator(f'td.best[title="{best.value}"]').wait_for()
    assert page.get_by_role("link", name="autopilot", exact=True).count() == 1
    assert page.locator(".timeline li").count() == 2
    page.locator("body").press("/")
    page.keyboard.type("autopilot_1")
    page.locator("table.rounds tbody tr").nth(1).wait_for(state="detached")
    assert page.locator("table.rounds tbody tr").count() == 1
    assert "q=autopilot_1" in page.url


def test_a_round_leads_with_its_verdict_and_has_every_figure(
    look: Look, server: Any, filled: str
) -> None:
    page = look(server).open("/round/width")
    page.locator(".panel.isolation svg").wait_for()
    results = tw.load(filled, "width")
    findings = tw.check(results)
    told = page.locator("section.verdict")
    assert results.round.goal in told.inner_text()
    warnings = [f for f in findings if f.verdict == "warn"]
    assert warnings and all(str(f.headline) in told.inner_text() for f in warnings)
    assert all(caveat in told.inner_text() for caveat in map(str, results.round.caveats))
    axes = {h.column for study in results.round.studies for h in study.space}
    assert page.locator(".panels.axes canvas").count() == len(axes)
    for kind in ("isolation", "best_step", "best_of_k", "sensitivity", "gradient_norm"):
        assert page.locator(f".panel.{kind}").count() == 1, kind
    assert page.locator(".curves .u-wrap canvas").count() == 1
    legend = page.locator(".legend a").all_inner_texts()
    assert [int(text.split()[-1]) for text in legend] == [t.number for t in results.top(5)]
    assert page.locator("[role=grid] tbody tr[id]").first.get_attribute("id") == (
        f"trial-{results.best().number}"
    )
    assert page.locator("[role=grid]").get_attribute("aria-rowcount") == str(
        len(results.trials) + 1
    )


def test_the_next_command_can_be_copied(look: Look, server: Any) -> None:
    own = look(server, permissions=["clipboard-read", "clipboard-write"])
    page = own.open("/round/width")
    row = page.locator(".steps .command").first
    row.get_by_role("button").click()
    row.get_by_role("button").get_by_text("Copied").wait_for()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied == row.locator("code").inner_text() and copied.startswith("tunewright ")


def test_brushing_one_panel_selects_in_the_table_and_the_address(
    look: Look, server: Any, filled: str
) -> None:
    page = look(server).open("/round/width")
    canvas = page.locator(".panels.axes canvas").first  # dropout
    canvas.scroll_into_view_if_needed()
    page.locator(".panel.isolation svg").wait_for()  # nothing moves any more
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    middle = box["x"] + 52 + (box["width"] - 64) / 2
    page.mouse.move(box["x"] + 30, box["y"] + 18)
    page.mouse.down()
    page.mouse.move(middle, box["y"] + box["height"] - 10, steps=4)
    assert page.locator(".brush").count() == 1
    page.mouse.up()
    page.locator(".selection b").wait_for()
    page.get_by_label("Selected only").check()
    trials = [t for t in tw.load(filled, "width").trials if t.status == "completed"]
    wanted = sorted(int(t.number or 0) for t in trials if t.configuration["dropout"] < 0.3)
    count = int(page.locator(".selection b").inner_text().split()[0])
    assert count == len(wanted)
    assert page.locator("[role=grid]").get_attribute("aria-rowcount") == str(count + 1)
    shown = selected(page)
    assert shown and set(shown) <= set(wanted)
    again = look(server)
    other = again.open(page.url.partition("#")[2])  # the address holds the selection
    other.locator(".selection b").wait_for()
    assert other.locator(".selection b").inner_text() == page.locator(".selection b").inner_text()


def test_metric_is_part_of_the_address_and_pairs_training_with_validation(
    look: Look, server: Any
) -> None:
    page = look(server).open("/round/width?metric=valid_loss")
    page.locator(".curves .u-wrap").wait_for()
    chosen = page.locator('.choices button[aria-pressed="true"]')
    assert chosen.inner_text() == "valid_loss"
    names = page.locator(".curves [role=img]").get_attribute("aria-label")
    assert "valid_loss" in names and "train_loss" in names
    page.locator(".choices button", has_text="valid_error").click()
    page.locator('.choices button[aria-pressed="true"]', has_text="valid_error").wait_for()
    assert "metric=valid_error" in page.url


def test_compare_shows_differences_only(look: Look, server: Any, filled: str) -> None:
    page = look(server).open("/compare?t=width:32&t=width:33")
    page.locator("table.facts").first.wait_for()
    rows = page.locator("table.facts").first.locator("tbody th").all_inner_texts()
    left, right = (tw.load(filled, "width").trial(n).configuration for n in (32, 33))
    differing = [name for name in left if left[name] != right.get(name)]
    assert differing == ["width"]
    assert rows[-1:] == differing
    page.locator(".panels.wide .u-wrap").first.wait_for()
    assert page.locator(".panels.wide .u-wrap").count() == 3
    alone = look(server).open("/compare?t=width:32")
    alone.locator(".state.empty").wait_for()


def test_a_trial_shows_how_it_came_about(look: Look, server: Any, filled: str) -> None:
    page = look(server).open("/trial/width/3")
    page.locator("dl.facts").first.wait_for()
    trial = tw.load(filled, "width").trial(3)
    text = page.locator("main").inner_text()
    assert all(name in text for name in trial.configuration)
    assert trial.status in text and str(trial.reason) in text
    page.locator(".panels.wide .u-wrap").first.wait_for()
    assert trial.command in page.locator(".command code").first.inner_text()
    assert page.locator("table.facts tbody tr").count() == trial.attempts
    page.locator("nav.beside a[rel=next]").click()
    page.get_by_role("heading", name="width trial 4").wait_for()


def test_a_trial_is_diagnosed_on_a_page_of_its_own(look: Look, server: Any, filled: str) -> None:
    page = look(server).open("/trial/width/3")
    page.get_by_role("link", name="Diagnose").click()
    section = page.locator("section.verdict")
    section.wait_for()
    found = tw.diagnose(tw.load(filled, "width").trial(3))
    text = section.inner_text()
    for one in found.answers:
        assert section.locator("details.finding", has_text=str(one.words.headline)).count() >= 1
    for one in found.of("warn"):
        assert str(one.words.headline) in text
    page.get_by_role("link", name="trial 3").click()
    page.locator("dl.facts").first.wait_for()


def test_a_campaign_shows_its_steps_and_budget(look: Look, server: Any, filled: str) -> None:
    page = look(server).open("/campaign/autopilot")
    page.locator(".timeline li").first.wait_for()
    campaign = tw.campaign(filled, "autopilot")
    assert page.locator(".timeline li").count() == len(campaign.log)
    assert all(str(step.reason) in page.locator("main").inner_text() for step in campaign.log)
    page.locator(".timeline a").first.click()
    page.locator("section.verdict").wait_for()


def test_a_probe_shows_its_answer(look: Look, server: Any) -> None:
    page = look(server).open("/probes")
    page.locator("section.verdict").first.wait_for()
    assert page.locator("section.verdict").count() == 1


def test_what_is_not_there_is_said(look: Look, server: Any) -> None:
    own = look(server)
    page = own.open("/round/none")
    page.locator(".state.failed").wait_for()
    page = own.open("/elsewhere")
    page.locator(".state.empty").wait_for()
    assert all("404" in text for text in own.errors)  # what Chromium prints about the answer
    own.errors.clear()


def test_ten_thousand_trials_keep_few_rows_in_the_page(
    look: Look, start: Callable[..., Any], tmp_path: Path
) -> None:
    store = str(tmp_path / "tuning.db")
    fill_large(store, 10_000, 20)
    page = look(start(store)).open("/round/large")
    page.locator("[role=grid] tbody tr[id]").first.wait_for()
    assert page.locator("[role=grid]").get_attribute("aria-rowcount") == "10001"
    assert page.locator("[role=grid] tbody tr[id]").count() < 60
    page.locator("[role=grid]").press("End")
    page.locator('[role=grid] tr[aria-rowindex="10001"]').wait_for()
    assert page.locator("[role=grid] tbody tr[id]").count() < 60
