"""A state diagram as SVG: states on a circle, one curved arrow for each pair of states."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

from tapeformer.drawing.symbols import visible
from tapeformer.faults import Fault, TapeformerError
from tapeformer.machine.record import Rule, TuringMachine

MOST_STATES = 40
MOST_STATES_INLINE = 12
MOST_LABELS = 5
LONGEST_NAME = 14
RADIUS = 26
_STYLE = """<style>
text { font: 12px sans-serif; text-anchor: middle; fill: #222 }
.state { fill: #eef4fb; stroke: #2b5c8a; stroke-width: 1.5 }
.accept { fill: #e4f5e4; stroke: #2e7d32 } .reject { fill: #fbe9e7; stroke: #b23c17 }
.halt { fill: #f3f3f3; stroke: #555 }
.arrow { fill: none; stroke: #888; stroke-width: 1.2 } .head { fill: #888 }
.label { font: 11px monospace; fill: #333 } .halo { stroke: white; stroke-width: 4px }
</style>"""


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
    outside = _polar(start, math.pi + 0.9, 65)
    entry = _line(f"M{outside} L", outside, outside.towards(start, 65 - RADIUS))
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
    name = state if len(state) <= LONGEST_NAME else state[: LONGEST_NAME - 1] + "…"
    size = min(12.0, 84 / len(name))
    circle = f'<circle class="state {role}" cx="{place.x:.1f}" cy="{place.y:.1f}" r="{RADIUS}"/>'
    title = f"<title>{escape(state)}</title>"
    style = f'style="font-size:{size:.1f}px"'
    text = f'<text {style} x="{place.x:.1f}" y="{place.y + 4:.1f}">{escape(name)}</text>'
    return f"<g>{title}{circle}{text}</g>"


def _arrow(
    pair: tuple[str, str], rules: list[Rule], places: dict[str, Point], middle: Point
) -> str:
    source, goal = places[pair[0]], places[pair[1]]
    line, label = _loop(source, middle) if source == goal else _curve(source, goal)
    return line + _label(label, rules)


def _line(path: str, before: Point, end: Point) -> str:
    """A path up to `end`, with an arrowhead there that comes from `before`."""
    angle = math.atan2(before.y - end.y, before.x - end.x)
    left, right = (_polar(end, angle + turn, 9) for turn in (-0.4, 0.4))
    head = f'<path class="head" d="M{end} L{left} L{right} z"/>'
    return f'<path class="arrow" d="{path}{end}"/>{head}'


def _loop(place: Point, middle: Point) -> tuple[str, Point]:
    """A loop on the outer side of the circle."""
    angle = math.atan2(place.y - middle.y, place.x - middle.x)
    ends = [_polar(place, angle + turn, RADIUS) for turn in (-0.5, 0.5)]
    bends = [_polar(place, angle + turn, RADIUS + 48) for turn in (-0.55, 0.55)]
    line = _line(f"M{ends[0]} C{bends[0]} {bends[1]} ", bends[1], ends[1])
    return line, _polar(place, angle, RADIUS + 52)


def _polar(place: Point, angle: float, distance: float) -> Point:
    return Point(place.x + distance * math.cos(angle), place.y + distance * math.sin(angle))


def _curve(source: Point, goal: Point) -> tuple[str, Point]:
    """A curve that bends to its right, so that two opposite arrows do not cover each other."""
    half = Point((source.x + goal.x) / 2, (source.y + goal.y) / 2)
    angle = math.atan2(goal.y - source.y, goal.x - source.x) + math.pi / 2
    bend = _polar(half, angle, 34)
    line = _line(f"M{source.towards(bend, RADIUS)} Q{bend} ", bend, goal.towards(bend, RADIUS))
    return line, _polar(half, angle, 20)


def _label(place: Point, rules: list[Rule]) -> str:
    lines = [_rule_label(rule) for rule in rules[:MOST_LABELS]]
    if len(rules) > MOST_LABELS:
        lines.append(f"… {len(rules) - MOST_LABELS} more")
    top = place.y - 6.5 * (len(lines) - 1)
    return "".join(
        f'<text class="{style}" x="{place.x:.1f}" y="{top + 13 * number:.1f}">{escape(line)}</text>'
        for number, line in enumerate(lines)
        for style in ("label halo", "label")
    )


def _rule_label(rule: Rule) -> str:
    parts = zip(rule.read, rule.write, rule.moves, strict=True)
    return "  ".join(
        f"{visible(old)}→{visible(new)},{move.letter}"
        if old != new
        else f"{visible(old)},{move.letter}"
        for old, new, move in parts
    )
