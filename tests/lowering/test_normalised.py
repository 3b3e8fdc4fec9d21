"""The normalised model: coordinates as pairs of 2x - 1 and its mirror, and matrices that are sums."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tapeformer.lowering.literal_blocks import Blocks
from tapeformer.lowering.queues_to_literal import literal_transformer
from tapeformer.lowering.queues_to_weights import transformer
from tapeformer.lowering.weights_to_normalised import _sum, with_layer_norm
from tapeformer.weights.matrices import dense, matrix
from tapeformer.weights.parameters import with_parameters
from tests.table_machines import table_machine


@pytest.mark.parametrize("shape", [(1, 1), (4, 1), (1, 4), (3, 2), (5, 7)])
def test_a_sum_has_the_sums_of_entries_and_no_zeros(shape: tuple[int, int]) -> None:
    chance = Random(str(shape))
    for _ in range(20):
        parts = [
            matrix(
                shape,
                {
                    (row, column): chance.choice((-1, 1, 2))
                    for row in range(shape[0])
                    for column in range(shape[1])
                    if chance.random() < 0.6
                },
            )
            for _ in range(2)
        ]
        found = _sum(*parts)
        assert (dense(found) == dense(parts[0]) + dense(parts[1])).all()
        assert np.count_nonzero(found.values) == len(found.values)


def test_what_attention_adds_to_x_is_added_twice_to_2x_and_taken_twice_from_its_mirror() -> None:
    plain, chance = transformer(table_machine(11, ["a", "b"]).machine), Random(1)
    bias = [chance.choice((0, 1, -1, 3)) for _ in plain.fields]
    weights = with_parameters(plain, {"layer.0.mix_bias": np.array(bias, np.int32)})
    found = with_layer_norm(weights).layers[0].mix_bias.tolist()
    assert found == [*(2 * x for x in bias), *(-2 * x for x in bias)]


@pytest.mark.parametrize("flat", [False, True])
def test_a_token_is_embedded_as_pairs_of_ones(flat: bool) -> None:
    """Whatever its number of factors, each coordinate of a token is 1 or -1, and its mirror the other."""
    machine = table_machine(11, ["a", "b"]).machine
    weights = with_layer_norm(literal_transformer(machine) if flat else transformer(machine))
    assert (len(weights.factors) == 1) is flat
    for place in range(2):
        embedded = sum(dense(part)[place] for part in weights.embeddings)
        half = len(weights.fields) // 2
        assert set(np.abs(embedded).tolist()) == {1}
        assert (embedded[:half] == -embedded[half:]).all()


@pytest.mark.parametrize("layers", [1, 2, 4])
def test_the_coordinates_of_literal_blocks_are_different_ones(layers: int) -> None:
    blocks = Blocks(table_machine(3, ["a", "b", "a", "c"]).machine, layers)
    used = [
        place
        for r in range(len(blocks.machine.queues))
        for place in (
            *(blocks.symbol(r, value) for value in range(blocks.symbols)),
            *(blocks.state(r, bit) for bit in range(blocks.state_bits)),
            *(blocks.slot(r, value) for value in range(blocks.symbols)),
            *(blocks.start(r), blocks.parity(r), blocks.parity_slot(r)),
        )
    ]
    assert len(set(used)) == len(used)
    assert set(used) <= set(range(blocks.d))
