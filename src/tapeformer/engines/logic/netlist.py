"""The netlist of a model: all gates, the inputs, and the outputs that form the next token."""

from __future__ import annotations

from dataclasses import dataclass

from tapeformer.engines.logic.and_inverter_graph import Gate


@dataclass(frozen=True)
class FetchedBit:
    """An input bit that a head fetches: `source` is its literal at the attended position."""

    head: int
    source: int
    literal: int


@dataclass(frozen=True)
class Netlist:
    """A whole model as gates.

    `token` and `next_token` have a literal for each value of each factor. `guard` is 1 if a
    speculation failed (some neuron is neither 0 nor 1), and then no other output is valid.
    `margin` has the binary digits of the margin as far as it must be computed; `proven_margin` is
    what is known without running (None: nothing). `choices` has a literal for each column that a
    member of a family of models may choose: inputs that do not change during a run.
    """

    gates: tuple[Gate, ...]
    token: tuple[tuple[int, ...], ...]
    fetched: tuple[FetchedBit, ...]
    next_token: tuple[tuple[int, ...], ...]
    guard: int
    margin: tuple[int, ...]
    proven_margin: int | None
    choices: tuple[int, ...] = ()


FactorValue = tuple[int, int]
"""A factor of a token and one of its values, both as indices."""


@dataclass(frozen=True)
class TokenInputs:
    """The input gates of a netlist whose heads fetch only bits of tokens.

    `newest` has the factor and value of each bit of the newest token, `fetched` those of each bit
    that a head fetches, and `head` which head that is.
    """

    newest: dict[int, FactorValue]
    fetched: dict[int, FactorValue]
    head: dict[int, int]


def token_inputs(netlist: Netlist) -> TokenInputs:
    """Return the input gates of a netlist whose heads fetch only bits of tokens."""
    newest = {
        literal >> 1: (factor, value)
        for factor, literals in enumerate(netlist.token)
        for value, literal in enumerate(literals)
        if literal > 1
    }
    return TokenInputs(
        newest=newest,
        fetched={bit.literal >> 1: newest[bit.source >> 1] for bit in netlist.fetched},
        head={bit.literal >> 1: bit.head for bit in netlist.fetched},
    )
