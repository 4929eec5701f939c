"""The dashboard as files: a folder that any web server can host, with the same pages.

Answers of the server become files below `data/`; `static/export.json` maps rounds to
folders, since a round's name need not be a file name. Logs and files of trials are left out.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tunewright
from tunewright.errors import Misuse
from tunewright.messages import Message, language, markup
from tunewright.present.envelope import plain
from tunewright.store import overview
from tunewright.store.store import Store

STATIC = Path(__file__).with_name("static")
_MANIFEST = "static/export.json"  # api.js asks for it before anything else
_ROWS = 100  # trials in a file of rows
LINES = 50  # trials in a file of curves
_POINTS = 300  # of a curve on a trial's page
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class Exported:
    """A site that was written."""

    folder: Path
    rounds: int
    files: int
    bytes: int


def export_site(store: str | os.PathLike[str], folder: str | os.PathLike[str]) -> Exported:
    """Write a store's dashboard as a folder of files; nothing in it asks a server for more.

    The folder must be new, empty, or an earlier export, which is replaced.

        tw.ui.export_site("tuning.db", "public")

    Args:
        store: the store: a path, or an address such as `postgresql://...`.
        folder: where to write the files.
    """
    target = Path(folder)
    _make_room(target)
    shutil.copytree(STATIC, target / "static", dirs_exist_ok=True)
    (target / "index.html").write_text(first_page(_POLICY), encoding="utf-8")
    with Store.open(store, create=False, read_only=True) as opened:
        manifest = _write(opened, os.fspath(store), target)
    # last: a site without it is not finished
    _json(target / _MANIFEST, {"static": True, **manifest})
    written = [path for path in target.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in written)
    return Exported(target, len(manifest["rounds"]), len(written), size)


def first_page(policy: str = "") -> str:
    """The one page, in the reader's language; `policy` limits what a page of no server may load.

    >>> "<script" in first_page() and "default-src" in first_page("default-src 'none'")
    True
    """
    texts = {name: Message(f"ui.{name}").text for name in ("opened", "scriptless")}
    return markup.render("index.html", STATIC, language=language(), policy=policy, **texts)


def _make_room(target: Path) -> None:
    """Refuse a folder with files of others; remove an earlier export."""
    if target.exists() and not target.is_dir():
        raise Misuse("ui.folder_taken", folder=target)
    if target.is_dir() and any(target.iterdir()):
        ours = {"index.html", "static", "data"}
        marked = (target / _MANIFEST).is_file()
        if not marked or {path.name for path in target.iterdir()} - ours:
            raise Misuse("ui.folder_taken", folder=target)
        for name in ("static", "data"):
            shutil.rmtree(target / name, ignore_errors=True)
    target.mkdir(parents=True, exist_ok=True)


def _write(store: Store, address: str, target: Path) -> dict[str, Any]:
    """Every answer as a file; which folder holds which round and campaign."""
    from tunewright.ui import pages

    data = target / "data"
    home = pages.home(store)
    rounds = {line["name"]: f"r{at}" for at, line in enumerate(home["rounds"])}
    campaigns = {campaign["name"]: f"c{at}" for at, campaign in enumerate(home["campaigns"])}
    metrics: dict[str, list[str]] = {}
    for line in home["rounds"]:
        chips, metrics[line["name"]] = _round(
            store, address, line["name"], data / rounds[line["name"]]
        )
        line["chips"] = chips
    about = {"version": tunewright.__version__, "allow": [], "store": Path(store.url).name}
    _json(data / "home.json", {**home, **about})
    _json(data / "bests.json", plain(pages.bests(store, rounds, {})))
    _json(data / "probes.json", pages.probes_page(store))
    for name, place in campaigns.items():
        _json(data / f"{place}.json", pages.campaign_page(store, name))
    return {
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "rounds": rounds,
        "campaigns": campaigns,
        "metrics": metrics,
        "rows": _ROWS,
        "lines": LINES,
    }


def _round(store: Store, address: str, name: str, place: Path) -> tuple[dict[str, int], list[str]]:
    """The files of a round; its verdicts counted, and its metrics in the order of their files."""
    from tunewright.ui import columns, pages
    from tunewright.ui.verdict import judge

    read = overview.read_overview(store, name)
    page = pages.round_page(store, read)
    _json(place / "round.json", {**page, "cursor": "", "allow": []})
    _bytes(place / "table.bin", columns.table(read))
    verdict = plain(judge(address, name))
    ready = {"state": "ready", "fresh": True, "made": "", "verdict": verdict, "error": None}
    _json(place / "verdict.json", ready)
    numbers = [int(number) for number in read.numbers]
    keys = dict(zip((int(key) for key in read.keys), numbers, strict=True))
    for at, metric in enumerate(page["metrics"]):
        curves = dict(overview.buckets(store, read.record.id, metric))
        _bytes(place / "density" / f"{at}.bin", columns.density_of(curves.items()).image())
        lines = {keys[key]: curve for key, curve in curves.items() if key in keys}
        for part in sorted({number // LINES for number in lines}):
            curve = {n: line for n, line in lines.items() if n // LINES == part}
            _bytes(place / "curves" / str(at) / f"{part}.bin", columns.lines(curve))
    for first in range(0, max(numbers, default=-1) + 1, _ROWS):
        _trials(store, name, place, range(first, first + _ROWS))
    return dict(Counter(verdict["verdicts"])), list(page["metrics"])


def _trials(store: Store, name: str, place: Path, numbers: Sequence[int]) -> None:
    from tunewright.ui import pages

    _json(place / "rows" / f"{numbers[0] // _ROWS}.json", pages.rows(store, name, numbers))
    for trial in store.trials(name, numbers):
        page = pages.trial_page(store, name, trial.number or 0)
        page |= {"diagnosed": False}  # a site of files answers no questions
        page |= {"folder": None, "files": [], "origin": _without_place(page["origin"])}
        curves = pages.curves_of(trial, _POINTS)
        _json(place / "trials" / f"{trial.number}.json", {"trial": page, "curves": curves})


def _without_place(origin: dict[str, Any] | None) -> dict[str, Any] | None:
    """Where a trial comes from, without names of machines and folders, for readers outside."""
    return None if origin is None else {**origin, "host": "", "folder": ""}


def _json(path: Path, data: Any) -> None:
    _bytes(path, json.dumps(data, allow_nan=False, separators=(",", ":")).encode())


def _bytes(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
