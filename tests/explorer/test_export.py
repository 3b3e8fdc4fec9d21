"""A page without a server: small, closed to the outside, true to any text; pictures of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import tapeformer as tf
from tapeformer.explorer.export import MOST_BYTES, exported
from tapeformer.explorer.pictures import Shot, page_png, view_svg
from tests.explorer.test_recording import recorded


def test_ten_thousand_tokens_take_less_than_five_megabytes() -> None:
    page = exported(recorded("binary_counter", "0" * 12, {}, 10_000))
    assert len(page.encode()) < MOST_BYTES
    assert '"tokens":100' in page
    links = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert all(link.startswith(("data:", "#")) for link in links)
    assert not re.findall(r"https?://(?!www\.w3\.org/)", page)
    assert "default-src 'none'" in page


def test_a_machine_cannot_write_markup(page: Page, tmp_path: Path) -> None:
    text = (
        "name: '</script><img src=x onerror=alert(1)>'\nblank: _\nstart state: a\n"
        "input: '<'\ntable:\n  a:\n    '<': {write: '&', R}\n    _: {R: '<b>'}\n  '<b>':\n"
    )
    shown = tf.show(tf.loads(text, "hostile.yaml"), "<")
    assert "<img" not in shown.page
    file = tmp_path / "hostile.html"
    shown.save(file)
    page.goto(file.as_uri())
    page.wait_for_selector("body[data-ready]", state="attached", timeout=20_000)
    page.keyboard.press("End")
    expect(page.get_by_test_id("state")).to_have_text("<b>")
    assert page.locator("img").count() == 0


def test_an_answer_shows_itself_in_a_notebook(page: Page) -> None:
    shown = tf.show(tf.run("palindrome", "abba"))
    assert repr(shown).startswith("<Shown palindrome on 'abba'")
    page.set_content(shown._repr_html_())
    frame = page.frame_locator("iframe")
    expect(frame.get_by_test_id("outcome")).to_have_text("accept", timeout=20_000)


@pytest.mark.usefixtures("browser")
def test_pictures_are_written(tmp_path: Path) -> None:
    page = exported(recorded("palindrome_two_tapes", "abba", {}))
    page_png(page, tmp_path / "page.png", Shot(token=20, theme="dark"))
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
    svg = view_svg(page, Shot("strip", 20))
    assert svg.startswith("<svg ")
    assert "token 20" in svg
