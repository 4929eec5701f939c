"""Who may ask: host and origin of every request, a token beyond this machine, and headers.

A page of another site can make a browser send requests here, and a name can be made to resolve to
this machine (DNS rebinding). So the Host must be one that we serve, a request that changes
something must come from our own pages, and a server that others can reach wants a token.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tunewright.errors import DesignError

_COOKIE = "tunewright_token"  # with the port: browsers keep one cookie for all ports of a host
JSON = "application/json"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors {frames}"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_READING = frozenset({"GET", "HEAD"})
LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True)
class Access:
    """Where the server is reached, and what it takes to be answered."""

    hosts: frozenset[str]  # names and addresses by which pages may call us, without a port
    port: int
    token: str = field(default="", repr=False)  # empty: only this machine can reach us
    frames: str = "'none'"  # who may put a page into a frame: a notebook on this machine

    def __post_init__(self) -> None:
        """Refuse a server that others can reach, and that answers anybody."""
        if not self.token and not (self.hosts and self.hosts <= LOCAL):
            raise DesignError("ui.token_needed", hosts=sorted(self.hosts))

    @classmethod
    def of(
        cls, address: str, port: int, *, actions: bool = False, frames: str = "'none'"
    ) -> Access:
        """Access for a server bound to an address.

        It needs a token where others can reach it, and where it may change anything: other users
        of this machine reach it too.
        """
        local = is_local(address)
        names = LOCAL if local else frozenset({_host(address)})
        if address in ("0.0.0.0", "::"):
            names = frozenset()  # reached by any name: the token is what protects it
        return cls(names, port, secrets.token_urlsafe(24) if actions or not local else "", frames)

    @property
    def cookie(self) -> str:
        """The name of the cookie that holds the token."""
        return f"{_COOKIE}_{self.port}"

    def url(self, address: str) -> str:
        """The first page of a server at an address, with the token if it needs one."""
        query = f"?token={self.token}" if self.token else ""
        return f"http://{_host(address)}:{self.port}/{query}"


def is_local(address: str) -> bool:
    """Whether only this machine can reach an address.

    >>> [is_local(a) for a in ("127.0.0.1", "localhost", "::1", "0.0.0.0", "10.0.0.5")]
    [True, True, True, False, False]
    """
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


class Guard:
    """The outermost layer: refuses requests that a page of ours would not make."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        """Protect an application."""
        self.app = app
        self.access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close"})  # nothing here speaks it
            return
        refusal = self._refusal(scope)
        answer = self._with_headers(send)
        if refusal is not None:
            await refusal(scope, receive, answer)
        else:
            await self.app(scope, receive, answer)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if not self._knows(headers.get("host", "")):
            return PlainTextResponse("unknown host", 403)
        origin = headers.get("origin")
        if origin is not None and not self._ours(origin, headers.get("host", "")):
            return PlainTextResponse("cross-site request", 403)
        if scope["method"] not in _READING and not self._may_change(headers):
            return PlainTextResponse("only a page of this server may change something", 403)
        site = headers.get("sec-fetch-site", "same-origin")
        link = scope["method"] in _READING and scope["path"] == "/"  # followed from elsewhere
        if site not in ("same-origin", "none") and not link:
            return PlainTextResponse("cross-site request", 403)
        return self._without_token(scope, headers) if self.access.token else None

    def _may_change(self, headers: Headers) -> bool:
        """Whether a request may change something: ours, as JSON, with a token to check."""
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        return bool(self.access.token) and "origin" in headers and kind == JSON

    def _knows(self, host: str) -> bool:
        name = host.rpartition(":")[0] if _has_port(host) else host
        return bool(name) and (not self.access.hosts or name.lower() in self.access.hosts)

    def _ours(self, origin: str, host: str) -> bool:
        parts = urlsplit(origin)
        return parts.scheme in ("http", "https") and parts.netloc == host

    def _without_token(self, scope: Scope, headers: Headers) -> Response | None:
        """None for a request with the token; a link that carries it is exchanged for a cookie."""
        token = self.access.token
        given = cookie_parser(headers.get("cookie", "")).get(self.access.cookie, "")
        if hmac.compare_digest(given.encode(), token.encode()):
            return None
        from_link = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["method"] == "GET" and hmac.compare_digest(from_link.encode(), token.encode()):
            moved = RedirectResponse("/", 303)  # never to a place that the request names
            moved.set_cookie(self.access.cookie, token, httponly=True, samesite="strict", path="/")
            return moved
        return PlainTextResponse("open the address that tunewright ui printed", 401)

    def _with_headers(self, send: Send) -> Callable[[Message], Awaitable[None]]:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault(
                    "Content-Security-Policy", _POLICY.format(frames=self.access.frames)
                )
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        return answer


def _has_port(host: str) -> bool:
    return host.rpartition(":")[2].isdigit() and (host.count(":") == 1 or host.startswith("["))


def _host(address: str) -> str:
    """An address as a URL has it."""
    return f"[{address}]" if ":" in address else address
