"""The server of the page: its files, the runs that it asks for, slices of tokens, explanations."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from html import escape
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from tapeformer.explorer import requests
from tapeformer.explorer.breaking import break_from
from tapeformer.explorer.description import fault_records
from tapeformer.explorer.explanation import TokenView
from tapeformer.explorer.export import exported
from tapeformer.explorer.page_files import index_page, page_file
from tapeformer.explorer.security import MOST_BYTES, Guard, GuardedApp, needs_token, refused
from tapeformer.explorer.session import Session, Sessions, broken_session
from tapeformer.faults import Fault, TapeformerError
from tapeformer.gallery import gallery_text

PATIENCE = 20.0
"""Seconds that a request may take, its body included."""
MORE = 10**6
"""Tokens that a run goes on for after its limit."""

Answer = Callable[[Request], Awaitable[Response]]


class Explorer:
    """The answers to a page's requests."""

    def __init__(self, guard: Guard, sessions: Sessions, first: str | None = None) -> None:
        self.guard, self.sessions, self.first = guard, sessions, first

    def app(self) -> GuardedApp:
        """Return the application, guarded."""
        asked = [
            ("/api/start", self.start, ["GET"]),
            ("/api/gallery", self.gallery, ["GET"]),
            ("/api/gallery/{name}", self.machine, ["GET"]),
            ("/api/check", self.check, ["POST"]),
            ("/api/runs", self.begin, ["POST"]),
            ("/api/runs/{run}", self.describe, ["GET"]),
            ("/api/runs/{run}/slices/{number:int}", self.slice, ["GET"]),
            ("/api/runs/{run}/explain", self.explain, ["GET"]),
            ("/api/runs/{run}/attention", self.attention, ["GET"]),
            ("/api/runs/{run}/resume", self.resume, ["POST"]),
            ("/api/runs/{run}/break", self.break_it, ["POST"]),
            ("/api/runs/{run}/export", self.export, ["GET"]),
        ]
        routes = [
            Route("/", bounded(self.index)),
            Route("/page/{token}/{name}", bounded(self.file)),
            *(
                Route(path, bounded(needs_token(self.guard, answer)), methods=methods)
                for path, answer, methods in asked
            ),
        ]
        return GuardedApp(Starlette(routes=routes, lifespan=self._lifespan), self.guard)

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        yield
        self.sessions.close()

    async def index(self, request: Request) -> Response:
        """Return the page, for who has the token."""
        if not self.guard.knows(request.query_params.get("token")):
            return refused("no token", 403)
        return HTMLResponse(index_page(f"/page/{self.guard.token}/"))

    async def file(self, request: Request) -> Response:
        """Return one of the page's own files."""
        found = page_file(request.path_params["name"])
        if not self.guard.knows(request.path_params["token"]) or found is None:
            return refused("no such page", 404)
        return Response(found.content, media_type=found.kind)

    async def start(self, _request: Request) -> Response:
        """What the page needs first: the run to begin with, and what may be chosen."""
        return JSONResponse({"run": self.first, "options": list(requests.OPTIONS)})

    async def gallery(self, _request: Request) -> Response:
        """Return the machines of the gallery."""
        return JSONResponse(await run_in_threadpool(requests.gallery))

    async def machine(self, request: Request) -> Response:
        """Return the text of a machine of the gallery."""
        return JSONResponse({"text": gallery_text(request.path_params["name"])})

    async def check(self, request: Request) -> Response:
        """Return the faults of a text, while it is typed."""
        given = await body(request)
        text = given.get("text")
        if not isinstance(text, str):
            raise TapeformerError(Fault("no text was sent"))
        return JSONResponse(await run_in_threadpool(requests.check, text))

    async def begin(self, request: Request) -> Response:
        """Begin a run."""
        session = await run_in_threadpool(requests.session_from, await body(request))
        return JSONResponse({"run": self.sessions.begin(session)})

    async def describe(self, request: Request) -> Response:
        """Return how far a run has come."""
        models = number(request, "models", 0)
        return JSONResponse(await run_in_threadpool(self._session(request).describe, models))

    async def slice(self, request: Request) -> Response:
        """Return some of its tokens."""
        recording = self._view(request)
        found = await run_in_threadpool(recording.slice, request.path_params["number"])
        if found is None:
            return refused("no such slice yet", 404)
        return Response(found.message(), media_type="application/octet-stream")

    async def explain(self, request: Request) -> Response:
        """Return a field, a neuron or a head, explained from the weights."""
        view = TokenView(self._view(request), number(request, "token"))
        field = request.query_params.get("field")
        if field is not None:
            return JSONResponse(await run_in_threadpool(view.field, field))
        if "neuron" in request.query_params:
            return JSONResponse(await run_in_threadpool(view.neuron, number(request, "neuron")))
        return JSONResponse(await run_in_threadpool(view.head, number(request, "head")))

    async def attention(self, request: Request) -> Response:
        """Return the scores of a head."""
        view = TokenView(self._view(request), number(request, "token"))
        rows = min(number(request, "queries", 24), 48)
        return JSONResponse(await run_in_threadpool(view.attention, number(request, "head"), rows))

    async def resume(self, request: Request) -> Response:
        """Go on after a limit."""
        self.sessions.resume(self._session(request), MORE)
        return JSONResponse({})

    async def break_it(self, request: Request) -> Response:
        """Begin a run of a broken model."""
        asked, session = break_from(await body(request)), self._session(request)
        return JSONResponse(
            {"run": self.sessions.begin(await run_in_threadpool(broken_session, session, asked))}
        )

    async def export(self, request: Request) -> Response:
        """Return the recorded run as one page without a server."""
        page = await run_in_threadpool(exported, self._session(request))
        name = escape(self._session(request).machine.name)
        safe = "".join(c if c.isalnum() or c in "-_" else "_" for c in name)
        named = {"content-disposition": f'attachment; filename="{safe}.html"'}
        return HTMLResponse(page, headers=named)

    def _session(self, request: Request) -> Session:
        session = self.sessions.get(request.path_params["run"])
        if session is None:
            raise TapeformerError(Fault("this run is not there any more", remedy="run it again"))
        return session

    def _view(self, request: Request) -> Any:
        recording = self._session(request).recording
        if recording is None:
            raise TapeformerError(Fault("the run has not begun", remedy="wait for its first token"))
        return recording


def bounded(answer: Answer) -> Answer:
    """Answer within a time limit; bad input becomes faults, anything else one line."""

    async def answered(request: Request) -> Response:
        try:
            return await asyncio.wait_for(answer(request), PATIENCE)
        except TapeformerError as error:
            return JSONResponse({"faults": fault_records(error)}, 422)
        except (TimeoutError, ClientDisconnect):
            return refused("this took too long", 408)
        except OverflowError:
            return refused("too large", 413)

    return answered


async def body(request: Request) -> dict[str, Any]:
    """Return the object of JSON that was sent, read no further than is allowed."""
    read = bytearray()
    async for chunk in request.stream():
        read += chunk
        if len(read) > MOST_BYTES:
            raise OverflowError
    try:
        given = json.loads(bytes(read))
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise TapeformerError(Fault("the request is not an object of JSON"))
    return given


def number(request: Request, name: str, otherwise: int | None = None) -> int:
    """Return a whole number from the address."""
    text = request.query_params.get(name)
    if text is None and otherwise is not None:
        return otherwise
    if text is None or not text.isdecimal() or len(text) > 12:
        raise TapeformerError(Fault(f"no usable {name}", expected="a whole number"))
    return int(text)
