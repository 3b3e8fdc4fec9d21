"""Requests from others: refused or answered, never a traceback, never another file."""

from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest

from tapeformer.explorer.requests import gallery
from tests.explorer.conftest import started

GALLERY = "palindrome"


class Asker:
    """Asks as the page does, or as someone else would."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.base, self.token = f"http://{parts.netloc}", parts.query.removeprefix("token=")
        self.port = parts.port or 0
        self.headers = {"x-tapeformer-token": self.token}

    def get(self, path: str, **headers: str) -> httpx.Response:
        return httpx.get(self.base + path, headers={**self.headers, **headers}, timeout=30)

    def post(self, path: str, body: object, **headers: str) -> httpx.Response:
        given = body if isinstance(body, bytes) else json.dumps(body).encode()
        asked = {**self.headers, **headers}
        return httpx.post(self.base + path, content=given, headers=asked, timeout=30)


@pytest.fixture(scope="module")
def ask(address: str) -> Asker:
    return Asker(address)


def test_only_the_page_itself_is_answered(ask: Asker) -> None:
    assert ask.get("/api/start").status_code == 200
    assert ask.get("/api/start", origin=ask.base).status_code == 200
    for headers in (
        {"host": "evil.example"},
        {"host": f"evil.example:{ask.port}"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"x-tapeformer-token": "wrong"},
        {"x-tapeformer-token": ""},
    ):
        assert ask.get("/api/start", **headers).status_code == 403, headers
    assert httpx.get(ask.base + "/").status_code == 403
    assert httpx.get(ask.base + "/?token=wrong").status_code == 403
    answer = httpx.get(f"{ask.base}/?token={ask.token}")
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    "name", ["../server.py", "..%2fserver.py", "%2e%2e/%2e%2e/py.typed", "/etc/passwd", "main.js"]
)
def test_no_other_file_is_served(ask: Asker, name: str) -> None:
    assert ask.get(f"/page/{ask.token}/{name}").status_code == 404
    assert ask.get(f"/page/wrong/{name}").status_code == 404
    assert ask.get("/page/wrong/explorer.js").status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000),
        {},
        {"gallery": "../../etc/passwd"},
        {"gallery": "palindrome", "word": 7},
        {"gallery": "palindrome", "word": "xyz"},
        {"gallery": "palindrome", "word": "a" * 30_000},
        {"gallery": "palindrome", "levels": 60},
        {"gallery": "palindrome", "base": 10**9},
        {"gallery": "palindrome", "levels": "many"},
        {"gallery": "palindrome", "construction": "magic"},
        {"text": "/etc/passwd"},
        {"text": "table: [" * 20_000},
        {"text": "name: x\nblank: _\nstart state: a\ntable:\n  a:\n" + "    b: R\n" * 30_000},
    ],
)
def test_bad_machines_are_faults(ask: Asker, body: object) -> None:
    answer = ask.post("/api/runs", body)
    assert answer.status_code == 422, answer.text[:300]
    assert answer.json()["faults"][0]["what"]
    assert "Traceback" not in answer.text
    assert "root:" not in answer.text


def test_huge_requests_are_refused(ask: Asker) -> None:
    assert ask.post("/api/check", b"x" * (5 << 20)).status_code == 413
    assert ask.post("/api/check", {"text": "x" * (2 << 20)}).status_code in (200, 422)


@pytest.mark.parametrize(
    "path",
    [
        *("/api/runs/999", "/api/runs/1/slices/999999", "/api/runs/1/explain?token=x&field=state"),
        *("/api/runs/1/explain?token=0&field=state", "/api/runs/1/explain?token=25&field=nothing"),
        *("/api/runs/1/explain?token=25&neuron=99999999", "/api/runs/1/explain?token=25&head=99"),
        *("/api/runs/1/attention?token=99999999&head=0", "/api/gallery/..%2f..%2fpyproject"),
        "/api/nothing",
    ],
)
def test_bad_questions_are_answered(ask: Asker, path: str) -> None:
    answer = ask.get(path)
    assert 400 <= answer.status_code < 500
    assert "Traceback" not in answer.text


def test_bad_breaks_are_refused(ask: Asker) -> None:
    for body in ({}, {"kind": "head"}, {"kind": "head", "number": 99}, {"kind": "x", "number": 1}):
        assert ask.post("/api/runs/1/break", body).status_code == 422


def test_ten_at_once_are_all_answered(ask: Asker) -> None:
    with ThreadPoolExecutor(10) as pool:
        asked = [
            pool.submit(ask.post, "/api/runs", {"gallery": GALLERY, "word": "abba"})
            for _ in range(10)
        ]
        assert all(answer.result().status_code == 200 for answer in asked)
    assert ask.get("/api/start").status_code == 200


def test_cut_connections_leave_it_running(ask: Asker) -> None:
    for text in (
        b"",
        b"GET / HT",
        b"POST /api/check HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 99\r\n\r\n{",
    ):
        with socket.create_connection(("127.0.0.1", ask.port)) as cut:
            cut.sendall(text)
    with socket.create_connection(("127.0.0.1", ask.port)) as cut:
        cut.sendall(b"\x00\xff" * 5000)
    assert ask.get("/api/start").status_code == 200


def test_stopping_leaves_nothing_behind() -> None:
    server, address = started("palindrome", "ab")
    ask = Asker(address)
    assert ask.get("/api/start").status_code == 200
    server.terminate()
    assert server.wait(10) is not None
    with pytest.raises(httpx.ConnectError):
        ask.get("/api/start")


def test_a_busy_beaver_begins_on_the_empty_tape_of_its_file() -> None:
    """An empty input of the file is an input, not a missing one."""
    words = {entry["name"]: entry["word"] for entry in gallery()}
    assert words["busy_beaver_4"] == ""
    assert words["palindrome"] == "abba"
