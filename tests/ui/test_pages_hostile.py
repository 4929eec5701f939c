"""Names that try to be script: every page shows them as text, and nothing runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.ui.filled_store import opened

import tunewright as tw
from tunewright.store.curves import pack
from tunewright.store.outcome import Outcome

pytest.importorskip("uvicorn", reason="needs the extra `ui`")
pytestmark = pytest.mark.beyond_core
Look = Callable[..., Any]
Start = Callable[..., Any]
RUNS = "window.hacked=1;alert(1)"
HOSTILE = {
    "element": f"<script>{RUNS}</script>",
    "image": f'"><img src=x onerror="{RUNS}">',
    "vector": f"<svg onload='{RUNS}'>",
    "attribute": f'" autofocus onfocus="{RUNS}" x="',
    "template": "${" + RUNS + "}",
    "address": f"javascript:{RUNS}//",
    "path": "../../../etc/passwd?sel=1#/x",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_names_are_text(look: Look, start: Start, tmp_path: Path, text: str) -> None:
    store = str(tmp_path / "tuning.db")
    metric = f"loss {text}"
    declared = tw.Round(
        "r " + text.replace("/", "∕"),
        goal=f"goal {text}",
        scientific={f"s {text}": [f"a {text}", f"b {text}"]},
        nuisance={f"rate {text}": tw.log(1e-3, 1.0)},
        trials_per_study=4,
    )
    with opened(store, declared, tw.minimize(metric)) as (made, record, worker):
        for at, claim in enumerate(made.claim(record.id, worker, 8)):
            curve = pack({metric: ([1, 2, 3], [3.0, 2.0, 1.0 + at])})
            made.end(claim, Outcome("completed", None, batches=[curve], first=0))
    tw.stores.note(store, declared.name, f"note {text}")
    server = start(store)
    own = look(server)
    page = own.open("/")
    page.locator("table.rounds tbody a").wait_for()
    page.locator("td.note", has_text=f"note {text}").wait_for()
    assert page.locator("td.goal").inner_text() == f"goal {text}"
    page.locator("table.rounds tbody a").click()
    page.locator("section.verdict .trust").wait_for()
    page.locator(".curves .u-wrap").wait_for()
    page.locator(".panel.isolation svg").wait_for()
    assert page.locator("h1").inner_text() == declared.name
    assert f"note {text}" in page.locator(".notes").inner_text()
    page.locator("[role=grid]").press("x")
    page.locator("[role=grid]").press("ArrowDown")
    page.locator("[role=grid]").press("x")
    page.get_by_role("link", name="Compare").click()
    page.locator("table.facts").first.wait_for()
    page.locator("table.facts thead a").first.click()
    page.locator("dl.facts").first.wait_for()
    assert f"rate {text}" in page.locator("dl.facts").first.inner_text()
    assert page.evaluate("() => window.hacked") is None
    assert page.locator("main script, main img, main [onerror], main [onfocus]").count() == 0
