"""Case 42: artifacts are saved, never shown; no path leads out of the folder of its trial."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from sqlalchemy import text
from tests.faults.dashboard import ROUND, SECRET, filled
from tests.ui.test_files import TRAVERSALS

from tunewright.store.store import Store
from tunewright.ui.serve import serve_in_thread

FILE = f"{ROUND}/trial/0/file"


def test_case_42_an_artifact_is_an_attachment(store_url: str, tmp_path: Path) -> None:
    filled(store_url, tmp_path)
    with serve_in_thread(store_url) as about, httpx.Client(base_url=about.url) as client:
        listed = client.get(f"{ROUND}/trial/0").json()["files"]
        assert {"model.html", "log.1.txt"} <= {one["path"] for one in listed}
        answer = client.get(FILE, params={"path": "model.html"})
        assert answer.text == "<script>alert('artifact')</script>"
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"].startswith("sandbox;")
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        log = client.get(f"{ROUND}/trial/0/log")
        assert log.headers["content-type"] == "application/json"
        assert log.json()["text"].startswith("<script>"), "data, which the page shows as text"


def test_case_42_a_name_that_would_end_the_header(store_url: str, tmp_path: Path) -> None:
    folder = filled(store_url, tmp_path)
    name = 'a"; filename="x.html\r\nSet-Cookie: x=1'
    (folder / name).write_text("x")
    with serve_in_thread(store_url) as about, httpx.Client(base_url=about.url) as client:
        answer = client.get(FILE, params={"path": name})
        assert answer.status_code == 200 and "set-cookie" not in answer.headers
        assert '"' not in answer.headers["content-disposition"]


def spellings(path: str) -> set[str]:
    """A path as it may be written into an address."""
    plain = quote(path.encode("utf-8", "surrogatepass"), safe="")
    return {plain, quote(plain, safe=""), quote(path, safe="/.;:~"), plain.replace("%2E", ".")}


def test_case_42_no_spelling_leads_outside(store_url: str, tmp_path: Path) -> None:
    folder = filled(store_url, tmp_path)
    (folder / "link").symlink_to(tmp_path / "secret.txt")
    (folder / "linked").symlink_to(tmp_path)
    assert len(TRAVERSALS) >= 20
    depth = "../" * 12
    paths = {*TRAVERSALS, f"{depth}{tmp_path}/secret.txt", str(tmp_path / "secret.txt")}
    bases = (f"{FILE}?path=", "/static/", "/static/vendor/", "/", f"{ROUND}/trial/0/", "/api/")
    with serve_in_thread(store_url) as about, httpx.Client(base_url=about.url) as client:
        port = httpx.URL(about.url).port
        for path in paths:
            for spelled in spellings(path):
                for base in bases:
                    body = _raw(port, f"{base}{spelled}") if len(spelled) < 4000 else b""
                    assert SECRET.encode() not in body and b"root:" not in body, (base, spelled)
        for path in TRAVERSALS:
            answer = client.get(FILE, params={"path": path})
            assert answer.status_code in (400, 404), path


def _raw(port: int | None, target: str) -> bytes:
    """An answer to a path that no client has made tidy."""
    import socket

    with socket.create_connection(("127.0.0.1", port), timeout=30) as wire:
        wire.sendall(
            f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()
        )
        found = b""
        while part := wire.recv(65536):
            found += part
    return found


@pytest.mark.parametrize("folder", ["../../..", "/", "/etc", "r/../../..", "\\..\\.."])
def test_case_42_a_store_that_names_other_folders(
    store_url: str, tmp_path: Path, folder: str
) -> None:
    """Whoever writes to a shared store must not read this machine's files through it."""
    filled(store_url, tmp_path)
    with Store.open(store_url) as store, store._database.writing() as connection:
        connection.execute(text("UPDATE trial SET folder = :f WHERE number = 0"), {"f": folder})
    with serve_in_thread(store_url) as about, httpx.Client(base_url=about.url) as client:
        for path in ("etc/passwd", "passwd", "secret.txt"):
            answer = client.get(FILE, params={"path": path})
            assert answer.status_code != 200 and b"root:" not in answer.content
        assert client.get(f"{ROUND}/trial/0/log").text.count("root:") == 0


def test_case_42_a_folder_of_another_store(store_url: str, tmp_path: Path) -> None:
    filled(store_url, tmp_path)
    other = tmp_path / "other"
    (other / "a").mkdir(parents=True)
    (other / "a" / "secret.txt").write_text(SECRET)
    with Store.open(store_url) as store, store._database.writing() as connection:
        connection.execute(text("UPDATE round SET folder = :f"), {"f": str(other)})
        connection.execute(text("UPDATE trial SET folder = 'a' WHERE number = 0"))
    with serve_in_thread(store_url) as about, httpx.Client(base_url=about.url) as client:
        asked = {"path": "secret.txt"}
        assert client.get(FILE, params=asked).status_code == 404, "it carries no mark"
        (other / "store.json").write_text(json.dumps({"store": "another"}))
        assert client.get(FILE, params=asked).status_code == 404
        assert client.get(f"{ROUND}/trial/0").json()["files"] == []
