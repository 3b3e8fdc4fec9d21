"""Verifying, counting and explaining weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tapeformer.faults import TapeformerError
from tapeformer.lowering.queues_to_prompt import prompt_for
from tapeformer.lowering.queues_to_weights import transformer
from tapeformer.weights.count import count
from tapeformer.weights.explain import Explanation, explain_field, explain_head, explain_neuron
from tapeformer.weights.matrices import dense, matrix, same, stacked, transposed
from tapeformer.weights.parameters import parameters, with_parameters, with_sign_flipped
from tapeformer.weights.positions import offsets_for
from tapeformer.weights.record import Matrix, TransformerWeights
from tapeformer.weights.show import show
from tapeformer.weights.tokens import named, prompt_tokens
from tapeformer.weights.verify import verify
from tests.small_models import SmallModel
from tests.table_machines import table_machine

MADE = table_machine(2, ["a", "b"])
WEIGHTS = transformer(MADE.machine, "queue", 2)


def test_all_faults_are_found_at_once() -> None:
    old = WEIGHTS.layers[0].heads[0].value
    odd = Matrix((3, 3), old.rows[::-1], old.columns, old.values * 0 + 10**6)
    broken = replace(
        with_parameters(
            WEIGHTS, {"layer.0.head.0.value": odd, "layer.0.mix_bias": np.zeros(2, np.int32)}
        ),
        fields=(WEIGHTS.fields[1], *WEIGHTS.fields[1:]),
    )
    text = "\n".join(map(str, verify(broken)))
    for part in (
        "a residual field appears 2 times",
        "wrong shape of layer.0.head.0.value",
        "wrong shape of layer.0.mix_bias",
        "wrong size of an entry of layer.0.head.0.value; expected at most 32767; got 1000000",
        "wrong row of an entry of layer.0.head.0.value; expected 0 to 2",
        "not sorted",
        "not named as the residual fields",
    ):
        assert part in text


def of_zeros() -> TransformerWeights:
    empty = {
        parameter.path: matrix((parameter.shape[0], parameter.shape[1]), {})
        for parameter in parameters(WEIGHTS)
        if isinstance(parameter.value, Matrix)
    }
    return with_parameters(WEIGHTS, empty)


@pytest.mark.parametrize(
    ("rows", "columns", "told"),
    [
        ([1, 0], [0, 5], "are not sorted, or repeat"),
        ([0, 0], [5, 5], "are not sorted, or repeat"),
        ([0, 1, 1], [0, 1, 2], "wrong number of entries"),
        ([0, 1], [5, 0], None),
    ],
)
def test_entries_are_in_order(rows: list[int], columns: list[int], told: str | None) -> None:
    down, across = np.array(rows, np.int32), np.array(columns, np.int32)
    part = Matrix(
        WEIGHTS.layers[1].feed_forward[0].matrix.shape, down, across, np.ones(2, np.int32)
    )
    faults = verify(with_parameters(of_zeros(), {"layer.1.feed_forward.0.matrix": part}))
    assert [told in str(fault) for fault in faults] == [True] if told else not faults


def test_a_model_of_zeros_is_sound() -> None:
    assert verify(of_zeros()) == ()


def test_counts_are_those_of_the_matrices() -> None:
    sizes = count(WEIGHTS)
    assert sizes.parameters == sum(int(np.prod(p.shape)) for p in parameters(WEIGHTS))
    assert sizes.parameter_bits == sizes.precision * sizes.parameters
    assert (sizes.attention_heads, sizes.layers, sizes.ff_depth) == (2, 2, 2)
    assert sizes.d_model == len(WEIGHTS.fields)
    assert sizes.nonzero_parameters < sizes.parameters / 4


def test_precision_counts_the_sign() -> None:
    for value, bits in ((1, 2), (-1, 1 + 1), (-4, 3), (4, 4), (127, 8), (-128, 8)):
        part = matrix(WEIGHTS.layers[0].mix.shape, {(0, 0): value})
        edited = with_parameters(WEIGHTS, {"layer.0.mix": part})
        assert count(edited).precision == max(bits, count(WEIGHTS).precision)


def test_sparse_matrices_against_full_ones() -> None:
    one, two = matrix((2, 3), {(0, 1): 5, (1, 0): -2, (1, 2): 0}), matrix((1, 3), {(0, 2): 1})
    assert dense(one).tolist() == [[0, 5, 0], [-2, 0, 0]]
    assert dense(stacked([one, two], 3)).tolist() == [[0, 5, 0], [-2, 0, 0], [0, 0, 1]]
    assert dense(transposed(one)).tolist() == [[0, -2], [5, 0], [0, 0]]
    assert stacked([], 3).shape == (0, 3)


def test_a_flip_changes_one_entry_and_back() -> None:
    path = "layer.1.feed_forward.0.bias"
    flipped = with_sign_flipped(WEIGHTS, path, 1)
    assert not same(flipped, WEIGHTS)
    assert same(with_sign_flipped(flipped, path, 1), WEIGHTS)


def test_offsets_need_a_length_for_every_rule() -> None:
    with pytest.raises(TapeformerError, match="rule 'b'"):
        offsets_for(WEIGHTS, {"a": 4, "b": 0})


def test_prompts() -> None:
    prompt = prompt_for(MADE.machine)
    first, second = prompt_tokens(prompt, WEIGHTS.factors, "10")
    assert named(WEIGHTS.factors, first) == {"q0": "1", "q1": "_", "state": "s0", "parity": "1"}
    assert named(WEIGHTS.factors, second) == {"q0": "0", "q1": "_", "state": "s0", "parity": "0"}
    with pytest.raises(TapeformerError, match="one of '0', '1'; got 'x', 'y'"):
        prompt_tokens(prompt, WEIGHTS.factors, "0xyx")
    with pytest.raises(TapeformerError, match="factor 'q0'"):
        prompt_tokens(replace(prompt, start="?"), WEIGHTS.factors, "0")


def test_heads_are_explained() -> None:
    said = explain_head(WEIGHTS, 1, {"a": 4, "b": 6})
    assert said.title == "head 1 (q1), layer 1"
    assert said.reads[:2] == ("query from constant", "value from q1=0")
    assert said.writes[0] == "fetched q1=0, a copy of q1=0"
    assert "5 tokens before the current one" in said.why
    assert "rule 'b'" in explain_head(WEIGHTS, 1).why
    with pytest.raises(TapeformerError, match="no such head; expected 0 to 1; got 7"):
        explain_head(WEIGHTS, 7)


def test_neurons_are_explained() -> None:
    said = [explain_neuron(WEIGHTS, number) for number in range(count(WEIGHTS).neurons)]
    front = next(s for s in said if "q0/front=0 at parity 1" in s.title)
    assert front.reads == (
        "+1 parity=1",
        "+1 fetched q0=0",
        "+1 fetched parity of q0=0",
        "bias -2",
    )
    assert front.writes[0] == "+1 row 0 0 s0"
    carried = next(s for s in said if "carry state=s0" in s.title)
    assert carried.why == "a later layer needs state=s0"
    assert "row 0 0 s0" in str(front)
    with pytest.raises(TapeformerError, match=f"expected 0 to {len(said) - 1}; got 100000"):
        explain_neuron(WEIGHTS, 100_000)


def test_rules_are_told_by_their_text_where_it_is_known() -> None:
    said = Explanation("neuron 1", ("a",), ("b",), "so", rules=(2, 3), more_rules=True)
    texts = {1: "one", 2: "two", 3: "three"}
    lines = said.text(texts).splitlines()
    assert lines[-3:] == ["  rule    2: two", "  rule    3: three", "  rule    ... and more"]
    alone = replace(said, rules=(), more_rules=False)
    assert alone.text(texts).splitlines()[-1] == "  rule    none in particular"
    assert "rule" not in alone.text({})
    assert str(said).splitlines()[-1] == "  rule    ... and more"


def entries(part: NDArray[Any]) -> int:
    """The number of entries that are not zero."""
    return int(np.count_nonzero(part))


@pytest.mark.parametrize("weights", [WEIGHTS, *(SmallModel(seed).weights for seed in range(12))])
def test_a_field_names_all_that_fill_it_and_all_that_look_at_it(
    weights: TransformerWeights,
) -> None:
    for place in range(len(weights.fields)):
        check_field(weights, place)


def check_field(weights: TransformerWeights, place: int) -> None:
    """Count what fills a coordinate and what looks at it in the matrices themselves."""
    said, width = explain_field(weights, weights.fields[place]), weights.value_width
    fills = sum(entries(dense(part)[:, place]) for part in weights.embeddings)
    looks = sum(entries(dense(part.matrix)[:, place]) for part in weights.outputs)
    for layer in weights.layers:
        mix = dense(layer.mix)[place].reshape(len(layer.heads), width)
        writing = [head for head, row in zip(layer.heads, mix, strict=True) if row.any()]
        assert {f"head {head.position} ({head.name})" for head in writing} <= set(said.reads)
        fills += len(writing)
        for head in layer.heads:
            parts = (head.query, head.key, head.value)
            looks += any(dense(part)[:, place].any() for part in parts)
        for last in layer.feed_forward[-1:]:
            fills += entries(dense(last.matrix)[place])
        for first in layer.feed_forward[:1]:
            looks += entries(dense(first.matrix)[:, place])
    assert (len(said.reads), len(said.writes)) == (fills, looks)


def test_a_queue_of_one_symbol_is_seen_in_the_token_itself() -> None:
    assert offsets_for(WEIGHTS, {"a": 1, "b": 6}) == (0, 5)
    with pytest.raises(TapeformerError):
        offsets_for(WEIGHTS, {"a": 0, "b": 6})


def test_neurons_are_numbered_alike_where_they_are_shown_and_explained() -> None:
    deep = [len(layer.feed_forward) for layer in WEIGHTS.layers]
    assert max(deep) > 2
    twice = replace(WEIGHTS, layers=(WEIGHTS.layers[-1], *WEIGHTS.layers))
    for weights in (WEIGHTS, twice):
        shown = [line for line in show(weights).splitlines() if line.startswith("neuron ")]
        numbers = [int(line.split(":")[0].removeprefix("neuron ")) for line in shown]
        assert numbers == list(range(count(weights).neurons))


def test_fields_are_explained() -> None:
    fetched = explain_field(WEIGHTS, "fetched q1=0")
    assert fetched.reads == ("head 1 (q1)",)
    assert fetched.writes[0] == "+1 q1/front=0 at parity 0"
    assert explain_field(WEIGHTS, "constant").reads == ("token parity=0", "token parity=1")
    assert explain_field(WEIGHTS, "next q0=1").writes == ("logit of q0=1",)
    with pytest.raises(TapeformerError, match="such as 'q1=0'"):
        explain_field(WEIGHTS, "q1")
