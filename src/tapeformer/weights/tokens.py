"""Tokens as people write them, and how a prompt becomes tokens: plain data, kept in a bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tapeformer.dataclass import dataclass
from tapeformer.faults import Fault, TapeformerError, quoted
from tapeformer.reprs import ShortRepr
from tapeformer.weights.record import Factor, Token


@dataclass(frozen=True, repr=False)
class Prompt(ShortRepr):
    """How a word becomes the prompt: `start` (where not empty), then a token for each symbol.

    Each goes to the factors `receivers`; the other factors have the value that `fill` gives, and
    the factor `parity` has i mod 2 in the i-th token, counted from 1.
    """

    receivers: tuple[str, ...]
    start: str
    symbols: Mapping[str, str]
    fill: Mapping[str, str]
    parity: str


def prompt_tokens(
    prompt: Prompt, factors: Sequence[Factor], word: Sequence[str]
) -> tuple[Token, ...]:
    """Return the tokens of a prompt."""
    unknown = [symbol for symbol in dict.fromkeys(word) if symbol not in prompt.symbols]
    if unknown:
        raise TapeformerError(
            Fault(
                "the input has symbols that the prompt cannot hold",
                expected="one of " + ", ".join(quoted(symbol) for symbol in prompt.symbols),
                got=", ".join(quoted(symbol) for symbol in unknown[:5]),
            )
        )
    received = [prompt.start] if prompt.start else []
    received += [prompt.symbols[symbol] for symbol in word]
    places = [(value, place % 2) for place, value in enumerate(received, start=1)]
    tokens = {place: prompt_token(prompt, factors, *place) for place in dict.fromkeys(places)}
    return tuple(tokens[place] for place in places)


def prompt_token(prompt: Prompt, factors: Sequence[Factor], value: str, parity: int) -> Token:
    """Return the token of a prompt whose receivers have a value, at an even or an odd place."""
    received = dict.fromkeys(prompt.receivers, value)
    return token_of(factors, {**prompt.fill, **received, prompt.parity: str(parity)})


def token_of(factors: Sequence[Factor], values: Mapping[str, str]) -> Token:
    """Return the token with the given value of each factor."""
    faults = [
        Fault(
            f"factor {quoted(factor.name)} of a token has no such value",
            expected="one of " + ", ".join(quoted(value) for value in factor.values[:12]),
            got=quoted(values.get(factor.name, "")),
        )
        for factor in factors
        if values.get(factor.name) not in factor.values
    ]
    if faults:
        raise TapeformerError(faults)
    return tuple(factor.values.index(values[factor.name]) for factor in factors)


def named(factors: Sequence[Factor], token: Token) -> dict[str, str]:
    """Return the value of each factor by name."""
    return {factor.name: factor.values[index] for factor, index in zip(factors, token, strict=True)}
