"""Many inputs at once give what each gives alone."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tapeformer.bundle.record import Bundle
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.engines import memory
from tapeformer.engines.native import batch as batches
from tapeformer.engines.native.batch_memory import BatchMemory
from tapeformer.engines.native.build import batch_code
from tapeformer.engines.native.lanes import Words
from tapeformer.faults import TapeformerError
from tapeformer.gallery import gallery_machine
from tapeformer.inference.answer import Answer
from tapeformer.inference.batch import BatchOptions, BatchRunner
from tapeformer.inference.generation import generate
from tapeformer.weights.parameters import with_sign_flipped

PALINDROME = compile_machine(
    gallery_machine("palindrome"), CompileOptions("paper", levels=2, base=4)
)


@pytest.fixture(params=[256, 512], autouse=True)
def inputs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Code for registers of both sizes, whatever this processor has."""
    bits: int = request.param
    monkeypatch.setattr(batches, "vector_bits", lambda: bits)
    return bits


def words(count: int, longest: int) -> list[tuple[str, ...]]:
    chance = random.Random(count)
    return [tuple(chance.choices("ab", k=chance.randint(0, longest))) for _ in range(count)]


def alone(bundle: Bundle, word: tuple[str, ...], max_steps: int) -> Answer:
    return replace(generate(bundle, word, engine="sparse", max_steps=max_steps), seconds=0.0)


def plain(found: Answer | TapeformerError) -> Answer:
    assert isinstance(found, Answer)
    return replace(found, seconds=0.0)


@pytest.mark.parametrize("max_steps", [10**6, 12, 1, 0])
def test_a_batch_equals_single_runs(max_steps: int, tmp_path: Path) -> None:
    runner = BatchRunner(PALINDROME, BatchOptions(max_steps=max_steps, cache=tmp_path))
    assert runner.batch is not None
    given = words(12, 6)
    found = [plain(answer) for answer in runner.answers(given)]
    assert found == [alone(PALINDROME, word, max_steps) for word in given]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("palindrome_two_tapes", CompileOptions(levels=4)),
        ("palindrome", CompileOptions(levels=3, base=4)),
        ("palindrome", CompileOptions(levels=5, steps_per_token=2)),
        ("palindrome", CompileOptions("paper", levels=2, base=6)),
        ("palindrome", CompileOptions("post", base=8)),
    ],
)
@pytest.mark.parametrize("limits", [(0, 10**6), (1, 10**6), (10**6, 0), (10**6, 1), (10**6, 7)])
def test_limits_in_the_first_tokens(
    name: str, options: CompileOptions, limits: tuple[int, int], tmp_path: Path
) -> None:
    bundle = compile_machine(gallery_machine(name), options)
    runner = BatchRunner(bundle, BatchOptions("native", *limits, cache=tmp_path))
    assert runner.batch is not None
    given = words(20, 5)
    found = [plain(answer) for answer in runner.answers(given)]
    alone = [plain(runner.alone(word)) for word in given]
    assert found == [replace(answer, engine=found[0].engine) for answer in alone]


def test_more_inputs_than_bits_and_some_that_do_not_fit(inputs: int, tmp_path: Path) -> None:
    runner = BatchRunner(PALINDROME, BatchOptions(cache=tmp_path))
    given = [("a", "x"), *words(inputs + 9, 4)]
    assert runner.batch is not None
    assert runner.batch.inputs == inputs
    found = runner.answers(given)
    assert isinstance(found[0], TapeformerError)
    accepted = [plain(answer).outcome.value == "accept" for answer in found[1:]]
    assert accepted == [word == word[::-1] for word in given[1:]]
    assert "'x'" in str(found[0])


def test_edited_weights_in_a_batch(tmp_path: Path) -> None:
    given = words(6, 4)
    for path, entry in (("layer.0.feed_forward.1.matrix", 5), ("output.3.matrix", 0)):
        weights = with_sign_flipped(PALINDROME.weights, path, entry)
        bundle = replace(PALINDROME, weights=weights)
        options = BatchOptions(max_steps=40, max_tokens=200, cache=tmp_path)
        try:
            expected = [
                replace(
                    generate(bundle, word, engine="sparse", max_steps=40, max_tokens=200),
                    seconds=0.0,
                )
                for word in given
            ]
        except TapeformerError:
            continue
        found = BatchRunner(bundle, options).answers(given)
        assert [plain(answer) for answer in found] == expected, path


@pytest.mark.parametrize("processes", [1, 2])
def test_fewer_at_once_where_memory_has_no_room(
    processes: int, inputs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = BatchOptions(cache=tmp_path, processes=processes)
    held = BatchRunner(PALINDROME, options).batch
    assert isinstance(held, batches.Batch)
    needed = processes * held.memory.nbytes
    given = words(12, 6)
    answers = [alone(PALINDROME, word, 10**6) for word in given]
    for share, expected in ((2, inputs), (0.9, inputs // 2), (0.9 * 128 / inputs, 64)):
        room = int(share * needed / memory.SHARE)
        monkeypatch.setattr(memory, "free_memory", lambda room=room: room)
        narrower = BatchRunner(PALINDROME, options)
        assert narrower.batch is not None
        assert narrower.batch.inputs == expected
        assert [plain(answer) for answer in narrower.answers(given)] == answers
    made: list[int] = []

    def counted(*asked: Any) -> Any:
        made.append(asked[-1])
        return batch_code(*asked)

    monkeypatch.setattr(memory, "free_memory", lambda: int(0.05 * needed / memory.SHARE))
    monkeypatch.setattr(batches, "batch_code", counted)
    with pytest.raises(TapeformerError, match="the batch engine would need too much memory"):
        BatchRunner(PALINDROME, options)
    assert made == [inputs]


def test_fewer_at_once_where_none_is_given(
    inputs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allocate = BatchMemory.allocate

    def limited(places: BatchMemory) -> Words:
        if places.shape.bits >= inputs:
            raise MemoryError
        return allocate(places)

    monkeypatch.setattr(BatchMemory, "allocate", limited)
    batch = BatchRunner(PALINDROME, BatchOptions(cache=tmp_path)).batch
    assert batch is not None
    assert batch.inputs == inputs // 2


def test_vectors_have_no_gaps(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="powers of two"):
        batches.Batch(PALINDROME.weights, PALINDROME.offsets, tmp_path, inputs=192)
