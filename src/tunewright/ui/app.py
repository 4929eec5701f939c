"""The application: which address answers what.

Reading is all it does unless `allow` permits more. Every answer is made from a connection that
cannot write; what a permitted action writes goes through the same public functions as the command.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from anyio import to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

import tunewright
from tunewright import stores
from tunewright.errors import Misuse, NotFound, StoreError, TunewrightError
from tunewright.messages import Message
from tunewright.present.envelope import code_of, message_of, plain
from tunewright.store import overview, plain_json
from tunewright.store.store import Store
from tunewright.ui import columns, files, pages
from tunewright.ui.changes import Changes, States
from tunewright.ui.columns import Density
from tunewright.ui.guard import Access, Guard
from tunewright.ui.kept_tables import KeptTables
from tunewright.ui.site import first_page
from tunewright.ui.source import Source
from tunewright.ui.start_round import Rounds
from tunewright.ui.verdict import Judge

_LOG = logging.getLogger("tunewright.ui")
STATIC = Path(__file__).with_name("static")
MOST_ROWS = 200
ACTIONS, _RUN = "actions", "run"  # what a dashboard may permit
LARGEST = 2**31 - 1  # number of a trial
_MOST_BODY = 20_000  # bytes of a note and all around it
_PAUSES_S = (0.1, 0.4, 1.0)  # before a store that could not be read is read again
_Handler = Callable[[Request], Awaitable[Response]]
_BINARY = "application/octet-stream"


class Dashboard:
    """What the pages of one store share: a connection that cannot write, and what is cached."""

    def __init__(self, store: str, allow: frozenset[str] = frozenset()) -> None:
        """Show a store; `allow` holds "actions" for notes and stops, "run" for starting rounds."""
        self.address = store
        self.allow = allow
        self.rounds = Rounds.of(store) if _RUN in allow else None
        self.source = Source(store)
        self.changes = Changes(self.source)
        self.judge = Judge(store)
        self.tables = KeptTables()
        self._bests: dict[int, tuple[object, Any]] = {}
        # with the keys of the trials that were looked at: not each has the metric
        self._densities: dict[tuple[str, str], tuple[Density, set[int]]] = {}
        self._images: dict[tuple[str, str], tuple[int, bytes]] = {}  # with how many were counted
        self._counting = threading.Lock()

    @property
    def store(self) -> Store:
        """The store as it is now."""
        before = self.source.generation
        current = self.source.store
        if self.source.generation != before:  # another file: nothing that we know is about it
            self._bests.clear()
            self._densities.clear()
            self._images.clear()
            self.tables.forget()
            self.judge.forget()
        return current

    @contextlib.asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Watch the store while the server runs."""
        self.changes.start()
        try:
            yield
        finally:
            await self.changes.close()
            await self.judge.close()
            if self.rounds is not None:
                self.rounds.close()
            self.source.close()

    async def home(self, request: Request) -> Response:
        """Every round, campaign and launch; verdicts as far as they are known already."""
        data = await to_thread.run_sync(pages.home, self.store)
        for line in data["rounds"]:
            line["chips"] = self.judge.chips(line["name"])
        about = {"version": tunewright.__version__, "allow": sorted(self.allow)}
        return JSONResponse({**data, **about})

    async def bests(self, request: Request) -> Response:
        """The best value of some rounds."""
        names = request.query_params.getlist("round")[:MOST_ROWS]
        best_of = await to_thread.run_sync(pages.bests, self.store, names, self._bests)
        return JSONResponse(plain(best_of))

    async def round(self, request: Request) -> Response:
        """A round without its trials, and the cursor from which its events go on."""
        name = _name(request)
        states, cursor = await self.changes.states(name)
        read = await to_thread.run_sync(self.tables.overview, self.store, name, states)
        data = await to_thread.run_sync(pages.round_page, self.store, read)
        return JSONResponse({**data, "cursor": cursor, "allow": sorted(self.allow)})

    async def table(self, request: Request) -> Response:
        """The columns of a round's trials; with `key`, of some."""
        name = _name(request)
        keys = [
            int(key)
            for key in request.query_params.getlist("key")
            if key.isascii() and key.isdigit() and len(key) < 19
        ]
        if not keys:
            states, _ = await self.changes.states(name)
            whole = await to_thread.run_sync(self.tables.table, self.store, name, states)
            return Response(whole, media_type=_BINARY)
        read = await to_thread.run_sync(overview.read_overview, self.store, name, keys[:1000])
        return Response(columns.table(read), media_type=_BINARY)

    async def rows(self, request: Request) -> Response:
        """Some trials with every digit."""
        name = _name(request)
        numbers = _numbers(request)
        return JSONResponse(await to_thread.run_sync(pages.rows, self.store, name, numbers))

    async def density(self, request: Request) -> Response:
        """All curves of a metric as an image."""
        name, metric = _name(request), request.query_params.get("metric", "")
        states, _ = await self.changes.states(name)
        image = await to_thread.run_sync(self._density, name, metric, _keys_of_ended(states))
        return Response(image, media_type=_BINARY)

    def _density(self, name: str, metric: str, ended: set[int]) -> bytes:
        store = self.store
        key = overview.round_key(store, name)
        with self._counting:  # two pages at once must not count a curve twice
            kept = self._densities.get((name, metric))
            if kept is None:
                self._images.pop((name, metric), None)
                curves = overview.buckets(store, key, metric, ended)
                kept = columns.density_of(curves), ended
                if metric in overview.metrics_of(store, key):  # a made-up name is not kept
                    self._densities[name, metric] = kept
            density, looked = kept
            for trial, curve in overview.buckets(store, key, metric, ended - looked):
                density.add(trial, curve)
            looked |= ended
            if density.stale:
                self._densities.pop((name, metric), None)
            drawn = self._images.get((name, metric))
            if drawn is None or drawn[0] != len(looked):
                drawn = len(looked), density.image()
                if (name, metric) in self._densities:
                    self._images[name, metric] = drawn
            return drawn[1]

    async def curves(self, request: Request) -> Response:
        """A metric of chosen trials."""
        name, metric = _name(request), request.query_params.get("metric", "")
        return Response(
            await to_thread.run_sync(self._curves, name, metric, _numbers(request)),
            media_type=_BINARY,
        )

    def _curves(self, name: str, metric: str, numbers: list[int]) -> bytes:
        store = self.store
        trials = {key: number for number, key in store.keys_of(name, numbers).items()}
        curves = dict(overview.buckets(store, overview.round_key(store, name), metric, trials))
        return columns.lines({trials[key]: curve for key, curve in curves.items()})

    async def verdict(self, request: Request) -> Response:
        """What the checklist found, as far as it is known; a page sends the one that it `has`."""
        name = _name(request)
        states, _ = await self.changes.states(name)
        ended = frozenset((key, states[key][1]) for key in _keys_of_ended(states))
        known = self.judge.verdict(name, (len(states), ended), running=len(ended) < len(states))
        if request.query_params.get("wait"):
            await self.judge.wait_for(name)
        fresh = known.about == (len(states), ended)
        same = request.query_params.get("has", "") == known.version
        return JSONResponse(
            {
                "state": known.state,
                "fresh": fresh,
                "made": known.version,
                "verdict": None if same else known.data,
                "error": known.error,
            }
        )

    async def events(self, request: Request) -> Response:
        """Changes of a round as they happen."""
        name = _name(request)
        await self.changes.states(name)  # refuse an unknown round before the stream begins
        cursor = request.headers.get("last-event-id") or request.query_params.get("cursor", "")
        stream = self.changes.stream(name, cursor)
        return StreamingResponse(stream, media_type="text/event-stream")

    async def trial(self, request: Request) -> Response:
        """A trial with its attempts, snapshots and origin."""
        name, number = _name(request), _number(request)
        return JSONResponse(await to_thread.run_sync(pages.trial_page, self.store, name, number))

    async def trial_curves(self, request: Request) -> Response:
        """Every metric of a trial."""
        name, number = _name(request), _number(request)
        trials = await to_thread.run_sync(self.store.trials, name, [number])
        if not trials:
            raise NotFound("trial.not_found", round=name, trial=number, first=None, last=None)
        return JSONResponse(await to_thread.run_sync(pages.curves_of, trials[0]))

    async def diagnosis(self, request: Request) -> Response:
        """What the curves of a trial show."""
        name, number = _name(request), _number(request)
        answers = await to_thread.run_sync(pages.diagnosis_page, self.store, name, number)
        return JSONResponse(answers)

    async def log(self, request: Request) -> Response:
        """The end of a trial's log."""
        name, number = _name(request), _number(request)
        return JSONResponse(await to_thread.run_sync(pages.log_tail, self.store, name, number))

    async def file(self, request: Request) -> Response:
        """A file of a trial's folder, to be saved; no browser shows or runs it."""
        name, number = _name(request), _number(request)
        _, place = await to_thread.run_sync(pages.place, self.store, name, number)
        path = request.query_params.get("path", "")
        if place is None:
            raise NotFound("ui.no_such_file", path=path)
        descriptor, size = await to_thread.run_sync(files.open_file, place, path)
        quoted = quote(path.rpartition("/")[2], safe="")
        headers = {
            "Content-Disposition": f"attachment; filename*=UTF-8''{quoted}",
            "Content-Length": str(size),
            "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
        }
        return StreamingResponse(
            files.chunks(descriptor, size), headers=headers, media_type=_BINARY
        )

    async def campaign(self, request: Request) -> Response:
        """A campaign and its steps."""
        name = _name(request)
        return JSONResponse(await to_thread.run_sync(pages.campaign_page, self.store, name))

    async def probes(self, request: Request) -> Response:
        """The answers of probes."""
        return JSONResponse(await to_thread.run_sync(pages.probes_page, self.store))

    async def note(self, request: Request) -> Response:
        """Write a note about a round."""
        text = (await _body(request)).get("text")
        if not isinstance(text, str):
            raise Misuse("ui.bad_field", field="text", kind="text")
        written = await to_thread.run_sync(stores.note, self.address, _name(request), text)
        notes = [{"text": str(entry.text), "written": entry.written} for entry in written]
        return JSONResponse(plain({"notes": notes}))

    async def stop(self, request: Request) -> Response:
        """Ask whoever runs a round to stop it, or one of its trials."""
        number = (await _body(request)).get("trial")
        if number is not None and type(number) is not int:
            raise Misuse("ui.bad_field", field="trial", kind="number")
        stop_request = await to_thread.run_sync(stores.stop, self.address, _name(request), number)
        return JSONResponse(plain(stop_request))

    async def runs(self, request: Request) -> Response:
        """The round files of the project, and what was started here."""
        assert self.rounds is not None
        return JSONResponse(await to_thread.run_sync(self.rounds.to_data))

    async def run(self, request: Request) -> Response:
        """Start a round of the project in a separate process."""
        assert self.rounds is not None
        name = (await _body(request)).get("round")
        if not isinstance(name, str):
            raise Misuse("ui.bad_field", field="round", kind="text")
        started = await to_thread.run_sync(self.rounds.start, name)
        return JSONResponse(started.to_data())

    def routes(self) -> list[Route | Mount]:
        """Addresses and what answers them."""
        reading: dict[str, _Handler] = {
            "/api/home": self.home,
            "/api/bests": self.bests,
            "/api/probes": self.probes,
            "/api/campaign/{name}": self.campaign,
            "/api/round/{name}": self.round,
            "/api/round/{name}/table": self.table,
            "/api/round/{name}/rows": self.rows,
            "/api/round/{name}/density": self.density,
            "/api/round/{name}/curves": self.curves,
            "/api/round/{name}/verdict": self.verdict,
            "/api/round/{name}/events": self.events,
            "/api/round/{name}/trial/{number:int}": self.trial,
            "/api/round/{name}/trial/{number:int}/curves": self.trial_curves,
            "/api/round/{name}/trial/{number:int}/diagnosis": self.diagnosis,
            "/api/round/{name}/trial/{number:int}/log": self.log,
            "/api/round/{name}/trial/{number:int}/file": self.file,
        }
        writing: dict[str, _Handler] = {
            "/api/round/{name}/note": self.note,
            "/api/round/{name}/stop": self.stop,
        }
        pages_found: list[Route | Mount] = [
            Route(path, _patient(handler), methods=["GET"]) for path, handler in reading.items()
        ]
        if ACTIONS in self.allow:
            pages_found += [
                Route(path, handler, methods=["POST"]) for path, handler in writing.items()
            ]
        if _RUN in self.allow:
            pages_found += [
                Route("/api/run", self.run, methods=["POST"]),
                Route("/api/runs", self.runs, methods=["GET"]),
            ]
        page = Route("/", _page, methods=["GET"])
        return [*pages_found, page, Mount("/static", StaticFiles(directory=STATIC))]


def application(store: str, access: Access, allow: frozenset[str] = frozenset()) -> Starlette:
    """The dashboard of a store as an ASGI application."""
    dashboard = Dashboard(store, allow)
    return Starlette(
        routes=dashboard.routes(),
        lifespan=dashboard.lifespan,
        middleware=[
            Middleware(Guard, access=access),
            Middleware(GZipMiddleware, minimum_size=1000, compresslevel=5),
            Middleware(_AsSent),
        ],
        exception_handlers={TunewrightError: _error, _TooLarge: _too_large},
    )


class _AsSent:
    """Lets a route see the path as it was sent: the name of a round may hold a slash."""

    def __init__(self, app: ASGIApp) -> None:
        """In front of the routes."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Route by the path as it was sent."""
        raw = scope.get("raw_path")
        if scope["type"] == "http" and raw and raw.startswith(b"/api/"):
            scope = {**scope, "path": raw.decode("latin-1")}
        await self.app(scope, receive, send)


def _patient(handler: _Handler) -> _Handler:
    """Read again when the store cannot be read: a lock or a full disk often lasts an instant."""

    async def answer(request: Request) -> Response:
        for pause in _PAUSES_S:
            try:
                return await handler(request)
            except StoreError as error:
                if isinstance(error, NotFound) or not code_of(error).startswith("store."):
                    raise
                _log_unread(request, error)
                await asyncio.sleep(pause)
        return await handler(request)

    return answer


def _name(request: Request) -> str:
    """The name in a path; `~.` and `~..` spell the two names that no address can hold."""
    name = unquote(request.path_params["name"])
    return name[1:] if name in ("~.", "~..") else name


def _number(request: Request) -> int:
    """The number of a trial in a path; one that no database can hold is not there."""
    number: int = request.path_params["number"]
    if number > LARGEST:
        name = _name(request)
        raise NotFound("trial.not_found", round=name, trial=number, first=None, last=None)
    return number


def _keys_of_ended(states: States) -> set[int]:
    """The keys of the trials and repeats that have ended."""
    return {key for key, state in states.items() if state[0] not in ("pending", "running")}


async def _page(request: Request) -> Response:
    """The one page; its module reads the address after the # sign."""
    return HTMLResponse(first_page())


async def _error(request: Request, error: Exception) -> Response:
    status = 404 if isinstance(error, NotFound) else 400
    if code_of(error).startswith("store."):
        status = 503  # the store cannot be read now: the page is not at fault
        _log_unread(request, error)
    return _refusal(status, code_of(error), message_of(error))


def _log_unread(request: Request, error: Exception) -> None:
    """Note what kept the store from being read: the database's own error, not our words for it."""
    cause = error.__cause__
    origin = getattr(cause, "orig", None) or cause or error
    kind = getattr(origin, "sqlite_errorname", "") or getattr(origin, "sqlstate", "") or ""
    _LOG.warning(
        "%s %s: %s %s (%s)",
        *(request.url.path, code_of(error), type(origin).__name__, kind, origin),
    )


async def _too_large(request: Request, error: Exception) -> Response:
    return _refusal(413, "ui.too_large", str(Message("ui.too_large", {"most": _MOST_BODY})))


def _refusal(status: int, code: str, message: str) -> Response:
    return JSONResponse({"error": {"code": code, "message": message}}, status)


class _TooLarge(Exception):
    """A body beyond what any page of ours sends."""


async def _body(request: Request) -> dict[str, Any]:
    """The JSON object of a request; refused for anything else, and beyond a size."""
    data = bytearray()
    async for part in request.stream():  # a length may be missing or wrong
        data += part
        if len(data) > _MOST_BODY:
            raise _TooLarge
    try:
        content = plain_json.loads(bytes(data), "the body of the request")
    except TunewrightError as error:
        raise Misuse("ui.bad_body") from error
    if not isinstance(content, dict):
        raise Misuse("ui.bad_body")
    return content


def _numbers(request: Request) -> list[int]:
    numbers_given = request.query_params.getlist("trial")
    usable = (number for number in numbers_given if number.isascii() and number.isdigit())
    return [int(number) for number in usable if len(number) < 10][:MOST_ROWS]
