"""How far our layouts are from the lower bound for heads with fixed offsets.

`python -m tapeformer.bench.lower_bound` prints the table; docs/theory.md has statement and proof.

A Transformer of L layers whose heads look back o_1 < ... < o_K, with tokens of B bits, serves a stack
of bits online. After d_r = B (L o_r + 1) + 1 pushes of bits that nobody knows, the same number of
pops takes until a head with a larger offset reaches the pushes: 2 d_r operations take o_(r+1)
tokens or more. B counts what a token can tell about the stack, here the cells of its columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from tapeformer.bench.report import Row, markdown
from tapeformer.constructions.realtime.layout import capacity
from tapeformer.constructions.realtime.layout import layout as realtime_layout
from tapeformer.constructions.realtime.names import TRACKS
from tapeformer.constructions.realtime.proofs.search import Workload, measured
from tapeformer.gallery import gallery_machine

SPACES = (1_000, 10_000, 100_000)
LEVELS = range(2, 7)
DRAINED = 3_000
"""Operations over which a layout's overhead is measured."""


def bound(offsets: Sequence[int], bits: float, layers: int = 1, space: float = inf) -> float:
    """Return the tokens per operation that heads with these offsets cannot do without.

    Only depths d_r that a stack of `space` bits may have are taken.
    """
    lags = pairwise(sorted({0, *offsets}))
    depths = [(bits * (layers * near + 1) + 1, further) for near, further in lags]
    return max((further / (2 * depth) for depth, further in depths if depth <= space), default=0.0)


def bound_for_any(heads: int, space: int, bits: float, layers: int = 1) -> float:
    """Return the bound for the best choice of offsets: all ratios equal, by bisection.

    The largest offset must reach over the stack: B (L o_K + 1) >= s.
    """
    least = (space / bits - 1) / layers
    low, high = 0.0, float(space)
    for _ in range(200):
        middle = (low + high) / 2
        if _reach(middle, heads, bits, layers) < least:
            low = middle
        else:
            high = middle
    return high


def _reach(rate: float, heads: int, bits: float, layers: int) -> float:
    """Return the largest offset that costs no more than `rate` tokens per operation anywhere."""
    lag = 0.0
    for _ in range(heads):
        lag = rate * 2 * (bits * (layers * lag + 1) + 1)
    return lag


@dataclass(frozen=True)
class Entry:
    """A layout of the real-time construction, sized for a space."""

    space: int
    levels: int
    base: int

    @property
    def heads(self) -> int:
        """One for each offset above 0."""
        return len(self.offsets)

    @property
    def offsets(self) -> tuple[int, ...]:
        """What its heads look back."""
        layout = realtime_layout(gallery_machine("palindrome"), self.levels, self.base, None)
        return tuple(sorted({length - 1 for length in layout.lengths.values()} - {0}))

    @property
    def bits(self) -> int:
        """The symbols of one stack that a token holds: level 0, and two columns of each level."""
        return TRACKS * (1 + 2 * self.levels)


def entries() -> Iterator[Entry]:
    """Yield every number of levels with the least base, and base 2 with the levels it needs."""
    for space in SPACES:
        for levels in LEVELS:
            base = next(b for b in range(4, space, 2) if capacity(levels, b) >= space)
            yield Entry(space, levels, base)
        yield Entry(space, next(k for k in range(2, 60) if capacity(k, 2) >= space), 2)


def row(entry: Entry) -> Row:
    """Measure a layout on the bound's own workload, pushes and then pops, and on popping alone."""
    filled = min(entry.space // 2, DRAINED)
    both = measured(entry.base, entry.levels, Workload(0, (filled, -filled)))
    pops = measured(entry.base, entry.levels, Workload(filled, (-filled,)))
    return {
        "s": entry.space,
        "levels": entry.levels,
        "base": entry.base,
        "heads K": entry.heads,
        "B (symbols)": entry.bits,
        "pushes and pops": both.average,
        "pops": pops.average,
        "bound, these offsets": bound(entry.offsets, entry.bits, space=entry.space),
        "bound, any K offsets": bound_for_any(entry.heads, entry.space, entry.bits),
    }


def main() -> int:
    """Print the table; 1 if a layout does better than the bound allows."""
    rows = [row(entry) for entry in entries()]
    print(markdown(rows))
    best = {s: min((r for r in rows if r["s"] == s), key=_overhead) for s in SPACES}
    for space, found in best.items():
        print(
            f"s = {space:,}: best {_overhead(found):.3f} tokens an operation, K = {found['heads K']}"
        )
    allowed = all(_overhead(r) >= r["bound, these offsets"] for r in rows)
    ordered = all(r["bound, these offsets"] >= 0.99 * r["bound, any K offsets"] for r in rows)
    return int(not (allowed and ordered))


def _overhead(found: Row) -> float:
    overhead: float = found["pushes and pops"]
    return overhead


if __name__ == "__main__":
    raise SystemExit(main())
