"""Subset sharing: an AND gate reads another AND gate instead of all of that gate's operands."""

from __future__ import annotations

from collections import Counter

from tapeformer.engines.logic.and_inverter_graph import Gate, GateKind
from tapeformer.engines.logic.netlist import Netlist
from tapeformer.engines.logic.rewriting import Rewriting

MAX_READERS = 400
"""Operands read by more gates than this say little about what those have in common."""


class SubsetSharing(Rewriting):
    """Rewrites AND gates whose operands contain all of another gate's."""

    def __init__(self, netlist: Netlist) -> None:
        super().__init__(netlist)
        gates = [index for index in self.cone if netlist.gates[index].kind is GateKind.AND]
        self.sets = {index: frozenset(netlist.gates[index].literals) for index in gates}
        self.readers: dict[int, list[int]] = {}
        for index, literals in self.sets.items():
            for literal in literals:
                self.readers.setdefault(literal, []).append(index)

    def conjunction(self, gate: Gate) -> int:
        """Return the AND of other gates and of the operands that none of them covers."""
        left, found = set(gate.literals), []
        if len(left) > 2:
            for subset in self._subsets(frozenset(left)):
                if self.sets[subset] <= left:
                    left -= self.sets[subset]
                    found.append(self._literal(subset))
        return self.graph.conjunction([*map(self.new, left), *found])

    def _subsets(self, literals: frozenset[int]) -> list[int]:
        """Return the gates whose operands are all among these, those with most operands first."""
        readers = (self.readers[literal] for literal in literals)
        times = Counter(x for found in readers if len(found) <= MAX_READERS for x in found)
        subsets = [x for x, count in times.items() if count == len(self.sets[x]) < len(literals)]
        return sorted(subsets, key=lambda x: (-len(self.sets[x]), x))

    def _literal(self, index: int) -> int:
        """Return another gate's new literal, rewriting the gate now if that is still to come."""
        if index not in self.literals:
            self.literals[index] = self.conjunction(self.netlist.gates[index])
        return self.literals[index]
