"""Draw a state diagram as SVG: states on a circle, one curved arrow for each pair of states."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from tapeformer.drawing.arrange import LINE, Arrangement, Arrow, arranged
from tapeformer.drawing.geometry import Box, Curve, Point
from tapeformer.drawing.symbols import visible
from tapeformer.faults import Fault, TapeformerError
from tapeformer.machine.record import TuringMachine

MOST_STATES = 40
MOST_STATES_INLINE = 12
MARGIN = 20
_STYLE = """<style>
.tapeformer text { font: 12px monospace; text-anchor: middle; fill: #222 }
.tapeformer .state { fill: #eef4fb; stroke: #2b5c8a; stroke-width: 1.5 }
.tapeformer .accept { fill: #e4f5e4; stroke: #2e7d32 }
.tapeformer .reject { fill: #fbe9e7; stroke: #b23c17 }
.tapeformer .halt { fill: #f3f3f3; stroke: #555 }
.tapeformer .arrow { fill: none; stroke: #888; stroke-width: 1.2 }
.tapeformer .head { fill: #888 }
.tapeformer .label { font-size: 11px }
.tapeformer .back { fill: white; fill-opacity: 0.85 }
</style>"""


def diagram(machine: TuringMachine) -> str:
    """Return the state diagram of a small machine; every rule is in the label of an arrow."""
    if len(machine.states) > MOST_STATES:
        raise TapeformerError(
            Fault(
                "too many states for a diagram",
                expected=f"at most {MOST_STATES}",
                got=str(len(machine.states)),
                remedy="print its rules instead",
            )
        )
    picture = arranged(machine)
    lines = [_arrow(picture.entry), *(_arrow(arrow.curve) for arrow in picture.arrows)]
    lines += [_state(machine, state, box) for state, box in picture.states.items()]
    lines += [_label(arrow) for arrow in picture.arrows]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="tapeformer" viewBox="{_view(picture)}">'
    title = f"<title>{escape(visible(machine.name))}</title>"
    return "\n".join([head, title, _STYLE, *lines, "</svg>"]) + "\n"


def _view(picture: Arrangement) -> str:
    """Return the part of the plane that holds everything."""
    boxes = [*picture.states.values(), *(arrow.label for arrow in picture.arrows)]
    curves = [picture.entry, *(arrow.curve for arrow in picture.arrows)]
    corners = [*_corners(boxes), *(point for curve in curves for point in curve.samples())]
    left, top = (min(part) - MARGIN for part in zip(*_pairs(corners), strict=True))
    right, bottom = (max(part) + MARGIN for part in zip(*_pairs(corners), strict=True))
    return f"{left:.0f} {top:.0f} {right - left:.0f} {bottom - top:.0f}"


def _corners(boxes: Iterable[Box]) -> Iterable[Point]:
    for box in boxes:
        yield Point(box.centre.x - box.across, box.centre.y - box.down)
        yield Point(box.centre.x + box.across, box.centre.y + box.down)


def _pairs(points: Iterable[Point]) -> list[tuple[float, float]]:
    return [(point.x, point.y) for point in points]


def _state(machine: TuringMachine, state: str, box: Box) -> str:
    role = (
        "accept" if state in machine.accepting else "reject" if state in machine.rejecting else ""
    )
    role = role or ("halt" if state in machine.halting else "")
    corner = f'x="{box.centre.x - box.across:.1f}" y="{box.centre.y - box.down:.1f}"'
    size = f'width="{2 * box.across:.1f}" height="{2 * box.down:.1f}" rx="{box.down:.1f}"'
    text = f'<text x="{box.centre.x:.1f}" y="{box.centre.y + 4:.1f}">{_text(state)}</text>'
    return f'<g><rect class="state {role}" {corner} {size}/>{text}</g>'


def _text(text: str) -> str:
    """Return a text for SVG, with spaces that are not joined."""
    return escape(visible(text)).replace(" ", "\u00a0")


def _arrow(curve: Curve) -> str:
    """Return a curve with an arrowhead at its end."""
    end = curve.points[-1]
    angle = end.angle_to(curve.at(0.9))
    left, right = (end.polar(angle + turn, 9) for turn in (-0.4, 0.4))
    head = f'<path class="head" d="M{end} L{left} L{right} z"/>'
    return f'<path class="arrow" d="{curve.path}"/>{head}'


def _label(arrow: Arrow) -> str:
    """Return the lines of a label on a light ground, so that no arrow crosses the text."""
    box = arrow.label
    corner = f'x="{box.centre.x - box.across:.1f}" y="{box.centre.y - box.down:.1f}"'
    size = f'width="{2 * box.across:.1f}" height="{2 * box.down:.1f}" rx="3"'
    first = box.centre.y - LINE * (len(arrow.lines) - 1) / 2 + 4
    texts = [
        f'<text class="label" x="{box.centre.x:.1f}" y="{first + LINE * number:.1f}">'
        f"{_text(line)}</text>"
        for number, line in enumerate(arrow.lines)
    ]
    return f'<rect class="back" {corner} {size}/>' + "".join(texts)
