"""State diagrams: every label is there, inside the picture, and covers nothing that it should not."""

from __future__ import annotations

import itertools
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from tapeformer import TapeformerError, TuringMachine, gallery_machine, gallery_names, loads
from tapeformer.drawing.diagram import MOST_STATES, diagram
from tapeformer.drawing.labels import columns, label_lines
from tests.strategies import random_machine, seeds

SVG = "{http://www.w3.org/2000/svg}"
Rectangle = tuple[float, float, float, float]
SMALL = [name for name in gallery_names() if len(gallery_machine(name).states) <= MOST_STATES]


def rectangles(root: ElementTree.Element, kind: str) -> list[Rectangle]:
    """Left, top, right and bottom of the rectangles of a class."""
    found = []
    for rect in root.iter(f"{SVG}rect"):
        if kind in rect.get("class", "").split():
            x, y, wide, high = (float(rect.get(k, "")) for k in ("x", "y", "width", "height"))
            found.append((x, y, x + wide, y + high))
    return found


def apart(one: Rectangle, other: Rectangle) -> bool:
    side_by_side = one[2] <= other[0] or other[2] <= one[0]
    return side_by_side or one[3] <= other[1] or other[3] <= one[1]


def check_picture(machine: TuringMachine) -> None:
    text = diagram(machine)
    assert text == diagram(replace(machine))
    root = ElementTree.fromstring(text)
    states, labels = rectangles(root, "state"), rectangles(root, "back")
    assert len(states) == len(machine.states)
    assert len(labels) == len({(rule.state, rule.next_state) for rule in machine.rules})
    assert all(apart(*pair) for pair in itertools.combinations([*states, *labels], 2))
    x, y, wide, high = map(float, root.get("viewBox", "").split())
    for left, top, right, bottom in [*states, *labels]:
        assert x <= left
        assert right <= x + wide
        assert y <= top
        assert bottom <= y + high


@pytest.mark.parametrize("name", SMALL)
def test_gallery(name: str) -> None:
    check_picture(gallery_machine(name))


@settings(max_examples=60)
@given(seeds)
def test_random_machines(seed: int) -> None:
    check_picture(random_machine(seed, odd_names=True))


def test_long_names_are_not_cut() -> None:
    name = "a_state_with_a_rather_long_name_that_says_what_it_does"
    machine = loads(f"0 1 1 r {name}\n{name} 1 1 r 0\n")
    assert f">{name}<" in diagram(machine)
    check_picture(machine)


def test_rules_of_one_arrow_share_lines() -> None:
    rules = loads("0 a * r 0\n0 b * r 0\n0 c d r 0\n0 e d r 0\n0 f g l 0\n").rules
    assert label_lines(rules) == ["a|b,R", "c|e→d,R", "f→g,L"]


def test_many_lines_stand_in_columns_and_none_is_lost() -> None:
    lines = [f"{number}→x,R" for number in range(30)]
    shown = columns(lines)
    assert len(shown) <= 12
    assert sorted(" ".join(shown).split()) == sorted(lines)


def test_names_cannot_break_the_picture() -> None:
    machine = loads("0 1 1 r <script>\n<script> 1 1 r \x01\x02\n", format_name="morphett")
    text = diagram(machine)
    assert "<script>" not in text
    assert "\x01" not in text
    ElementTree.fromstring(text)


def test_too_many_states() -> None:
    machine = loads("".join(f"{n} 1 1 r {n + 1}\n" for n in range(MOST_STATES + 1)))
    with pytest.raises(TapeformerError, match="too many states for a diagram; expected at most 40"):
        diagram(machine)
