"""Reading tokens: which value means what, and a window as state, tapes and heads.

Nothing here sees the Turing machine or its queues: only a bundle's factors, and how to read them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from operator import getitem
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tapeformer.bundle.record import Bundle
from tapeformer.constructions import Decoded, check_word, construction
from tapeformer.constructions.record import ManyDecoder
from tapeformer.faults import Fault, TapeformerError
from tapeformer.queues.verdicts import RUNNING
from tapeformer.simulator.outcome import Outcome
from tapeformer.weights.record import Factor, Token
from tapeformer.weights.tokens import prompt_tokens
from tapeformer.windows import Windows

if TYPE_CHECKING:
    from tapeformer.engines.batch import Counted
    from tapeformer.engines.stream import Value


class Reader:
    """Reads the tokens of one bundle."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.factors = bundle.token_factors
        self._values = [factor.values for factor in self.factors]
        index = {factor.name: number for number, factor in enumerate(self.factors)}
        names = [bundle.answer.get(key) for key in ("verdict", "stepped", "state")]
        if not all(isinstance(name, str) and name in index for name in names):
            raise TapeformerError(Fault("the bundle does not say how to read its answer"))
        self.verdict, self.stepped, self.state = (index[str(name)] for name in names)
        self.running = self.factors[self.verdict].values.index(RUNNING)
        self.steps_of = np.array([int(value) for value in self.factors[self.stepped].values])
        self.steps_per_token = bundle.steps_per_token
        self.goes_on: Value = (self.verdict, self.running)
        self.step_values = _numbers(self.stepped, self.factors[self.stepped])
        self.makes_a_step: Value = (self.stepped, int(self.steps_of.argmax()))
        grow = index.get(str(bundle.answer.get("grow", "")))
        self.grow = None if grow is None else (grow, self.factors[grow].values.index("0"))

    @property
    def watched(self) -> tuple[int, int]:
        """The factors that tell whether a run goes on and how many steps a token makes."""
        return self.verdict, self.stepped

    def prompt(self, word: Sequence[str]) -> tuple[Token, ...]:
        """Return the prompt of a word, which must fit."""
        check_word(self.bundle.layout, word)
        return prompt_tokens(self.bundle.prompt, self.factors, word)

    def words(self, token: Sequence[int]) -> tuple[str, ...]:
        """Return a token's factors as text, in order."""
        return tuple(map(getitem, self._values, token))

    def named(self, token: Sequence[int]) -> dict[str, str]:
        """Return a token's factors as text, by name."""
        names = (factor.name for factor in self.factors)
        return dict(zip(names, self.words(token), strict=True))

    def outcome(self, token: Sequence[int]) -> Outcome | None:
        """Return the verdict that a token carries; None while the machine runs."""
        index = token[self.verdict]
        return None if index == self.running else Outcome(self.factors[self.verdict].values[index])

    def outcomes(self, windows: Windows) -> list[Outcome | None]:
        """Return the verdict of the newest token of each of many inputs."""
        count = len(windows.lengths)
        newest = windows.at(np.arange(count), np.zeros(count, np.int64))
        known = [
            None if index == self.running else Outcome(value)
            for index, value in enumerate(self.factors[self.verdict].values)
        ]
        return [known[index] for index in newest.values(self.verdict).tolist()]

    @property
    def step_mark(self) -> int:
        """The value of a token that makes its step, for what looks at every single step."""
        if self.steps_per_token > 1:
            what = "a token that makes several steps does not show them one by one"
            remedy = "use a model with --steps-per-token 1"
            raise TapeformerError(Fault(what, expected="1 step per token", remedy=remedy))
        return self.makes_a_step[1]

    def steps(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the steps of the Turing machine that each of some tokens makes."""
        return self.steps_of[rows[:, self.stepped]]

    def steps_in(self, full_tokens: int, last: Sequence[int]) -> int:
        """Return the steps of tokens of which only the last may make some but not all."""
        made = int(self.steps_of[last[self.stepped]]) if last else 0
        return full_tokens * self.steps_per_token + made % self.steps_per_token

    def configuration(self, window: NDArray[np.integer]) -> Decoded:
        """Return state, tapes and heads from the last tokens, oldest first."""
        return self.decoded([self.words(row) for row in window.tolist()])

    def configurations(self, windows: Windows) -> Iterator[Decoded | TapeformerError]:
        """Yield the same for many inputs; an error where a window means nothing."""
        many = self.decode_many and self.decode_many(windows)
        for number in range(len(windows.lengths)):
            if many and many.readable[number]:
                yield many.decoded(number)
            else:
                yield self.configuration_or_error(windows.rows(number))

    @cached_property
    def decode_many(self) -> ManyDecoder | None:
        """What reads the windows of many inputs at once; None where each is read by itself."""
        layout = self.bundle.layout
        reading: Any = self.bundle.answer["reading"]
        make = construction(layout.construction).many_decoder
        return make(reading, layout, [factor.values for factor in self.factors])

    def configuration_or_error(self, window: NDArray[np.int32]) -> Decoded | TapeformerError:
        """Return a configuration, or why a window means nothing."""
        try:
            return self.configuration(window)
        except TapeformerError as error:
            return error

    def decoded(self, window: Sequence[tuple[str, ...]]) -> Decoded:
        """Return the same from tokens as text."""
        layout = self.bundle.layout
        reading: Any = self.bundle.answer["reading"]
        return construction(layout.construction).decode(reading, layout, window)

    def loading(self, rows: NDArray[np.int32]) -> int:
        """Count the tokens that only bring the input to its place."""
        said: Any = self.bundle.answer.get("loading", {})
        for number, factor in enumerate(self.factors):
            if factor.name == said.get("factor"):
                early = [i for i, value in enumerate(factor.values) if value in said["values"]]
                return int(np.isin(rows[:, number], early).sum())
        return 0


def _numbers(number: int, factor: Factor) -> Counted:
    """Return the values of a factor that count something, and how much each counts."""
    amounts = enumerate(int(value) if value.isdigit() else 0 for value in factor.values)
    return tuple(((number, index), amount) for index, amount in amounts if amount)
