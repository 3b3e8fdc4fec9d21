"""The one queue in three tracks (symbol, first, head), and which cells can meet in a token.

The literal Transformer has one head for each queue and lists its vocabulary. With the cells in
tracks its heads split over layers; and since a ring has one first cell and one head, most
combinations of cells never occur and need not be listed.
"""

from __future__ import annotations

from collections.abc import Sequence

from tapeformer.constructions.post.cells import cells_of
from tapeformer.constructions.sizes import refuse
from tapeformer.machine.record import TuringMachine
from tapeformer.queues.tracks import QueueTracks

RING = "ring"
HELD = ("before", "here")
MARKS = ("0", "1")


def tracks(machine: TuringMachine) -> QueueTracks:
    """Return how the cells of a machine's ring are split, and what can come together."""
    if machine.tapes > 1:
        what = f"{machine.name} has {machine.tapes} tapes; the literal Transformer of one queue holds one"
        raise refuse(what, "1 tape", str(machine.tapes), "leave out literal")
    cells = cells_of(machine)
    plain = (cells.free, *cells.symbols, cells.bottom)
    parts = {cells.free: (cells.free, "0", "0"), cells.bottom: (cells.bottom, "0", "0")}
    for symbol in cells.symbols:
        for first, sign in (("0", ""), ("1", cells.first)):
            parts[symbol + sign] = (symbol, first, "0")
            parts[symbol + sign + cells.head] = (symbol, first, "1")

    def possible(together: Sequence[str]) -> bool:
        marked = [parts[cell] for cell in together]
        return all(sum(cell[mark] == "1" for cell in marked) <= 1 for mark in (1, 2))

    names = (f"{RING} symbol", f"{RING} first", f"{RING} head")
    return QueueTracks(RING, HELD, names, (plain, MARKS, MARKS), parts, possible)
