"""Rounds started from a page: those of the project only, in processes of their own."""

from __future__ import annotations

import time
from pathlib import Path

import httpx
import pytest

import tunewright as tw
from tunewright.errors import Busy, Misuse, TunewrightError
from tunewright.ui.serve import serve_in_thread
from tunewright.ui.start_round import Rounds

pytestmark = pytest.mark.beyond_core  # it trains


def ended(rounds: Rounds) -> dict[str, object]:
    for _ in range(600):
        (one,) = rounds.to_data()["started"]
        if one["code"] is not None:
            return dict(one)
        time.sleep(0.1)
    raise AssertionError("it does not end")


def test_a_round_of_the_project_runs(project: Path) -> None:
    rounds = Rounds.of(str(project / "tuning.db"))
    assert rounds.names == ["broken", "rate"]
    started = rounds.start("rate")
    with pytest.raises(Busy) as error:
        rounds.start("rate")
    assert error.value.code == "ui.round_runs"
    assert ended(rounds)["code"] == 0
    assert tw.load(project / "tuning.db", "rate").counts == {"completed": 3}
    assert started.to_data()["round"] == "rate"
    rounds.close()


@pytest.mark.parametrize("name", ["nope", "../rounds/rate", "rate.toml", "--help", "", "/etc/x"])
def test_only_rounds_with_a_file(project: Path, name: str) -> None:
    rounds = Rounds.of(str(project / "tuning.db"))
    with pytest.raises(Misuse) as error:
        rounds.start(name)
    assert error.value.code == "ui.no_round_file"
    assert rounds.to_data()["started"] == []


def test_a_file_that_cannot_be_run(project: Path) -> None:
    rounds = Rounds.of(str(project / "tuning.db"))
    with pytest.raises(TunewrightError):
        rounds.start("broken")
    assert rounds.to_data()["started"] == []


def test_the_store_must_be_the_projects(project: Path, tmp_path: Path) -> None:
    with pytest.raises(Misuse) as error:
        Rounds.of(str(tmp_path / "other.db"))
    assert error.value.code == "ui.other_store"


def test_by_a_page(project: Path) -> None:
    store = str(project / "tuning.db")
    with serve_in_thread(store, allow=["run"]) as about:
        assert about.permits == ("read", "actions", "run")
        base = about.url.split("/?")[0]
        own = {"origin": base, "content-type": "application/json"}
        with httpx.Client(base_url=base, follow_redirects=True, timeout=30) as client:
            client.get(about.url)
            refused = client.post("/api/run", json={"round": "nope"}, headers=own)
            assert refused.status_code == 400
            assert refused.json()["error"]["code"] == "ui.no_round_file"
            assert client.post("/api/run", json={"round": "rate"}).status_code == 403
            assert client.post("/api/run", json={"round": "rate"}, headers=own).status_code == 200
            for _ in range(600):
                found = client.get("/api/runs").json()
                if found["started"][0]["code"] is not None:
                    break
                time.sleep(0.1)
    assert found["files"] == ["broken", "rate"] and found["started"][0]["code"] == 0
    assert tw.load(store, "rate").counts == {"completed": 3}
