"""What rows compute by networks: the symbol under a head from what heads fetched, and the step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapeformer.laboratory.coordinates import (
    Fields,
    Key,
    Map,
    Network,
    Row,
    clipped,
    fields,
    numbered,
    row,
)
from tapeformer.laboratory.transformer import Coordinates


def step_network(
    source: Fields,
    target: Fields,
    state: str,
    reads: Sequence[str],
    outputs: Mapping[Any, Coordinates],
) -> Network:
    """Return units clip([state] + [symbols] - k), and what each adds to the target's coordinates."""
    units = numbered(len(outputs))
    up, down = [], dict[Key, dict[Key, int]]()
    for unit, ((name, read), forms) in enumerate(outputs.items()):
        parts = dict.fromkeys(zip(reads, read, strict=True), 1)
        up.append(row(unit, {(state, name): 1, **parts}, -len(reads)))
        for key, coefficient in forms.items():
            if coefficient:
                down.setdefault(key, {})[unit] = int(coefficient)
    rows = [Row(key, terms) for key, terms in down.items()]
    return Map(source, units, up), clipped, Map(units, target, rows)


def read_network(
    bits: Fields, target: Fields, block: str, symbols: Sequence[str], blank: str
) -> Network:
    """Return the symbol of a cell from bits: `old`, what was last written there, unless the cell is
    `new`; then its `letter`, unless that is `past` the word; then the blank."""
    gates = fields(old=symbols, letter=symbols, blank=None)
    rows = [row(("old", a), {("old", a): 1, "new": -1}) for a in symbols]
    rows += [row(("letter", a), {("letter", a): 1, "new": 1, "past": -1}, -1) for a in symbols]
    rows.append(row("blank", {"new": 1, "past": 1}, -1))
    out = []
    for a in symbols:
        none = {"blank": 1} if a == blank else {}
        out.append(row((block, a), {("old", a): 1, ("letter", a): 1, **none}))
    return Map(bits, gates, rows), clipped, Map(gates, target, out)
