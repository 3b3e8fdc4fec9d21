"""What one queue promises, checked token by token: a step within a turn, one head, one first cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapeformer.constructions.claims import CountedClaims
from tapeformer.faults import Fault
from tapeformer.layout import Layout
from tapeformer.queues.record import Token

TURN, HEAD, FIRST = "turn", "head", "first"


class OneQueueClaims(CountedClaims):
    """Follows a run of the one-queue construction.

    turn: a step takes at most one token more than the queue has cells.
    head, first: exactly one cell carries the mark of the head, and one that of the first cell.
    """

    names: tuple[str, ...] = (TURN, HEAD, FIRST)

    def __init__(self, reading: Mapping[str, Any], layout: Layout, _word: Sequence[str]) -> None:
        super().__init__()
        self.reading, self.length = reading, layout.lengths["ring"]
        self.place = {name: index for index, name in enumerate(reading["factors"])}
        self.since: int | None = None

    def see(self, tokens: Sequence[Token]) -> tuple[Fault, ...]:
        """Return the faults of the window that ends with a newly appended token."""
        last = tokens[-1]
        faults: list[Fault] = []
        stepped = last[self.place["stepped"]] == "1"
        if self.since is not None:
            self.since += 1
            late = f"{self.since} tokens since the last step"
            faults += self.test(TURN, self.since <= self.length + 1, "a step", late)
        if stepped:
            self.since = 0
        if self.since is not None:
            cells = [token[self.place["ring"]] for token in tokens[-self.length :]]
            cells += [last[self.place["before"]], last[self.place["here"]]]
            for claim in (HEAD, FIRST):
                marked = sum(self.reading[claim] in cell for cell in cells)
                faults += self.test(claim, marked == 1, "the queue", f"{marked} cells")
        return tuple(faults)
