"""Step II: queue machine -> weights. Sizes, names, sharing of heads, faults."""

from __future__ import annotations

import numpy as np
import pytest

from tapeformer.bundle.tensors import parameter_bytes
from tapeformer.engines import dense
from tapeformer.faults import TapeformerError
from tapeformer.lowering.literal_blocks import Blocks
from tapeformer.lowering.queues_to_heads import HeadMode
from tapeformer.lowering.queues_to_literal import flat_token, literal_transformer
from tapeformer.lowering.queues_to_weights import transformer
from tapeformer.lowering.weights_to_normalised import with_layer_norm
from tapeformer.weights.count import count
from tapeformer.weights.parameters import nonzero_values, parameters
from tapeformer.weights.positions import encoding, offsets_for
from tapeformer.weights.verify import verify
from tests.table_machines import table_machine

SIX = table_machine(3, ["a", "b", "a", "c", "b", "a"], alphabet=("0", "_"))
SMALL = table_machine(5, ["a", "b", "c"])


@pytest.mark.parametrize(("mode", "heads"), [("queue", 6), ("offset", 3)])
def test_one_head_per_queue_or_per_rule(mode: HeadMode, heads: int) -> None:
    for layers in range(1, heads + 1):
        if heads % layers == 0:
            weights = transformer(SIX.machine, mode, layers)
            assert verify(weights) == ()
            assert count(weights).attention_heads == heads
            assert [len(layer.heads) for layer in weights.layers] == [heads // layers] * layers


def test_layers_must_divide_the_heads() -> None:
    with pytest.raises(TapeformerError, match="divides 6: 1, 2, 3, 6; got 4"):
        transformer(SIX.machine, "queue", 4)
    with pytest.raises(TapeformerError, match="got 0"):
        transformer(SIX.machine, "queue", 0)


def test_rules_with_equal_numbers_stay_apart() -> None:
    weights = transformer(SMALL.machine, "offset")
    assert weights.position_rules == ("a", "b", "c")
    assert offsets_for(weights, {"a": 4, "b": 4, "c": 2}) == (3, 3, 1)


def test_only_pos_changes_with_n() -> None:
    weights = transformer(SMALL.machine, "offset")
    short, long = {"a": 2, "b": 4, "c": 6}, {"a": 20, "b": 400, "c": 6000}
    before = parameter_bytes(weights)
    for lengths in (short, long):
        dense.Engine(weights, offsets_for(weights, lengths)).prompt(SMALL.prompt(weights, "01"))
    assert parameter_bytes(transformer(SMALL.machine, "offset")) == before
    rows = encoding(weights, offsets_for(weights, short), 6)
    assert rows[0].tolist() == [1, 1, 1]
    assert np.argwhere(rows[1:] == 2).tolist() == [[0, 0], [2, 1], [4, 2]]


def test_a_queue_of_length_one_needs_no_head() -> None:
    machine = table_machine(7, ["a", "one"], untested=["one"]).machine
    assert count(transformer(machine, "offset")).attention_heads == 1
    assert count(transformer(machine, "queue")).attention_heads == 2
    with pytest.raises(TapeformerError, match="length one and a parity test"):
        transformer(table_machine(7, ["a", "one"]).machine)


def test_names_must_differ() -> None:
    machine = table_machine(7, ["a"]).machine
    doubled = type(machine)(**{**vars(machine), "queues": machine.queues * 2})
    with pytest.raises(TapeformerError, match="'q0' is used 2 times"):
        transformer(doubled)


def test_all_parameters_are_small_integers() -> None:
    weights = transformer(SMALL.machine, "queue")
    largest = max(int(np.abs(nonzero_values(p)).max(initial=0)) for p in parameters(weights))
    assert largest <= 4
    assert count(weights).precision == 3
    assert count(with_layer_norm(weights)).precision <= 5


def test_literal_has_the_paper_s_shapes() -> None:
    """d = (c + 9) K before padding, K zero, Q one entry, V four, W and W_out identities."""
    machine = table_machine(1, ["a", "b"], states=4).machine
    blocks = Blocks(machine, 1)
    assert (blocks.state_bits, blocks.block) == (2, 2 + 9)
    weights = literal_transformer(machine)
    assert verify(weights) == ()
    assert len(weights.factors[0].values) == 3**2 * 4 * 2 <= count(weights).d_model
    for head in weights.layers[0].heads:
        assert (head.query.values.size, head.key.values.size, head.value.values.size) == (1, 0, 4)
    mix = weights.layers[0].mix
    assert mix.rows.tolist() == mix.columns.tolist() == list(range(count(weights).d_model))
    out = weights.outputs[0].matrix
    assert out.rows.tolist() == out.columns.tolist() == list(range(72))


def test_literal_embedding_is_equation_emb() -> None:
    machine = table_machine(1, ["a", "b"], states=2).machine
    weights = literal_transformer(machine)
    row = flat_token(machine, (1, 2, 1, 0))[0]
    chosen = weights.embeddings[0].rows == row
    names = [weights.fields[column] for column in weights.embeddings[0].columns[chosen]]
    assert names == [
        "q0: constant",
        "q0: symbol=1",
        "q0: state bit 0",
        "q1: constant",
        "q1: symbol=_",
        "q1: state bit 0",
    ]


def test_literal_refuses_a_large_vocabulary() -> None:
    with pytest.raises(TapeformerError, match="flat vocabulary"):
        literal_transformer(table_machine(1, list("abcdef"), states=20).machine)
