"""Sum decomposition: a neuron's input as a sum of sums that other neurons carry.

What a network carries along, such as the bits of a field that other fields depend on too, is a sum of
many bits, and a neuron that reads several of them has the sum of all as its input: bits that occur in
more than one have larger coefficients there. Found again, each sum is a single bit, and the neuron an
AND of these.
"""

from __future__ import annotations

from collections.abc import Iterable

from tapeformer.engines.logic.affine_forms import AffineForm

MAX_PARTS = 8
"""Sums that a neuron may read."""

MAX_TRIES = 200
"""Choices of a sum that are tried for one neuron."""


class SumDecomposition:
    """Finds sums, of those that are known, that add up to a form."""

    def __init__(self, sums: Iterable[AffineForm]) -> None:
        self.known: dict[int, list[AffineForm]] = {}
        for one in dict.fromkeys(sums):
            for node, _ in one.terms:
                self.known.setdefault(node, []).append(one)
        self._tries = 0

    def parts(self, form: AffineForm) -> tuple[AffineForm, ...] | None:
        """Return sums that add up to a form but for its constant, if there are some."""
        self._tries = MAX_TRIES
        return self._parts(dict(form.terms), MAX_PARTS)

    def _parts(self, left: dict[int, int], most: int) -> tuple[AffineForm, ...] | None:
        """Return at most so many sums that add up to what is left: rare nodes are looked at first."""
        if not left:
            return ()
        rarest = min(left, key=lambda node: (len(self.known.get(node, ())), node))
        for one in self.known.get(rarest, ()) if most else ():
            if self._tries and all(_holds(left, *term) for term in one.terms):
                self._tries -= 1
                rest = self._parts(_without(left, one), most - 1)
                if rest is not None:
                    return (one, *rest)
        return None


def _holds(left: dict[int, int], node: int, coefficient: int) -> bool:
    """Check whether a term can be taken out without changing its sign."""
    have = left.get(node, 0)
    return 0 < coefficient <= have or have <= coefficient < 0


def _without(left: dict[int, int], one: AffineForm) -> dict[int, int]:
    rest = dict(left)
    for node, coefficient in one.terms:
        rest[node] -= coefficient
        if not rest[node]:
            del rest[node]
    return rest
