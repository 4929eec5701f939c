"""Every address answers with the facts that the public functions give."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import numpy as np
import pytest
from tests.ui.small_world import LATER, NAME, fill, read_frame

import tunewright as tw
from tunewright.present.envelope import plain
from tunewright.store import overview
from tunewright.store.overview import STATUSES
from tunewright.store.store import Store
from tunewright.ui.columns import table as encoded
from tunewright.ui.serve import serve_in_thread

pytestmark = pytest.mark.beyond_core  # it serves

ROUND = f"/api/round/{quote(NAME)}"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("app") / "tuning.db")
    fill(path)
    return path


@pytest.fixture(scope="module")
def client(store: str) -> Iterator[httpx.Client]:
    with serve_in_thread(store) as about, httpx.Client(base_url=about.url, timeout=60) as made:
        yield made


def test_home_is_the_tracking_table(client: httpx.Client, store: str) -> None:
    home = client.get("/api/home").json()
    table = tw.stores.rounds(store)
    assert [line["name"] for line in home["rounds"]] == [row.name for row in reversed(table)]
    assert home["allow"] == [] and home["version"] == tw.__version__
    names = [row.name for row in table]
    bests = client.get("/api/bests", params={"round": [*names, "no such round"]}).json()
    assert list(bests) == names
    for row in table:
        best = row.best
        assert best is not None
        found = bests[row.name]
        assert (found["value"], found["trial"]) == (best.value, best.number)
        assert found["note"] == str(row.note)
        (line,) = (one for one in home["rounds"] if one["name"] == row.name)
        assert line["trials"] == row.trials and line["asks"] == str(row.asks)


def test_a_round_has_the_facts_of_load(client: httpx.Client, store: str) -> None:
    results = tw.load(store, NAME)
    page = client.get(ROUND).json()
    assert page["counts"] == plain(results.counts)
    assert page["best"] == [trial.number for trial in results.top(5)]
    assert page["value"] == results.best().value
    assert page["studies"] == [study.label for study in results.studies]
    assert set(page["metrics"]) == {"valid_error", "train_loss"}
    assert [note["text"] for note in page["notes"]] == [str(note) for note in results.notes]
    assert page["definition"] == plain(results.round)


def test_a_name_with_signs_of_an_address(client: httpx.Client, store: str) -> None:
    page = client.get(f"/api/round/{quote(LATER, safe='')}").json()
    assert page["name"] == LATER
    head, _ = read_frame(client.get(f"/api/round/{quote(LATER, safe='')}/table").content)
    assert head["rows"] == 2


def test_the_table_reads_back(client: httpx.Client, store: str) -> None:
    results = tw.load(store, NAME)
    head, columns = read_frame(client.get(f"{ROUND}/table").content)
    assert columns["number"].tolist() == [trial.number for trial in results.trials]
    for at, trial in enumerate(results.trials):
        assert STATUSES[columns["status"][at]] == trial.status
        assert columns["study"][at] == trial.study
        if trial.value is None:
            assert np.isnan(columns["value"][at])
        else:
            assert columns["value"][at] == np.float32(trial.value)
            assert columns["step"][at] == trial.best_step
        for place, column in enumerate(head["columns"]):
            position = columns["position"][at, place]
            if column in trial.unit:
                assert abs(position / 65_534 - trial.unit[column]) < 1 / 65_000
            else:
                assert position == 65_535, "a hyperparameter that the trial does not have"
    key = results.trials[3].identity
    head, columns = read_frame(client.get(f"{ROUND}/table", params={"key": key}).content)
    assert columns["number"].tolist() == [3]


def test_rows_have_every_digit(client: httpx.Client, store: str) -> None:
    results = tw.load(store, NAME)
    rows = client.get(f"{ROUND}/rows", params={"trial": [0, 5, 999]}).json()
    assert [row["number"] for row in rows] == [0, 5]
    for row in rows:
        trial = results.trial(row["number"])
        assert row["value"] == trial.value
        assert row["configuration"] == plain(trial.configuration)
        assert row["status"] == trial.status


def test_curves_are_the_curves(client: httpx.Client, store: str) -> None:
    results = tw.load(store, NAME)
    chosen = [trial.number for trial in results.top(2)]
    asked = {"metric": "valid_error", "trial": chosen}
    head, columns = read_frame(client.get(f"{ROUND}/curves", params=asked).content)
    assert sorted(head["trials"]) == sorted(chosen)
    for at, number in enumerate(head["trials"]):
        curve = results.trial(number).curves["valid_error"]
        assert head["last"][at] == curve.steps[-1]
        assert np.nanmin(columns["low"][at]) == np.float32(curve.values.min())
        assert np.nanmax(columns["high"][at]) == np.float32(curve.values.max())
    alone = client.get(f"{ROUND}/trial/{chosen[0]}/curves").json()
    curve = results.trial(chosen[0]).curves["valid_error"]
    assert alone["valid_error"]["values"] == curve.values.tolist()
    nothing, _ = read_frame(client.get(f"{ROUND}/curves", params={"metric": "x"}).content)
    assert nothing["trials"] == []


def test_the_density_counts_every_curve(client: httpx.Client, store: str) -> None:
    results = tw.load(store, NAME)
    head, columns = read_frame(
        client.get(f"{ROUND}/density", params={"metric": "valid_error"}).content
    )
    assert head["curves"] == sum("valid_error" in trial.curves for trial in results.trials)
    assert columns["image"].shape == (160, 250) and columns["image"].max() == 255
    nothing, _ = read_frame(client.get(f"{ROUND}/density", params={"metric": "x"}).content)
    assert nothing["curves"] == 0


def test_the_verdict_is_the_checklists(client: httpx.Client, store: str) -> None:
    for name in (NAME, LATER):  # the later one is judged with the trials that it continues
        findings = tw.check(tw.load(store, name))
        at = f"/api/round/{quote(name, safe='')}/verdict"
        told = client.get(at, params={"wait": 1}).json()
        assert (told["state"], told["fresh"], told["error"]) == ("ready", True, None)
        assert told["verdict"]["verdicts"] == [finding.verdict for finding in findings]
        report = tw.report(tw.load(store, name), reader="shell")
        assert told["verdict"]["headline"] == str(report.answer.headline)
        next_ = [step["command"] for step in told["verdict"]["next"]]
        assert next_ == [step.action.command for step in report.answer.next]
    line = next(x for x in client.get("/api/home").json()["rounds"] if x["name"] == NAME)
    verdicts = [finding.verdict for finding in tw.check(tw.load(store, NAME))]
    assert line["chips"] == {verdict: verdicts.count(verdict) for verdict in set(verdicts)}


def test_a_verdict_that_a_page_has_is_not_sent_again(client: httpx.Client) -> None:
    first = client.get(f"{ROUND}/verdict", params={"wait": 1}).json()
    first = client.get(f"{ROUND}/verdict", params={"wait": 1}).json()
    assert first["made"] and first["verdict"]
    again = client.get(f"{ROUND}/verdict", params={"has": first["made"]}).json()
    assert again["verdict"] is None and again["made"] == first["made"] and again["fresh"]
    other = client.get(f"{ROUND}/verdict", params={"has": "another"}).json()
    assert other["verdict"] == first["verdict"]


def test_every_page_gets_the_same_table(client: httpx.Client, store: str) -> None:
    asked = [client.get(f"{ROUND}/table").content for _ in range(3)]
    assert asked[0] == asked[1] == asked[2]
    with Store.open(store, create=False, read_only=True) as opened:
        assert asked[0] == encoded(overview.read_overview(opened, NAME))


def test_a_trial_has_its_history(client: httpx.Client, store: str) -> None:
    trial = tw.load(store, NAME).best()
    page = client.get(f"{ROUND}/trial/{trial.number}").json()
    history = tw.stores.history(store, trial)
    assert page["value"] == trial.value and page["configuration"] == plain(trial.configuration)
    assert page["attempted"] == plain(history.attempts)
    assert page["snapshots"] == plain(history.snapshots)
    assert page["origin"] == plain(history.provenance)
    assert set(page["metrics"]) == set(trial.curves)


def test_a_diagnosis_is_that_of_diagnose(client: httpx.Client, store: str) -> None:
    trial = tw.load(store, NAME).best()
    page = client.get(f"{ROUND}/trial/{trial.number}/diagnosis").json()
    found = tw.diagnose(trial)
    assert page["diagnosis"] == plain(found)
    for shown, one in zip(page["answers"], found.answers, strict=True):
        assert (shown["question"], shown["verdict"]) == (one.question, one.verdict)
        assert shown["found"][0]["headline"] == str(one.words.headline)
    whole = tw.diagnose(tw.load(store, NAME), run=str(trial.number))
    assert whole.answers == found.answers
    assert client.get(f"{ROUND}/trial/{trial.number}").json()["diagnosed"] is True


def test_what_is_not_there(client: httpx.Client) -> None:
    for path, code in (
        ("/api/round/nope", "round.not_found"),
        ("/api/round/nope/events", "round.not_found"),
        (f"{ROUND}/trial/999", "trial.not_found"),
        (f"{ROUND}/trial/999/log", "trial.not_found"),
        (f"{ROUND}/trial/999/diagnosis", "trial.not_found"),
        ("/api/campaign/nope", "campaign.not_found"),
    ):
        answer = client.get(path)
        assert answer.status_code == 404 and answer.json()["error"]["code"] == code
    assert client.get("/api/nope").status_code == 404


def test_probes_and_the_page_itself(client: httpx.Client) -> None:
    assert client.get("/api/probes").json() == {"probes": []}
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html") and "static/main.js" in page.text
    assert client.get("/static/export.json").json() == {"static": False}


def test_a_campaign_has_the_facts_of_the_public_call(tmp_path: Path) -> None:
    from tests.ui.small_world import workload

    store = str(tmp_path / "tuning.db")
    tw.tune(workload(store), {"rate": tw.log(1e-4, 1.0)}, trials=12, name="auto")
    campaign = tw.campaign(store, "auto")
    with serve_in_thread(store) as about, httpx.Client(base_url=about.url, timeout=60) as client:
        page = client.get("/api/campaign/auto").json()
    assert (page["spent"], page["total"]) == (campaign.spent, campaign.total)
    assert page["left"] == campaign.left and page["best"] == plain(campaign.best)
    assert [step["kind"] for step in page["steps"]] == [step.kind for step in campaign.log]
    assert page["next"]["kind"] and page["headline"] == str(campaign.headline)
    assert {line["name"] for line in page["rounds"]} >= {r.round.name for r in campaign.rounds}
    json.dumps(page, allow_nan=False)


def test_a_store_that_is_unreadable_for_a_moment_is_read_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, aside = tmp_path / "tuning.db", tmp_path / "aside.db"
    with Store.open(path, create=True):
        pass
    with serve_in_thread(str(path)) as about, httpx.Client(base_url=about.url, timeout=60) as own:
        assert own.get("/api/home").status_code == 200
        path.rename(aside)
        path.write_bytes(b"not a database" * 500)
        back = threading.Timer(0.3, aside.replace, [path])
        back.start()
        assert own.get("/api/home").status_code == 200
        back.join()
    noted = [one.getMessage() for one in caplog.records if one.name == "tunewright.ui"]
    assert noted and all("/api/home" in text and "store." in text for text in noted)
    assert any("not a database" in text for text in noted), "the database's own error"
