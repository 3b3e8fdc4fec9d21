"""From weights to gates: all the steps, on one page."""

from __future__ import annotations

from tapeformer.engines.logic.affine_forms import affine_map
from tapeformer.engines.logic.argmax import ArgmaxSynthesis
from tapeformer.engines.logic.netlist import Netlist
from tapeformer.engines.logic.simplification import simplified
from tapeformer.engines.logic.symbolic_position import SymbolicPosition
from tapeformer.weights.family import WeightFamily, family_of_one
from tapeformer.weights.record import TransformerWeights


def netlist_of(weights: TransformerWeights) -> Netlist:
    """Return the gates that compute a model's next token; raise NotLogicError if it has none."""
    return family_netlist(family_of_one(weights))


def family_netlist(family: WeightFamily) -> Netlist:
    """Return the gates that compute the next token of every member of a family, given its choice."""
    return simplified(synthesised(family))


def synthesised(family: WeightFamily) -> Netlist:
    """Return the gates as they follow from the weights, neuron by neuron."""
    position = SymbolicPosition(family)
    stream = position.residual_stream()
    argmax = ArgmaxSynthesis(position.synthesis)
    next_token = tuple(
        argmax.argmax(affine_map(output.matrix, output.bias, stream))
        for output in family.weights.outputs
    )
    graph = position.synthesis.graph
    guard = graph.disjunction(position.synthesis.guards)
    margin = tuple(argmax.margin())
    return Netlist(
        gates=tuple(graph.gates),
        token=tuple(position.literals(forms) for forms in position.token),
        fetched=tuple(position.fetched),
        next_token=next_token,
        guard=guard,
        margin=margin,
        proven_margin=argmax.proven_margin,
        choices=tuple(bit for forms in position.choices for bit in position.literals(forms)),
    )
