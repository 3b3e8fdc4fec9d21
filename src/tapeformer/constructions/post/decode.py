"""Reading a window of the one-queue machine back as a tape, at any token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapeformer.constructions.decoded import Decoded, tape_between, unreadable
from tapeformer.layout import Layout
from tapeformer.queues.record import Token


def decode(reading: Mapping[str, Any], layout: Layout, tokens: Sequence[Token]) -> Decoded:
    """Return the configuration of a window: the ring turned to its first cell, up to the free cells."""
    place = {name: index for index, name in enumerate(reading["factors"])}
    last = tokens[-1]
    ring = [token[place["ring"]] for token in tokens[-layout.lengths["ring"] :]]
    ring += [last[place["before"]], last[place["here"]]]
    first = next((at for at, cell in enumerate(ring) if reading["first"] in cell), None)
    if first is None:
        cells = [cell for cell in ring if cell not in (reading["free"], reading["bottom"])]
        return Decoded(last[place["state"]], (tape_between([], cells, reading["blank"]),), True)
    turned = [*ring[first:], *ring[:first]]
    real = [cell for cell in turned if cell != reading["free"]]
    head = next((at for at, cell in enumerate(real) if reading["head"] in cell), None)
    if head is None:
        raise unreadable("the ring has lost its head")
    symbols = [cell.replace(reading["head"], "").replace(reading["first"], "") for cell in real]
    tape = tape_between(symbols[:head], symbols[head:], reading["blank"])
    return Decoded(last[place["state"]], (tape,), True)
