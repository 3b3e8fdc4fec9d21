"""The page in a real browser: what a reader does, and what must be seen then."""

from __future__ import annotations

import time
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, expect

from tapeformer.compile.options import CompileOptions
from tapeformer.explorer.export import exported
from tapeformer.explorer.open import opened_session


def opened(page: Page, address: str, **asked: str) -> Page:
    page.goto(address + (f"#{urlencode(asked)}" if asked else ""))
    page.wait_for_selector("body[data-ready]", state="attached", timeout=20_000)
    return page


def until(page: Page, expression: str, seconds: float = 20) -> None:
    """Wait for something to hold; the page's own policy forbids the browser's way of waiting."""
    late = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < late, expression
        page.wait_for_timeout(30)


def told(page: Page, name: str) -> str:
    return page.get_by_test_id(name).text_content() or ""


def test_step_play_scrub_and_keys(page: Page, address: str) -> None:
    opened(page, address)
    expect(page.get_by_test_id("outcome")).to_have_text("accept")
    assert told(page, "step") == "0"
    for _ in range(5):
        page.get_by_test_id("next").click()
    expect(page.get_by_test_id("step")).to_have_text("5")
    page.get_by_test_id("previous").click()
    expect(page.get_by_test_id("step")).to_have_text("4")
    page.keyboard.press("End")
    expect(page.get_by_test_id("step")).to_have_text("15")
    assert (told(page, "state"), told(page, "tape-1")) == ("accept", "abba")
    assert "accept" in (page.locator("#spoken").text_content() or "")
    assert "Same as the direct simulation" in told(page, "agreement")
    page.keyboard.press("Home")
    expect(page.get_by_test_id("token")).to_have_text("0")
    page.get_by_test_id("scrubber").fill("24")
    expect(page.get_by_test_id("token")).to_have_text("20")
    page.get_by_test_id("play").click()
    until(page, "Number(document.getElementById('step').textContent) > 9")
    page.keyboard.press("d")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_link_opens_the_same_moment(page: Page, address: str) -> None:
    opened(page, address)
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("2")
    page.keyboard.press("s")
    expect(page.get_by_test_id("step")).to_have_text("3")
    until(page, "location.hash.includes('side=right') && location.hash.includes('t=19')")
    link = page.url
    page.goto("about:blank")
    opened(page, link)
    assert told(page, "step") == "3"
    assert page.evaluate("[explorer.state.tape, explorer.state.side]") == [2, "right"]


def test_a_fault_is_told_at_its_line_and_another_machine_runs(page: Page, address: str) -> None:
    opened(page, address)
    page.keyboard.press("e")
    text = page.get_by_test_id("editor")
    text.fill(text.input_value().replace("to: rewind}", "to: rewound}"))
    expect(page.get_by_test_id("faults")).to_contain_text("rewound", timeout=15_000)
    line = page.locator("#faults li").first.get_attribute("data-line")
    assert page.locator("#paint .error").first.text_content() is not None
    assert (page.locator("#paint .error").first.text_content() or "").startswith(str(line))
    page.get_by_test_id("gallery").select_option("binary_increment")
    until(page, "explorer.state.run.machine.name === 'binary_increment'")
    expect(page.locator("#editor")).not_to_be_visible(timeout=20_000)
    page.keyboard.press("End")
    expect(page.get_by_test_id("agreement")).to_contain_text("Same as the direct simulation")


def test_a_head_is_switched_off_and_the_first_wrong_token_is_named(
    page: Page, address: str
) -> None:
    opened(page, address)
    page.keyboard.press("k")
    page.locator("#break-heads button").first.click()
    expect(page.get_by_test_id("broken")).to_contain_text("First wrong token: ", timeout=20_000)
    wrong = (told(page, "broken")).split("First wrong token: ")[1].split()[0]
    expect(page.get_by_test_id("token")).to_have_text(wrong)
    expect(page.get_by_test_id("agreement")).to_contain_text("Differs from the direct simulation")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_test_id("agreement")).not_to_contain_text("Differs")
    page.locator("#mend").click()
    expect(page.get_by_test_id("broken")).not_to_be_visible()


def test_a_cell_and_its_neuron_are_explained(page: Page, address: str) -> None:
    opened(page, address)
    page.keyboard.press("End")
    page.evaluate("explorer.select({t: explorer.state.target, name: 'state', level: -1, track: 0})")
    expect(page.get_by_test_id("explain")).to_contain_text("Written by", timeout=15_000)
    page.locator("#explain .neurons .link").first.click()
    expect(page.get_by_test_id("explain")).to_contain_text("line 29", timeout=15_000)
    page.keyboard.press("a")
    until(page, "document.getElementById('head').options.length > 0")


def test_an_export_opens_from_disk(page: Page, tmp_path: Path) -> None:
    session = opened_session("palindrome_two_tapes", "abba", CompileOptions())
    session.record()
    file = tmp_path / "run.html"
    file.write_text(exported(session), encoding="utf-8")
    opened(page, file.as_uri())
    page.keyboard.press("End")
    expect(page.get_by_test_id("step")).to_have_text("15")
    assert "Same as the direct simulation" in told(page, "agreement")


def test_nothing_overlaps_and_nothing_is_cut_off(page: Page, address: str) -> None:
    opened(page, address)
    for wide, high in ((1280, 800), (1920, 1080)):
        page.set_viewport_size({"width": wide, "height": high})
        boxes = page.evaluate(
            "[...document.querySelectorAll('header, main > section, aside > section, footer')]"
            ".map(e => { const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })"
        )
        assert all(b[0] >= 0 and b[1] >= 0 and b[2] <= wide and b[3] <= high for b in boxes)
        for number, one in enumerate(boxes):
            for other in boxes[number + 1 :]:
                apart = one[2] <= other[0] or other[2] <= one[0]
                assert apart or one[3] <= other[1] or other[3] <= one[1]
