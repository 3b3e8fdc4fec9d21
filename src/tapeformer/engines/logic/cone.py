"""The fan-in cone of a netlist's outputs: the gates that they depend on."""

from __future__ import annotations

from collections.abc import Iterable

from tapeformer.engines.logic.netlist import Netlist


def fan_in_cone(netlist: Netlist, first: Iterable[int] = ()) -> list[int]:
    """Return the gates that the outputs depend on, operands first, each near its first use.

    The cones of the factors in `first` come before all others. On the stack of pending gates, the
    complement of a gate's number says that everything it depends on has been added.
    """
    factors = dict.fromkeys([*first, *range(len(netlist.next_token))])
    next_token = (literal for factor in factors for literal in netlist.next_token[factor])
    roots = [*next_token, netlist.guard, *netlist.margin]
    sources = {bit.literal >> 1: bit.source >> 1 for bit in netlist.fetched}
    order: list[int] = []
    visited: set[int] = set()
    pending = [literal >> 1 for literal in reversed(roots)]
    while pending:
        gate = pending.pop()
        if gate < 0:
            order.append(~gate)
        elif gate not in visited:
            visited.add(gate)
            pending.append(~gate)
            if gate in sources:
                pending.append(sources[gate])
            pending += [literal >> 1 for literal in reversed(netlist.gates[gate].literals)]
    return order
