"""Gaps of Appendix B: each repair undone, and seen to fail."""

from __future__ import annotations

import numpy as np
import pytest

from tapeformer import gallery_machine
from tapeformer.bundle.record import Bundle
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.engines.registry import make_engine
from tapeformer.inference.generation import Generation
from tapeformer.inference.limits import Limits
from tapeformer.lowering.queues_to_literal import literal_transformer
from tapeformer.queues.table import example_names, load_table

WORD = tuple("abba")


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return compile_machine(gallery_machine("palindrome"), CompileOptions("paper", levels=2, base=4))


def tokens(bundle: Bundle, offsets: list[int]) -> list[list[int]]:
    run = Generation(bundle, WORD, "sparse")
    stream = make_engine("sparse", bundle.weights, offsets, bundle.window)
    stream.prompt(run.reader.prompt(WORD))
    rows: list[list[int]] = stream.advance(200).tolist()
    return rows


def test_gap_9_the_one_hot_output_needs_room_for_the_vocabulary() -> None:
    """W_out is the identity on R^d, so d is at least |V|: Appendix B's own d is not."""
    machine = load_table(example_names()["echo"]).machine
    weights = literal_transformer(machine)
    vocabulary = len(weights.factors[0].values)
    own_width = sum(len(queue.alphabet) for queue in machine.queues) + 9 * len(machine.queues)
    assert len(weights.fields) >= vocabulary > own_width


def test_gap_10_a_head_hands_over_what_it_attends_to_not_what_it_is_at(bundle: Bundle) -> None:
    """With V(h_i) for V(h_j), as printed, every head would look back nowhere: offset 0."""
    right = tokens(bundle, list(bundle.offsets))
    assert tokens(bundle, [0] * len(bundle.offsets)) != right


@pytest.mark.parametrize("shift", [-1, 1])
def test_gap_10_look_backs_are_the_lengths_less_one(bundle: Bundle, shift: int) -> None:
    right = tokens(bundle, list(bundle.offsets))
    for head in range(len(bundle.offsets)):
        offsets = np.array(bundle.offsets)
        offsets[head] += shift
        shifted = offsets.clip(0, bundle.window - 1).tolist()
        if shifted != list(bundle.offsets):
            assert tokens(bundle, shifted) != right, head


def test_gap_10_the_first_token_is_the_step_applied_to_the_prompt(bundle: Bundle) -> None:
    """The induction starts at i = n: parity goes on from the prompt's last token."""
    run = Generation(bundle, WORD, "sparse")
    last = run.reader.words(run.reader.prompt(WORD)[-1])
    first = run.reader.words(next(run.pieces(Limits(10, 1)))[0].tolist())
    assert {last[-1], first[-1]} == {"0", "1"}
