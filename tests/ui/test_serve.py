"""Serving: ports, permissions, what is printed, and the answer where the extra is missing."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import httpx
import pytest
from tests.ui.small_world import Worker, a_round

import tunewright as tw
from tunewright.errors import DesignError, MissingExtra, Misuse, NotFound
from tunewright.ui import serve as serving
from tunewright.ui.serve import Served, serve, serve_in_thread


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = str(tmp_path / "tuning.db")
    Worker(path, a_round(trials=2)).close()
    return path


def test_it_answers_at_its_address(store: str) -> None:
    with serve_in_thread(store) as about:
        assert (about.store, about.token, about.permits) == (store, False, ("read",))
        assert httpx.get(f"{about.url}api/home").json()["allow"] == []
    with pytest.raises(httpx.ConnectError):
        httpx.get(about.url)


def test_what_is_permitted_is_said_and_needs_the_token(store: str) -> None:
    with serve_in_thread(store, allow=["actions"]) as about:
        assert about.token and about.permits == ("read", "actions")
        base = about.url.split("?")[0]
        assert httpx.get(f"{base}api/home").status_code == 401
        with httpx.Client(base_url=base, follow_redirects=True) as client:
            page = client.get(about.url)
            assert page.status_code == 200 and "token" not in str(page.url)
            assert client.get("/api/home").json()["allow"] == ["actions"]


def test_a_port_in_use(store: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(DesignError) as error:
            serve(store, port=taken.getsockname()[1])
    assert error.value.code == "ui.port_taken"


def test_the_usual_port_or_the_next(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setattr(serving, "PORT", taken.getsockname()[1])
        with serving._bound("127.0.0.1", None) as found:
            assert found.getsockname()[1] != taken.getsockname()[1]


def test_refused_before_anything_is_served(store: str, tmp_path: Path) -> None:
    def never(about: Served) -> None:
        raise AssertionError("it has begun")

    with pytest.raises(NotFound):
        serve(str(tmp_path / "none.db"), port=0, started=never)
    with pytest.raises(Misuse) as error:
        serve(store, port=0, allow=["everything"], started=never)
    assert error.value.code == "ui.unknown_permission"


def test_without_a_project_no_round_is_started(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Misuse) as error:
        serve(store, port=0, allow=["run"])
    assert error.value.code == "ui.no_project"


@pytest.mark.parametrize("module", ["starlette", "uvicorn"])
def test_the_extra_is_named(store: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra) as error:
        tw.serve(store, port=0)
    assert error.value.facts["extra"] == "ui" and error.value.facts["package"] == module


def test_it_ends_by_ctrl_c_without_an_error(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import uvicorn

    def interrupted(self: uvicorn.Server, sockets: list[socket.socket]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(uvicorn.Server, "run", interrupted)
    seen: list[Served] = []
    serve(store, port=0, started=seen.append)
    assert len(seen) == 1
