"""One stack of the real-time construction as numbers: how much each level holds, not what.

Level i's content is counted in blocks of b^(i-1) columns, b to a unit. The end is at a boundary
iff the blocks, modulo b, are the boundary's number in the turn; what the level above takes or
gives is a whole unit, so it does not move the end.
"""

from __future__ import annotations

from tapeformer.constructions.realtime.names import HIGH, TRACKS


def blocks_up(base: int, held: int, boundary: int, below_high: bool, tracks: int = TRACKS) -> int:
    """Return the rule of a level at a block boundary: one block comes up (1), goes down (-1), or neither."""
    if held % base != boundary:
        return 0
    return int(held < tracks * base) if below_high else -int(held > 0)


class StackModel:
    """The levels of one stack while a client pushes and pops; levels start when first needed."""

    def __init__(self, base: int, levels: int) -> None:
        self.base, self.levels = base, levels
        self.blocks = [0] * (levels + 1)
        self.started = [0] + [-1] * levels
        self.ops = ["none"] * (levels + 1)
        self.tokens = 0

    def advance(self, want: int) -> bool:
        """Make one token, in which the client pushes (+1), pops (-1) or does neither; return whether it could."""
        top = self.blocks[0]
        done = (want < 0 and top >= 1) or (want > 0 and top < TRACKS) or want == 0
        changes = self._changes()
        for level, change in changes:
            unit = self.base if level > 1 else 1
            self.blocks[level] += change
            self.blocks[level - 1] -= change * unit
        self.blocks[0] += want if done else 0
        self.tokens += 1
        return done

    def _changes(self) -> list[tuple[int, int]]:
        """Return the blocks that each level at a boundary takes from the level below, by what held before."""
        changes = []
        for level in range(1, self.levels + 1):
            if not self._at_boundary(level):
                break
            change = self._change(level)
            self.ops[level] = ("none", "push", "pull")[change]
            changes.append((level, change))
        return changes

    def _at_boundary(self, level: int) -> bool:
        """Return whether the level below is at position 0."""
        start = self.started[level - 1]
        return start >= 0 and (self.tokens - start) % self.base ** (level - 1) == 0

    def _change(self, level: int) -> int:
        high = self.units(level - 1) >= HIGH
        if self.started[level] < 0 and high:
            self.started[level] = self.tokens
        start = self.started[level]
        block = (self.tokens - start) // self.base ** (level - 1) % self.base
        return blocks_up(self.base, self.blocks[level], block, high) if start >= 0 else 0

    def units(self, level: int) -> int:
        """Return the whole units that a level holds."""
        return self.blocks[level] // (self.base if level else 1)
