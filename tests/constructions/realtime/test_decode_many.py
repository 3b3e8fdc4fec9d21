"""Windows of many inputs, read at once, say what each says alone: at every token of a run."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tapeformer.bundle.record import Bundle
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.constructions.decoded import Decoded
from tapeformer.constructions.realtime.decode_many import many_decoder
from tapeformer.constructions.realtime.names import Stack
from tapeformer.engines.registry import make_engine
from tapeformer.gallery import gallery_machine
from tapeformer.inference.decode import Reader
from tapeformer.machine.record import Move, Rule, TuringMachine
from tapeformer.windows import Flags, Integers
from tests.constructions.realtime.workloads import random_case, zigzag
from tests.windows import RowWindows, decoded_one_by_one

TOKENS = 150


def rows_of(bundle: Bundle, word: tuple[str, ...]) -> NDArray[np.int32]:
    """The tokens of a run, prompt first; after the verdict they go on."""
    engine = make_engine("sparse", bundle.weights, bundle.offsets)
    prompt = Reader(bundle).prompt(word)
    engine.prompt(prompt)
    return np.concatenate([np.asarray(prompt, np.int32), engine.advance(TOKENS)])


def many(bundle: Bundle, windows: RowWindows) -> list[Decoded | None]:
    domains = [factor.values for factor in bundle.weights.factors]
    reading = bundle.answer["reading"]
    assert isinstance(reading, dict)
    return decoded_one_by_one(many_decoder(reading, bundle.layout, domains)(windows))


def check(machine: TuringMachine, word: tuple[str, ...], levels: int, base: int) -> int:
    """Compare all windows of a run that are past booting: how many there were."""
    bundle = compile_machine(machine, CompileOptions("realtime", levels, base))
    rows = rows_of(bundle, word)
    windows = RowWindows([rows[max(0, end - bundle.window) : end] for end in range(1, len(rows))])
    found = many(bundle, windows)
    reader = Reader(bundle)
    phase = [factor.name for factor in bundle.weights.factors].index("phase")
    for window, decoded in zip(windows.given, found, strict=True):
        if bundle.weights.factors[phase].values[window[-1, phase]] == "run":
            assert decoded == reader.configuration(window)
        else:
            assert decoded is None
    return sum(decoded is not None for decoded in found)


@pytest.mark.parametrize("seed", range(12))
def test_random_machines(seed: int) -> None:
    case = random_case(seed)
    check(case.machine, case.word, case.layout.levels, case.layout.base)


def marking() -> TuringMachine:
    """Goes to the end of the word and back, with a mark on tape 2 for each symbol."""
    right, left = (Move.RIGHT,) * 2, (Move.LEFT,) * 2
    there = [Rule("go", (symbol, "_"), (symbol, "x"), right, "go") for symbol in "abcde"]
    back = [Rule("back", (symbol, "x"), (symbol, "x"), left, "back") for symbol in "abcde"]
    turn = Rule("go", ("_", "_"), ("_", "_"), left, "back")
    return TuringMachine("marking", 2, "_", "go", (*there, turn, *back))


def test_tapes_whose_symbols_have_different_numbers_of_bits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tapeformer.constructions.realtime.code.SMALL", 1)
    assert check(marking(), tuple("abcde"), 4, 2) > 20


@pytest.mark.parametrize("seed", range(4000, 4004))
def test_symbols_kept_as_bits(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr("tapeformer.constructions.realtime.code.SMALL", 1)
    case = random_case(seed)
    bundle_case = check(case.machine, case.word, case.layout.levels, case.layout.base)
    assert bundle_case >= 0


@pytest.mark.parametrize(("levels", "base"), [(3, 2), (5, 2), (2, 4)])
def test_stacks_that_fill_and_drain(levels: int, base: int) -> None:
    assert check(zigzag(20, 18), (), levels, base) > 100


def test_three_tapes() -> None:
    assert check(gallery_machine("binary_addition"), tuple("101#11"), 4, 2) > 100


class Changed(RowWindows):
    """Windows in which a factor of the newest token is said to have another value."""

    def __init__(self, given: list[NDArray[np.int32]], factor: int, value: int) -> None:
        changed = [window.copy() for window in given]
        for window in changed:
            window[-1, factor] = value
        super().__init__(changed)


def test_a_lost_bottom_is_left_to_the_decoder() -> None:
    bundle = compile_machine(zigzag(3, 1), CompileOptions("realtime", 3, 2))
    names = [factor.name for factor in bundle.weights.factors]
    factor = names.index(Stack(1, "left").top[0])
    rows = rows_of(bundle, ())
    given = [rows[end - bundle.window : end] for end in range(10, 20)]
    bottom = bundle.weights.factors[factor].values.index("$")
    found = many(bundle, Changed(given, factor, bottom))
    kept: Flags = np.array([window[-1, factor] == bottom for window in given])
    lost: Integers = np.flatnonzero(~kept)
    assert len(lost)
    assert all(found[index] is None for index in lost)
