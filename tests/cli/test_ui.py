"""The command `ui`: what it reports, refuses and writes."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from tests.ui.small_world import Worker, a_round

from tunewright.cli.main import main
from tunewright.ui import serve as serving
from tunewright.ui.serve import Served


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Worker("tuning.db", a_round(trials=2)).close()
    return "tuning.db"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the command asks the public function for; a server that ends at once."""
    import uvicorn

    asked: list[dict[str, Any]] = []
    real = serving.serve

    def noted(store: str, **options: Any) -> None:
        asked.append({"store": store, **options})
        real(store, **options)

    def ended(self: uvicorn.Server, sockets: list[socket.socket]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(serving, "serve", noted)
    monkeypatch.setattr(uvicorn.Server, "run", ended)
    return asked


def run(*arguments: str) -> int:
    return main(["ui", "--port", "0", *arguments])


def test_it_says_what_it_permits(
    store: str, served: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    for options, permits in (
        ([], ["read"]),
        (["--allow-actions"], ["read", "actions"]),
    ):
        assert run(store, "--json", *options) == 0
        envelope = json.loads(capsys.readouterr().out)
        data = envelope["data"]
        assert envelope["ok"] and data["permits"] == permits
        assert data["token"] is (len(permits) > 1) and ("token=" in data["url"]) is data["token"]
        assert run(store, "--no-browser", *options) == 0
        text = capsys.readouterr().out
        assert "http://127.0.0.1:" in text and len(text.splitlines()) == 2
    assert [sorted(one["allow"]) for one in served[::2]] == [[], ["actions"]]


def test_a_browser_is_opened_unless_asked_not_to(
    store: str, served: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("tunewright.cli.ui._open_browser", opened.append)
    assert run(store, "--no-browser") == run(store, "--json") == 0
    assert opened == []
    assert run(store) == 0
    assert len(opened) == 1


def test_the_store_of_this_folder(store: str, served: list[dict[str, Any]]) -> None:
    assert run("--json") == 0
    assert served[0]["store"].endswith("tuning.db")


def test_refusals(
    store: str, tmp_path: Path, served: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, code in (
        (["none.db"], "store.not_found"),
        ([store, "--allow-run"], "ui.no_project"),
        ([store, "--export", "public", "--allow-actions"], "ui.export_permits"),
    ):
        assert run(*arguments, "--json") != 0
        error = json.loads(capsys.readouterr().out)["error"]
        assert error["code"] == code


def test_files_are_written(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ui", store, "--export", "public", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["rounds"] == 1 and Path("public/static/export.json").is_file()


def test_without_the_extra(
    store: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert run(store, "--json") != 0
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "extra.missing" and error["facts"]["extra"] == "ui"


def test_what_is_reported_is_what_is_served(store: str) -> None:
    assert list(Served.__dataclass_fields__) == ["url", "store", "token", "permits"]
