"""Break a model on purpose, in one place, and find the first token that it gets wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapeformer.bundle.record import Bundle
from tapeformer.explorer.rounding import RoundedEngine
from tapeformer.faults import Fault, TapeformerError
from tapeformer.inference.generation import Generation
from tapeformer.inference.limits import Limits
from tapeformer.weights.parameters import with_sign_flipped
from tapeformer.weights.record import Matrix, TransformerWeights

KINDS = ("head", "weight", "window", "precision")
MOST_TOKENS = 20_000
"""How far a broken model is followed; rounded sums are slow, so they are followed less far."""
MOST_ROUNDED = 2_000


@dataclass(frozen=True)
class Break:
    """What is broken.

    `head`: the head of this number is switched off. `weight`: neuron `number` gets the sign of its
    input `input` flipped. `window`: only `number` tokens are kept. `precision`: sums are added up
    in floating point with `number` significant bits.
    """

    kind: str
    number: int
    input: int = 0

    def __str__(self) -> str:
        return {
            "head": f"head {self.number} is switched off",
            "weight": f"neuron {self.number}: weight {self.input + 1} has its sign flipped",
            "window": f"the window is cut to {self.number} tokens",
            "precision": f"sums are kept to {self.number} significant bits",
        }[self.kind]


@dataclass(frozen=True)
class WrongToken:
    """The first token that differs from the sound model's: its number, and its first wrong fields."""

    token: int
    fields: tuple[tuple[str, str, str], ...]
    count: int


def broken(bundle: Bundle, word: Sequence[str], asked: Break) -> Generation:
    """Begin a run of a model that is broken as asked."""
    if asked.kind == "head":
        return Generation(_with_weights(bundle, _without_head(bundle, asked.number)), word)
    if asked.kind == "weight":
        return Generation(_with_weights(bundle, _flipped(bundle.weights, asked)), word)
    if asked.kind == "window":
        _check(1 <= asked.number <= bundle.window, f"1 to {bundle.window} tokens", asked)
        return Generation(bundle, word, "sparse", window=asked.number)
    _check(asked.kind == "precision" and 1 <= asked.number <= 24, "1 to 24 bits", asked)
    generation = Generation(bundle, word, "sparse")
    generation.engine = RoundedEngine(bundle.weights, bundle.offsets, asked.number)
    generation.engine.prompt(generation.reader.prompt(word))
    return generation


def limit_of(asked: Break, sound: int) -> int:
    """Return how many tokens of a broken model are recorded, given how many the sound one made."""
    return min(2 * sound + 64, MOST_ROUNDED if asked.kind == "precision" else MOST_TOKENS)


class Comparison:
    """Compares the tokens of a broken run with a sound one's until one is wrong.

    Where one of the two ends earlier, the token after its last is the wrong one.
    """

    def __init__(self, sound: Generation) -> None:
        self.sound, self.made = sound, 0
        self.wrong: WrongToken | None = None

    def see(self, rows: NDArray[np.int32], ended: bool) -> None:
        """Compare the next tokens; `ended` says that the broken run has come to a verdict."""
        if self.wrong is not None or not len(rows):
            return
        wanted = _taken(self.sound, len(rows))
        same = min(len(rows), len(wanted))
        differs = np.flatnonzero((rows[:same] != wanted[:same]).any(axis=1))
        if len(differs):
            at = int(differs[0])
            self.wrong = _described(self.sound, self.made + at, wanted[at], rows[at])
            return
        self.made += same
        if len(rows) != len(wanted) or ended != (self.sound.outcome is not None):
            self.wrong = WrongToken(self.sound.prompt_tokens + self.made, (), 0)


def _taken(sound: Generation, count: int) -> NDArray[np.int32]:
    """Return the next tokens of a run, fewer at its end."""
    pieces = [np.zeros((0, len(sound.reader.factors)), np.int32)]
    while count and sound.outcome is None:
        pieces.append(sound.piece(Limits(), count))
        count -= len(pieces[-1])
    return np.concatenate(pieces)


def _described(
    sound: Generation, made: int, wanted: NDArray[np.int32], got: NDArray[np.int32]
) -> WrongToken:
    factors = sound.reader.factors
    wrong = np.flatnonzero(wanted != got).tolist()
    fields = tuple(
        (factors[i].name, factors[i].values[wanted[i]], factors[i].values[got[i]]) for i in wrong
    )
    return WrongToken(sound.prompt_tokens + made, fields[:6], len(fields))


def _with_weights(bundle: Bundle, weights: TransformerWeights) -> Bundle:
    return replace(bundle, weights=weights, modified=True)


def _without_head(bundle: Bundle, number: int) -> TransformerWeights:
    """Return the weights without the columns of W that bring this head to the residual stream."""
    weights, width = bundle.weights, bundle.weights.value_width
    heads = [head.position for layer in weights.layers for head in layer.heads]
    _check(number in heads, "the number of a head", Break("head", number))
    layers = []
    for layer in weights.layers:
        off = [place for place, head in enumerate(layer.heads) if head.position == number]
        keep = ~np.isin(layer.mix.columns // max(width, 1), off)
        layers.append(replace(layer, mix=_kept(layer.mix, keep)))
    return replace(weights, layers=tuple(layers))


def _kept(matrix: Matrix, keep: NDArray[np.bool_]) -> Matrix:
    return Matrix(matrix.shape, matrix.rows[keep], matrix.columns[keep], matrix.values[keep])


def _flipped(weights: TransformerWeights, asked: Break) -> TransformerWeights:
    """Return the weights with one input of one neuron negated."""
    left = asked.number
    for at, layer in enumerate(weights.layers):
        for depth, affine in enumerate(layer.feed_forward[:-1]):
            if 0 <= left < len(affine.names):
                entries = np.flatnonzero(affine.matrix.rows == left)
                _check(0 <= asked.input < len(entries), f"an input below {len(entries)}", asked)
                path = f"layer.{at}.feed_forward.{depth}.matrix"
                return with_sign_flipped(weights, path, int(entries[asked.input]))
            left -= len(affine.names)
    raise _refused("the number of a neuron", asked)


def break_from(given: dict[str, Any]) -> Break:
    """Read what is to be broken from plain data, and refuse anything else."""
    kind, number, place = given.get("kind"), given.get("number"), given.get("input", 0)
    whole = all(type(value) is int and 0 <= value < 1 << 40 for value in (number, place))
    if kind not in KINDS or not whole:
        raise TapeformerError(
            Fault("this cannot be broken", expected=f"one of {', '.join(KINDS)}, and a number")
        )
    return Break(str(kind), int(str(number)), place)


def _check(fine: bool, expected: str, asked: Break) -> None:
    if not fine:
        raise _refused(expected, asked)


def _refused(expected: str, asked: Break) -> TapeformerError:
    return TapeformerError(
        Fault(f"no such {asked.kind} to break", expected=expected, got=str(asked.number))
    )
