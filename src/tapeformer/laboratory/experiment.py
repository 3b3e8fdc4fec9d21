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
from tapeformer.laboratory.coordinates import Map
from tapeformer.laboratory.preparation import StepMade
from tapeformer.laboratory.transformer import Run, Token, Transformer

CHUNK = 128
"""Tokens that are predicted together; a run that goes wrong is not followed further."""


@dataclass(frozen=True)
class Wrong:
    """The first wrong token: the machine's own step that it belongs to, its place, and why."""

    step: int
    place: int
    reason: str


@dataclass(frozen=True)
class Shape:
    """The size of a model."""

    dimension: int
    heads: tuple[int, ...]
    parameters: int
    parameter_bits: int
    position_numbers: int = 0

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

    def generate(self, numbers: Arithmetic, limit: int) -> list[StepMade]:
        """Generate tokens one by one and return the steps that they say; the model alone decides."""


def shape_of(model: Transformer) -> Shape:
    """Return the size of a Transformer; its embedding has a column for each value of a factor."""
    heads = tuple(len(layer.heads) for layer in model.layers if layer.heads)
    vocabulary = sum(len(factor.values) for factor in model.factors)
    nonzero, bits = parameter_size(model.maps(), vocabulary * model.fields.size)
    return Shape(model.fields.size, heads, nonzero, bits, len(model.position(1)))


def parameter_size(maps: Sequence[Map], more: int = 0) -> tuple[int, int]:
    """Return how many entries are not zero, and the bit-size: bits of the widest, times all entries."""
    entries = [entry for one in maps for entry in one.parameters()]
    widest = max((_bits(entry) for entry in entries), default=1)
    return len(entries), widest * (more + sum(one.entries for one in maps))


def _bits(entry: Fraction) -> int:
    below = entry.denominator.bit_length() if entry.denominator > 1 else 0
    return 1 + entry.numerator.bit_length() + below


@dataclass(frozen=True)
class TokenExperiment:
    """A model that generates tokens.

    `contexts` are made when they are asked for: they come from the direct simulation. `step` reads
    generated tokens as steps of the machine; a chain of thought of fixed length is `longest` tokens.
    `exact_from` is the mantissa from which on nothing is rounded, where that is known. `reduce`, where there is one, rewrites a context after
    a token, and says None where nothing changes.
    """

    model: Transformer
    contexts: Callable[[], Sequence[Context]]
    prompt: tuple[Token, ...]
    steps: Callable[[Sequence[Token]], list[StepMade]]
    stops: Callable[[Token], bool]
    reduce: Callable[[tuple[Token, ...]], tuple[Token, ...] | None] | None = None
    longest: int | None = None
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

    def generate(self, numbers: Arithmetic, limit: int) -> list[StepMade]:
        """Generate tokens one by one, rewriting the context where the row does."""
        tokens = self.prompt
        made: list[Token] = []
        run = Run(self.model, numbers)
        token = run.extend(tokens)[-1]
        while True:
            made.append(token)
            tokens = (*tokens, token)
            if self.stops(token) or len(made) == self.longest:
                return self.steps(made)
            if len(made) >= limit and len(self.steps(made)) >= limit:
                return self.steps(made)
            shorter = None if self.reduce is None else self.reduce(tokens)
            if shorter is None:
                token = run.extend([token])[0]
            else:
                tokens, run = shorter, Run(self.model, numbers)
                token = run.extend(tokens)[-1]


def first_difference(run: Run, context: Context) -> int | None:
    """Return the place of the first token that a run predicts wrongly."""
    tokens = context.tokens
    for start in range(0, len(tokens) - 1, CHUNK):
        piece = tokens[start : min(start + CHUNK, len(tokens) - 1)]
        for place, token in enumerate(run.extend(piece), start + 1):
            if place >= context.prompt and token != tokens[place]:
                return place
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
