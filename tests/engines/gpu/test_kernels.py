"""The kernels, run on the processor from their own LLVM text, against the native engine and the oracle."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapeformer as tf
from tapeformer.bundle.record import Bundle
from tapeformer.engines.batch import Budget, Ended, prompts_of
from tapeformer.engines.gpu import cache as cache_of_kernels
from tapeformer.engines.gpu.batch import GpuBatch
from tapeformer.engines.gpu.kernel import Kernel, kernel_of
from tapeformer.engines.gpu.memory_layout import BLOCK_INPUTS, LARGEST_RING, Ring
from tapeformer.engines.gpu.ptx import ptx_of
from tapeformer.engines.logic.not_logic import NotLogicError
from tapeformer.faults import Fault, TapeformerError
from tapeformer.gallery import gallery_names
from tapeformer.inference.decode import Reader
from tapeformer.weights.parameters import nonzero_values, parameters, with_sign_flipped
from tapeformer.weights.record import TransformerWeights
from tests.engines.gpu.processor_device import ProcessorDevice

FAR = 1 << 62
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "registers": ("palindrome", {"construction": "paper", "levels": 2, "base": 4}),
    "shared memory": ("palindrome", {"levels": 4}),
    "two tapes": ("palindrome_two_tapes", {"levels": 4}),
    "base 4": ("palindrome", {"levels": 3, "base": 4}),
    "one queue": ("palindrome", {"construction": "post", "space": 12}),
    "no input": ("busy_beaver_4", {"levels": 4}),
}
SOME_PTX = ("busy_beaver_5", "palindrome_two_tapes", "left_end", "fibonacci_word")

Word = tuple[str, ...]


@cache
def bundle_of(name: str) -> Bundle:
    machine, options = MODELS[name]
    return tf.compile_machine(tf.gallery_machine(machine), **options)


def words_for(bundle: Bundle, count: int, longest: int) -> list[Word]:
    chance = random.Random(7)
    symbols = sorted(bundle.prompt.symbols)
    return [
        tuple(chance.choices(symbols, k=chance.randint(0, longest))) if symbols else ()
        for _ in range(count)
    ]


@cache
def batch_for(bundle: Bundle, blocks: int = 2) -> tuple[GpuBatch, ProcessorDevice]:
    device = ProcessorDevice(kernel_text_of(bundle), blocks=blocks)
    return GpuBatch(bundle.weights, bundle.offsets, lambda: device), device


def kernel_text_of(bundle: Bundle) -> str:
    reader = Reader(bundle)
    return kernel_of(bundle.weights, bundle.offsets, reader.goes_on, reader.step_values).text


def ends(bundle: Bundle, words: list[Word], budget: Budget, blocks: int = 2) -> Iterator[Ended]:
    batch, device = batch_for(bundle, blocks)
    reader = Reader(bundle)
    prompts = prompts_of([np.asarray(reader.prompt(word), np.int32) for word in words])
    found = batch.run(prompts, reader.goes_on, reader.step_values, budget)
    yield from chain.from_iterable(found)
    device.close()


class SmallDevice(ProcessorDevice):
    """A device that has room for a few arrays only."""

    room = 0

    def allocate(self, size: int) -> int:
        if len(self.arrays) == self.room:
            raise TapeformerError(Fault("the GPU has too little free memory"))
        return super().allocate(size)


@pytest.mark.parametrize("room", [2, 5, 6])
def test_a_device_without_room_keeps_nothing(room: int) -> None:
    bundle = bundle_of("no input")
    device = SmallDevice(kernel_text_of(bundle))
    device.room = room
    reader = Reader(bundle)
    prompts = prompts_of([np.asarray(reader.prompt(()), np.int32)])
    batch = GpuBatch(bundle.weights, bundle.offsets, lambda: device)
    with pytest.raises(TapeformerError, match="too little free memory"):
        list(batch.run(prompts, reader.goes_on, reader.step_values, Budget(9, 9)))
    device.close()


def test_a_window_whose_places_need_more_than_32_bits_is_refused() -> None:
    bundle = bundle_of("no input")
    reader, last = Reader(bundle), len(bundle.offsets) - 1

    def rings(offset: int) -> Sequence[Ring]:
        far = (*bundle.offsets[:-1], offset)
        return kernel_of(bundle.weights, far, reader.goes_on, reader.step_values).layout.rings

    widest = max((ring for ring in rings(7) if last in ring.heads), key=lambda ring: ring.words)
    most = (LARGEST_RING - 1) // (widest.block_bytes // widest.length)
    assert max(ring.length for ring in rings(most - 1)) == most
    with pytest.raises(NotLogicError, match="4 GiB or more"):
        rings(most)


@pytest.mark.parametrize("name", MODELS)
def test_every_input_ends_as_the_native_engine_says(name: str) -> None:
    bundle = bundle_of(name)
    reader, words, seen = Reader(bundle), words_for(bundle, 40, 4), 0
    answer_to = cache(lambda word: tf.run(bundle, word, engine="native"))
    for ended in ends(bundle, words, Budget(10**9, FAR)):
        for place, number in enumerate(ended.inputs.tolist()):
            seen += 1
            answer = answer_to(words[number])
            found = [ended.counted, ended.tokens, ended.before, ended.margin]
            said = [answer.steps, answer.cot_tokens, answer.boot_tokens, answer.margin]
            assert [column[place] for column in found] == said
            decoded = reader.configuration(ended.windows.rows(place))
            assert (decoded.state, decoded.tapes) == (answer.state, answer.tapes)
            assert reader.outcome(ended.windows.rows(place)[-1].tolist()) == answer.outcome
    assert seen == len(words)


@pytest.mark.parametrize("name", ["registers", "shared memory", "base 4"])
def test_every_token_of_a_run_is_that_of_the_sparse_engine(name: str) -> None:
    bundle = bundle_of(name)
    reader, word = Reader(bundle), words_for(bundle, 1, 4)[0]
    trace = np.array([step.ids for step in tf.stream(bundle, word, engine="sparse")])
    for count in range(1, len(trace), 7):
        for ended in ends(bundle, [word] * 3, Budget(FAR, count)):
            factors = np.arange(len(bundle.weights.factors))
            newest = ended.windows.at(np.arange(3)[:, None], np.zeros((3, 1), int))
            assert (newest.values(factors) == trace[count - 1]).all()
            assert not ended.stopped.any()
    assert reader.outcome(trace[-1].tolist()) is not None


def test_blocks_get_new_inputs_when_theirs_have_ended() -> None:
    bundle = bundle_of("shared memory")
    words = words_for(bundle, BLOCK_INPUTS + 50, 2)
    found = {
        number: (steps, tokens)
        for ended in ends(bundle, words, Budget(10**9, FAR), blocks=1)
        for number, steps, tokens in zip(
            *(column.tolist() for column in (ended.inputs, ended.counted, ended.tokens)),
            strict=True,
        )
    }
    assert sorted(found) == list(range(len(words)))
    said = {word: tf.simulate(tf.gallery_machine("palindrome"), word).steps for word in set(words)}
    assert all(found[number][0] == said[word] for number, word in enumerate(words))


@pytest.mark.parametrize("most", [0, 1, 2, 5, 6, 7])
def test_limits_stop_each_input_where_they_say(most: int) -> None:
    bundle = bundle_of("registers")
    reader, words = Reader(bundle), words_for(bundle, 40, 3)
    for ended in ends(bundle, words, Budget(most, FAR)):
        for place, number in enumerate(ended.inputs.tolist()):
            answer = tf.run(bundle, words[number], engine="native", max_steps=most)
            assert ended.counted[place] == answer.steps <= most
            assert ended.stopped[place] == (answer.outcome.value != "limit")
            assert ended.tokens[place] == answer.cot_tokens
            decoded = reader.configuration(ended.windows.rows(place))
            assert (decoded.state, decoded.tapes) == (answer.state, answer.tapes)


def test_a_changed_weight_changes_tokens_as_in_the_native_engine() -> None:
    bundle, compared = bundle_of("shared memory"), 0
    chance = random.Random(3)
    words = words_for(bundle, 6, 4)
    for part in chance.sample(
        [part for part in parameters(bundle.weights) if nonzero_values(part).size], 4
    ):
        entry = chance.randrange(len(nonzero_values(part)))
        weights = with_sign_flipped(bundle.weights, part.path, entry)
        edited = replace(bundle, weights=weights, modified=True)
        for ended in ends(edited, words, Budget(FAR, 30)):
            for place, number in enumerate(ended.inputs.tolist()):
                if ended.doubted[place]:
                    continue
                steps = list(tf.stream(edited, words[number], engine="sparse", max_tokens=30))
                assert ended.tokens[place] == len(steps)
                newest = ended.windows.rows(place)[-1]
                assert newest.tolist() == list(steps[-1].ids)
                compared += 1
    assert compared > 6


def test_kernels_that_were_made_before_come_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = bundle_of("registers")
    reader, device = Reader(bundle), ProcessorDevice(kernel_text_of(bundle))
    asked = reader.goes_on, reader.step_values

    def prepared(weights: TransformerWeights) -> Kernel:
        return GpuBatch(weights, bundle.offsets, lambda: device, tmp_path).prepared(*asked)

    made = prepared(bundle.weights)
    monkeypatch.delattr(cache_of_kernels, "kernel_of")
    found = prepared(bundle.weights)
    assert (found.text, found.layout) == (made.text, made.layout)
    assert (found.offsets.at(3)[0] == made.offsets.at(3)[0]).all()
    part = next(part for part in parameters(bundle.weights) if nonzero_values(part).size)
    with pytest.raises(NameError):
        prepared(with_sign_flipped(bundle.weights, part.path, 0))


@pytest.mark.parametrize("name", SOME_PTX)
def test_ptx(name: str) -> None:
    ptx = _ptx(name)
    assert b".entry run(" in ptx
    assert b".entry feed(" in ptx


@pytest.mark.slow
@pytest.mark.parametrize("name", gallery_names())
def test_ptx_of_the_gallery(name: str) -> None:
    if name != "bf_interpreter":  # too intricate for gates: it runs on the sparse engine
        assert b".entry run(" in _ptx(name)


def _ptx(name: str) -> bytes:
    bundle = tf.compile_machine(tf.gallery_machine(name), levels=2, base=2)
    return ptx_of(kernel_text_of(bundle))
