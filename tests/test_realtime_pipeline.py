"""The real-time construction through weights and engines: one token per step, growing, full tapes."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log2
from typing import Any

import numpy as np
import pytest

from tapeformer import Case, Outcome, TuringMachine, gallery_machine, gallery_names, load, simulate
from tapeformer.bench.workloads import WORKLOADS
from tapeformer.bundle.record import Bundle
from tapeformer.bundle.save import bundle_files
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.constructions.realtime.layout import fewest_levels
from tapeformer.inference.answer import Answer
from tapeformer.inference.generation import Generation, generate
from tapeformer.inference.limits import Limits
from tapeformer.weights.count import count
from tests.simulator.test_published import CASES as PUBLISHED
from tests.simulator.test_published import DATA

SMALL = 60
GALLERY = [
    (name, case)
    for name in gallery_names()
    for case in gallery_machine(name).cases
    if case.steps is not None and case.steps <= SMALL
]


def grown_run(machine: TuringMachine, word: tuple[str, ...]) -> Answer:
    """Starts with the fewest levels that the prompt needs and grows."""

    def larger(bundle: Bundle) -> Bundle:
        return compile_machine(machine, CompileOptions(levels=bundle.layout.levels + 1, base=2))

    levels = fewest_levels(len(word))
    bundle = compile_machine(machine, CompileOptions(levels=levels, base=2))
    return generate(bundle, word, grow=larger)


def check(machine: TuringMachine, word: tuple[str, ...], answer: Answer) -> None:
    expected = simulate(machine, word)
    assert (answer.outcome, answer.state) == (expected.outcome, expected.state)
    assert (answer.steps, answer.tapes) == (expected.steps, expected.tapes)
    assert answer.cot_tokens - answer.boot_tokens == answer.steps
    assert answer.boot_tokens <= 2 ** ceil(log2(len(word) + 2)) + len(word) + 4
    assert answer.margin >= 1


@pytest.mark.parametrize(("name", "case"), GALLERY)
def test_gallery_at_one_token_per_step(name: str, case: Case) -> None:
    machine = gallery_machine(name)
    check(machine, case.word, grown_run(machine, case.word))


@pytest.mark.parametrize(("name", "case"), PUBLISHED)
def test_published_machines_at_one_token_per_step(name: str, case: dict[str, Any]) -> None:
    machine, word = load(DATA / f"{name}.txt"), tuple(case["input"])
    check(machine, word, grown_run(machine, word))


def test_heads_do_not_multiply_with_tapes() -> None:
    for name in ("busy_beaver_4", "binary_addition"):
        bundle = compile_machine(gallery_machine(name), CompileOptions(levels=5))
        assert count(bundle.weights).attention_heads == 4
        assert sorted(set(bundle.offsets)) == [1, 3, 7, 15]
        queue = compile_machine(gallery_machine(name), CompileOptions(levels=3, heads="queue"))
        tapes = gallery_machine(name).tapes
        assert count(queue.weights).attention_heads == 4 * tapes * 3


def test_parameters_are_the_same_for_all_bases() -> None:
    machine = gallery_machine("busy_beaver_3")
    for heads, bases in (("offset", (4, 6, 8)), ("queue", (2, 4, 6, 8))):
        options = CompileOptions(levels=3, heads=heads)  # type: ignore[arg-type]
        made = [compile_machine(machine, replace(options, base=base)) for base in bases]
        assert len({bundle_files(bundle)["model.safetensors"] for bundle in made}) == 1


@pytest.mark.parametrize("base", [2, 4])
def test_every_split_head_mode_and_engine_gives_the_same_trace(base: int) -> None:
    machine, word = gallery_machine("binary_increment"), tuple("1011")
    plain = CompileOptions(levels=4 if base == 2 else 3, base=base)
    reference = tokens(compile_machine(machine, plain), word, "dense")
    for layers in (1, 3) if base == 2 else (1, 5):
        assert tokens(compile_machine(machine, replace(plain, layers=layers)), word) == reference
    for layers in (1, 2, 4):
        options = replace(plain, heads="queue", layers=layers)
        assert tokens(compile_machine(machine, options), word) == reference


def tokens(bundle: Bundle, word: tuple[str, ...], engine: str = "sparse") -> list[tuple[str, ...]]:
    run = Generation(bundle, word, engine)
    rows = np.concatenate(list(run.pieces(Limits(10**6, 5000))))
    return [run.reader.words(row) for row in rows.tolist()]


def test_a_run_that_grows_emits_the_same_tokens() -> None:
    machine = gallery_machine("busy_beaver_2_3")
    runner = WORKLOADS["excursions"].machine
    for turing, word in ((machine, ()), (runner, ("a",) * 14)):
        larger = {"model": turing}

        def grow(bundle: Bundle, made: dict[str, TuringMachine] = larger) -> Bundle:
            levels = bundle.layout.levels + 1
            return compile_machine(made["model"], CompileOptions(levels=levels, base=2))

        levels = fewest_levels(len(word))
        start = compile_machine(turing, CompileOptions(levels=levels, base=2))
        growing = Generation(start, word, "sparse", grow=grow)
        whole = Generation(
            compile_machine(turing, CompileOptions(levels=levels + 3, base=2)), word, "sparse"
        )
        names = [factor.name for factor in start.weights.factors]
        assert shared(growing, names) == shared(whole, names)


def shared(run: Generation, names: list[str]) -> list[tuple[str, ...]]:
    """The tokens of a run in the fields that the smallest model has."""
    found = []
    for rows in run.pieces(Limits(10**6, 3000)):
        place = {factor.name: index for index, factor in enumerate(run.reader.factors)}
        for row in rows.tolist():
            words = run.reader.words(row)
            found.append(tuple(words[place[name]] for name in names if name != "grow"))
    return found


def test_out_of_space_loses_nothing() -> None:
    from tapeformer import loads

    machine = loads("1RA1RA")
    bundle = compile_machine(machine, CompileOptions(levels=2, base=2))
    assert bundle.layout.capacity >= 4 * 2**2
    answer = generate(bundle, ())
    assert answer.outcome is Outcome.OUT_OF_SPACE
    assert answer.steps == bundle.layout.capacity
    expected = simulate(machine, max_steps=answer.steps)
    assert (answer.state, answer.tapes) == (expected.state, expected.tapes)
