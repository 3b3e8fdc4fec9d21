"""Measure the page on a million tokens: `python -m tests.explorer.million`.

First view from the command's start of serving, any scrub on the page's own clock, memory of the
page: the process that draws it (its resident set), and the JavaScript heap.
"""

from __future__ import annotations

import os
import random
import statistics
import time

from playwright.sync_api import CDPSession, Page, sync_playwright

from tapeformer.explorer.pictures import browser as browser_path
from tests.explorer.conftest import FLAGS, started

WORD = "0" * 18
JUMPS = 40
FIRST_VIEW, SCRUB, MEMORY = 3.0, 0.2, 300.0
"""Seconds, seconds, megabytes."""


def main() -> int:
    """Print what was measured; 1 if a bound is not kept."""
    server, address = started("binary_counter", WORD)
    printed = time.monotonic()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            begun = time.monotonic()
            page.goto(address)
            page.wait_for_selector("body[data-ready]", state="attached", timeout=60_000)
            first = time.monotonic() - begun
            tokens = _all_tokens(page)
            recorded = time.monotonic() - printed
            jumps = _scrubbed(page, tokens)
            heap, resident = _memory(page.context.new_cdp_session(page))
            browser.close()
    finally:
        server.terminate()
        server.wait(10)
    print(f"{tokens:,} tokens, recorded and compared in {recorded:.1f} s")
    print(f"first view {first:.2f} s")
    print(f"scrub: median {statistics.median(jumps):.0f} ms, worst {max(jumps):.0f} ms of {JUMPS}")
    print(f"memory of the page: {resident:.0f} MB resident, {heap:.0f} MB JavaScript heap")
    kept = first <= FIRST_VIEW and max(jumps) <= 1000 * SCRUB and resident < MEMORY
    return 0 if kept and tokens > 10**6 else 1


def _all_tokens(page: Page) -> int:
    while page.evaluate("explorer.state.run.record.status") == "running":
        time.sleep(0.2)
    return int(page.evaluate("explorer.state.run.tokens"))


def _scrubbed(page: Page, tokens: int) -> list[float]:
    """Drag the scrubber to random places and read how long each took to be drawn."""
    places = random.Random(1)
    found = []
    for _ in range(JUMPS):
        target = places.randrange(tokens)
        page.evaluate("explorer.timings.jump = 0")
        page.get_by_test_id("scrubber").fill(str(target))
        while not page.evaluate("explorer.timings.jump"):
            time.sleep(0.01)
        assert page.evaluate("explorer.state.target") == target
        assert "Same as" in (page.get_by_test_id("agreement").text_content() or "") or target < 100
        found.append(float(page.evaluate("explorer.timings.jump")))
    return found


def _memory(session: CDPSession) -> tuple[float, float]:
    """The JavaScript heap, and the largest resident set of a process that draws pages, in MB."""
    heap = session.send("Runtime.getHeapUsage")["usedSize"] / 1e6
    return heap, max(_resident(), default=0.0)


def _resident() -> list[float]:
    sizes = []
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                command = file.read()
            if b"--type=renderer" in command:
                with open(f"/proc/{entry}/statm", encoding="ascii") as file:
                    sizes.append(int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6)
        except (OSError, ValueError):
            continue
    return sizes


if __name__ == "__main__":
    raise SystemExit(main())
