"""`tf.run_queue_table`: a queue machine written by hand, run directly and as two Transformers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import prod
from pathlib import Path

from tapeformer.arguments import check_count
from tapeformer.engines.registry import engine_name, make_engine
from tapeformer.faults import Fault, TapeformerError, counted, described
from tapeformer.lowering.queues_to_circuit import token_ports
from tapeformer.lowering.queues_to_literal import SEPARATOR, flat_token, literal_transformer
from tapeformer.lowering.queues_to_weights import transformer
from tapeformer.queues.record import Token
from tapeformer.queues.run import factor_names, generate, prompt
from tapeformer.queues.table import QueueTable, example_names, load_table
from tapeformer.weights.positions import offsets_for
from tapeformer.weights.tokens import token_of

MOST_TOKENS = 2_000
MOST_LITERAL = 2_000
"""Tokens in a flat vocabulary up to which Appendix B is also built to the letter."""


@dataclass(frozen=True, eq=False)
class TableRun:
    """The tokens that the direct runner made, and whether both Transformers make the same.

    `literal_agrees` is None where the flat vocabulary of Appendix B is too large to be built.
    """

    table: QueueTable
    tokens: tuple[Token, ...]
    transformer_agrees: bool
    literal_agrees: bool | None

    @property
    def verdict(self) -> str:
        """What the last token says of the outcome."""
        return self._last(self.table.machine.verdict)

    @property
    def state(self) -> str:
        """The state in the last token."""
        return self._last(self.table.machine.state)

    def _last(self, register: str) -> str:
        return self.tokens[-1][factor_names(self.table.machine).index(register)]

    def __repr__(self) -> str:
        size = counted(len(self.tokens), "token")
        return f"<TableRun {self.verdict}: {self.table.machine.name}, {size}>"


def run_queue_table(
    table: str | os.PathLike[str],
    word: str | Sequence[str] = "",
    *,
    engine: str = "auto",
    max_tokens: int = MOST_TOKENS,
) -> TableRun:
    """Run a table of the package (`balanced`) or a YAML file directly and as Transformers."""
    if not isinstance(table, str | os.PathLike):
        got, remedy = described(table), "name a table of the package, or a YAML file"
        raise TapeformerError(Fault("not a table", None, "a str or a Path", got, remedy))
    engine_name(engine)
    check_count("max_tokens", max_tokens, 1)
    made = load_table(example_names().get(str(table), Path(table)))
    symbols = _symbols(word)
    direct = list(islice(generate(made.machine, made.layout, symbols), max_tokens))
    start = prompt(made.machine, symbols)
    factored = factored_tokens(made, start, len(direct), engine)
    literal = literal_tokens(made, start, len(direct), engine, MOST_LITERAL)
    agrees = None if literal is None else literal == direct
    return TableRun(made, tuple(direct), factored == direct, agrees)


def _symbols(word: str | Sequence[str]) -> tuple[str, ...]:
    if not isinstance(word, Sequence) or not all(isinstance(symbol, str) for symbol in word):
        remedy = 'pass a str such as "abba", or a list of symbols'
        raise TapeformerError(Fault("not a word", got=described(word), remedy=remedy))
    return tuple(word)


def factored_tokens(
    table: QueueTable, prompt: Sequence[Token], count: int, engine: str
) -> list[Token]:
    """Return the tokens that the factored model generates after a prompt."""
    weights = transformer(table.machine)
    stream = make_engine(engine, weights, offsets_for(weights, table.layout.lengths))
    names = [factor.name for factor in weights.factors]
    stream.prompt([token_of(weights.factors, dict(zip(names, t, strict=True))) for t in prompt])
    return [
        tuple(f.values[index] for f, index in zip(weights.factors, row, strict=True))
        for row in stream.advance(count).tolist()
    ]


def literal_tokens(
    table: QueueTable, prompt: Sequence[Token], count: int, engine: str, most: int
) -> list[Token] | None:
    """Return the same with Appendix B's flat vocabulary; None where it has more than `most` tokens."""
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
