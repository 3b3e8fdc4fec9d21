"""Windows of many inputs, read at once, say what each says alone: paper's queues and the one queue."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from tapeformer.bundle.record import Bundle
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.constructions import Decoded, construction, decoded_many
from tapeformer.engines.registry import make_engine
from tapeformer.faults import TapeformerError
from tapeformer.gallery import gallery_machine
from tapeformer.inference.decode import Reader
from tapeformer.machine.record import TapeKind, TuringMachine
from tests.constructions.machines import random_machine, random_word
from tests.windows import RowWindows, decoded_one_by_one

TOKENS = 400


def rows_of(bundle: Bundle, word: tuple[str, ...], tokens: int) -> NDArray[np.int32]:
    """The tokens of a run, prompt first; after the verdict they go on."""
    engine = make_engine("sparse", bundle.weights, bundle.offsets)
    prompt = Reader(bundle).prompt(word)
    engine.prompt(prompt)
    return np.concatenate([np.asarray(prompt, np.int32), engine.advance(tokens)])


def alone(reader: Reader, window: NDArray[np.int32]) -> Decoded | str:
    try:
        return reader.configuration(window)
    except TapeformerError as error:
        return str(error)


def check(bundle: Bundle, windows: RowWindows) -> int:
    """Compare every window that can be read with others: how many there are."""
    reader = Reader(bundle)
    assert reader.decode_many is not None
    found = decoded_one_by_one(reader.decode_many(windows))
    for window, decoded in zip(windows.given, found, strict=True):
        assert decoded is None or decoded == alone(reader, window)
    return sum(decoded is not None for decoded in found)


def windows_of(bundle: Bundle, word: tuple[str, ...], tokens: int = TOKENS) -> RowWindows:
    rows, size = rows_of(bundle, word, tokens), bundle.window
    return RowWindows([rows[max(0, end - size) : end] for end in range(1, len(rows))])


def random_bundle(seed: int, name: str, tapes: int) -> tuple[Bundle, tuple[str, ...]]:
    chance = Random(seed)
    machine = random_machine(seed, tapes, chance.choice(list(TapeKind)))
    levels, base = chance.choice([(1, 8), (2, 4), (3, 2), (2, 6)]) if name == "paper" else (1, 8)
    bundle = compile_machine(machine, CompileOptions(name, levels, base))
    most = construction(name).longest_word(bundle.layout)
    return bundle, random_word(seed, machine, min(8, most))


@pytest.mark.parametrize("name", ["paper", "post"])
@pytest.mark.parametrize("seed", range(8))
def test_random_machines_at_every_token(seed: int, name: str) -> None:
    bundle, word = random_bundle(seed, name, tapes=1 + seed % 3)
    check(bundle, windows_of(bundle, word))


@pytest.mark.parametrize("name", ["paper", "post"])
@pytest.mark.parametrize("seed", range(4))
def test_windows_that_no_run_leaves_behind(seed: int, name: str) -> None:
    bundle, word = random_bundle(seed, name, tapes=1 + seed % 3)
    windows, chance = windows_of(bundle, word, tokens=120), np.random.default_rng(seed)
    sizes = [len(factor.values) for factor in bundle.weights.factors]
    for window in windows.given:
        place = chance.integers(len(window)), chance.integers(len(sizes))
        window[place] = chance.integers(sizes[place[1]])
    check(bundle, RowWindows(windows.given))


CASES = (
    ("palindrome", "abbab", "paper", 2, 4),
    ("binary_addition", "10#11", "paper", 2, 4),
    ("palindrome", "abbab", "post", 1, 12),
    ("binary_addition", "10#11", "post", 1, 12),
)


def machine_of(case: tuple[str, str, str, int, int]) -> tuple[TuringMachine, Bundle]:
    name, _, made, levels, base = case
    machine = gallery_machine(name)
    return machine, compile_machine(machine, CompileOptions(made, levels, base))


@pytest.mark.parametrize("case", CASES)
def test_all_completed_steps_are_read_together(case: tuple[str, str, str, int, int]) -> None:
    _, bundle = machine_of(case)
    rows = rows_of(bundle, tuple(case[1]), 1000)
    made = int(Reader(bundle).steps(rows).sum())
    assert check(bundle, windows_of(bundle, tuple(case[1]), 1000)) >= made > 5


@pytest.mark.parametrize("case", CASES)
def test_a_part_of_the_inputs_at_a_time(
    case: tuple[str, str, str, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, bundle = machine_of(case)
    windows = windows_of(bundle, tuple(case[1]))
    whole = check(bundle, windows)
    monkeypatch.setattr(decoded_many, "MOST_CELLS", 5000)
    assert check(bundle, windows) == whole
