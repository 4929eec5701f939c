"""Case 41: names, notes, values and logs with markup are data; every answer forbids their script.

That a browser shows them as text is tested in tests/ui, in a real one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

import tunewright as tw
from tunewright.ui.serve import serve_in_thread

NAMES = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "</script><svg/onload=alert(1)>",
    "..",
    "../../x",
    "a/b?c=d#e%2F",
    "{{constructor.constructor('alert(1)')()}}",
    "漢字 é‿",
    "x'; DROP TABLE trial; --",
)
HYPERPARAMETER = "<img src=x onerror=alert(1)>"
METRIC = "</script><script>alert(1)</script>"


def train(run: Any, **settings: Any) -> None:
    for step in run.steps(3):
        run.log(step, **{METRIC: 1 / step})
    if settings[HYPERPARAMETER] > 0.9:
        raise tw.Infeasible("<b onmouseover=alert(1)>diverged</b>")


def filled(store: str, folder: Path, name: str) -> tw.types.Results:
    declared = tw.Round(
        name,
        goal=f"Does {NAMES[0]} help?",
        scientific={"kind": [NAMES[1], "plain"]},
        nuisance={HYPERPARAMETER: tw.linear(0.0, 1.0)},
        trials_per_study=3,
    )
    workload = tw.Workload(
        train,
        tw.minimize(METRIC),
        store=store,
        folder=folder,
        executor=tw.executors.Inline(),
        means=None,
    )
    results = tw.run(declared, workload)
    tw.stores.note(store, name, NAMES[1])
    return results


def at(name: str) -> str:
    sent = f"~{name}" if name in (".", "..") else name  # as api.js sends them
    return f"/api/round/{quote(sent, safe='')}"


@pytest.mark.parametrize("name", NAMES)
def test_case_41_a_hostile_name(tmp_path: Path, name: str) -> None:
    store = str(tmp_path / "tuning.db")
    results = filled(store, tmp_path / "trials", name)
    with serve_in_thread(store) as about, httpx.Client(base_url=about.url, timeout=60) as client:
        answers = {
            path: client.get(path)
            for path in (
                *("/api/home", at(name), f"{at(name)}/rows?trial=0", f"{at(name)}/trial/0"),
                *(f"{at(name)}/trial/0/curves", f"{at(name)}/verdict?wait=1", "/api/probes"),
            )
        }
        for path, answer in answers.items():
            assert answer.status_code == 200, path
            assert answer.headers["content-type"] == "application/json", "never a page"
            assert answer.headers["x-content-type-options"] == "nosniff"
            policy = answer.headers["content-security-policy"]
            assert "script-src 'self'" in policy and "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            json.loads(answer.content)
    assert answers["/api/home"].json()["rounds"][0]["name"] == name
    page = answers[at(name)].json()
    assert page["notes"][-1]["text"] == NAMES[1] and page["metrics"] == [METRIC]
    assert [axis["name"] for axis in page["axes"]] == [HYPERPARAMETER]
    assert answers[f"{at(name)}/verdict?wait=1"].json()["state"] == "ready"
    assert page["best"] == [trial.number for trial in results.top(5)]


def test_case_41_on_either_store(store_url: str, tmp_path: Path) -> None:
    results = filled(store_url, tmp_path / "trials", NAMES[0])
    metric = quote(METRIC, safe="")
    with (
        serve_in_thread(store_url) as about,
        httpx.Client(base_url=about.url, timeout=60) as client,
    ):
        rows = client.get(f"{at(NAMES[0])}/rows?trial=0&trial=1").json()
        for row in rows:
            trial = results.trial(row["number"])
            assert row["configuration"]["kind"] == trial.configuration["kind"]
            assert row["reason"] == (None if trial.reason is None else str(trial.reason))
        assert client.get(f"{at(NAMES[0])}/density?metric={metric}").status_code == 200
        log = client.get(f"{at(NAMES[0])}/trial/0/log")
        assert log.headers["content-type"] == "application/json"


@pytest.mark.parametrize("name", ["no\0name", "%00", "a" * 5000, "%ff%fe", "' OR '1'='1", "*"])
def test_case_41_names_that_are_not_there(tmp_path: Path, name: str) -> None:
    store = str(tmp_path / "tuning.db")
    filled(store, tmp_path / "trials", "plain")
    with serve_in_thread(store) as about, httpx.Client(base_url=about.url) as client:
        sent = name if name.startswith("%") else quote(name, safe="")
        answer = client.get(f"/api/round/{sent}")
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/json"


def test_case_41_numbers_that_are_none(tmp_path: Path) -> None:
    """NaN and infinities are null in JSON, and no number in an address is too large."""
    store = str(tmp_path / "tuning.db")
    filled(store, tmp_path / "trials", "plain")
    with serve_in_thread(store) as about, httpx.Client(base_url=about.url) as client:
        for query in ("trial=-1", "trial=1e9", "trial=٣", f"trial={10**30}", "trial=²", "key=x"):
            for what in ("rows", "table", "curves"):
                assert client.get(f"{at('plain')}/{what}?{query}").status_code == 200
        assert client.get(f"{at('plain')}/trial/{10**30}").status_code in (400, 404)
        assert "NaN" not in client.get(f"{at('plain')}/rows?trial=0").text


def test_case_41_the_page_has_no_inline_script() -> None:
    from tunewright.ui.app import STATIC

    page = (STATIC / "index.html").read_text(encoding="utf-8")
    for script in page.split("<script")[1:]:
        opening, _, rest = script.partition(">")
        assert "src=" in opening and rest.lstrip().startswith("</script>")
    assert " on" not in page.replace(" one", "").replace(" only", "").split("<body>")[0]
    for module in STATIC.glob("*.js"):
        text = module.read_text(encoding="utf-8")
        for sink in ("innerHTML", "outerHTML", "document.write", "eval(", "new Function"):
            assert sink not in text, f"{module.name} uses {sink}"
        assert "dangerouslySetInnerHTML" not in text
