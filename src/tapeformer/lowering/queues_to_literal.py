"""Step II to the letter: Appendix B's flat vocabulary, embedding, Q, K, V, W = I, one-hot output.

Keys are zero, the query of head r is e_r, values copy block r's symbol and parity into its slots.
The last network cancels the stream and writes the one-hot vector of the next token, which W_out,
the identity, passes on. `literal_blocks.py` says where everything lies.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from tapeformer.faults import Fault, TapeformerError
from tapeformer.lowering.literal_blocks import Blocks, bits_of
from tapeformer.lowering.literal_network import literal_network
from tapeformer.lowering.queues_to_circuit import token_ports
from tapeformer.lowering.queues_to_heads import head_plans, layered
from tapeformer.lowering.queues_to_weights import check_names
from tapeformer.queues.record import QueueMachine
from tapeformer.weights.matrices import integers, matrix, zeros
from tapeformer.weights.record import (
    Affine,
    Factor,
    Head,
    Layer,
    Matrix,
    Token,
    TransformerWeights,
)

MOST_TOKENS = 20_000
SEPARATOR = " "


def literal_transformer(
    machine: QueueMachine, layers: int = 1, tokens: tuple[tuple[str, ...], ...] = ()
) -> TransformerWeights:
    """Return the paper's own weights for a small queue machine; a token is one number.

    The vocabulary has all combinations of symbols and registers, or only the `tokens` given.
    """
    check_names(machine)
    size = prod(len(port.values) for port in token_ports(machine))
    _check_vocabulary(len(tokens) or size)
    blocks = Blocks(machine, layers, tokens)
    split = layered(head_plans(machine, "queue"), layers)
    networks = [()] * (layers - 1) + [literal_network(blocks)]
    names = tuple(SEPARATOR.join(token) for token in blocks.vocabulary)
    return TransformerWeights(
        factors=(Factor("token", names),),
        fields=blocks.fields,
        embeddings=(_embedding(blocks),),
        layers=tuple(
            _layer(blocks, group, network) for group, network in zip(split, networks, strict=True)
        ),
        outputs=(_output(blocks, names),),
        position_rules=tuple(queue.length_rule for queue in machine.queues),
        key_width=blocks.part,
        value_width=blocks.part,
    )


def flat_token(machine: QueueMachine, token: Token) -> Token:
    """Return the literal model's token for one of the factored model."""
    index = 0
    for port, value in zip(token_ports(machine), token, strict=True):
        index = index * len(port.values) + value
    return (index,)


def _check_vocabulary(size: int) -> None:
    if size > MOST_TOKENS:
        raise TapeformerError(
            Fault(
                "the flat vocabulary of the literal construction is too large",
                expected=f"at most {MOST_TOKENS} tokens",
                got=str(size),
                remedy="use the factored construction",
            )
        )


def _embedding(blocks: Blocks) -> Matrix:
    """Return the embedding of Equation (emb): one row for each token of the vocabulary."""
    ports = token_ports(blocks.machine)
    entries: dict[tuple[int, int], int] = {}
    for row, values in enumerate(blocks.vocabulary):
        token = [port.values.index(value) for port, value in zip(ports, values, strict=True)]
        for r in range(len(blocks.machine.queues)):
            entries[row, blocks.start(r)] = 1
            entries[row, blocks.symbol(r, token[r])] = 1
            entries[row, blocks.parity(r)] = token[-1]
            for bit, on in enumerate(_state_bits(blocks.machine, token)):
                entries[row, blocks.state(r, bit)] = on
    return matrix((len(blocks.vocabulary), blocks.d), entries)


def _state_bits(machine: QueueMachine, token: list[int]) -> Iterator[int]:
    """Yield the registers' values in binary, one register after another, lowest bit first."""
    for register, value in zip(machine.registers, token[len(machine.queues) :], strict=False):
        yield from (value >> bit & 1 for bit in range(bits_of(register)))


def _layer(blocks: Blocks, group: tuple[int, ...], network: tuple[Affine, ...]) -> Layer:
    return Layer(
        heads=tuple(_head(blocks, r) for r in group),
        mix=matrix((blocks.d, blocks.d), {(place, place): 1 for place in range(blocks.d)}),
        mix_bias=integers([0] * blocks.d),
        feed_forward=network,
    )


def _head(blocks: Blocks, r: int) -> Head:
    """Q has one entry, K none, V one for each symbol and one for the parity."""
    offset = blocks.inside(r) - blocks.start(r)
    value = {
        (blocks.slot(r, number) + offset, blocks.symbol(r, number)): 1
        for number in range(blocks.symbols)
    }
    value[blocks.parity_slot(r) + offset, blocks.parity(r)] = 1
    return Head(
        name=blocks.machine.queues[r].name,
        position=r,
        query=matrix((blocks.part, blocks.d), {(r, blocks.start(r)): 1}),
        key=zeros(blocks.part, blocks.d),
        value=matrix((blocks.part, blocks.d), value),
    )


def _output(blocks: Blocks, names: tuple[str, ...]) -> Affine:
    """Return the identity; coordinates beyond the vocabulary are not read."""
    size = len(names)
    identity = matrix((size, blocks.d), {(row, row): 1 for row in range(size)})
    return Affine(identity, integers([0] * size), names)
