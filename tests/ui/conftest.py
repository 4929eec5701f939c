"""A real browser that looks at a real server, and refuses to leave it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.ui import filled_store

from tunewright.project import init
from tunewright.store.store import Store

SERVE = """
import sys
from tunewright.ui.serve import serve
serve(sys.argv[1], port=int(sys.argv[2]), allow=frozenset(sys.argv[3:]),
      started=lambda served: print(served.url, flush=True))
"""
TRAIN = """
def train(run, rate=0.1):
    for step in run.steps(5):
        run.log(step, valid_error=rate + 1 / step)
"""
ROUND = """
goal = "Which rate?"
trials_per_study = 3
[nuisance]
rate = { log = [1e-3, 1.0] }
"""
QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    *("--disable-component-update", "--disable-sync"),
)


class Server:
    """A dashboard in a process of its own, which can be killed and started again."""

    def __init__(self, store: str, *allow: str) -> None:
        self.store, self.allow, self.port = store, allow, 0
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-c", SERVE, self.store, str(self.port), *self.allow]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        assert self.url, "the server did not start"
        self.port = urlsplit(self.url).port or 0

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def start() -> Iterator[Callable[..., Server]]:
    """Start servers, which end with the test."""
    pytest.importorskip("starlette", reason="needs the extra `ui`")
    pytest.importorskip("uvicorn", reason="needs the extra `ui`")
    made: list[Server] = []

    def begin(store: str, *allow: str) -> Server:
        made.append(Server(store, *allow))
        return made[-1]

    yield begin
    for one in made:
        one.kill()


@pytest.fixture(scope="module")  # its event loop runs in this thread: other files need their own
def browser() -> Iterator[Any]:
    """Chromium; skips where it, or what drives it, is missing."""
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright, of the extra `dev`")
    named = os.environ.get("CHROMIUM", "")
    found = named or shutil.which("chromium") or shutil.which("google-chrome")
    if not found:
        pytest.skip("needs Chromium: no `chromium` on the path and CHROMIUM is not set")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=list(QUIET))
        yield chromium
        chromium.close()


class Watched:
    """A page whose errors, and requests to anywhere else, are noted."""

    def __init__(self, page: Any, server: Server) -> None:
        self.page, self.server = page, server
        self.errors: list[str] = []
        self.elsewhere: list[str] = []
        self.sent: list[str] = []
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._asked)
        page.on("response", self._answered)
        page.on("dialog", self._opened)

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning") and "status of 503" not in message.text:
            self.errors.append(message.text)

    def _answered(self, response: Any) -> None:
        """Print which answer was 503: the store could not be read, and the page reads again."""
        if response.status == 503:
            print("503 for", response.url)

    def _asked(self, request: Any) -> None:
        self.sent.append(request.url)
        where = urlsplit(request.url)
        if where.scheme in ("http", "https", "ws", "wss") and where.port != self.server.port:
            self.elsewhere.append(request.url)

    def _opened(self, dialog: Any) -> None:
        self.errors.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def open(self, place: str) -> Any:
        """Go to a place after the # sign; returns the page."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.server.url}#{place}")
        return self.page


Look = Callable[..., Watched]


@pytest.fixture
def look(browser: Any, start: Callable[..., Server]) -> Iterator[Look]:
    """Open pages; when the test is over none may have had an error or left the server."""
    del start  # its servers must outlive the pages
    opened: list[tuple[Any, Watched]] = []

    def make(server: Server, **options: Any) -> Watched:
        context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        context.set_default_timeout(60_000)  # a verdict takes long on a busy machine
        made = Watched(context.new_page(), server)
        opened.append((context, made))
        return made

    yield make
    for context, own in opened:
        context.close()
        assert not own.errors
        assert not own.elsewhere


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with rounds, infeasible trials, a launch, a campaign and a probe."""
    pytest.importorskip("starlette", reason="needs the extra `ui`")
    pytest.importorskip("uvicorn", reason="needs the extra `ui`")
    store = str(Path(tmp_path_factory.mktemp("filled")) / "tuning.db")
    filled_store.fill_small(store)
    filled_store.fill_history(store)
    return store


@pytest.fixture(scope="session")
def server(filled: str) -> Iterator[Server]:
    made = Server(filled)
    yield made
    made.kill()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a training function, a round file, and one that cannot be read."""
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "rounds").mkdir()
    (tmp_path / "rounds" / "rate.toml").write_text(ROUND)
    (tmp_path / "rounds" / "broken.toml").write_text("goal = 3")
    monkeypatch.chdir(tmp_path)
    init("train.py:train", minimize="valid_error")
    Store.open(tmp_path / "tuning.db").close()
    return tmp_path


@pytest.fixture(scope="session")
def axe() -> str:
    """The text of axe-core, a development tool that is not part of this project."""
    named = os.environ.get("AXE_CORE", "")
    if not named or not Path(named).is_file():
        pytest.skip("AXE_CORE names no axe.min.js: scripts/browser brings one")
    return Path(named).read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def violations() -> Callable[[Any, str], list[Any]]:
    """Check a page against WCAG 2.1 A and AA; what it violates, with examples."""
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]

    def check(page: Any, axe: str) -> list[Any]:
        page.evaluate(axe)
        found = page.evaluate("tags => axe.run({runOnly: tags}).then(r => r.violations)", tags)
        return [(v["id"], [n["html"][:200] for n in v["nodes"][:3]]) for v in found]

    return check
