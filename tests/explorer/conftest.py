"""A real server, started as a user starts it, and a real browser."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from tapeformer.explorer.pictures import browser as browser_path
from tapeformer.faults import TapeformerError

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
REQUIRED = "TAPEFORMER_BROWSER_REQUIRED"
"""Set where a missing browser is a failure, as in continuous integration."""


def started(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    """Start the command and return it with the address that it prints."""
    command = [sys.executable, "-m", "tapeformer", "explore", *arguments, "--no-open"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert server.stdout is not None
    return server, server.stdout.readline().strip()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a server that shows palindrome_two_tapes on abba."""
    server, printed = started("palindrome_two_tapes", "abba")
    yield printed
    server.terminate()
    server.wait(10)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    try:
        path = browser_path()
    except TapeformerError as error:
        if os.environ.get(REQUIRED):
            raise
        pytest.skip(f"no browser to test the page with: {error}")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in which every console error and exception fails the test."""
    complaints: list[str] = []
    opened = browser.new_page(viewport={"width": 1280, "height": 800})

    def hear(told: ConsoleMessage) -> None:
        if told.type == "error":
            complaints.append(told.text)

    opened.on("console", hear)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    opened.close()
    assert complaints == []
