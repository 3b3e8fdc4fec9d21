"""Optimisation of programs: fewer operations, then an order that keeps few values alive."""

from __future__ import annotations

from tapeformer.engines.logic.common_pairs import with_common_pairs
from tapeformer.engines.logic.gate_order import with_short_lifetimes
from tapeformer.engines.logic.program import Program


def optimised(program: Program) -> Program:
    """Return a program that computes the same, for a back end to compile."""
    return with_short_lifetimes(with_common_pairs(program))
