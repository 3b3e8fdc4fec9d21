"""Simplification: a netlist with fewer gates and operands that computes the same.

Each pass looks only at a gate and its operands, so parts of a model that are alike stay alike.
"""

from __future__ import annotations

from tapeformer.engines.logic.absorption import Absorption
from tapeformer.engines.logic.netlist import Netlist
from tapeformer.engines.logic.rewriting import Rewriting
from tapeformer.engines.logic.subset_sharing import SubsetSharing
from tapeformer.engines.logic.term_merging import TermMerging

PASSES: tuple[type[Rewriting], ...] = (Absorption, TermMerging, SubsetSharing)


def simplified(netlist: Netlist) -> Netlist:
    """Return a smaller netlist with the same inputs and outputs."""
    for rewriting in PASSES:
        netlist = rewriting(netlist).rewritten()
    return netlist
