"""A round in a notebook: the dashboard's page in a frame, or the report where no server may run.

The frame needs no widget: the server runs in a thread of the kernel and answers this machine only.
"""

from __future__ import annotations

import atexit
import contextlib
import html
from dataclasses import dataclass, field
from urllib.parse import quote

from tunewright.errors import DesignError, TunewrightError
from tunewright.present.report import report
from tunewright.store.results import Results
from tunewright.ui.serve import Served, serve_in_thread

_HEIGHT = 720  # pixels
# Jupyter and the notebooks of editors, on this machine
_FRAMES = "http://localhost:* http://127.0.0.1:* vscode-webview:"
_servers: dict[str, Served] = {}  # by store: every cell about one store shares its server
_open = contextlib.ExitStack()
atexit.register(_open.close)


@dataclass(frozen=True)
class Embedded:
    """A page inside a cell's output."""

    title: str
    height: int
    url: str = ""  # of the live page; empty: the report as it was made
    page: str = field(default="", repr=False)  # the report

    def _repr_html_(self) -> str:
        """A frame with the page."""
        source = f'src="{html.escape(self.url)}"'
        if not self.url:  # the report needs no server, and its scripts no rights
            source = f'sandbox="allow-scripts" srcdoc="{html.escape(self.page)}"'
        return (
            f'<iframe title="{html.escape(self.title)}" {source} width="100%" '
            f'height="{self.height}" style="border:0" referrerpolicy="no-referrer"></iframe>'
        )


def show(
    results: Results, *, live: bool = True, store: str | None = None, height: int = _HEIGHT
) -> Embedded:
    """A round's page as the last expression of a notebook cell; it follows a round that runs.

    The page needs a browser on the machine of the kernel. `live=False` shows the report in its
    place, which works everywhere and stays in the saved notebook; so do results of no store.
    `store` is the address where it has a password, which results do not keep.

        tw.show(results)

    Args:
        results: a round as `tw.run` or `tw.load` returns it.
        live: whether to show the page that follows the round; else the report.
        store: the store's address with its password; None: the one in the results.
        height: of the page, in pixels.
    """
    if not isinstance(results, Results):
        raise DesignError("ui.not_results", kind=type(results).__name__)
    name = results.round.name
    address = store or results.store
    if live and address:
        with contextlib.suppress(TunewrightError):  # no extra, no store: the report still works
            url = f"{_server(address).url}#/round/{quote(name, safe='')}"
            return Embedded(name, height, url)
    return Embedded(name, height, page=report(results).html)


def _server(store: str) -> Served:
    if store not in _servers:
        _servers[store] = _open.enter_context(serve_in_thread(store, frames=_FRAMES))
    return _servers[store]
