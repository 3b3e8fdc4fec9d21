"""Random machines with odd names, by every construction and engine, beside the direct simulation."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, product

import tapeformer as tf
from tests.campaigns.soak.trial import Checked, WrongError
from tests.strategies import ODD_STATES, ODD_SYMBOLS, PLAIN_STATES, PLAIN_SYMBOLS

ENGINES = ("sparse", "sparse", "native", "auto")
MOST_TOKENS, MOST_DECODED, MOST_RULES = 3_000, 400, 300


class MachineTrial:
    """A machine with 3 to 9 symbols on 1 to 4 tapes; its parts are its rules."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(f"machine {seed}")
        tapes = self.chance.choice((1, 1, 1, 2, 2, 3, 4))
        most = {1: 9, 2: 6, 3: 4, 4: 3}[tapes]
        self.symbols = self.chance.sample(PLAIN_SYMBOLS + ODD_SYMBOLS, self.chance.randint(3, most))
        names = PLAIN_STATES + ODD_STATES
        self.states = self.chance.sample(names, self.chance.randint(2, 5))
        self.machine = self._machine(seed, tapes)
        self.parts: Sequence[object] = self.machine.rules
        self.options = self._options(tapes)
        self.engine = self.chance.choice(ENGINES)
        length = self.chance.randrange(7)
        self.word = tuple(self.chance.choice(self.symbols[1:]) for _ in range(length))

    def _machine(self, seed: int, tapes: int) -> tf.TuringMachine:
        running, stop = self.states[:-1], self.states[-1]
        reads = list(islice(product(self.symbols, repeat=tapes), MOST_RULES))
        rules = tuple(
            self._rule(state, read)
            for state in running
            for read in reads
            if self.chance.random() < 0.9
        )
        role = self.chance.choice(("accepting", "rejecting", "halting"))
        return tf.TuringMachine(
            name=f"soak {seed}",
            tapes=tapes,
            blank=self.symbols[0],
            start=running[0],
            rules=rules,
            accepting=frozenset({stop} if role == "accepting" else ()),
            rejecting=frozenset({stop} if role == "rejecting" else ()),
            halting=frozenset({stop} if role == "halting" else ()),
            tape_kind=self.chance.choice(tuple(tf.TapeKind)),
            more_symbols=tuple(self.symbols[1:]),
        )

    def _rule(self, state: str, read: tuple[str, ...]) -> tf.Rule:
        choice = self.chance.choice
        write = tuple(choice(self.symbols) for _ in read)
        moves = tuple(choice(tuple(tf.Move)) for _ in read)
        following = choice(self.states[:-1]) if self.chance.random() < 0.97 else self.states[-1]
        return tf.Rule(state, read, write, moves, following)

    def _options(self, tapes: int) -> dict[str, object]:
        """Draw a construction with its sizes; without sizes the model grows."""
        kinds: list[dict[str, object]] = [
            {},
            {},
            {"levels": 5},
            {"levels": 5, "heads": "queue"},
            {"levels": 4, "base": 4},
            {"levels": 4, "base": 6},
            {"levels": 5, "layers": 2},
            {"construction": "paper", "levels": 2, "base": 6},
            {"construction": "paper", "levels": 3, "base": 4},
            {"construction": "paper", "levels": 1, "base": 16},
        ]
        kinds += [{"construction": "post", "space": 30}] if tapes == 1 else []
        return self.chance.choice(kinds)

    def run(self, parts: Sequence[object]) -> Checked:
        """Compare each step's state and tapes with the simulation, and tokens of two engines."""
        rules = tuple(part for part in parts if isinstance(part, tf.Rule))
        left = {rule.state for rule in rules}
        without = frozenset(self.states[:-1]) - left
        machine = replace(self.machine, rules=rules, halting=self.machine.halting | without)
        checked = self._against_the_oracle(machine)
        return checked + self._second_engine(machine)

    def _against_the_oracle(self, machine: tf.TuringMachine) -> Checked:
        expected = tf.configurations(machine, self.word)
        current, tokens = next(expected), 0
        made = tf.stream(
            machine, self.word, engine=self.engine, max_tokens=MOST_DECODED, **self.options
        )
        for token in made:
            tokens += 1
            while token.steps > current.step:
                current = next(expected)
            settled = token.steps == current.step and token.token.get("stepped") == "1"
            if settled and (token.state, token.tapes) != (current.state, current.tapes):
                raise WrongError(f"token {token.number}: {token.state} against {current}")
            if token.outcome is tf.Outcome.OUT_OF_SPACE:
                break
            if token.outcome is not None and token.outcome is not current.outcome:
                raise WrongError(f"token {token.number}: verdict {token.outcome}")
        return Checked(tokens=tokens)

    def _second_engine(self, machine: tf.TuringMachine) -> Checked:
        """Compare all fields of two engines; both begin with the same model and grow alike."""
        first, second = (
            [token.ids for token in _stream(machine, self.word, engine, self.options)]
            for engine in ("native", "sparse")
        )
        if first != second:
            pairs = enumerate(zip(first, second, strict=False), 1)
            place = next((number for number, (one, other) in pairs if one != other), "the end")
            raise WrongError(f"native and sparse differ at token {place}")
        return Checked(tokens=len(first))


def _stream(
    machine: tf.TuringMachine, word: tuple[str, ...], engine: str, options: dict[str, object]
) -> list[tf.StreamedToken]:
    return list(tf.stream(machine, word, engine=engine, max_tokens=MOST_TOKENS, **options))
