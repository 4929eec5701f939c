"""The exported site in Chromium: hosted by a plain web server, and opened as a file."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tunewright as tw
from tunewright.ui.site import export_site

pytestmark = pytest.mark.beyond_core
Look = Callable[..., Any]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *anything: object) -> None:
        pass


@dataclass(frozen=True)
class Host:
    url: str
    port: int | None


@pytest.fixture(scope="module")
def folder(filled: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("exported") / "site"
    export_site(filled, made)
    return made


@pytest.fixture
def host(folder: Path) -> Iterator[Host]:
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        yield Host(f"http://127.0.0.1:{port}/", port)
        server.shutdown()


def test_every_page_of_a_hosted_site(look: Look, host: Host, filled: str) -> None:
    own = look(host)
    page = own.open("/")
    page.locator("td.best b").first.wait_for()
    page.get_by_role("link", name="width", exact=True).click()
    page.locator(".panel.isolation svg").wait_for()
    page.locator(".curves .u-wrap").wait_for()
    assert page.locator(".connection").inner_text()  # it shows that nothing is live
    assert page.locator(".connection.live").count() == 0
    best = tw.load(filled, "width").best().number
    page.locator(f"#trial-{best}").dblclick()
    page.get_by_role("heading", name=f"width trial {best}").wait_for()
    page.locator(".panels.wide .u-wrap").first.wait_for()
    page = own.open("/compare?t=width:32&t=width:33")
    page.locator(".panels.wide .u-wrap").first.wait_for()
    page = own.open("/campaign/autopilot")
    page.locator(".timeline li").first.wait_for()
    page = own.open("/probes")
    page.locator("section.verdict").first.wait_for()
    assert all("/api/" not in url for url in own.sent), "files answer, no server does"


def test_opened_as_a_file_it_explains_itself(look: Look, folder: Path) -> None:
    """Chromium loads no module from a file: the page gives the command that serves it."""
    own = look(Host((folder / "index.html").as_uri(), None))
    page = own.open("/")
    page.locator("#opened code", has_text="python -m http.server").wait_for()
    assert page.locator("#opened").is_visible()
    refused = [text for text in own.errors if "file://" in text or "ERR_FAILED" in text]
    assert own.errors == refused
    own.errors.clear()
