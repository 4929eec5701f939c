"""Who may ask: the Host, the Origin, a token, and what every answer forbids a browser."""

from __future__ import annotations

from typing import Any

import pytest
from tests.ui.small_world import run_alone

from tunewright.errors import DesignError
from tunewright.ui.guard import LOCAL, Access, Guard, is_local

Headers = dict[str, str]


async def fine(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"fine"})


def asked(
    access: Access, headers: Headers, method: str = "GET", path: str = "/api/home", query: str = ""
) -> tuple[int, Headers]:
    """The status and headers of an answer."""
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(k.lower().encode(), v.encode("latin-1")) for k, v in headers.items()],
    }
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    run_alone(Guard(fine, access)(scope, receive, send))
    found = {k.decode(): v.decode() for k, v in sent[0]["headers"]}
    return sent[0]["status"], found


HERE = Access.of("127.0.0.1", 8686)
OPEN = Access.of("0.0.0.0", 8686)
ACTING = Access.of("127.0.0.1", 8686, actions=True)


def cookie(access: Access) -> str:
    return f"{access.cookie}={access.token}"


def test_a_token_where_others_reach_it_or_it_may_act() -> None:
    assert not HERE.token and HERE.hosts == LOCAL
    assert len(OPEN.token) >= 32 and len(ACTING.token) >= 32
    assert Access.of("10.0.0.5", 1).token != Access.of("10.0.0.5", 1).token
    assert HERE.cookie != Access.of("127.0.0.1", 8687).cookie, "cookies of a host share its ports"
    assert ACTING.token not in repr(ACTING)


@pytest.mark.parametrize("hosts", [frozenset(), frozenset({"10.0.0.5"}), LOCAL | {"box.example"}])
def test_an_open_server_without_a_token_is_refused(hosts: frozenset[str]) -> None:
    with pytest.raises(DesignError) as error:
        Access(hosts, 8686)
    assert error.value.code == "ui.token_needed"


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.9", "::1", "localhost"])
def test_addresses_of_this_machine(address: str) -> None:
    assert is_local(address)


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "10.0.0.5", "example.com", "", "127.0.0.1.x"])
def test_addresses_that_others_reach(address: str) -> None:
    assert not is_local(address)


@pytest.mark.parametrize("host", ["127.0.0.1:8686", "localhost:8686", "LOCALHOST", "[::1]:8686"])
def test_our_own_hosts(host: str) -> None:
    assert asked(HERE, {"host": host})[0] == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8686", "127.0.0.1.evil.example", "127.0.0.1@evil.example", "",
     "localhost.evil.example:8686", "[::1].evil.example", "10.0.0.5:8686", ":8686", "[::2]:8686"],
)  # fmt: skip
def test_a_name_that_was_bound_to_this_machine(host: str) -> None:
    assert asked(HERE, {"host": host})[0] == 403
    assert asked(ACTING, {"host": host, "cookie": cookie(ACTING)})[0] == 403


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:9999", "https://localhost", "file://",
     "http://127.0.0.1:8686.evil.example", "http://127.0.0.1:8686@evil.example", ""],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_other_sites(origin: str, method: str) -> None:
    headers = {
        **{"host": "127.0.0.1:8686", "origin": origin, "content-type": "application/json"},
        "cookie": cookie(ACTING),
    }
    assert asked(ACTING, headers, method)[0] == 403


def test_sec_fetch_site() -> None:
    own = {"host": "127.0.0.1:8686"}
    for site, path, status in (
        ("same-origin", "/api/home", 200),
        ("none", "/", 200),
        ("cross-site", "/", 200),  # a link, which reads nothing for who made it
        ("cross-site", "/api/home", 403),
        ("same-site", "/api/round/x/table", 403),
        ("cross-site", "/static/main.js", 403),
    ):
        assert asked(HERE, {**own, "sec-fetch-site": site}, path=path)[0] == status


POST = {
    "host": "127.0.0.1:8686",
    "origin": "http://127.0.0.1:8686",
    "content-type": "application/json",
}


def test_what_changes_something_needs_everything() -> None:
    whole = {**POST, "cookie": cookie(ACTING)}
    assert asked(ACTING, whole, "POST")[0] == 200
    assert asked(HERE, POST, "POST")[0] == 403, "there is no token to check"
    for name in ("origin", "content-type"):
        assert asked(ACTING, {k: v for k, v in whole.items() if k != name}, "POST")[0] == 403
    assert asked(ACTING, POST, "POST")[0] == 401
    for kind in ("text/plain", "multipart/form-data", "application/x-www-form-urlencoded"):
        assert asked(ACTING, {**whole, "content-type": kind}, "POST")[0] == 403
    kind = "application/json; charset=utf-8"
    assert asked(ACTING, {**whole, "content-type": kind}, "POST")[0] == 200
    query = f"token={ACTING.token}"
    assert asked(ACTING, POST, "POST", query=query)[0] == 401, "a link never changes anything"


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods(method: str) -> None:
    assert asked(ACTING, {"host": "localhost", "cookie": cookie(ACTING)}, method)[0] == 403


def test_the_token_becomes_a_cookie() -> None:
    own = {"host": "10.1.2.3:8686"}
    assert asked(OPEN, own)[0] == 401
    for wrong in ("", "x", OPEN.token[:-1], OPEN.token + "x", "é"):
        assert asked(OPEN, own, path="/", query=f"token={wrong}")[0] == 401
        value = f"{OPEN.cookie}={wrong}".encode().decode("latin-1")
        assert asked(OPEN, {**own, "cookie": value})[0] == 401
    status, found = asked(OPEN, own, path="//evil.example", query=f"token={OPEN.token}")
    assert (status, found["location"]) == (303, "/"), "the token leaves the address, and we stay"
    flags = {part.strip().lower() for part in found["set-cookie"].split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/"} <= flags
    assert not any(flag.startswith("domain") for flag in flags)
    assert asked(OPEN, {**own, "cookie": cookie(OPEN)})[0] == 200
    other = Access.of("0.0.0.0", 8687)
    assert asked(other, {**own, "cookie": cookie(OPEN)})[0] == 401


def test_headers_of_every_answer() -> None:
    for headers in ({"host": "localhost"}, {"host": "evil.example"}):
        _, found = asked(HERE, headers)
        policy = dict(
            part.strip().split(" ", 1) for part in found["content-security-policy"].split(";")
        )
        assert policy["default-src"] == "'none'" and policy["script-src"] == "'self'"
        assert policy["frame-ancestors"] == "'none'" and policy["base-uri"] == "'none'"
        assert "unsafe" not in found["content-security-policy"]
        assert found["x-content-type-options"] == "nosniff"
        assert found["referrer-policy"] == "no-referrer", "no address of ours goes elsewhere"
        assert found["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in found


def test_no_web_sockets() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    run_alone(Guard(fine, HERE)({"type": "websocket"}, None, send))  # type: ignore[arg-type]
    assert sent == [{"type": "websocket.close"}]
