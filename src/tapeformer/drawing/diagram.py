"""A state diagram as SVG: states on a circle, one curved arrow for each pair of states."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

from tapeformer.drawing.symbols import visible
from tapeformer.faults import Fault, TapeformerError
from tapeformer.machine.record import Rule, TuringMachine

MOST_STATES = 40
MOST_LABELS = 5
RADIUS = 26
_STYLE = """<style>
text { font: 12px sans-serif; text-anchor: middle; fill: #222 }
.state { fill: #eef4fb; stroke: #2b5c8a; stroke-width: 1.5 }
.accept { fill: #e4f5e4; stroke: #2e7d32 } .reject { fill: #fbe9e7; stroke: #b23c17 }
.halt { fill: #f3f3f3; stroke: #555 }
.arrow { fill: none; stroke: #888; stroke-width: 1.2; marker-end: url(#head) }
.label { font: 11px monospace; fill: #444; paint-order: stroke; stroke: white; stroke-width: 3px }
</style>
<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7"
 orient="auto-start-reverse"><path d="M0 0 L10 5 L0 10 z" fill="#888"/></marker></defs>"""


@dataclass(frozen=True)
class Point:
    """A place in the picture."""

    x: float
    y: float

    def towards(self, other: Point, distance: float) -> Point:
        """The point at a distance from here on the way to another."""
        length = math.dist((self.x, self.y), (other.x, other.y)) or 1.0
        part = distance / length
        return Point(self.x + (other.x - self.x) * part, self.y + (other.y - self.y) * part)

    def __str__(self) -> str:
        return f"{self.x:.1f} {self.y:.1f}"


def diagram(machine: TuringMachine) -> str:
    """The state diagram of a small machine."""
    if len(machine.states) > MOST_STATES:
        raise TapeformerError(
            Fault(
                "too many states for a diagram",
                expected=f"at most {MOST_STATES}",
                got=str(len(machine.states)),
                remedy="leave out --svg: `show` prints the rules as a table",
            )
        )
    places, size = _places(machine)
    middle = Point(size / 2, size / 2)
    arrows = [_arrow(pair, rules, places, middle) for pair, rules in _pairs(machine).items()]
    states = [_state(machine, state, place) for state, place in places.items()]
    start = places[machine.start]
    outside = middle.towards(start, math.dist((middle.x, middle.y), (start.x, start.y)) + 60)
    entry = f'<path class="arrow" d="M{outside} L{outside.towards(start, 60 - RADIUS)}"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size:.0f} {size:.0f}">'
    title = f"<title>{escape(machine.name)}</title>"
    return "\n".join([head, title, _STYLE, entry, *arrows, *states, "</svg>"]) + "\n"


def _places(machine: TuringMachine) -> tuple[dict[str, Point], float]:
    """States evenly on a circle, the start at the left; and the side of the picture."""
    count = len(machine.states)
    around = max(110.0, count * 130 / (2 * math.pi))
    middle = around + 150
    angles = [math.pi + 2 * math.pi * number / count for number in range(count)]
    points = [Point(middle + around * math.cos(a), middle + around * math.sin(a)) for a in angles]
    return dict(zip(machine.states, points, strict=True)), 2 * middle


def _pairs(machine: TuringMachine) -> dict[tuple[str, str], list[Rule]]:
    pairs: dict[tuple[str, str], list[Rule]] = {}
    for rule in machine.rules:
        pairs.setdefault((rule.state, rule.next_state), []).append(rule)
    return pairs


def _state(machine: TuringMachine, state: str, place: Point) -> str:
    role = (
        "accept" if state in machine.accepting else "reject" if state in machine.rejecting else ""
    )
    role = role or ("halt" if state in machine.halting else "")
    name = state if len(state) <= 8 else state[:7] + "…"
    circle = f'<circle class="state {role}" cx="{place.x:.1f}" cy="{place.y:.1f}" r="{RADIUS}"/>'
    title = f"<title>{escape(state)}</title>"
    text = f'<text x="{place.x:.1f}" y="{place.y + 4:.1f}">{escape(name)}</text>'
    return f"<g>{title}{circle}{text}</g>"


def _arrow(
    pair: tuple[str, str], rules: list[Rule], places: dict[str, Point], middle: Point
) -> str:
    source, goal = places[pair[0]], places[pair[1]]
    if source == goal:
        path, label = _loop(source, middle)
    else:
        path, label = _curve(source, goal)
    return f'<path class="arrow" d="{path}"/>' + _label(label, rules)


def _loop(place: Point, middle: Point) -> tuple[str, Point]:
    """A loop on the outer side of the circle."""
    angle = math.atan2(place.y - middle.y, place.x - middle.x)
    ends = [_polar(place, angle + turn, RADIUS) for turn in (-0.5, 0.5)]
    bends = [_polar(place, angle + turn, RADIUS + 48) for turn in (-0.55, 0.55)]
    return f"M{ends[0]} C{bends[0]} {bends[1]} {ends[1]}", _polar(place, angle, RADIUS + 52)


def _polar(place: Point, angle: float, distance: float) -> Point:
    return Point(place.x + distance * math.cos(angle), place.y + distance * math.sin(angle))


def _curve(source: Point, goal: Point) -> tuple[str, Point]:
    """A curve that bends to its right, so that two opposite arrows do not cover each other."""
    half = Point((source.x + goal.x) / 2, (source.y + goal.y) / 2)
    angle = math.atan2(goal.y - source.y, goal.x - source.x) + math.pi / 2
    bend = _polar(half, angle, 34)
    path = f"M{source.towards(bend, RADIUS)} Q{bend} {goal.towards(bend, RADIUS)}"
    return path, _polar(half, angle, 20)


def _label(place: Point, rules: list[Rule]) -> str:
    lines = [_rule_label(rule) for rule in rules[:MOST_LABELS]]
    if len(rules) > MOST_LABELS:
        lines.append(f"… {len(rules) - MOST_LABELS} more")
    top = place.y - 6.5 * (len(lines) - 1)
    return "".join(
        f'<text class="label" x="{place.x:.1f}" y="{top + 13 * number:.1f}">{escape(line)}</text>'
        for number, line in enumerate(lines)
    )


def _rule_label(rule: Rule) -> str:
    parts = zip(rule.read, rule.write, rule.moves, strict=True)
    return "  ".join(
        f"{visible(old)}→{visible(new)},{move.letter}"
        if old != new
        else f"{visible(old)},{move.letter}"
        for old, new, move in parts
    )
