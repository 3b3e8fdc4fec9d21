"""Queue machines written by hand, as Transformers: factored, and to the letter of Appendix B."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tapeformer.engines.registry import make_engine
from tapeformer.lowering.queues_to_circuit import token_ports
from tapeformer.lowering.queues_to_literal import SEPARATOR, flat_token, literal_transformer
from tapeformer.lowering.queues_to_weights import transformer
from tapeformer.queues.record import Token
from tapeformer.queues.table import Table
from tapeformer.weights.positions import offsets_for
from tapeformer.weights.tokens import token_of


def factored_tokens(table: Table, prompt: Sequence[Token], count: int, engine: str) -> list[Token]:
    """The tokens that the factored model generates after a prompt."""
    weights = transformer(table.machine)
    stream = make_engine(engine, weights, offsets_for(weights, table.layout.lengths))
    names = [factor.name for factor in weights.factors]
    stream.prompt([token_of(weights.factors, dict(zip(names, t, strict=True))) for t in prompt])
    return [
        tuple(f.values[index] for f, index in zip(weights.factors, row, strict=True))
        for row in stream.advance(count).tolist()
    ]


def literal_tokens(
    table: Table, prompt: Sequence[Token], count: int, engine: str, most: int
) -> list[Token] | None:
    """The same with Appendix B's flat vocabulary; none where that has more than `most` tokens."""
    ports = token_ports(table.machine)
    if prod(len(port.values) for port in ports) > most:
        return None
    weights = literal_transformer(table.machine)
    stream = make_engine(engine, weights, offsets_for(weights, table.layout.lengths))
    numbers = [
        tuple(port.values.index(value) for port, value in zip(ports, token, strict=True))
        for token in prompt
    ]
    stream.prompt([flat_token(table.machine, token) for token in numbers])
    names = weights.factors[0].values
    return [tuple(names[row[0]].split(SEPARATOR)) for row in stream.advance(count).tolist()]
