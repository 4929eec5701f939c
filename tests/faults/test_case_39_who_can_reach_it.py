"""Case 39: the dashboard listens on this machine only; another address needs the token."""

from __future__ import annotations

import json
import re
import signal
import socket
import threading
from pathlib import Path

import httpx
import pytest
from tests.faults.dashboard import command, filled

from tunewright.errors import DesignError
from tunewright.ui.guard import Access

ENDS_S = 60


@pytest.fixture
def store(store_url: str, tmp_path: Path) -> str:
    filled(store_url, tmp_path)
    return store_url


def first(*arguments: str) -> tuple[dict, str, str]:
    """What the command reports as JSON, one answer, and all that it printed until Ctrl-C."""
    process = command("--json", "--port", "0", *arguments)
    threading.Timer(ENDS_S, process.kill).start()
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.rstrip() == "}":
            break
    about = json.loads("".join(lines))
    assert about["ok"], about
    url = about["data"]["url"]
    base = url.split("/?")[0].rstrip("/").replace("0.0.0.0", "127.0.0.1")
    answer = httpx.get(f"{base}/api/home")
    with httpx.Client(follow_redirects=True) as client:
        client.get(url.replace("0.0.0.0", "127.0.0.1"))
        client.get(f"{base}/api/home")
        client.get(f"{base}/api/nope", params={"token": "wrong"})
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=ENDS_S)
    assert process.returncode == 0
    return {**about["data"], "status": answer.status_code}, out, err


def test_case_39_this_machine_only(store: str) -> None:
    about, _, _ = first(store)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", about["url"])
    assert (about["token"], about["permits"], about["status"]) == (False, ["read"], 200)


def test_case_39_every_address_needs_the_token_and_no_log_has_it(store: str) -> None:
    about, out, err = first(store, "--address", "0.0.0.0")
    assert about["token"] and about["status"] == 401
    token = about["url"].partition("token=")[2]
    assert len(token) >= 32 and token not in out and token not in err, "printed once"


def test_case_39_permissions_need_the_token(store: str) -> None:
    about, _, _ = first(store, "--allow-actions")
    assert about["token"] and about["status"] == 401
    assert about["permits"] == ["read", "actions"]


def test_case_39_bound_to_one_address(store: str) -> None:
    """Nobody answers at another address of this machine."""
    process = command("--json", "--port", "0", store)
    assert process.stdout is not None
    text = ""
    for line in process.stdout:
        text += line
        if line.rstrip() == "}":
            break
    port = int(re.findall(r":(\d+)/", json.loads(text)["data"]["url"])[0])
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            pass
        with pytest.raises(OSError), socket.create_connection(("127.0.0.2", port), timeout=5):
            pass
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("hosts", [set(), {"10.0.0.5"}, {"127.0.0.1", "box.example"}])
def test_case_39_no_token_is_refused_at_start(hosts: set[str]) -> None:
    with pytest.raises(DesignError) as error:
        Access(frozenset(hosts), 8686, token="")
    assert error.value.code == "ui.token_needed"
