"""Arrange a state diagram: where its states, arrows and labels are, so that no text is covered."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

from tapeformer.drawing.geometry import Box, Curve, Point
from tapeformer.drawing.labels import columns, label_lines, text_width
from tapeformer.drawing.symbols import visible
from tapeformer.machine.record import Rule, TuringMachine

CHARACTER, LINE = 6.8, 13.0
NAME_CHARACTER, NAME_HEIGHT = 7.4, 34.0
GAP = 4.0
LOOP = 46.0
LARGER, MOST_TRIES = 1.2, 12
ALONG = tuple(0.5 + sign * step / 20 for step in range(8) for sign in (1, -1))


@dataclass(frozen=True)
class Arrow:
    """An arrow with the lines of its label, and the box that they take."""

    curve: Curve
    lines: list[str]
    label: Box


@dataclass
class Arrangement:
    """All parts of a diagram; `clear` says that no label touches another, a state or a tip."""

    states: dict[str, Box]
    entry: Curve
    arrows: list[Arrow] = field(default_factory=list)
    clear: bool = True


def arranged(machine: TuringMachine) -> Arrangement:
    """Return the smallest arrangement tried in which every label is clear, else the largest."""
    pairs: dict[tuple[str, str], list[Rule]] = {}
    for rule in machine.rules:
        pairs.setdefault((rule.state, rule.next_state), []).append(rule)
    lines = {pair: columns(label_lines(rules)) for pair, rules in pairs.items()}
    for attempt in range(MOST_TRIES):
        arrangement = _attempt(machine, lines, LARGER**attempt)
        if arrangement.clear:
            break
    return arrangement


def _attempt(
    machine: TuringMachine, lines: dict[tuple[str, str], list[str]], scale: float
) -> Arrangement:
    states = _state_boxes(machine, scale)
    start = states[machine.start]
    entry = Curve((start.edge(math.pi + 0.9, 38), start.edge(math.pi + 0.9)))
    curves = {pair: _curve(pair, machine.states, states) for pair in lines}
    arrangement = Arrangement(states, entry)
    _place_labels(arrangement, curves, lines)
    return arrangement


def _state_boxes(machine: TuringMachine, scale: float) -> dict[str, Box]:
    """Return the states evenly on a circle around the origin, the start at the left."""
    count = len(machine.states)
    halves = [max(26.0, 10 + NAME_CHARACTER * text_width(visible(s)) / 2) for s in machine.states]
    radius = scale * max(110.0, sum(2 * half + 70 for half in halves) / (2 * math.pi))
    angles = [math.pi + 2 * math.pi * number / count for number in range(count)]
    centres = [Point(0, 0).polar(angle, radius if count > 1 else 0) for angle in angles]
    boxes = [Box(c, half, NAME_HEIGHT / 2) for c, half in zip(centres, halves, strict=True)]
    return dict(zip(machine.states, boxes, strict=True))


def _curve(pair: tuple[str, str], order: tuple[str, ...], states: dict[str, Box]) -> Curve:
    source, goal = states[pair[0]], states[pair[1]]
    if pair[0] == pair[1]:
        return _loop(source)
    length = source.centre.distance_to(goal.centre)
    steps = (order.index(pair[1]) - order.index(pair[0])) % len(order)
    half = source.centre.halfway(goal.centre)
    turn = source.centre.angle_to(goal.centre) + math.pi / 2
    inwards = half.distance_to(Point(0, 0)) < half.polar(turn, 1).distance_to(Point(0, 0))
    inward = turn + math.pi if inwards else turn
    bend = half.polar(inward, _bend(steps, len(order), length))
    ends = source.edge(source.centre.angle_to(bend)), goal.edge(goal.centre.angle_to(bend))
    return Curve((ends[0], bend, ends[1]))


def _bend(steps: int, count: int, length: float) -> float:
    """Return how far a curve bends inwards, different for the two directions of a pair of states.

    Only an arrow to the state just before bends outwards, where nothing is in its way.
    """
    if 2 * steps == count:
        return 0.18 * length
    if 2 * steps < count:
        return 0.3 * length
    return -0.25 * length if steps == count - 1 else 0.06 * length


def _loop(state: Box) -> Curve:
    """Return a loop on the outer side of the circle."""
    angle = Point(0, 0).angle_to(state.centre)
    ends = [state.edge(angle + turn) for turn in (-0.5, 0.5)]
    outside = state.edge(angle)
    bends = [outside.polar(angle + turn, LOOP) for turn in (-0.7, 0.7)]
    return Curve((ends[0], *bends, ends[1]))


def _place_labels(
    arrangement: Arrangement,
    curves: dict[tuple[str, str], Curve],
    lines: dict[tuple[str, str], list[str]],
) -> None:
    """Put each label where it covers no state, tip or other label, and as few arrows as possible."""
    tips = [curve.points[-1] for curve in (arrangement.entry, *curves.values())]
    taken = [*arrangement.states.values(), *(Box(tip, 5, 5) for tip in tips)]
    crossed = _Points([point for curve in curves.values() for point in curve.samples()])
    for pair, curve in curves.items():
        across = CHARACTER * max(map(text_width, lines[pair])) / 2 + 2
        size = Box(curve.at(0.5), across, LINE * len(lines[pair]) / 2 + 1)
        choices = _loop_choices(size, curve) if pair[0] == pair[1] else _choices(size, curve)
        free = [box for box in choices if not any(box.overlaps(other, GAP) for other in taken)]
        label = min(free or choices, key=crossed.inside)
        arrangement.clear = arrangement.clear and bool(free)
        arrangement.arrows.append(Arrow(curve, lines[pair], label))
        taken.append(label)


def _choices(size: Box, curve: Curve) -> list[Box]:
    return [Box(curve.at(part), size.across, size.down) for part in ALONG]


def _loop_choices(size: Box, curve: Curve) -> list[Box]:
    """Return places for the label of a loop: outside of it, straight on or to a side."""
    outermost = curve.at(0.5)
    angle = curve.points[0].halfway(curve.points[-1]).angle_to(outermost)
    turns = (0.0, 0.4, -0.4, 0.8, -0.8, 1.2, -1.2)
    return [size.beyond(outermost.polar(angle + t, GAP), angle + t) for t in turns]


class _Points:
    """Points that can be counted inside a box."""

    def __init__(self, points: list[Point]) -> None:
        self.points = sorted(points, key=lambda point: point.x)
        self.xs = [point.x for point in self.points]

    def inside(self, box: Box) -> int:
        """Return how many points are inside a box."""
        first = bisect_left(self.xs, box.centre.x - box.across)
        last = bisect_right(self.xs, box.centre.x + box.across)
        return sum(box.holds(point) for point in self.points[first:last])
