"""What one queue promises, checked token by token: a step within a turn, one head a tape, one first cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapeformer.constructions.claims import CountedClaims
from tapeformer.constructions.post.several.decode import RingWindow
from tapeformer.faults import Fault
from tapeformer.layout import Layout
from tapeformer.queues.record import Token

TURN, HEAD, FIRST = "turn", "head", "first"


class OneQueueClaims(CountedClaims):
    """Follows a run of the one-queue construction.

    turn: a step takes at most as many tokens as the ring has cells: the queue's, and two held.
    head, first: exactly one cell carries the mark of a tape's head, and one that of the first cell.
    """

    names: tuple[str, ...] = (TURN, HEAD, FIRST)

    def __init__(self, reading: Mapping[str, Any], layout: Layout, _word: Sequence[str]) -> None:
        super().__init__()
        self.reading, self.layout = reading, layout
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
            turn = self.layout.lengths["ring"] + 2
            faults += self.test(TURN, self.since <= turn, "a step", late)
        if stepped:
            self.since = 0
        if self.since is not None:
            for claim, marked in self._marked(tokens):
                faults += self.test(claim, marked == 1, "the queue", f"{marked} cells")
        return tuple(faults)

    def _marked(self, tokens: Sequence[Token]) -> list[tuple[str, int]]:
        """Return how many cells carry each mark."""
        if "tapes" in self.reading:
            window = RingWindow(self.reading, self.layout, tokens)
            tapes = map(window.tape, range(self.reading["tapes"]))
            heads = [
                (HEAD, sum(cell.endswith(self.reading["head"]) for cell in tape)) for tape in tapes
            ]
            return [*heads, (FIRST, window.marks().count("1"))]
        last = tokens[-1]
        cells = [token[self.place["ring"]] for token in tokens[-self.layout.lengths["ring"] :]]
        cells += [last[self.place["before"]], last[self.place["here"]]]
        return [(mark, sum(self.reading[mark] in cell for cell in cells)) for mark in (HEAD, FIRST)]
