"""A round in a notebook: a frame with the live page, or the report."""

from __future__ import annotations

import html
import re
from pathlib import Path

import httpx
import pytest
from tests.recorded import results as recorded
from tests.ui.small_world import NAME, fill

import tunewright as tw
from tunewright.errors import DesignError
from tunewright.ui import serve as serving

pytestmark = pytest.mark.beyond_core  # it serves


def test_the_live_page_in_a_frame(tmp_path: Path) -> None:
    results = fill(str(tmp_path / "tuning.db"))
    shown = tw.show(results)
    assert shown.url.endswith(f"#/round/{NAME}")
    (source,) = re.findall(r'src="([^"]+)"', shown._repr_html_())
    page = httpx.get(html.unescape(source), headers={"sec-fetch-site": "cross-site"})
    assert (
        page.status_code == 200
        and "frame-ancestors http://localhost:*" in (page.headers["content-security-policy"])
    )
    base = shown.url.partition("#")[0]
    assert httpx.get(f"{base}api/round/{NAME}").json()["name"] == NAME
    assert tw.show(results).url == shown.url, "one server for all cells about a store"
    written = {"origin": base.rstrip("/"), "content-type": "application/json"}
    assert httpx.post(f"{base}api/round/{NAME}/stop", json={}, headers=written).status_code == 403


def test_the_report_where_nothing_is_served() -> None:
    results = recorded()
    for shown in (tw.show(results, live=False), tw.show(results, height=300)):
        assert shown.url == ""
        frame = shown._repr_html_()
        (inside,) = re.findall(r'srcdoc="([^"]+)"', frame)
        assert results.round.goal in html.unescape(inside)
    assert 'height="300"' in frame


def test_without_the_extra_the_report_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    results = fill(str(tmp_path / "tuning.db"))
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert serving.need is not None
    assert tw.show(results).url == "" and tw.show(results).page


def test_only_results_are_shown() -> None:
    with pytest.raises(DesignError) as error:
        tw.show("tuning.db")  # type: ignore[arg-type]
    assert error.value.code == "ui.not_results"
