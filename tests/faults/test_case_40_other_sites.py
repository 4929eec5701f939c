"""Case 40: what changes something needs the token, our Origin and JSON; reading changes nothing."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from tests.faults.dashboard import ROUND, acting, everything, filled
from tests.ui.small_world import NAME

import tunewright as tw
from tunewright.store.store import Store
from tunewright.ui.serve import serve_in_thread

CHANGES = {
    f"{ROUND}/note": {"text": "changed"},
    f"{ROUND}/stop": {},
    f"{ROUND}/stop/": {"trial": 1},
}
FOREIGN = {
    "no origin": {"origin": None},
    "another site": {"origin": "http://evil.example"},
    "a sandboxed frame": {"origin": "null"},
    "another port": {"origin": "http://127.0.0.1:1"},
    "a rebound name": {"origin": "http://evil.example:{port}", "host": "evil.example:{port}"},
    "a foreign host": {"host": "evil.example"},
    "a form": {"content-type": "application/x-www-form-urlencoded"},
    "a simple request": {"content-type": "text/plain"},
    "no type": {"content-type": None},
    "no cookie": {"cookie": "x=1"},
    "a wrong token": {"cookie": "tunewright_token_{port}=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
    "cross-site by the browser": {"sec-fetch-site": "cross-site"},
}


@pytest.fixture
def store(store_url: str, tmp_path: Path) -> str:
    filled(store_url, tmp_path)
    return store_url


def test_case_40_refused_and_nothing_written(store: str) -> None:
    before = everything(store)
    with acting(store) as (client, own, about):
        port = urlsplit(about.url).port
        for why, changed in FOREIGN.items():
            told = {k: None if v is None else v.format(port=port) for k, v in changed.items()}
            headers = {k: v for k, v in {**own, **told}.items() if v is not None}
            for path, body in CHANGES.items():
                request = client.build_request("POST", path, json=body, headers=headers)
                for name, value in told.items():
                    if value is None:
                        request.headers.pop(name, None)
                answer = client.send(request)
                wanted = {401} if "cookie" in told else {403}
                assert answer.status_code in wanted, (why, path)
                assert not {"access-control-allow-origin"} & set(answer.headers)
    assert everything(store) == before


def test_case_40_our_own_page_may(store: str) -> None:
    with acting(store) as (client, own, _):
        answer = client.post(f"{ROUND}/note", json={"text": "<i>fine</i>"}, headers=own)
        assert answer.status_code == 200
        assert answer.json()["notes"][-1]["text"] == "<i>fine</i>"
        asked = client.post(f"{ROUND}/stop", json={"trial": 3}, headers=own).json()
        assert (asked["round"], asked["trial"]) == (NAME, 3)
    assert tw.load(store, NAME).notes[-1] == "<i>fine</i>"


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"[]", b"3", b'"x"', b"{", b"\xff\xfe", b'{"trial": "1"}', b'{"trial": true}',
     b'{"trial": 1.5}', b'{"trial": [1]}', b"[" * 15_000, b'{"trial": 1e400}'],
    ids=lambda body: ascii(body)[:24],
)  # fmt: skip
def test_case_40_a_body_that_is_none_stops_nothing(store: str, body: bytes) -> None:
    before = everything(store)
    with acting(store) as (client, own, _):
        answer = client.post(f"{ROUND}/stop", content=body, headers=own)
        assert answer.status_code == 400
        noted = client.post(f"{ROUND}/note", content=body, headers=own)
        assert noted.status_code == 400
    assert everything(store) == before


def test_case_40_bodies_beyond_the_limit(store: str) -> None:
    before = everything(store)
    with acting(store) as (client, own, _):
        large = b'{"text": "' + b"x" * 100_000 + b'"}'
        answer = client.post(f"{ROUND}/note", content=large, headers=own)
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "ui.too_large")

        def endless():  # without a length
            for _ in range(200):
                yield b"x" * 1000

        answer = client.post(f"{ROUND}/note", content=endless(), headers=own)
        assert answer.status_code == 413
    assert everything(store) == before


def test_case_40_reading_changes_nothing(store: str) -> None:
    """Every address, with GET and HEAD, also those that change something by POST."""
    paths = [
        *("/", "/api/home", f"/api/bests?round={NAME}", "/api/probes", "/api/run", "/api/runs"),
        *(ROUND, f"{ROUND}/table", f"{ROUND}/rows?trial=1", f"{ROUND}/verdict?wait=1"),
        *(f"{ROUND}/density?metric=valid_error", f"{ROUND}/curves?metric=valid_error&trial=1"),
        *(f"{ROUND}/trial/0", f"{ROUND}/trial/0/log", f"{ROUND}/trial/0/curves"),
        *(f"{ROUND}/trial/0/file?path=log.1.txt", f"{ROUND}/note?text=x", f"{ROUND}/stop?trial=1"),
    ]
    before = everything(store)
    with acting(store) as (client, _, _):
        for path in paths:
            for method in ("GET", "HEAD"):
                assert client.request(method, path).status_code in (200, 404, 405), path
    assert everything(store) == before


def test_case_40_without_permission_there_is_nothing_to_call(store: str) -> None:
    before = everything(store)
    with serve_in_thread(store) as about:
        own = {"origin": about.url.rstrip("/"), "content-type": "application/json"}
        for path, body in {**CHANGES, "/api/run": {"round": NAME}}.items():
            answer = httpx.post(about.url.rstrip("/") + path, json=body, headers=own)
            assert answer.status_code in (403, 404, 405)
    assert everything(store) == before


def test_case_40_the_connection_cannot_write(store: str) -> None:
    """Whatever a request makes the server do, its connection refuses."""
    from sqlalchemy import exc, text

    from tunewright.errors import StoreError
    from tunewright.ui.app import Dashboard

    before = everything(store)
    own = Dashboard(store)
    for statement in (
        "UPDATE trial SET status = 'completed'",
        "DELETE FROM note",
        "INSERT INTO about (key, value) VALUES ('x', 'y')",
        "CREATE TABLE x (y INTEGER)",
        "DROP TABLE curve",
    ):
        with (
            pytest.raises((StoreError, exc.SQLAlchemyError)),
            own.store.reading() as connection,
        ):
            connection.execute(text(statement))
    with pytest.raises(StoreError):
        own.store.ask_stop(own.store.round(NAME).id, None)
    own.source.close()
    assert everything(store) == before
    with Store.open(store, create=False) as writable:
        writable.note(NAME, "others still can")
