"""The application: which address answers what.

Reading is all it does unless `allow` permits more. Every answer is made from a connection that
cannot write; what a permitted action writes goes through the same public functions as the command.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from anyio import to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import tunewright
from tunewright import stores
from tunewright.errors import NotFound, TunewrightError
from tunewright.present.envelope import code_of, message_of
from tunewright.present.plain import plain
from tunewright.store import overview
from tunewright.store.store import Store
from tunewright.ui import columns, pages
from tunewright.ui.changes import Changes
from tunewright.ui.columns import Density
from tunewright.ui.guard import Access, Guard
from tunewright.ui.verdict import Judge

STATIC = Path(__file__).with_name("static")
MOST_ROWS = 200
MOST_BODY = 20_000  # bytes of a note and all around it
Handler = Callable[[Request], Awaitable[Response]]
BINARY = "application/octet-stream"


class Dashboard:
    """What the pages of one store share: a connection that cannot write, and what is cached."""

    def __init__(self, store: str, allow: frozenset[str] = frozenset()) -> None:
        """Show a store; `allow` holds "actions" for notes and stops."""
        self.address = store
        self.allow = allow
        self.store = Store.open(store, create=False, read_only=True)
        self.changes = Changes(self.store)
        self.judge = Judge(store)
        self._densities: dict[tuple[str, str], Density] = {}

    @contextlib.asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Watch the store while the server runs."""
        self.changes.start()
        try:
            yield
        finally:
            await self.changes.close()
            await self.judge.close()
            self.store.close()

    async def home(self, request: Request) -> Response:
        """Every round, campaign and launch."""
        data = await to_thread.run_sync(pages.home, self.store)
        about = {"version": tunewright.__version__, "allow": sorted(self.allow)}
        return JSONResponse({**data, **about})

    async def bests(self, request: Request) -> Response:
        """The best value of some rounds."""
        names = request.query_params.getlist("round")[:MOST_ROWS]
        return JSONResponse(plain(await to_thread.run_sync(pages.bests, self.store, names)))

    async def round(self, request: Request) -> Response:
        """A round without its trials, and the cursor from which its events go on."""
        name = request.path_params["name"]
        _, cursor = await self.changes.states(name)
        read = await to_thread.run_sync(overview.read_overview, self.store, name)
        data = await to_thread.run_sync(pages.round_page, self.store, read)
        return JSONResponse({**data, "cursor": cursor, "allow": sorted(self.allow)})

    async def table(self, request: Request) -> Response:
        """The columns of a round's trials; with `key`, of some."""
        name = request.path_params["name"]
        keys = [int(key) for key in request.query_params.getlist("key") if key.isdigit()]
        only = keys[:1000] if keys else None
        read = await to_thread.run_sync(overview.read_overview, self.store, name, only)
        return Response(columns.table(read), media_type=BINARY)

    async def rows(self, request: Request) -> Response:
        """Some trials with every digit."""
        name = request.path_params["name"]
        numbers = _numbers(request)
        return JSONResponse(await to_thread.run_sync(pages.rows, self.store, name, numbers))

    async def density(self, request: Request) -> Response:
        """All curves of a metric as an image."""
        name, metric = request.path_params["name"], request.query_params.get("metric", "")
        image = await to_thread.run_sync(self._density, name, metric)
        return Response(image, media_type=BINARY)

    def _density(self, name: str, metric: str) -> bytes:
        record = self.store.round(name)
        known = self._densities.get((name, metric))
        if known is None:
            found = overview.buckets(self.store, record.id, metric)
            known = self._densities[name, metric] = columns.density_of(found)
        ended = {
            key
            for key, (status, _, _) in overview.states(self.store, record.id).items()
            if status not in ("pending", "running")
        }
        if missing := ended - known.keys:
            for key, own in overview.buckets(self.store, record.id, metric, missing):
                known.add(key, own)
        if known.stale:
            del self._densities[name, metric]
        return known.image()

    async def curves(self, request: Request) -> Response:
        """A metric of chosen trials."""
        name, metric = request.path_params["name"], request.query_params.get("metric", "")
        return Response(
            await to_thread.run_sync(self._curves, name, metric, _numbers(request)),
            media_type=BINARY,
        )

    def _curves(self, name: str, metric: str, numbers: list[int]) -> bytes:
        record = self.store.round(name)
        trials = {t.identity: t.number or 0 for t in self.store.trials(name, numbers)}
        found = dict(overview.buckets(self.store, record.id, metric, trials))
        return columns.lines({trials[key]: own for key, own in found.items()})

    async def verdict(self, request: Request) -> Response:
        """What the checklist says, as far as it is known yet."""
        name = request.path_params["name"]
        record = await to_thread.run_sync(self.store.round, name)
        states = await to_thread.run_sync(overview.states, self.store, record.id)
        ended = frozenset(
            (key, state[1])
            for key, state in states.items()
            if state[0] not in ("pending", "running")
        )
        known = self.judge.verdict(name, (len(states), ended))
        if request.query_params.get("wait"):
            await self.judge.finished(name)
        fresh = known.about == (len(states), ended)
        return JSONResponse({"state": known.state, "fresh": fresh, "verdict": known.data})

    async def events(self, request: Request) -> Response:
        """Changes of a round as they happen."""
        name = request.path_params["name"]
        await self.changes.states(name)  # refuse an unknown round before the stream begins
        cursor = request.headers.get("last-event-id") or request.query_params.get("cursor", "")
        stream = self.changes.stream(name, cursor)
        return StreamingResponse(stream, media_type="text/event-stream")

    async def trial(self, request: Request) -> Response:
        """A trial with its attempts, snapshots and origin."""
        name, number = request.path_params["name"], request.path_params["number"]
        return JSONResponse(await to_thread.run_sync(pages.trial_page, self.store, name, number))

    async def trial_curves(self, request: Request) -> Response:
        """Every metric of a trial."""
        name, number = request.path_params["name"], request.path_params["number"]
        found = await to_thread.run_sync(self.store.trials, name, [number])
        if not found:
            raise NotFound("trial.not_found", round=name, trial=number, first=None, last=None)
        return JSONResponse(await to_thread.run_sync(pages.curves_of, found[0]))

    async def log(self, request: Request) -> Response:
        """The end of a trial's log."""
        name, number = request.path_params["name"], request.path_params["number"]
        return JSONResponse(await to_thread.run_sync(pages.log_tail, self.store, name, number))

    async def campaign(self, request: Request) -> Response:
        """A campaign and its steps."""
        name = request.path_params["name"]
        return JSONResponse(await to_thread.run_sync(pages.campaign_page, self.store, name))

    async def probes(self, request: Request) -> Response:
        """The answers of probes."""
        return JSONResponse(await to_thread.run_sync(pages.probes_page, self.store))

    async def note(self, request: Request) -> Response:
        """Write a note about a round."""
        text = str((await _body(request)).get("text", ""))
        name = request.path_params["name"]
        written = await to_thread.run_sync(stores.note, self.address, name, text)
        return JSONResponse(plain({"notes": written}))

    async def stop(self, request: Request) -> Response:
        """Ask whoever runs a round to stop it, or one of its trials."""
        number = (await _body(request)).get("trial")
        if number is not None and not isinstance(number, int):
            return _refused(400, "bad_request", "trial is a number, or left out")
        name = request.path_params["name"]
        asked = await to_thread.run_sync(stores.stop, self.address, name, number)
        return JSONResponse(plain(asked))

    def routes(self) -> list[Route | Mount]:
        """Addresses and what answers them."""
        reading: dict[str, Handler] = {
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
            "/api/round/{name}/trial/{number:int}/log": self.log,
        }
        writing: dict[str, Handler] = {
            "/api/round/{name}/note": self.note,
            "/api/round/{name}/stop": self.stop,
        }
        found: list[Route | Mount] = [Route(p, own, methods=["GET"]) for p, own in reading.items()]
        if "actions" in self.allow:
            found += [Route(path, own, methods=["POST"]) for path, own in writing.items()]
        page = Route("/", _page, methods=["GET"])
        return [*found, page, Mount("/static", StaticFiles(directory=STATIC))]


def application(store: str, access: Access, allow: frozenset[str] = frozenset()) -> Starlette:
    """The dashboard of a store as an ASGI application."""
    own = Dashboard(store, allow)
    return Starlette(
        routes=own.routes(),
        lifespan=own.lifespan,
        middleware=[
            Middleware(Guard, access=access),
            Middleware(GZipMiddleware, minimum_size=1000, compresslevel=5),
        ],
        exception_handlers={TunewrightError: _error},
    )


async def _page(request: Request) -> Response:
    """The one page; its module reads the address after the # sign."""
    return FileResponse(STATIC / "index.html", media_type="text/html")


async def _error(request: Request, error: Exception) -> Response:
    status = 404 if isinstance(error, NotFound) else 400
    return _refused(status, code_of(error), str(message_of(error)))


def _refused(status: int, code: str, message: str) -> Response:
    return JSONResponse({"error": {"code": code, "message": message}}, status)


async def _body(request: Request) -> dict[str, Any]:
    """The JSON object of a request; empty for anything else."""
    if int(request.headers.get("content-length") or MOST_BODY + 1) > MOST_BODY:
        return {}
    try:
        found = await request.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _numbers(request: Request) -> list[int]:
    asked = request.query_params.getlist("trial")
    return [int(number) for number in asked if number.isdigit() and len(number) < 10][:MOST_ROWS]
