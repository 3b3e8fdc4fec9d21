"""Weight tying: the distinct parameters expand to the exact matrices, and do not grow with the levels."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tapeformer import gallery_machine
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.weights.record import TransformerWeights
from tapeformer.weights.tying import distinct_parameters, entry_names, expanded


def weights(name: str, levels: int) -> TransformerWeights:
    return compile_machine(gallery_machine(name), CompileOptions(levels=levels)).weights


@pytest.mark.parametrize("name", ["busy_beaver_4", "palindrome_two_tapes"])
def test_as_many_distinct_parameters_at_4_levels_as_at_16(name: str) -> None:
    counts = set()
    for levels in (4, 5, 8, 16):
        model = weights(name, levels)
        blocks = distinct_parameters(model, levels)
        assert expanded(blocks, model, levels) == entry_names(model)
        counts.add(len(blocks))
    assert len(counts) == 1
    assert counts.pop() < len(entry_names(model)) / 2


def test_a_changed_weight_is_seen() -> None:
    model = weights("busy_beaver_2", 5)
    network = list(model.layers[0].feed_forward)
    values = network[1].matrix.values.copy()
    values[len(values) // 2] *= -1
    network[1] = replace(network[1], matrix=replace(network[1].matrix, values=values))
    layer = replace(model.layers[0], feed_forward=tuple(network))
    edited = replace(model, layers=(layer,))
    blocks, before = distinct_parameters(edited, 5), distinct_parameters(model, 5)
    assert expanded(blocks, edited, 5) == entry_names(edited)
    assert expanded(before, edited, 5) != entry_names(edited)
