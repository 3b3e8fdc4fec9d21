"""The role table says what each component is for, and methods can be scored against it."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import asdict, replace
from functools import cache

import pytest
import torch

import tapeformer as tf
from tapeformer.bundle.record import Bundle
from tapeformer.export.contexts import chain_of_thought, random_tokens
from tapeformer.export.patching import HeadPatching, activations, queue_effects
from tapeformer.export.roles import Role, roles, roles_text
from tapeformer.faults import TapeformerError
from tapeformer.weights.matrices import matrix
from tapeformer.weights.record import Layer, Matrix
from tests.export.models import VARIANTS, chain, model


@cache
def table(name: str) -> tuple[Role, ...]:
    return roles(model(name))


def of_kind(name: str, kind: str) -> list[Role]:
    return [role for role in table(name) if role.kind == kind]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_component_has_one_role_at_a_hook_point_of_the_module(name: str) -> None:
    weights = model(name).weights
    hidden = [len(part.names) for layer in weights.layers for part in layer.feed_forward[:-1]]
    counts = Counter(role.kind for role in table(name))
    assert counts["head"] == len(weights.position_rules)
    assert (counts["neuron"], counts["field"]) == (sum(hidden), len(weights.fields))
    assert len({role.component for role in table(name)}) == len(table(name))
    module = tf.export.torch_module(model(name))
    hooks = {role.hook for role in table(name)}
    found = activations(module, chain(name).tokens[:, :3], sorted(hooks))
    for role in table(name):
        assert role.index < found[role.hook].shape[2 if role.kind == "head" else -1]


@pytest.mark.parametrize("name", ["realtime", "layers", "layer norm", "paper, queue heads"])
def test_heads_attend_at_their_offset_and_fetch_queues_of_their_length(name: str) -> None:
    bundle, tokens = model(name), chain(name).tokens
    heads = of_kind(name, "head")
    hooks = [f"blocks.{number}.attn.hook_pattern" for number in range(len(bundle.weights.layers))]
    found = activations(tf.export.torch_module(bundle), tokens, hooks)
    last = tokens.shape[1] - 1
    for head in heads:
        assert head.offset is not None
        pattern = found[f"blocks.{head.layer}.attn.hook_pattern"][0, head.index, last]
        assert pattern.argmax() == last - head.offset
        assert bundle.layout.lengths[bundle.weights.position_rules[head.number]] == head.offset + 1
    fetched = [queue for head in heads for queue in head.queues if queue != bundle.prompt.parity]
    assert len(fetched) == len(set(fetched)) > 0


def test_neurons_name_rule_file_and_line_as_info_does() -> None:
    bundle = model("realtime")
    for role in of_kind("realtime", "neuron")[::37]:
        (told,) = bundle.explanations(None, role.number, None)
        assert told.title.startswith(f"neuron {role.number}: {role.name} (layer {role.layer}")
        assert (told.rules, told.more_rules) == (role.rules, role.more_rules)
        assert [f"({line})" for line in role.lines] == [
            str(bundle.rules[number - 1]).split("  ")[-1] for number in told.rules
        ]
    assert {role.role for role in of_kind("realtime", "neuron")} == {"rule", "gate", "carry"}
    assert set(tf.export.rule_neurons(table("realtime"))) == set(range(1, len(bundle.rules) + 1))


def test_fields_say_what_fills_them() -> None:
    by_name = {role.name: role for role in of_kind("realtime", "field")}
    assert by_name["state=back"].role == "token"
    assert by_name["state=back"].queues == ("state",)
    fetched = by_name["fetched tape1.left/main3.mark=1"]
    assert (fetched.role, fetched.hook) == ("fetched", "blocks.0.hook_resid_mid")
    assert by_name["next state=back"].role == "computed"


def test_tables_are_read_back_from_csv_and_json() -> None:
    whole = table("two tapes")
    read = json.loads(roles_text(whole, "json"))
    assert read == [
        {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(role).items()}
        for role in whole
    ]
    rows = list(csv.DictReader(io.StringIO(roles_text(whole, "csv"))))
    assert [row["name"] for row in rows] == [role.name for role in whole]
    assert [row["lines"].split(";") if row["lines"] else [] for row in rows] == [
        list(role.lines) for role in whole
    ]
    with pytest.raises(TapeformerError, match="csv or json"):
        roles_text(whole, "xml")
    with pytest.raises(TapeformerError, match="not a compiled model"):
        roles(3)  # type: ignore[arg-type]


def effects(bundle: Bundle, tokens: torch.Tensor | None = None) -> dict[str, dict[str, float]]:
    """Return the effects found by activation patching, in random contexts unless tokens are given."""
    module = tf.export.torch_module(bundle, attention="offsets").requires_grad_(False)
    given = random_tokens(module, 1, 64) if tokens is None else tokens
    whole = roles(bundle)
    names = [factor.name for factor in bundle.weights.factors]
    return queue_effects(HeadPatching(module, given, whole), names, tf.export.fetching_heads(whole))


@pytest.mark.parametrize("name", ["realtime", "queue heads"])
def test_patching_finds_the_head_of_every_queue_in_random_contexts(name: str) -> None:
    score = tf.export.score_roles(effects(model(name)), tf.export.fetching_heads(table(name)))
    assert (score.top1, score.mean_reciprocal_rank) == (1, 1)


def test_a_chain_of_thought_of_the_papers_construction_uses_every_queue() -> None:
    name = "paper, queue heads"
    found = effects(model(name), chain(name).tokens)
    assert tf.export.score_roles(found, tf.export.fetching_heads(table(name))).top1 == 1


def test_a_short_chain_of_thought_does_not_tell_about_every_queue() -> None:
    found = effects(model("realtime"), chain("realtime").tokens)
    score = tf.export.score_roles(found, tf.export.fetching_heads(table("realtime")))
    assert 1 / 3 < score.top1 < 1
    assert score.top1 < score.mean_reciprocal_rank < 1


def test_a_model_with_permuted_heads_scores_worse_against_the_old_table() -> None:
    moved = with_rotated_heads(model("realtime"))
    tokens = chain("realtime").tokens
    assert chain("realtime").follows(tf.export.torch_module(moved)(tokens))
    found = effects(moved)
    assert tf.export.score_roles(found, tf.export.fetching_heads(roles(moved))).top1 == 1
    wrong = tf.export.score_roles(found, tf.export.fetching_heads(table("realtime")))
    assert wrong.top1 < 0.1
    assert wrong.mean_reciprocal_rank < 0.6


def with_rotated_heads(bundle: Bundle) -> Bundle:
    """Return the same function with heads in another order: the last of each layer first."""
    weights = bundle.weights
    layers = tuple(_rotated(layer, weights.value_width) for layer in weights.layers)
    return replace(bundle, weights=replace(weights, layers=layers))


def _rotated(layer: Layer, width: int) -> Layer:
    mix, size = layer.mix, len(layer.heads) * width
    entries = zip(mix.rows.tolist(), mix.columns.tolist(), mix.values.tolist(), strict=True)
    moved: Matrix = matrix(mix.shape, {(r, (c + width) % size): v for r, c, v in entries})
    return replace(layer, heads=(layer.heads[-1], *layer.heads[:-1]), mix=moved)


def test_ties_and_silence_count_against_a_method() -> None:
    truth = {"x": {"A"}, "y": {"B"}}
    score = tf.export.score_roles({"x": {"A": 1, "B": 0}, "y": {"A": 0, "B": 0}}, truth)
    assert asdict(score) == {"targets": 2, "top1": 0.5, "mean_reciprocal_rank": 0.75}
    assert tf.export.score_roles({"x": {"B": 1}, "y": {"A": 1}}, truth).mean_reciprocal_rank == 0
    nothing = float("nan")
    assert tf.export.score_roles({"x": {"A": 1, "B": nothing}, "y": {"B": 0}}, truth).top1 == 0.5
    with pytest.raises(TapeformerError, match="every target"):
        tf.export.score_roles({"x": {"A": 1}}, truth)


def test_a_chain_of_thought_is_the_prompt_and_what_is_streamed() -> None:
    made = chain_of_thought(model("realtime"), "abba")
    streamed = [token.ids for token in tf.stream(model("realtime"), "abba")]
    assert made.tokens[0, made.prompt_length :].tolist() == [list(ids) for ids in streamed]
    cut = chain_of_thought(model("realtime"), "abba", max_tokens=3)
    assert torch.equal(cut.tokens, made.tokens[:, : made.prompt_length + 3])


def overlaps(bundle: Bundle, tokens: torch.Tensor) -> dict[int, dict[str, float]]:
    """Return for each rule how well each neuron tells its state and symbol: a Jaccard index."""
    neurons = [role for role in roles(bundle) if role.kind == "neuron"]
    module = tf.export.torch_module(bundle, attention="offsets")
    found = activations(module, tokens, sorted({role.hook for role in neurons}))
    active = torch.stack([found[n.hook][..., n.index].flatten() > 0 for n in neurons])
    factors = {factor.name: (i, factor.values) for i, factor in enumerate(bundle.weights.factors)}
    effects = {}
    for number, rule in enumerate(tf.gallery_machine(bundle.name).rules, 1):
        here = torch.ones(tokens[..., 0].numel(), dtype=torch.bool)
        for name, value in (("state", rule.state), ("tape1/head", rule.read[0])):
            place, values = factors[name]
            here &= tokens[..., place].flatten() == values.index(value)
        shares = (active & here).sum(1) / (active | here).sum(1).clamp(min=1)
        named = zip(neurons, shares.tolist(), strict=True)
        effects[number] = {neuron.component: share for neuron, share in named}
    return effects


def test_overlap_with_state_and_symbol_finds_a_neuron_of_every_rule() -> None:
    bundle, truth = model("realtime"), tf.export.rule_neurons(table("realtime"))
    tokens = random_tokens(tf.export.torch_module(bundle), 1, 400)
    score = tf.export.score_roles(overlaps(bundle, tokens), truth)
    assert (score.targets, score.top1) == (len(bundle.rules), 1)
    natural = tf.export.score_roles(overlaps(bundle, chain("realtime").tokens), truth)
    assert 0 < natural.top1 < 1
