"""Who may talk to the server: the page that it served, from this computer, with the token."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
MOST_BYTES = 4 << 20
"""The largest body of a request."""
HEADER = "x-tapeformer-token"


@dataclass(frozen=True)
class Guard:
    """The address at which the server is to be reached, and its token."""

    port: int
    token: str

    @classmethod
    def new(cls, port: int) -> Guard:
        """Return a guard with a token that cannot be guessed."""
        return cls(port, secrets.token_urlsafe(24))

    @property
    def address(self) -> str:
        """The address to open, token included."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names by which the server answers."""
        return (f"127.0.0.1:{self.port}", f"localhost:{self.port}")

    def knows(self, token: str | None) -> bool:
        """Return whether a token is right, in a time that does not tell how much of it is."""
        return token is not None and secrets.compare_digest(token.encode(), self.token.encode())

    def refusal(self, headers: Headers) -> str:
        """Return why a request is refused whatever it asks for; empty if it is not."""
        host = headers.get("host", "")
        if host not in self.hosts:
            return "another host"
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return "another origin"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return "another site"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            return "too large"
        return ""


class GuardedApp:
    """An application behind a guard: others are refused before anything is read."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self.app, self.guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or refuse a request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        why = self.guard.refusal(Headers(scope=scope))
        if why:
            status = 413 if why == "too large" else 403
            await refused(why, status)(scope, receive, send)
            return
        await self.app(scope, receive, _with_headers(send))


def needs_token(
    guard: Guard, answer: Callable[[Request], Awaitable[Response]]
) -> Callable[[Request], Awaitable[Response]]:
    """Let only a page with the token get the answer."""

    async def guarded(request: Request) -> Response:
        if not guard.knows(request.headers.get(HEADER)):
            return refused("no token", 403)
        return await answer(request)

    return guarded


def refused(why: str, status: int) -> Response:
    """Return a refusal in one line."""
    return JSONResponse({"refused": why}, status, HEADERS)


def _with_headers(send: Send) -> Send:
    async def sending(message: dict[str, object]) -> None:
        if message["type"] == "http.response.start":
            headers = message.setdefault("headers", [])
            assert isinstance(headers, list)
            known = {name for name, _ in headers}
            extra = [(k.encode(), v.encode()) for k, v in HEADERS.items()]
            headers.extend(pair for pair in extra if pair[0] not in known)
        await send(message)

    return sending  # type: ignore[return-value]
