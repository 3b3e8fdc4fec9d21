"""Draw a chain of thought as SVG: a row for each token, and what the heads of the last one see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from tapeformer.drawing.symbols import visible
from tapeformer.simulator.outcome import Tape
from tapeformer.simulator.result import Configuration

ROW, CELL, TOP = 24, 22, 44
ARCS, TOKEN, STATE, TAPES = 96, 108, 190, 270
_STYLE = """<style>
.chain text { font: 12px monospace; fill: #222 }
.chain .heading { font-weight: bold }
.chain .symbol { text-anchor: middle }
.chain .cell { fill: white; stroke: #bbb }
.chain .head { fill: #dcebfa; stroke: #2b5c8a; stroke-width: 2 }
.chain .seen { fill: #fff3d6 }
.chain .arc { fill: none; stroke: #c47f00; stroke-width: 1.5 }
.chain .offset { text-anchor: end; fill: #8a5900 }
</style>"""

Row = tuple[int, Configuration]
"""A token's number, and the configuration that the window up to it holds."""


def chain_svg(rows: Sequence[Row], look_backs: Sequence[int], title: str) -> str:
    """Return the tokens as rows, decoded, with an arc for each look-back of the last token."""
    spans = [_span([row.tapes[tape] for _, row in rows]) for tape in range(len(rows[0][1].tapes))]
    starts = [TAPES + sum(_width(span) for span in spans[:tape]) for tape in range(len(spans))]
    width, height = TAPES + sum(map(_width, spans)), TOP + ROW * len(rows) + 12
    seen = {len(rows) - 1 - back: back for back in look_backs if back < len(rows)}
    parts = [*_headings(starts), *_arcs(seen, len(rows) - 1)]
    for number, (token, row) in enumerate(rows):
        parts += _token(number, token, row, width if number in seen else None)
        for tape, start, span in zip(row.tapes, starts, spans, strict=True):
            parts += _cells(tape, number, start, span)
    head = '<svg xmlns="http://www.w3.org/2000/svg" class="chain"'
    head += f' viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    ground = f'<rect width="{width}" height="{height}" fill="white"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", _STYLE, ground, *parts, "</svg>\n"])


def _span(tapes: Sequence[Tape]) -> tuple[int, int]:
    """Return the first and last cell that any row shows, counted from the first of the content."""
    return (
        min(0, *(tape.head for tape in tapes)),
        max(max(len(tape.content) - 1, tape.head) for tape in tapes),
    )


def _width(span: tuple[int, int]) -> int:
    return CELL * (span[1] - span[0] + 1) + CELL


def _headings(starts: Sequence[int]) -> Iterator[str]:
    names = [f"tape {number}" for number in range(1, len(starts) + 1)]
    for text, x in [("token", TOKEN), ("state", STATE), *zip(names, starts, strict=True)]:
        yield f'<text class="heading" x="{x}" y="{TOP - 14}">{text}</text>'


def _arcs(seen: dict[int, int], last: int) -> Iterator[str]:
    """Yield one arc from the last row to each row that a head sees, with the distance."""
    start = TOP + ROW * last + ROW // 2
    for row, back in seen.items():
        end = TOP + ROW * row + ROW // 2
        reach = ARCS - 14 - 8 * min(back, 8)
        path = f"M{ARCS},{start} C{reach},{start} {reach},{end} {ARCS},{end}"
        yield f'<path class="arc" d="{path}"/>'
        yield f'<text class="offset" x="{(3 * reach + ARCS) // 4 - 4}" y="{(start + end) // 2 + 4}">{back}</text>'


def _token(number: int, token: int, row: Configuration, seen_width: int | None) -> Iterator[str]:
    top = TOP + ROW * number
    if seen_width is not None:
        size = f'width="{seen_width - ARCS}" height="{ROW}"'
        yield f'<rect class="seen" x="{ARCS}" y="{top}" {size}/>'
    for text, x in ((str(token), TOKEN), (visible(row.state), STATE)):
        yield f'<text x="{x}" y="{top + 16}">{escape(text)}</text>'


def _cells(tape: Tape, number: int, start: int, span: tuple[int, int]) -> Iterator[str]:
    top = TOP + ROW * number + 1
    for at in range(span[0], span[1] + 1):
        symbol = visible(tape.content[at]) if 0 <= at < len(tape.content) else ""
        left, kind = start + CELL * (at - span[0]), "head" if at == tape.head else "cell"
        yield f'<rect class="{kind}" x="{left}" y="{top}" width="{CELL - 1}" height="{ROW - 2}"/>'
        yield f'<text class="symbol" x="{left + CELL // 2}" y="{top + 15}">{escape(symbol)}</text>'
