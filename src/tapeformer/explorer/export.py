"""A recorded run as one page: every view and the transport, no server, nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any

from tapeformer.explorer.page_files import SCRIPT, STYLE, index_page, joined_script, page_file
from tapeformer.explorer.recorded_weights import recorded_weights
from tapeformer.explorer.session import Session
from tapeformer.faults import Fault, TapeformerError

MOST_BYTES = 5_000_000
"""The largest page: later tokens are left out, and the page says so."""


def exported(session: Session) -> str:
    """Return the page of a session's run, as far as it is recorded."""
    if session.faults:
        raise TapeformerError([Fault(**_fault(record)) for record in session.faults])
    if session.recording is None:
        raise TapeformerError(Fault("the run has not begun", remedy="wait for its first token"))
    run = session.describe()
    run["weights"] = recorded_weights(session.recording.parts[-1].bundle)
    return page_of(run, [s.embedded() for s in session.recording.slices()])


def page_of(run: dict[str, Any], slices: list[dict[str, Any]]) -> str:
    """Return one page with a run's description and its slices."""
    style = page_file(STYLE)
    assert style is not None
    script = joined_script()
    room = MOST_BYTES - len(script) - len(style.content) - len(json.dumps(run)) - 20_000
    kept = _fitting(slices, room)
    run = {**run, "status": "done", "slices": [part["start"] for part in kept]}
    if len(kept) < len(slices):
        run |= {"tokens": kept[-1]["stop"], "cut": run["tokens"], "outcome": None}
    data = _in_script(json.dumps({"run": run, "slices": kept}, separators=(",", ":")))
    page = index_page("")
    page = page.replace(
        f'<link rel="stylesheet" href="{STYLE}">', f"<style>{style.content}</style>"
    )
    whole = f'<script type="application/json" id="recorded">{data}</script>\n<script type="module">{script}</script>'
    page = page.replace(f'<script type="module" src="{SCRIPT}"></script>', whole)
    return page.replace("<head>", f"<head>\n{_policy(script, style.content)}", 1)


def _policy(script: str, style: str) -> str:
    allowed = f"script-src {_digest(script)}; style-src {_digest(style)}; img-src data: blob:"
    content = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    return f'<meta http-equiv="Content-Security-Policy" content="{content}">'


def _digest(text: str) -> str:
    found = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{found}'"


def _fitting(slices: list[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = []
    for part in slices:
        room -= len(json.dumps(part))
        if room < 0 and kept:
            break
        kept.append(part)
    return kept


def _in_script(text: str) -> str:
    """Return JSON that cannot end the script that it stands in."""
    return re.sub(r"[<>&\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", text)


def _fault(record: dict[str, Any]) -> dict[str, Any]:
    return {key: record[key] for key in ("what", "expected", "got", "remedy")}
