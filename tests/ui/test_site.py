"""The dashboard as files: hosted by any web server, with the answers of the live one."""

from __future__ import annotations

import functools
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from tests.ui.small_world import LATER, NAME, fill, read_frame

import tunewright as tw
from tunewright.errors import Misuse
from tunewright.ui.serve import serve_in_thread
from tunewright.ui.site import STATIC, export_site

pytestmark = pytest.mark.beyond_core  # it serves


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *anything: object) -> None:
        pass


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("site") / "tuning.db")
    fill(path)
    return path


@pytest.fixture(scope="module")
def site(store: str) -> Iterator[httpx.Client]:
    folder = Path(store).parent / "deep" / "public"
    done = export_site(store, folder)
    assert done.rounds == 2 and done.files == sum(p.is_file() for p in folder.rglob("*"))
    handler = functools.partial(Quiet, directory=str(folder.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_address[1]}/public/"
        with httpx.Client(base_url=base) as client:
            yield client
        server.shutdown()


def test_the_answers_of_the_live_server(site: httpx.Client, store: str) -> None:
    manifest = site.get("static/export.json").json()
    assert manifest["static"] is True and set(manifest["rounds"]) == {NAME, LATER}
    with serve_in_thread(store) as about, httpx.Client(base_url=about.url, timeout=60) as live:
        for name, place in manifest["rounds"].items():
            at, data = f"api/round/{quote(name, safe='')}", f"data/{place}"
            here, there = live.get(at).json(), site.get(f"{data}/round.json").json()
            assert {**here, "cursor": ""} == there
            assert live.get(f"{at}/table").content == site.get(f"{data}/table.bin").content
            told = live.get(f"{at}/verdict", params={"wait": 1}).json()
            assert told.pop("made"), "names a verdict of this server, which no file needs"
            assert {**told, "made": ""} == site.get(f"{data}/verdict.json").json()
            assert manifest["metrics"][name] == here["metrics"]
            for number, metric in enumerate(here["metrics"]):
                image = live.get(f"{at}/density", params={"metric": metric}).content
                assert image == site.get(f"{data}/density/{number}.bin").content
                asked = {"metric": metric, "trial": list(range(12))}
                ours, lines = read_frame(live.get(f"{at}/curves", params=asked).content)
                theirs, same = read_frame(site.get(f"{data}/curves/{number}/0.bin").content)
                assert sorted(ours["trials"]) == sorted(theirs["trials"])
                assert lines["low"].shape == same["low"].shape
            rows = live.get(f"{at}/rows", params={"trial": list(range(12))}).json()
            assert rows == site.get(f"{data}/rows/0.json").json()
            trial = site.get(f"{data}/trials/0.json").json()
            page = live.get(f"{at}/trial/0").json()
            left_out = {"folder", "files", "origin", "diagnosed"}
            assert page["diagnosed"] and not trial["trial"]["diagnosed"], (
                "files answer no questions"
            )
            for key in page.keys() - left_out:
                assert trial["trial"][key] == page[key]
            assert trial["curves"].keys() == set(page["metrics"])
        home = live.get("api/home").json()
    exported = site.get("data/home.json").json()
    assert [x["name"] for x in exported["rounds"]] == [x["name"] for x in home["rounds"]]
    assert all(line["chips"] for line in exported["rounds"])
    bests = site.get("data/bests.json").json()
    for row in tw.stores.rounds(store):
        assert row.best is not None and bests[row.name]["value"] == row.best.value


def test_it_is_the_same_page_and_needs_no_other_host(site: httpx.Client) -> None:
    page = site.get("").text
    assert "Content-Security-Policy" in page and 'src="static/main.js"' in page
    elsewhere = page.replace("http://localhost:8000/", "")  # how to open it from a disk
    assert "http://" not in elsewhere and "https://" not in elsewhere
    for path in STATIC.rglob("*"):
        if path.is_file() and path.name != "export.json":
            found = site.get(f"static/{path.relative_to(STATIC).as_posix()}")
            assert found.content == path.read_bytes()


def test_nothing_of_this_machine_is_published(site: httpx.Client, store: str) -> None:
    folder = Path(store).parent
    for path in (folder / "deep" / "public" / "data").rglob("*.json"):
        assert str(folder) not in path.read_text(), path


def test_an_export_is_replaced_and_nothing_else(store: str, tmp_path: Path) -> None:
    folder = tmp_path / "public"
    export_site(store, folder)
    stale = folder / "data" / "r99" / "round.json"
    stale.parent.mkdir()
    stale.write_text("{}")
    export_site(store, folder)
    assert not stale.exists()
    (folder / "mine.txt").write_text("x")
    with pytest.raises(Misuse) as error:
        export_site(store, folder)
    assert error.value.code == "ui.folder_taken"
    other = tmp_path / "other"
    other.mkdir()
    (other / "index.html").write_text("mine")
    with pytest.raises(Misuse):
        export_site(store, other)
    assert (other / "index.html").read_text() == "mine"
    with pytest.raises(Misuse):
        export_site(store, other / "index.html")


def test_the_live_page_is_no_export() -> None:
    assert json.loads((STATIC / "export.json").read_text()) == {"static": False}
