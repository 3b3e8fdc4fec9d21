"""The clock: where the heads of all levels are, the same for every stack (Claim (b)).

All half queues of a level have one length, so one left mark serves them all: it rides in the
input stack's queue `L`. T_i is two halves long, so a bit says which half its head is in.
"""

from __future__ import annotations

from dataclasses import dataclass

from tapeformer.circuit.build import Builder, Wire, bit_wire, negated
from tapeformer.circuit.record import Literal


@dataclass(frozen=True)
class LevelClock:
    """One level's clock in the present step.

    `mark`: a half queue is at its left end; `left_end`: T_i is; `half`: the bit before the mark
    toggles it; `half_after`: the bit that is carried on.
    """

    mark: Literal
    left_end: Literal
    half: Wire
    half_after: Wire


def level_clock(build: Builder, mark: Literal, half: Wire) -> LevelClock:
    """Return the clock of a level from its mark and its half bit."""
    after = bit_wire(parity(build, mark, half["1"], label="new half"))
    return LevelClock(mark, build.all_of(mark, half["1"], label="left end"), half, after)


def in_right(build: Builder, clock: LevelClock, swap: Literal) -> Literal:
    """Return whether T_i's head is on the physical queue `R`, given that the halves' roles are swapped."""
    return parity(build, clock.mark, clock.half["1"], swap, label="front is R")


def parity(build: Builder, *bits: Literal, label: str) -> Literal:
    """True where an odd number of the literals are, in one layer of ANDs."""
    odd = [signs for signs in _signs(len(bits)) if sum(signs) % 2]
    terms = [
        build.all_of(
            *(b if s else negated(b) for b, s in zip(bits, signs, strict=True)),
            label=f"{label}, bits {''.join('01'[s] for s in signs)}",
        )
        for signs in odd
    ]
    return build.one_of(*terms, label=label)


def _signs(count: int) -> list[tuple[bool, ...]]:
    found: list[tuple[bool, ...]] = [()]
    for _ in range(count):
        found = [(*signs, sign) for signs in found for sign in (False, True)]
    return found
