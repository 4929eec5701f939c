"""A dashboard under attack: a store with a trial's folder, its server, and browsers of others."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
from tests.ui.small_world import NAME, fill

from tunewright.store.store import Store
from tunewright.ui.serve import Served, serve_in_thread

SECRET = "the secret of this machine"
ROUND = f"/api/round/{NAME}"


def filled(store_url: str, tmp_path: Path) -> Path:
    """A store with trials that have folders; the folder of the first one."""
    root = tmp_path / "trials"
    results = fill(store_url, root)
    folder = root / results.trials[0].folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "log.1.txt").write_text("<script>alert('log')</script>\n")
    (folder / "model.html").write_text("<script>alert('artifact')</script>")
    for outside in (tmp_path, root, folder.parent):
        (outside / "secret.txt").write_text(SECRET)
    return folder


@contextlib.contextmanager
def acting(store_url: str) -> Iterator[tuple[httpx.Client, dict[str, str], Served]]:
    """A browser that has the cookie of a server which permits notes and stops; its headers."""
    with serve_in_thread(store_url, allow=["actions"]) as about:
        base = about.url.split("/?")[0]
        with httpx.Client(base_url=base, follow_redirects=True, timeout=60) as client:
            assert client.get(about.url).status_code == 200
            yield client, {"origin": base, "content-type": "application/json"}, about


def everything(store_url: str) -> Any:
    """All rows of a store, to see that nothing was written."""
    with Store.open(store_url, create=False, read_only=True) as store:
        database = store._database
        with database.reading() as connection:
            from tunewright.store.schema import metadata

            return {
                table.name: [tuple(row) for row in connection.execute(table.select())]
                for table in metadata.sorted_tables
            }


def command(*arguments: str, cwd: Path | None = None) -> subprocess.Popen[str]:
    """The command `tunewright ui`, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "tunewright", "ui", "--no-browser", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
    )
