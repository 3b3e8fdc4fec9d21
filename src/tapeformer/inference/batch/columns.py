"""The outcomes of inputs that end together, as JSON made from columns, not object by object."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import isfinite
from typing import Any

from tapeformer.constructions.decoded_many import DecodedMany
from tapeformer.faults import TapeformerError
from tapeformer.inference.batch.runner import Block, Found
from tapeformer.inference.decode import Reader
from tapeformer.inference.records import OUTCOME_KEYS, outcome_record
from tapeformer.simulator.outcome import Outcome

ERROR = "error"
"""The outcome of a refused input, and the key of the reason."""

Ending = tuple[str, str]
"""An input's outcome, and the JSON that ends its line, after the keys of its model."""

encoded = json.JSONEncoder(ensure_ascii=False).encode


def ending(found: Found) -> Ending:
    """Return the outcome of one input and the end of its line."""
    if isinstance(found, TapeformerError):
        return ERROR, encoded({ERROR: str(found)})[1:]
    return found.outcome.value, encoded(outcome_record(found))[1:]


class AnswerColumns:
    """Turns blocks of one model into the ends of lines."""

    def __init__(self, reader: Reader, engine: str) -> None:
        self.reader, self.engine = reader, engine
        self.glue = " " if self.reader.bundle.answer["spaced"] else ""

    def endings(self, block: Block) -> Iterable[Ending]:
        """Return the outcome and the end of the line of each input of a block, in order."""
        decode = self.reader.decode_many
        if block.found is not None or decode is None:
            return map(ending, block.answers(self.reader, self.engine))
        many = decode(block.ended.windows)
        outcomes = [
            outcome or Outcome.LIMIT for outcome in self.reader.outcomes(block.ended.windows)
        ]
        names = [outcome.value for outcome in outcomes]
        template = _template(encoded(self.engine), len(many.tapes))
        lines = map(template.__mod__, zip(*self._columns(block, names, many), strict=True))
        found = zip(names, lines, strict=True)
        return found if many.readable.all() else self._with_others(block, many, found)

    def _columns(self, block: Block, outcomes: list[str], many: DecodedMany) -> Iterator[list[Any]]:
        """Yield a list of values for each placeholder of the template."""
        states, symbols = _in_json(many.state_names), _in_json(many.symbol_names)
        ended = block.ended
        yield outcomes
        yield [states[state] for state in many.states.tolist()]
        yield ended.counted.tolist()
        yield from (column.texts(symbols, self.glue) for column in many.tapes)
        yield from (column.heads.tolist() for column in many.tapes)
        yield from (part.tolist() for part in (block.prompt_tokens, ended.before, ended.tokens))
        margins = ended.margin.tolist()
        known = {margin: repr(margin) if isfinite(margin) else "null" for margin in set(margins)}
        yield [known[margin] for margin in margins]

    def _with_others(
        self, block: Block, many: DecodedMany, found: Iterable[Ending]
    ) -> Iterator[Ending]:
        """Yield the endings, reading one by one the inputs that cannot be read together."""
        answers = block.answers(self.reader, self.engine)
        for readable, line, answer in zip(many.readable.tolist(), found, answers, strict=True):
            yield line if readable else ending(answer)


@lru_cache(maxsize=16)
def _template(engine: str, tapes: int) -> str:
    """Return the end of a line, with placeholders for what differs between inputs."""
    places = dict.fromkeys(OUTCOME_KEYS, "%s")
    places |= {"engine": engine, "outcome": '"%s"', "state": '"%s"', "grown": "0"}
    places["tapes"] = "[" + ", ".join(['"%s"'] * tapes) + "]"
    places["heads"] = "[" + ", ".join(["%s"] * tapes) + "]"
    return ", ".join(f'"{key}": {place}' for key, place in places.items()) + "}"


@lru_cache(maxsize=16)
def _in_json(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names escaped for JSON, without the quotes."""
    return tuple(encoded(name)[1:-1] for name in names)
