"""Layer-norm hashes: phi(x, y) is the layer norm of (x, y, -x, -y), so phi(h/i, 1/i) = phi(h, 1)."""

from __future__ import annotations

from typing import Any

from tapeformer.laboratory.arithmetic import Number
from tapeformer.laboratory.coordinates import (
    Fields,
    Join,
    Key,
    Map,
    Network,
    Terms,
    clipped,
    numbered,
    relu,
    row,
    unit,
)

SIZE = 4
GRID = 16
"""Adding and subtracting this rounds a difference of hashes to a grid that hides rounding."""


def numbers_of(source: Fields, *forms: tuple[Terms, Number]) -> Map:
    """Return a map to numbers without names, from linear forms with their biases."""
    rows = [row(at, terms, bias) for at, (terms, bias) in enumerate(forms)]
    return Map(source, numbered(len(forms)), rows)


def phi(source: Fields, x: tuple[Terms, int], y: tuple[Terms, int]) -> Network:
    """Return the hash of two linear forms: a projection, then layer norm."""
    return (numbers_of(source, x, y), unit)


def fetched(source: Fields, parts: tuple[Network, ...], targets: list[Key]) -> Network:
    """Return a head's value made of parts, put to its coordinates."""
    rows = [row(key, {at: 1}) for at, key in enumerate(targets)]
    return (Join(parts), Map(numbered(len(targets)), source, rows))


def differs(source: Fields, own: Network, returned: str, to: Key, grid: int = GRID) -> Network:
    """Compare two hashes: the difference, on a grid, through layer norm; 1 where they differ."""
    other = numbers_of(source, *(({(returned, i): 1}, 0) for i in range(SIZE)))
    away = Map(numbered(2 * SIZE), numbered(2), [row(i, {i: 1, SIZE + i: -1}) for i in range(2)])
    steps: list[Any] = [Join((own, (other,))), away]
    for sign in (1, -1) if grid else ():
        shift = [row(i, {i: 1}, sign * grid) for i in range(2)]
        steps.append(Map(numbered(2), numbered(2), shift))
    size = Map(numbered(SIZE), numbered(1), [row(0, dict.fromkeys(range(SIZE), 4))])
    return (*steps, unit, relu, size, clipped, Map(numbered(1), source, [row(to, {0: 1})]))
