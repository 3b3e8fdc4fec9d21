"""From machine to answer: every gallery machine's small cases, every split of heads, every engine."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tapeformer import Case, TuringMachine, gallery_machine, gallery_names, load, simulate
from tapeformer.bundle.save import bundle_files
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.compile.passes import compiled, tapes_to_queues
from tapeformer.inference.answer import Answer
from tapeformer.inference.generation import Generation, generate
from tapeformer.inference.limits import Limits
from tapeformer.weights.count import count
from tests.simulator.test_published import CASES as PUBLISHED
from tests.simulator.test_published import DATA

SMALL = 40
GALLERY = [
    (name, case)
    for name in gallery_names()
    for case in gallery_machine(name).cases
    if case.steps is not None and case.steps <= SMALL and name != "bf_interpreter"
]


def checked_run(machine: TuringMachine, word: tuple[str, ...], options: CompileOptions) -> Answer:
    """Runs a word with room for what it needs and compares with the direct simulation."""
    expected = simulate(machine, word)
    space = max(*expected.cells, len(word))
    answer = generate(compile_machine(machine, replace(options, space=space)), word)
    assert (answer.outcome, answer.state) == (expected.outcome, expected.state)
    assert (answer.steps, answer.tapes) == (expected.steps, expected.tapes)
    assert answer.margin >= 1
    return answer


@pytest.mark.parametrize(("name", "case"), GALLERY)
def test_gallery_through_the_papers_construction(name: str, case: Case) -> None:
    machine = gallery_machine(name)
    levels = 1 + (len(case.word) + len(name)) % 3
    checked_run(machine, case.word, CompileOptions("paper", levels=levels))


@pytest.mark.parametrize(("name", "case"), PUBLISHED)
def test_published_machines_through_the_papers_construction(
    name: str, case: dict[str, Any]
) -> None:
    machine = load(DATA / f"{name}.txt")
    levels = 1 + len(case["input"]) % 3
    checked_run(machine, tuple(case["input"]), CompileOptions("paper", levels=levels))


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_every_number_of_levels(levels: int) -> None:
    machine = gallery_machine("palindrome_two_tapes")
    checked_run(machine, tuple("abba"), CompileOptions("paper", levels=levels))


def trace(machine: TuringMachine, word: str, options: CompileOptions, engine: str) -> list[str]:
    """The lines of the trace file of a run."""
    lines: list[str] = []

    def see(rows: np.ndarray[Any, np.dtype[np.int32]], run: Generation) -> None:
        lines.extend(json.dumps(run.reader.words(row)) for row in rows.tolist())

    generate(compile_machine(machine, options), tuple(word), engine=engine, see=see)
    return lines


@pytest.mark.parametrize("tapes", [1, 2])
def test_one_head_per_queue_and_every_split_give_the_same_trace(tapes: int) -> None:
    machine = gallery_machine({1: "binary_increment", 2: "palindrome_two_tapes"}[tapes])
    word = {1: "1011", 2: "ab"}[tapes]
    base = CompileOptions("paper", levels=2, base=4)
    reference = trace(machine, word, base, "dense")
    heads = 6 * tapes * 2
    for layers in [number for number in range(1, heads + 1) if heads % number == 0]:
        options = replace(base, heads="queue", layers=layers)
        assert count(compile_machine(machine, options).weights).attention_heads == heads
        assert trace(machine, word, options, "sparse") == reference
    for layers in (1, 2, 4):
        assert trace(machine, word, replace(base, layers=layers), "sparse") == reference


def test_layer_normalisation_changes_no_token() -> None:
    machine = gallery_machine("binary_increment")
    plain = CompileOptions("paper", levels=1, base=8)
    normalised = replace(plain, layer_norm=True)
    assert trace(machine, "11", normalised, "dense") == trace(machine, "11", plain, "dense")


def test_parameters_do_not_depend_on_n() -> None:
    machine = gallery_machine("palindrome")
    files = [
        bundle_files(compile_machine(machine, CompileOptions("paper", levels=2, space=space)))
        for space in (16, 100, 1000)
    ]
    assert len({parts["model.safetensors"] for parts in files}) == 1
    assert len({parts["config.json"] for parts in files}) == 3


def test_a_window_shorter_by_one_gives_a_wrong_trace() -> None:
    machine = gallery_machine("palindrome")
    bundle = compile_machine(machine, CompileOptions("paper", levels=2, base=4))
    right = Generation(bundle, tuple("abba"), "dense")
    short = Generation(bundle, tuple("abba"), "dense", window=bundle.window - 1)
    rows = [np.concatenate(list(run.pieces(Limits(10**6, 2000)))) for run in (right, short)]
    length = min(map(len, rows))
    assert not np.array_equal(rows[0][:length], rows[1][:length])


def test_the_compiler_stops_after_any_pass_and_shows_each() -> None:
    seen: list[str] = []
    machine = gallery_machine("parity_of_ones")
    work = compiled(
        machine,
        CompileOptions("paper", levels=1, base=4),
        last=tapes_to_queues,
        hook=lambda step, _: seen.append(step.__name__),
    )
    assert seen == ["sizes_to_layout", "tapes_to_queues"]
    assert work.queue_machine is not None
    assert work.weights is None


def test_the_one_queue_baseline() -> None:
    machine = gallery_machine("binary_increment")
    for word in ("", "0", "1011", "111"):
        checked_run(machine, tuple(word), CompileOptions("post"))
