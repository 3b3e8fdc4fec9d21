"""Short texts and HTML of the objects that users see."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import tapeformer as tf
from tapeformer.gallery import gallery_names


class Balance(HTMLParser):
    """Collects tags and texts, and checks that tags are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.open.append(tag)
        self.seen.add(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def parsed(html: str) -> Balance:
    reader = Balance()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


NASTY = tf.loads(
    "blank: _\nstart state: <script>\ntapes: 1\ntable:\n"
    "  <script>: {'<b>': {write: '&', R: \"</td><img>\"}}\n  '</td><img>':\n",
    format_name="tapeformer",
)


@pytest.mark.parametrize("name", gallery_names())
def test_reprs_fit_a_line(name: str) -> None:
    machine = tf.gallery_machine(name)
    assert len(repr(machine)) < 120
    assert repr(machine).startswith(f"<TuringMachine '{name}': {machine.tapes} tape")
    assert max(len(repr(rule)) for rule in machine.rules) < 200
    for case in machine.cases:
        assert len(repr(case)) < 120


def test_reprs_of_long_things_are_short() -> None:
    machine = tf.loads("x" * 5 + " 1 1 r " + "y" * 5000 + "\n", format_name="morphett")
    result = tf.simulate(tf.loads("1RA1RA"), max_steps=100_000)
    first = next(tf.configurations(tf.loads("1RA1RA"), "1" * 50_000))
    for thing in (
        machine,
        machine.rules[0],
        result,
        result.tapes[0],
        first,
        tf.Case(("a",) * 9999, "halt"),
    ):
        assert len(repr(thing)) < 250
        assert "\n" not in repr(thing)


def test_reprs_say_what_matters() -> None:
    machine = tf.gallery_machine("palindrome")
    result = tf.simulate(machine, "abba")
    assert repr(result).startswith(f"<Result accept: state 'accept', {result.steps} steps")
    assert repr(machine.rules[0]).startswith("<Rule 'first': ")
    assert repr(tf.Tape(("a", "b"), 1)) == "<Tape 'ab', head 1>"
    assert "step 0" in repr(next(tf.configurations(machine, "abba")))


@pytest.mark.parametrize("name", gallery_names())
def test_machines_as_html(name: str) -> None:
    machine = tf.gallery_machine(name)
    reader = parsed(machine._repr_html_())
    assert name in reader.texts
    assert len(machine._repr_html_()) < 100_000


def test_names_are_escaped() -> None:
    for html in (NASTY._repr_html_(), tf.simulate(NASTY, ["<b>"])._repr_html_()):
        assert not parsed(html).seen & {"script", "b", "img"}
    assert "<script>" in parsed(NASTY._repr_html_()).texts


def test_results_as_html() -> None:
    long = tf.simulate(tf.loads("1RA1RA"), max_steps=100_000)._repr_html_()
    assert len(long) < 20_000
    assert "limit" in parsed(long).texts
    assert any("more" in text for text in parsed(long).texts)


def test_the_display_is_loaded_when_something_is_displayed() -> None:
    code = (
        "import sys, tapeformer as tf\n"
        "m = tf.gallery_machine('palindrome'); tf.simulate(m, 'abba'); repr(m)\n"
        "assert not [n for n in sys.modules if 'drawing' in n or n == 'tapeformer.display']\n"
        "m._repr_html_()\n"
        "assert 'tapeformer.display' in sys.modules and 'rich' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_answers_and_models_show_themselves() -> None:
    answer = tf.run("palindrome_two_tapes", "abba")
    for html in (answer._repr_html_(), answer.bundle._repr_html_()):
        assert "palindrome_two_tapes" in parsed(html).texts
        assert len(html) < 20_000
    assert len(repr(answer)) < 200
    assert len(repr(answer.bundle)) < 200


def test_every_public_name_is_there() -> None:
    assert set(tf.__all__) <= set(dir(tf))
    for name in dir(tf):
        assert getattr(tf, name) is not None
    page = (Path(__file__).parent.parent / "docs" / "python.md").read_text(encoding="utf-8")
    table = page.partition("## Stable names")[2].partition("## Machines")[0]
    assert set(tf.__all__) == set(re.findall(r"`(\w+)`", table.partition("| |")[2]))
