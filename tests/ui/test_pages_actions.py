"""Pages that do more than read: a round is started from the first page where that is allowed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tunewright as tw

pytest.importorskip("uvicorn", reason="needs the extra `ui`")
pytestmark = pytest.mark.beyond_core
Look = Callable[..., Any]
Start = Callable[..., Any]


def test_a_round_is_started_from_the_page(look: Look, start: Start, project: Path) -> None:
    store = str(project / "tuning.db")
    own = look(start(store, "run"))
    page = own.open("/")
    files = page.locator("section li", has_text="rate")
    files.get_by_role("button", name="Run").click()
    page.get_by_text("exit code 0").wait_for()
    page.get_by_role("link", name="rate", exact=True).click()
    page.locator('.tile .progress[aria-label="3 completed"]').wait_for()
    assert tw.load(store, "rate").counts == {"completed": 3}


def test_a_file_that_cannot_be_run_is_refused_on_the_page(
    look: Look, start: Start, project: Path
) -> None:
    own = look(start(str(project / "tuning.db"), "run"))
    page = own.open("/")
    page.locator("section li", has_text="broken").get_by_role("button", name="Run").click()
    page.locator("section .state.failed[role=alert]").wait_for()
    assert page.locator("section details").count() == 0
    assert all("400" in text for text in own.errors)  # what Chromium prints about the answer
    own.errors.clear()


@pytest.mark.parametrize("allow", [(), ("actions",)], ids=["reading", "actions"])
def test_no_round_is_offered_otherwise(
    look: Look, start: Start, project: Path, allow: tuple[str, ...]
) -> None:
    own = look(start(str(project / "tuning.db"), *allow))
    page = own.open("/")
    page.locator(".state.empty").first.wait_for()
    assert page.get_by_role("button", name="Run").count() == 0
    assert not [url for url in own.sent if "/api/runs" in url]
