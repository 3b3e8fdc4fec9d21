"""The step function of a machine as a network: one unit for each state and symbols read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapeformer.laboratory.coordinates import Fields, Key, Map, Network, Row, clipped, numbered, row
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
