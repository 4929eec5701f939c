"""The command `ui`: the dashboard of a store, served on this machine or written as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tunewright.cli._errors import answer
from tunewright.cli._options import JsonOption, from_here, store_address
from tunewright.errors import Misuse
from tunewright.messages import Message
from tunewright.present.terminal.screen import say, show_json
from tunewright.remedies import use


def ui(
    store: Annotated[
        str | None,
        typer.Argument(
            metavar="[STORE]",
            help="A file or a postgresql:// address, in place of the one tunewright.toml names.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            metavar="N",
            help="By default 8686, or the next free one.",
            show_default=False,
        ),
    ] = None,
    address: Annotated[
        str,
        typer.Option(
            metavar="A", help="Where to listen; other machines reach it only with the token."
        ),
    ] = "127.0.0.1",
    allow_actions: Annotated[
        bool, typer.Option("--allow-actions", help="Permit notes and stop requests.")
    ] = False,
    allow_run: Annotated[
        bool,
        typer.Option("--allow-run", help="Permit starting rounds of this project, and the above."),
    ] = False,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Open no browser; print the address only.")
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Serve nothing: write a site of files that any web server can host.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Serve the dashboard of a store on this machine, or write it as a site of files.

    Pages read the store and change nothing unless an option permits it. Ctrl-C ends it.
    """
    allow = [name for name, on in (("actions", allow_actions), ("run", allow_run)) if on]
    place = store_address(from_here(store))
    if export is not None:
        if allow:
            raise Misuse("ui.export_permits", remedy=use("--export", str(export)))
        _export(place, export, json)
        return
    # the server's packages are an extra, and take half a second to import
    from tunewright.ui.serve import Served, serve

    def announce(served: Served) -> None:
        if json:
            show_json(served)
        else:
            say(str(Message("ui.at", {"store": served.store, "url": served.url})))
            say(str(Message("ui.permits", {"permits": list(served.permits)})))
        if not (no_browser or json):
            _open_browser(served.url)

    serve(place, address=address, port=port, allow=allow, started=announce)


def _export(store: str, folder: Path, json: bool) -> None:
    from tunewright.ui.site import export_site

    done = export_site(store, folder)
    facts = {"files": done.files, "megabytes": done.bytes / 1e6, "folder": done.folder}
    answer(json, done, lambda: say(str(Message("ui.wrote", facts))))


def _open_browser(url: str) -> None:
    """Open the page once the server answers; a machine without a browser prints the address."""
    import threading
    import webbrowser

    timer = threading.Timer(0.5, webbrowser.open, (url,))
    timer.daemon = True
    timer.start()
