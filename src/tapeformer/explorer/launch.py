"""Start the server on the loopback address, print where it is, and open the browser."""

from __future__ import annotations

import socket
import sys
import threading
import webbrowser
from typing import Any

from tapeformer.explorer.session import Session, Sessions
from tapeformer.extras import require
from tapeformer.faults import Fault, TapeformerError

MOST_CONNECTIONS = 64
SECONDS_TO_STOP = 2
QUICK_SWITCH = 0.001
"""Seconds after which a thread that records gives way to one that answers."""


def serve(session: Session, port: int = 0, open_browser: bool = True) -> None:
    """Serve the page until it is interrupted."""
    uvicorn = _required()
    sys.setswitchinterval(QUICK_SWITCH)
    from tapeformer.explorer.security import Guard
    from tapeformer.explorer.server import Explorer

    listening = _listening(port)
    guard = Guard.new(listening.getsockname()[1])
    sessions = Sessions()
    explorer = Explorer(guard, sessions, sessions.begin(session))
    config = uvicorn.Config(
        explorer.app(),
        log_level="critical",
        access_log=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=SECONDS_TO_STOP,
        server_header=False,
    )
    print(guard.address, flush=True)
    print("Ctrl-C stops it.", file=sys.stderr, flush=True)
    if open_browser:
        threading.Thread(target=webbrowser.open, args=(guard.address,), daemon=True).start()
    try:
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        sessions.close()
        listening.close()


def _required() -> Any:
    """Return the packages that only the explorer needs."""
    require("starlette", extra="explorer", what="the explorer")
    return require("uvicorn", extra="explorer", what="the explorer")


def _listening(port: int) -> socket.socket:
    """Return a socket that takes connections at once: its address is printed before it is served."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(("127.0.0.1", port))
        found.listen()
    except (OSError, OverflowError) as error:
        found.close()
        what = f"port {port} cannot be used: {error}"
        raise TapeformerError(
            Fault(what, remedy="give another --port; 0 picks a free one")
        ) from None
    return found
