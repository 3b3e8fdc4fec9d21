"""A model on one word: is every token right in an arithmetic, where is the first wrong one, and why.

A causal, deterministic model generates a stream if and only if it predicts every next token of it,
and the first wrong place is the same. So streams are compared all at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from time import perf_counter
from typing import Protocol

import numpy as np

from tapeformer.laboratory.arithmetic import MOST_BITS, Arithmetic, Exact, Ieee, Rounded
from tapeformer.laboratory.coordinates import Map, Network
from tapeformer.laboratory.preparation import StepMade
from tapeformer.laboratory.transformer import Run, Token, Transformer

CHUNK = 128
"""Tokens that are predicted together, or half as many as before; a run that goes wrong ends there."""


@dataclass(frozen=True)
class Wrong:
    """The first wrong token: the machine's own step that it belongs to, its place, and why."""

    step: int
    place: int
    reason: str


@dataclass(frozen=True)
class Shape:
    """The size of a model: `parameters` counts matrix entries, zeros too; `ff_depth` is the largest
    number of activations in a feed-forward network."""

    dimension: int
    heads: tuple[int, ...]
    parameters: int
    nonzero_parameters: int
    parameter_bits: int
    ff_depth: int

    @property
    def attention_heads(self) -> int:
        """Heads over all layers."""
        return sum(self.heads)


@dataclass(frozen=True)
class Lengths:
    """What a run took: generated tokens, the longest context, how far back heads retrieved."""

    tokens: int
    context: int
    window: int


@dataclass(frozen=True)
class Context:
    """Tokens of which those from `prompt` on are generated, each for one of the machine's steps."""

    tokens: tuple[Token, ...]
    prompt: int
    steps: tuple[int, ...]


@dataclass(frozen=True)
class Generated:
    """Tokens that a model made by itself: how many came before them, how far heads looked back,
    and the smallest margin between the best and the second value of a factor."""

    tokens: tuple[Token, ...]
    prompt: int
    window: int
    margin: float


Goes = Callable[[Sequence[Token]], bool]
"""Told the tokens so far after each of them; returns False to end the run."""


class Experiment(Protocol):
    """A row's model on one word, with the stream of tokens that it must generate."""

    def first_wrong(self, numbers: Arithmetic) -> Wrong | None:
        """Return the first wrong token in an arithmetic."""

    def reference(self) -> Arithmetic:
        """Return the arithmetic that stands for exact."""

    @property
    def exact_from(self) -> int | None:
        """The mantissa from which on nothing is ever rounded, where the model's weights say it."""

    def shape(self) -> Shape:
        """Return the size of the model."""

    def lengths(self) -> Lengths:
        """Return what the last run, which was right, took."""

    def seconds_per_token(self) -> float:
        """Return the time of one token in double precision, with keys and values kept."""

    def generate(self, numbers: Arithmetic, goes: Goes) -> Generated:
        """Generate tokens one by one, the model alone deciding, as many as the right stream has."""

    def read(self, tokens: Sequence[Token]) -> list[StepMade]:
        """Read generated tokens as steps of the prepared machine."""

    def boot(self) -> int:
        """Return how many tokens come before those of the machine's first step."""


def shape_of(model: Transformer) -> Shape:
    """Return the size of a Transformer; its embedding has a column for each value of a factor."""
    heads = tuple(len(layer.heads) for layer in model.layers if layer.heads)
    vocabulary = sum(len(factor.values) for factor in model.factors)
    networks = [network for layer in model.layers for network in layer.networks]
    return sized(model.fields.size, heads, model.maps(), networks, vocabulary * model.fields.size)


def sized(
    dimension: int,
    heads: tuple[int, ...],
    maps: Sequence[Map],
    networks: Sequence[Network],
    more: int = 0,
) -> Shape:
    """Return a shape from all maps and `more` entries; the bit-size is the widest's bits times all."""
    values = [value for one in maps for value in one.parameters()]
    widest = max((_bits(value) for value in values), default=1)
    entries = more + sum(one.entries for one in maps)
    depths = [sum(not isinstance(step, Map) for step in network) for network in networks]
    return Shape(dimension, heads, entries, len(values), widest * entries, max(depths, default=0))


def _bits(entry: Fraction) -> int:
    below = entry.denominator.bit_length() if entry.denominator > 1 else 0
    return 1 + entry.numerator.bit_length() + below


@dataclass(frozen=True)
class TokenExperiment:
    """A model that generates tokens.

    `contexts` are made when they are asked for: they come from the direct simulation. `steps` reads
    generated tokens as steps of the machine. `exact_from` is the mantissa from which on nothing is
    rounded, where that is known. `reduce`, where there is one, rewrites a context after a token, and
    says None where nothing changes.
    """

    model: Transformer
    contexts: Callable[[], Sequence[Context]]
    prompt: tuple[Token, ...]
    steps: Callable[[Sequence[Token]], list[StepMade]]
    stops: Callable[[Token], bool]
    reduce: Callable[[tuple[Token, ...]], tuple[Token, ...] | None] | None = None
    exact_from: int | None = None

    @cached_property
    def reference_contexts(self) -> tuple[Context, ...]:
        """The streams that the model must generate."""
        return tuple(self.contexts())

    def reference(self) -> Arithmetic:
        """Return rationals where the model has no roots, else the widest mantissa."""
        return Exact() if self.model.rational else Rounded(MOST_BITS)

    def shape(self) -> Shape:
        """Return the size of the model."""
        return shape_of(self.model)

    def first_wrong(self, numbers: Arithmetic) -> Wrong | None:
        """Return the first wrong token in an arithmetic."""
        for context in self.reference_contexts:
            run = Run(self.model, numbers)
            place = first_difference(run, context)
            if place is not None:
                step = context.steps[place - context.prompt]
                return Wrong(step, place, self._reason(run, context, place))
            self._seen(run)
        return None

    def _reason(self, run: Run, context: Context, place: int) -> str:
        from tapeformer.laboratory.diagnosis import reason

        return reason(self.model, run, context, place, self.reference())

    def seconds_per_token(self, tokens: int = 16) -> float:
        """Return the mean time of a context's last tokens, one at a time."""
        context = self.reference_contexts[0].tokens
        last = min(tokens, len(context) - 1)
        run = Run(self.model, Ieee("double"))
        run.extend(context[:-last])
        started = perf_counter()
        for token in context[-last:]:
            run.extend([token])
        return (perf_counter() - started) / last

    @cached_property
    def _windows(self) -> list[int]:
        return [0]

    def _seen(self, run: Run) -> None:
        self._windows[0] = max(self._windows[0], farthest(run) + 1)

    def lengths(self) -> Lengths:
        """Return what a right run took."""
        contexts = self.reference_contexts
        tokens = sum(len(context.tokens) - context.prompt for context in contexts)
        return Lengths(tokens, max(len(c.tokens) for c in contexts), self._windows[0])

    def read(self, tokens: Sequence[Token]) -> list[StepMade]:
        """Read generated tokens as steps."""
        return self.steps(tokens)

    def boot(self) -> int:
        """Return how many tokens the right stream has before the machine's first step."""
        numbers = [step for context in self.reference_contexts for step in context.steps]
        return next((place for place, step in enumerate(numbers) if step), len(numbers))

    def generate(self, numbers: Arithmetic, goes: Goes) -> Generated:
        """Generate tokens one by one, rewriting the context where the row does."""
        most, tokens, made = self.lengths().tokens, self.prompt, list[Token]()
        run, window, margin = Run(self.model, numbers), 0, float("inf")
        token = run.extend(tokens)[-1]
        while True:
            made.append(token)
            tokens = (*tokens, token)
            ended = not goes(made) or self.stops(token) or len(made) >= most
            shorter = None if ended or self.reduce is None else self.reduce(tokens)
            if ended or shorter is not None:
                window, margin = max(window, farthest(run) + 1), min(margin, run.margin())
            if ended:
                return Generated(tuple(made), len(self.prompt), window, margin)
            if shorter is None:
                token = run.extend([token])[0]
            else:
                tokens, run = shorter, Run(self.model, numbers)
                token = run.extend(tokens)[-1]


def first_difference(run: Run, context: Context) -> int | None:
    """Return the place of the first token that a run predicts wrongly."""
    tokens, start = context.tokens, 0
    while start < len(tokens) - 1:
        end = min(start + max(CHUNK, start // 2), len(tokens) - 1)
        for place, token in enumerate(run.extend(tokens[start:end]), start + 1):
            if place >= context.prompt and token != tokens[place]:
                return place
        start = end
    return None


def farthest(run: Run) -> int:
    """Return how far back a head that retrieves one token has looked."""
    most = 0
    for head, blocks in zip(run.model.heads, run.attended, strict=True):
        if head.uniform or head.mask == "memory":
            continue
        place = 0
        for seen in blocks:
            places = np.arange(place, place + len(seen.first))
            place += len(places)
            single = seen.count == 1 if head.choice == "average" else seen.count > 0
            taken = seen.last if head.choice == "rightmost" else seen.first
            most = max(most, int((places - taken)[single].max(initial=0)))
    return most
