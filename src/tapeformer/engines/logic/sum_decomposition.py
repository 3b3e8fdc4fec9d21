"""Sum decomposition: a neuron's input as a sum of sums that other neurons carry.

What a network carries along, such as the bits of a field that other fields depend on too, is a sum
of many bits. A neuron that reads several such sums has their total as its input, in which bits that
occur in more than one sum have larger coefficients. Once the sums are recovered, each is a single
bit, and the neuron is an AND of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from tapeformer.engines.logic.affine_forms import AffineForm

MAX_PARTS = 8
"""How many sums a neuron may read."""

MAX_TRIES = 200
"""How many choices of a sum to try for one neuron."""


class SumDecomposition:
    """Finds known sums that add up to a form."""

    def __init__(self, sums: Iterable[AffineForm]) -> None:
        self.known: dict[int, list[AffineForm]] = {}
        for one in dict.fromkeys(sums):
            for node, _ in one.terms:
                self.known.setdefault(node, []).append(one)
        self._tries = 0

    def parts(self, form: AffineForm) -> tuple[AffineForm, ...] | None:
        """Return sums that add up to a form except for its constant, if there are any."""
        self._tries = MAX_TRIES
        return self._parts(dict(form.terms), MAX_PARTS)

    def _parts(self, left: dict[int, int], most: int) -> tuple[AffineForm, ...] | None:
        """Return at most `most` sums that add up to what is left, trying rare nodes first."""
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
    """Check whether a term can be subtracted without overshooting zero."""
    have = left.get(node, 0)
    return 0 < coefficient <= have or have <= coefficient < 0


def _without(left: dict[int, int], one: AffineForm) -> dict[int, int]:
    rest = dict(left)
    for node, coefficient in one.terms:
        rest[node] -= coefficient
        if not rest[node]:
            del rest[node]
    return rest
