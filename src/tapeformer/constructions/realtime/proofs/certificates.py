"""Exact worst cases of small stacks: tokens <= (b - 1) steps + (b - 2) b^(k'-1), by a potential.

`python -m tapeformer.constructions.realtime.proofs.certificates` prints them.

A client may push, pop or do neither in any order. The potential of a state is the most that tokens
less (b - 1) steps can still grow; value iteration from zero finds it, and where it stops changing
the inequality of every transition holds, so it is a certificate over all strategies of any length.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from tapeformer.constructions.realtime.names import HIGH, TRACKS

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

SMALL = ((4, 1), (6, 1), (8, 1), (10, 1), (4, 2), (6, 2), (8, 2))
LARGE = ((4, 3),)
WANTS = (-1, 0, 1)


@dataclass(frozen=True)
class Certificate:
    """For all strategies: the most tokens less `rate` times the steps, and the longest wait."""

    base: int
    levels: int
    stacks: int
    rate: int
    states: int
    excess: int
    longest_wait: int

    @property
    def claimed(self) -> int:
        """(b - 2) b^(k'-1)."""
        power: int = self.base ** (self.levels - 1)
        return (self.base - 2) * power


@dataclass(frozen=True)
class Stack:
    """One stack in every state: level 0's symbols, each level's blocks, the number of the token."""

    base: int
    top: Numbers
    blocks: tuple[Numbers, ...]
    time: Numbers

    def changes(self) -> Iterator[Numbers]:
        """Yield the blocks that go up to each level in this token."""
        units = self.top
        for level, blocks in enumerate(self.blocks, 1):
            block = self.base ** (level - 1)
            at_end = (self.time % block == 0) & (
                blocks % self.base == self.time // block % self.base
            )
            up = np.where(units >= HIGH, blocks < TRACKS * self.base, -(blocks > 0).astype(int))
            yield np.where(at_end, up, 0)
            units = blocks // self.base

    def ready(self, want: int) -> Flags:
        """Return where the client need not wait."""
        if want == 0:
            return np.ones_like(self.top, dtype=bool)
        return (self.top >= 1) if want < 0 else (self.top < TRACKS)

    def allowed(self, want: int) -> Flags:
        """Return where the client may ask: END is never popped, and a full stack is not pushed on."""
        sizes = [self.base**level for level in range(len(self.blocks) + 1)]
        held = self.top + sum(b * size for b, size in zip(self.blocks, sizes, strict=False))
        if want < 0:
            return np.asarray(held >= 2)
        return np.asarray(held < TRACKS * sum(sizes)) if want else np.ones_like(held, dtype=bool)

    def after(self, want: int, done: Flags) -> list[Numbers]:
        """Level 0 and the levels after this token."""
        ups = list(self.changes())
        moved = [self.top - ups[0] + want * done]
        for number, blocks in enumerate(self.blocks):
            taken = ups[number + 1] * self.base if number + 1 < len(ups) else 0
            moved.append(blocks + ups[number] - taken)
        return moved


@dataclass(frozen=True)
class Arena:
    """All states of one or two stacks with one clock, numbered, and where each wish leads."""

    first: Numbers
    following: dict[tuple[int, ...], Numbers]
    done: dict[tuple[int, ...], Flags]
    allowed: dict[tuple[int, ...], Flags]


def arena(base: int, levels: int, stacks: int = 1) -> Arena:
    """Tabulate every transition; at first each stack holds END alone, at any time of the turn."""
    turn = base**levels
    sizes = [TRACKS + 1, *[TRACKS * base + 1] * levels] * stacks + [turn]
    *held, time = np.unravel_index(np.arange(np.prod(sizes)), sizes)
    width = levels + 1
    parts = [held[width * number : width * (number + 1)] for number in range(stacks)]
    every = [Stack(base, part[0], tuple(part[1:]), time) for part in parts]
    following, done, allowed = {}, {}, {}
    for wants in product(WANTS, repeat=stacks):
        pairs = list(zip(every, wants, strict=True))
        done[wants] = np.logical_and.reduce([stack.ready(want) for stack, want in pairs])
        allowed[wants] = np.logical_and.reduce([stack.allowed(want) for stack, want in pairs])
        after = [n for stack, want in pairs for n in stack.after(want, done[wants])]
        clipped = [np.clip(n, 0, size - 1) for n, size in zip(after, sizes, strict=False)]
        following[wants] = np.ravel_multi_index([*clipped, (time + 1) % turn], sizes)
    end = [np.full(turn, n) for n in [1, *[0] * levels] * stacks]
    first = np.ravel_multi_index([*end, np.arange(turn)], sizes)
    return Arena(first, following, done, allowed)


def reachable(game: Arena) -> tuple[Flags, dict[tuple[int, ...], Flags]]:
    """Return the states in which a client is free to ask, and for each wish those in which it waits."""
    count = len(next(iter(game.done.values())))
    free, waiting = np.zeros(count, bool), {w: np.zeros(count, bool) for w in game.done}
    fresh_free = np.zeros(count, bool)
    fresh_free[game.first] = True
    fresh = {w: np.zeros(count, bool) for w in waiting}
    while fresh_free.any() or any(flags.any() for flags in fresh.values()):
        free |= fresh_free
        met = np.zeros(count, bool)
        for wants, flags in waiting.items():
            flags |= fresh[wants]
            source = np.flatnonzero((fresh_free & game.allowed[wants]) | fresh[wants])
            target, done = game.following[wants][source], game.done[wants][source]
            met[target[done]] = True
            late = np.zeros(count, bool)
            late[target[~done]] = True
            fresh[wants] = late & ~flags
        fresh_free = met & ~free
    return free, waiting


def certified(base: int, levels: int, stacks: int = 1, rate: int | None = None) -> Certificate:
    """Iterate the potential to its fixed point; `rate` is b - 1 unless given.

    At a smaller rate there may be none: iteration stops where the claimed excess is passed far.
    """
    rate = base - 1 if rate is None else rate
    game = arena(base, levels, stacks)
    free, waiting = reachable(game)
    sources = {w: np.flatnonzero((free & game.allowed[w]) | waiting[w]) for w in waiting}
    value, late = np.zeros(len(free), np.int32), {w: np.zeros(len(free), np.int32) for w in waiting}
    changed, most = True, 20 * base**levels
    while changed and value.max() < most:
        changed = False
        best = value.copy()
        for wants, source in sources.items():
            target, done = game.following[wants][source], game.done[wants][source]
            ahead = np.where(done, value[target] - rate, late[wants][target])
            worth = np.maximum(1 + ahead, late[wants][source])
            changed |= bool((worth > late[wants][source]).any())
            late[wants][source] = worth
            best[source] = np.maximum(best[source], np.where(free[source], worth, 0))
        changed |= bool((best > value).any())
        value = best
    longest = max(_longest_wait(game, free, wants) for wants in waiting)
    excess = int(value[free].max())
    return Certificate(base, levels, stacks, rate, int(free.sum()), excess, longest)


def _longest_wait(game: Arena, free: Flags, wants: tuple[int, ...]) -> int:
    states, waited = np.flatnonzero(free & game.allowed[wants]), 0
    while len(states := np.unique(game.following[wants][states][~game.done[wants][states]])):
        waited += 1
    return waited


def main(arguments: list[str] | None = None) -> int:
    """Print a certificate for each size; 1 if an excess is not exactly what is claimed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="also base 4 with 3 levels (minutes)")
    asked = parser.parse_args(arguments)
    sizes = [(base, levels, 1) for base, levels in SMALL + (LARGE if asked.long else ())]
    found = [certified(*size) for size in [*sizes, (4, 1, 2)]]
    for each in found:
        print(_told(each))
    smaller = certified(4, 2, rate=2)
    print(
        f"base 4, k' = 2: a client makes tokens exceed 2 steps by {smaller.excess}: b - 2 is refuted"
    )
    exact = all(each.excess == each.claimed for each in found)
    return int(not exact or smaller.excess <= smaller.claimed)


def _told(found: Certificate) -> str:
    size = f"base {found.base}, k' = {found.levels}, {found.stacks} stack(s)"
    counted = f"{found.states:,} states where the client is free"
    bound = f"tokens <= {found.rate} steps + {found.excess}, attained"
    return (
        f"{size}: {counted}; {bound} (claimed {found.claimed}); longest wait {found.longest_wait}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
