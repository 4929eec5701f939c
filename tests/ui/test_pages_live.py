"""Pages of a round that runs: rows arrive, a lost server is shown, notes and stops work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.ui.filled_store import fill_small, finish_some, opened, small_round

import tunewright as tw

pytest.importorskip("uvicorn", reason="needs the extra `ui`")
pytestmark = pytest.mark.beyond_core
Look = Callable[..., Any]
Start = Callable[..., Any]


def ended(page: Any, count: int) -> None:
    """Wait until the page shows that so many trials have ended."""
    page.locator(f'.tile .progress[aria-label^="{count} completed"]').wait_for()


def test_trials_appear_while_the_round_runs(look: Look, start: Start, tmp_path: Path) -> None:
    store = str(tmp_path / "tuning.db")
    declared = small_round("running", 10, nuisance={"learning_rate": tw.log(1e-2, 1.0)})
    with opened(store, declared) as (made, record, worker):
        finish_some(made, record, worker, 4)
        server = start(store)
        own = look(server)
        page = own.open("/round/running")
        ended(page, 4)
        page.locator(".connection.live").wait_for()
        page.locator("section.verdict .trust").wait_for()
        whole = [url for url in own.sent if url.endswith("/table")]
        finish_some(made, record, worker, 3, seed=1)
        ended(page, 7)
        finish_some(made, record, worker, 20, seed=2)
        ended(page, 20)
        page.locator(".connection.over").wait_for()
        assert page.locator("[role=grid] .status.completed").count() == 20
        # changed rows came with the events: the table was asked for once
        assert [url for url in own.sent if "/running/table" in url] == whole
        best = tw.load(store, "running").best().number
        page.locator(f"#trial-{best}").wait_for()
        assert page.locator(".legend a").first.inner_text().endswith(f" {best}")


HIDE = """hidden => {
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event('visibilitychange'));
}"""


def test_a_hidden_page_asks_for_nothing_and_catches_up(
    look: Look, start: Start, tmp_path: Path
) -> None:
    store = str(tmp_path / "tuning.db")
    declared = small_round("running", 10, nuisance={"learning_rate": tw.log(1e-2, 1.0)})
    with opened(store, declared) as (made, record, worker):
        finish_some(made, record, worker, 4)
        own = look(start(store))
        page = own.open("/round/running")
        ended(page, 4)
        page.locator(".connection.live").wait_for()
        page.evaluate(HIDE, True)
        finish_some(made, record, worker, 3, seed=1)
        page.wait_for_timeout(2000)
        assert page.locator('.tile .progress[aria-label^="4 completed"]').count() == 1
        page.evaluate(HIDE, False)
        ended(page, 7)
        # it resumed where it was: nothing was loaded again
        assert len([url for url in own.sent if "/running/table" in url]) == 1


def test_a_server_killed_and_started_again_under_an_open_page(
    look: Look, start: Start, tmp_path: Path
) -> None:
    store = str(tmp_path / "tuning.db")
    declared = small_round("running", 10, nuisance={"learning_rate": tw.log(1e-2, 1.0)})
    with opened(store, declared) as (made, record, worker):
        finish_some(made, record, worker, 4)
        server = start(store)
        own = look(server)
        page = own.open("/round/running?sel=1")
        ended(page, 4)
        page.locator(".connection.live").wait_for()
        server.kill()
        page.locator(".connection.stale").wait_for()
        assert page.locator("[role=grid] tbody tr[id]").count() > 0  # what was known stays
        finish_some(made, record, worker, 5, seed=1)
        server.start()
        page.locator(".connection.live").wait_for()
        ended(page, 9)
        assert page.locator(".selection b").inner_text().startswith("1 ")
        refused = [text for text in own.errors if "ERR_" in text]
        assert own.errors == refused  # Chromium prints the requests that found no server
        own.errors.clear()


def test_notes_are_written_where_it_is_allowed(look: Look, start: Start, tmp_path: Path) -> None:
    store = str(tmp_path / "tuning.db")
    fill_small(store, 4)
    server = start(store, "actions")
    page = look(server).open("/round/width")
    page.get_by_label("Add a note").fill("<b>twice</b>")
    page.get_by_role("button", name="Save").click()
    page.locator(".notes li", has_text="<b>twice</b>").wait_for()
    server = start(store)
    page = look(server).open("/round/width")
    page.locator(".notes li", has_text="<b>twice</b>").wait_for()
    assert page.get_by_label("Add a note").count() == 0


def test_a_stop_is_requested_where_it_is_allowed(look: Look, start: Start, tmp_path: Path) -> None:
    store = str(tmp_path / "tuning.db")
    declared = small_round("running", 10, nuisance={"learning_rate": tw.log(1e-2, 1.0)})
    with opened(store, declared) as (made, record, worker):
        finish_some(made, record, worker, 4)
        (held,) = made.claim(record.id, worker, 1)
        page = look(start(store, "actions")).open(f"/trial/running/{held.number}")
        page.get_by_role("button", name="Stop the trial").click()
        page.get_by_text("Stop requested.").wait_for()
        page = look(start(store)).open(f"/trial/running/{held.number}")
        page.locator(".status.running").wait_for()
        assert page.get_by_role("button", name="Stop the trial").count() == 0
        page = look(start(store, "actions")).open("/round/running")
        page.get_by_role("button", name="Stop the round").click()
        page.get_by_text("Stop requested.").wait_for()
