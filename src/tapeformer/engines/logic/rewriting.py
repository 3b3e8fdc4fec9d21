"""Rewriting a netlist: what all passes that reduce gates share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tapeformer.engines.logic.and_inverter_graph import (
    FALSE,
    AndInverterGraph,
    Gate,
    GateKind,
)
from tapeformer.engines.logic.cone import fan_in_cone
from tapeformer.engines.logic.netlist import FetchedBit, Netlist

OneHot = frozenset[int]
"""Input literals of which exactly one is 1."""


class Rewriting:
    """Rebuilds a netlist gate by gate; a pass overrides what becomes of an AND gate.

    Inputs keep their order. `one_hot` has the group of each input literal that is in one, `cone`
    the gates that outputs depend on, operands first.
    """

    def __init__(self, netlist: Netlist) -> None:
        self.netlist, self.graph, self.cone = netlist, AndInverterGraph(), fan_in_cone(netlist)
        self.literals = {
            index: self.graph.input()
            for index, gate in enumerate(netlist.gates)
            if gate.kind is GateKind.INPUT
        }
        self.literals[0] = FALSE
        self.one_hot = {
            literal: group
            for group in (frozenset(map(self.new, bits)) for bits in one_hot_inputs(netlist))
            for literal in group
        }

    def new(self, literal: int) -> int:
        """Return the new literal for an old one."""
        return self.literals[literal >> 1] ^ (literal & 1)

    def rewritten(self) -> Netlist:
        """Rewrite all gates that outputs depend on."""
        for index in self.cone:
            gate = self.netlist.gates[index]
            if gate.kind is GateKind.AND:
                self.literals[index] = self.conjunction(gate)
            elif gate.kind is GateKind.XOR:
                self.literals[index] = self.graph.xor(*map(self.new, gate.literals))
        return self._netlist()

    def conjunction(self, gate: Gate) -> int:
        """Return the new literal of an AND gate whose operands have been rewritten."""
        return self.graph.conjunction(map(self.new, gate.literals))

    def operands(self, literal: int) -> tuple[int, ...]:
        """Return the operands of a new AND gate; none if the literal is something else."""
        gate = self.graph.gates[literal >> 1]
        return gate.literals if gate.kind is GateKind.AND else ()

    def _netlist(self) -> Netlist:
        old = self.netlist
        fetched = [bit for bit in old.fetched if bit.source >> 1 in self.literals]
        return replace(
            old,
            gates=tuple(self.graph.gates),
            token=tuple(map(self._all_new, old.token)),
            fetched=tuple(
                FetchedBit(bit.head, self.new(bit.source), self.new(bit.literal)) for bit in fetched
            ),
            next_token=tuple(map(self._all_new, old.next_token)),
            guard=self.new(old.guard),
            margin=self._all_new(old.margin),
            choices=self._all_new(old.choices),
        )

    def _all_new(self, literals: Iterable[int]) -> tuple[int, ...]:
        return tuple(map(self.new, literals))


def one_hot_inputs(netlist: Netlist) -> list[list[int]]:
    """Return the groups of input literals of which exactly one is 1.

    The values of a factor are such a group, in the newest token and if a head fetches all of them.
    """
    groups = [[literal for literal in factor if literal > 1] for factor in netlist.token]
    factor_of = {literal: number for number, group in enumerate(groups) for literal in group}
    fetched: dict[tuple[int, int], list[int]] = {}
    for bit in netlist.fetched:
        if bit.source in factor_of:
            fetched.setdefault((bit.head, factor_of[bit.source]), []).append(bit.literal)
    whole = [bits for (_, factor), bits in fetched.items() if len(bits) == len(groups[factor])]
    return [*groups, *whole]
