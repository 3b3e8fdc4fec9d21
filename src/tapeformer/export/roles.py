"""The role table: what every head, neuron and residual field of a model is for, as plain data.

It is ground truth for interpretability methods: each component is named by the hook point and the
index where a module made by `torch_module` shows it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Literal, TypeAlias

import numpy as np

from tapeformer.bundle.record import Bundle
from tapeformer.export.models import Model, loaded
from tapeformer.faults import Fault, TapeformerError, quoted
from tapeformer.weights.names import carried, rules_of
from tapeformer.weights.record import Head, Layer, Matrix, TransformerWeights

Kind: TypeAlias = Literal["head", "neuron", "field"]
Purpose: TypeAlias = Literal["fetch", "rule", "gate", "carry", "token", "fetched", "computed"]
"""A head fetches; a neuron is a gate, a gate that comes from rules, or carries a value upwards; a
field is filled by the token, by a head (fetched) or by a feed-forward network (computed)."""


@dataclass(frozen=True)
class Role:
    """One component and its role.

    `number` is the one that `info --head` and `--neuron` take; `hook` and `index` are the hook point
    of the module and the place in its last dimension (of a head: the last but one). `queues` are the
    factors of a token that a head fetches from `offset` tokens before, or that a field holds;
    `rules` are numbers from 1, `lines` where each stands in the machine's file.
    """

    component: str
    kind: Kind
    layer: int
    number: int
    hook: str
    index: int
    role: Purpose
    name: str
    offset: int | None = None
    queues: tuple[str, ...] = ()
    rules: tuple[int, ...] = ()
    more_rules: bool = False
    lines: tuple[str, ...] = ()


def roles(model: Model) -> tuple[Role, ...]:
    """Return the role of every component of a model: heads, then neurons, then residual fields."""
    bundle = loaded(model)
    return (*_head_roles(bundle), *_neuron_roles(bundle), *_field_roles(bundle.weights))


def roles_text(table: Sequence[Role], form: str) -> str:
    """Return a role table as `csv` (lists joined by semicolons) or `json`."""
    if form == "json":
        rows = ",\n".join(json.dumps(asdict(role), ensure_ascii=False) for role in table)
        return f"[\n{rows}\n]\n"
    if form != "csv":
        raise TapeformerError(
            Fault("unknown format of a role table", expected="csv or json", got=quoted(form))
        )
    file = io.StringIO()
    writer = csv.DictWriter(file, [column.name for column in fields(Role)], lineterminator="\n")
    writer.writeheader()
    for role in table:
        writer.writerow({key: _cell(value) for key, value in asdict(role).items()})
    return file.getvalue()


def _cell(value: object) -> object:
    return ";".join(map(str, value)) if isinstance(value, tuple) else value


def _head_roles(bundle: Bundle) -> Iterator[Role]:
    held = factors_of_fields(bundle.weights)
    for number, layer in enumerate(bundle.weights.layers):
        for index, head in enumerate(layer.heads):
            yield Role(
                component=f"L{number}H{index}",
                kind="head",
                layer=number,
                number=head.position,
                hook=f"blocks.{number}.attn.hook_z",
                index=index,
                role="fetch",
                name=head.name,
                offset=bundle.offsets[head.position],
                queues=_fetched(head, held),
            )


def _fetched(head: Head, held: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the factors that a head's values copy."""
    columns = head.value.columns.tolist()
    return tuple(dict.fromkeys(name for column in columns for name in held[column]))


def factors_of_fields(weights: TransformerWeights) -> list[tuple[str, ...]]:
    """Return for each residual field the factors whose value it tells, as tokens are embedded."""
    found: list[tuple[str, ...]] = [() for _ in weights.fields]
    for factor, table in zip(weights.factors, weights.embeddings, strict=True):
        for field in _telling(table):
            found[field] += (factor.name,)
    return found


def _telling(table: Matrix) -> list[int]:
    """Return the columns of an embedding that are not the same for all values."""
    found = []
    for column in np.unique(table.columns).tolist():
        entries = table.values[table.columns == column]
        if len(entries) < table.shape[0] or len(set(entries.tolist())) > 1:
            found.append(column)
    return found


def _neuron_roles(bundle: Bundle) -> Iterator[Role]:
    number = 0
    for layer_number, layer in enumerate(bundle.weights.layers):
        for depth, affine in enumerate(layer.feed_forward[:-1]):
            for index, name in enumerate(affine.names):
                rules, more = rules_of(name)
                yield Role(
                    component=f"L{layer_number}D{depth}N{index}",
                    kind="neuron",
                    layer=layer_number,
                    number=number,
                    hook=f"blocks.{layer_number}.mlp.hook_post.{depth}",
                    index=index,
                    role=_purpose(name, rules),
                    name=name,
                    rules=rules,
                    more_rules=more,
                    lines=_lines(bundle, rules),
                )
                number += 1


def _purpose(name: str, rules: Sequence[int]) -> Purpose:
    if carried(name) is not None:
        return "carry"
    return "rule" if rules else "gate"


def _lines(bundle: Bundle, rules: Sequence[int]) -> tuple[str, ...]:
    """Return file and line of rules, of those that were read from a file."""
    origins = [bundle.rules[number - 1] for number in rules if number <= len(bundle.rules)]
    return tuple(f"{origin.source}:{origin.line}" for origin in origins if origin.line is not None)


def _field_roles(weights: TransformerWeights) -> Iterator[Role]:
    """Yield each coordinate of the residual stream at the first hook point where it is filled."""
    fetched, computed = _written_by(weights, "heads"), _written_by(weights, "network")
    for index, (name, held) in enumerate(
        zip(weights.fields, factors_of_fields(weights), strict=True)
    ):
        role: Purpose = "token"
        layer, hook = 0, "hook_embed"
        if not held and index in fetched:
            layer, role = fetched[index], "fetched"
            hook = f"blocks.{layer}.hook_resid_mid"
        elif not held and index in computed:
            layer, role = computed[index], "computed"
            hook = f"blocks.{layer}.hook_resid_post"
        yield Role(f"F{index}", "field", layer, index, hook, index, role, name, queues=held)


def _written_by(weights: TransformerWeights, part: Literal["heads", "network"]) -> dict[int, int]:
    """Return the fields that a part of a layer writes, each with the first such layer."""
    first: dict[int, int] = {}
    for number, layer in enumerate(weights.layers):
        for row in _rows_written(layer, part):
            first.setdefault(row, number)
    return first


def _rows_written(layer: Layer, part: Literal["heads", "network"]) -> list[int]:
    if part == "heads":
        return list(layer.mix.rows.tolist())
    return [row for last in layer.feed_forward[-1:] for row in last.matrix.rows.tolist()]
