"""Every state of a level in the counting model's terms, with the place of every symbol.

A symbol of a level has a number: its track times the length of the ring, plus its position, as they
are when the turn begins. So the numbers of a level's symbols follow each other from bottom to top,
those of the unit that the level above sends come before 0, and those of the block that comes from
below go on where they end: symbols keep their order. `Moment.column` says which are in a column,
also while a block or unit is half moved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal

from tapeformer.constructions.realtime.model import blocks_up
from tapeformer.constructions.realtime.names import HIGH, TRACKS

Moving = Literal["none", "push", "pull"]

OPERATIONS: tuple[Moving, ...] = ("none", "push", "pull")
BASES = (2, 3)
"""What a level sees depends on whether its block is before, at or after the end: 3 has all cases."""
BLOCKS = (1, 2)
"""The columns of a block. Level 1 has one; in longer ones only the first column differs."""


@dataclass(frozen=True)
class Moment:
    """A level before a token, in the model's terms.

    `blocks` were held when the last block boundary began, counted as the turn began: without what
    the level above does in this turn, `above`. The ring is at column `offset` of block `block`.
    """

    base: int
    width: int
    blocks: int
    block: int
    offset: int
    above: Moving
    below_high: bool
    started: bool = True

    @property
    def ring(self) -> int:
        """The columns of the ring."""
        return self.base * self.width

    @property
    def position(self) -> int:
        """The column at the front of `main`."""
        return self.block * self.width + self.offset

    @property
    def op(self) -> Moving:
        """What moves between the level and the one below: the counting model's rule."""
        if not self.started:
            return "push" if self.below_high and not self.offset else "none"
        seen = self.blocks if not self.block else self.blocks - self.base * _up(self.above)
        change = blocks_up(self.base, seen, self.block, self.below_high)
        return OPERATIONS[change]

    @property
    def arriving(self) -> int:
        """The number of the symbol that comes from below in this token, if one does."""
        return self.blocks * self.width + self.offset

    @property
    def leaving(self) -> int:
        """The number of the symbol that goes down in this token, if one does."""
        return self.arriving - self.width

    @property
    def pulled(self) -> int:
        """The number of the symbol that comes from above in this token, if one does."""
        return self.position - self.ring

    def column(self, position: int, tokens: int = 0) -> list[int]:
        """Return the symbols in a column, from track 0 up, after so many more tokens (0 or 1)."""
        passed, done = position < self.position + tokens, self.offset + tokens
        held = set(range(position, self.blocks * self.width, self.ring))
        if self.above == "push" and passed:
            held.discard(position)
        if self.above == "pull" and passed:
            held.add(position - self.ring)
        first = self.blocks * self.width if self.op == "push" else (self.blocks - 1) * self.width
        moved = {n for n in range(first, first + done) if n % self.ring == position}
        if self.op == "push":
            held |= moved
        if self.op == "pull":
            held -= moved
        return sorted(held)

    @property
    def before(self) -> int:
        """The column at the front of `delay`, a block earlier."""
        return (self.position - self.width) % self.ring


def _up(op: Moving) -> int:
    return {"none": 0, "push": 1, "pull": -1}[op]


def moments() -> Iterator[Moment]:
    """Yield every state of a level, for bases and blocks in which every case of it occurs."""
    for base, width in product(BASES, BLOCKS):
        counts = product(range(TRACKS * base + 1), range(base), range(width))
        for blocks, block, offset in counts:
            for above, high in product(OPERATIONS, (False, True)):
                moment = Moment(base, width, blocks, block, offset, above, high)
                if _possible(moment):
                    yield moment


def _possible(moment: Moment) -> bool:
    """Return whether the level above can do this: it takes a unit from a high level, or gives to a low one."""
    units, base = moment.blocks // moment.base, moment.base
    if moment.above == "push":
        return units >= HIGH if not moment.block else moment.blocks >= base
    if moment.above == "pull":
        return units < HIGH if not moment.block else moment.blocks <= (TRACKS - 1) * base
    return True


def idle_moments() -> Iterator[Moment]:
    """Yield a level that was never started, at a block boundary and inside a block."""
    for offset, high in product((0, 1), (False, True)):
        yield Moment(2, 2, 0, 0, offset, "none", high, started=False)
