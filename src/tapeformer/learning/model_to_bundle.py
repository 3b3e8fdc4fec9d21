"""A trained model as a bundle like a compiled one: its weights as small integers, its heads as given.

Blocks become parts of one ReLU network. A layer in front of them tells values that a head has
brought from those that it could not (the parity of the token looked at says so), and a second one
pools what levels load. Weights are multiplied by a power of two and rounded; a unit that carries
that factor on from layer to layer serves as the bias.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from tapeformer.bundle.record import Bundle
from tapeformer.learning.blocks import Linears
from tapeformer.learning.fields import Slot, TokenFields
from tapeformer.learning.level_model import Block, LevelModel
from tapeformer.learning.situations import BLOCKS, View, views
from tapeformer.learning.sparse_layers import LayerBuilder
from tapeformer.learning.token_heads import CONSTANT, TokenHeads, fetched, value_name
from tapeformer.weights.record import Affine, Layer
from tapeformer.weights.verify import LARGEST

LARGEST_SCALE = 1 << 13
"""Weights are multiplied by this, or by a smaller power of two where numbers get too large."""
MOST = float(1 << 52)
"""What no sum may come to: whole numbers up to here are exact in float64 too."""


def bundle_of(model: LevelModel, fields: TokenFields, compiled: Bundle, learned: str) -> Bundle:
    """Return the model of one seed with as many levels as a compiled one has.

    `compiled` lends its prompt, its layout and how its answer is read; `learned` says what the
    model was trained on.
    """
    heads = TokenHeads(fields, compiled)
    network = _Network(model, fields, heads).affines()
    (layer,) = compiled.weights.layers
    weights = replace(
        compiled.weights,
        fields=heads.fields,
        embeddings=heads.embeddings(),
        layers=(Layer(heads.heads(layer), *heads.mix(layer), feed_forward=network),),
        outputs=heads.outputs(),
        value_width=heads.value_width,
    )
    return replace(compiled, weights=weights, rules=(), learned=learned)


@dataclass(frozen=True)
class _Application:
    """A block where it is applied: the names of its hidden units begin with `name`."""

    name: str
    block: Block
    copy: int
    view: View
    pairs: int


class _Network:
    """The feed-forward network of all blocks, layer by layer."""

    def __init__(self, model: LevelModel, fields: TokenFields, heads: TokenHeads) -> None:
        self.model, self.fields, self.heads = model, fields, heads
        self.depth = len(model.block("control").networks.layers)
        self.scale = scale_for(model)
        self.applied = list(self._applications())

    def affines(self) -> tuple[Affine, ...]:
        """Return all layers: two that prepare, the hidden ones, and the last."""
        layers = [self._told_apart()]
        layers.append(self._pooled(layers[-1].number))
        for depth in range(self.depth - 1):
            layers.append(self._hidden(depth, layers[-1].number))
        return (*(layer.affine() for layer in layers), self._last(layers[-1].number))

    def _applications(self) -> Iterator[_Application]:
        for name in BLOCKS:
            block = self.model.block(name)
            for number, view in enumerate(views(self.fields, name)):
                copies = self.model.copies_of(name)(torch.tensor([view.level]))
                copy = int(copies[0])
                pairs = 2 * self._symbols if name == "control" else 0
                yield _Application(
                    f"{name} {number} of level {view.level}", block, copy, view, pairs
                )

    @property
    def _symbols(self) -> int:
        return self.fields.tick(2, "delay.input").size

    def _told_apart(self) -> LayerBuilder:
        """Carry values of the token, and those fetched by a head that has looked back."""
        layer = LayerBuilder(self.heads.number, " (seen)")
        layer.neuron(CONSTANT, {CONSTANT: 1})
        for column, factor in enumerate(self.fields.factors):
            for value in range(factor.size):
                name = value_name(self.fields, column, value)
                layer.neuron(f"{name}, carried", {name: 1})
                if factor.look_back:
                    self._looked_back(layer, name, factor.look_back, {fetched(name): 1})
        for level in range(2, self.fields.levels + 1):
            for load, symbol, name in self._loads(level):
                back = self.fields.tick(level, "delay.input").look_back or 0
                self._looked_back(layer, name, back, {load: 1, fetched(symbol): 1})
        return layer

    def _looked_back(
        self, layer: LayerBuilder, name: str, back: int, reads: dict[str, int]
    ) -> None:
        """Add a neuron for each parity of the token: the one looked at, an odd way back, has the other."""
        for now, then in ((0, 1), (1, 0)):
            parities = {self.heads.parity(now): 1, self.heads.parity(then, back): 1}
            layer.neuron(f"{name}, {now}", reads | parities, -len(reads) - 1)

    def _loads(self, level: int) -> Iterator[tuple[str, str, str]]:
        """Yield each pair of values of `load` and of the prompt's symbol on a level, and its name."""
        load, symbol = self.fields.tick(level, "load"), self.fields.tick(level, "delay.input")
        for number in range(2 * self._symbols):
            loaded, sign = divmod(number, self._symbols)
            names = (
                value_name(self.fields, load.column, loaded),
                value_name(self.fields, symbol.column, sign),
            )
            yield *names, f"pair {number} of level {level}"

    def _pooled(self, before: dict[str, int]) -> LayerBuilder:
        """Bring the two parities together, and say of each pair whether some level has it."""
        layer = LayerBuilder(before, " (pooled)")
        layer.neuron(CONSTANT, {CONSTANT: 1})
        for column, factor in enumerate(self.fields.factors):
            for value in range(factor.size):
                name = value_name(self.fields, column, value)
                layer.neuron(name, {f"{name}, carried": 1})
                if factor.look_back:
                    layer.neuron(fetched(name), {f"{name}, 0": 1, f"{name}, 1": 1})
        levels = range(2, self.fields.levels + 1)
        for number in range(2 * self._symbols):
            reads = {f"pair {number} of level {n}, {p}": 1 for n in levels for p in (0, 1)}
            layer.neuron(f"pair {number}", reads)
            layer.neuron(f"pair {number}, more than one", reads, -1)
        return layer

    def _hidden(self, depth: int, before: dict[str, int]) -> LayerBuilder:
        """Add a hidden layer of every block."""
        layer = LayerBuilder(before, f" (hidden {depth + 1})")
        layer.neuron(CONSTANT, {CONSTANT: self.scale})
        for use in self.applied:
            reads, weights = self._weights(use, depth)
            units = [f"{use.name}, {depth + 1}.{unit}" for unit in range(len(weights))]
            layer.dense(units, reads, weights)
        return layer

    def _weights(self, use: _Application, depth: int) -> tuple[list[str], NDArray[np.int64]]:
        """Return what a layer of a block reads, and its weights (outputs, inputs), bias last."""
        linears = use.block.networks.layers[depth]
        assert isinstance(linears, Linears)
        weight = linears.weight[use.copy].detach().double().cpu().numpy().T * self.scale
        bias = linears.bias[use.copy].detach().double().cpu().numpy().T * self.scale
        if depth == 0:
            reads, weight, shift = self._first(use, weight)
            bias = bias + shift
        else:
            reads = [f"{use.name}, {depth}.{unit}" for unit in range(weight.shape[1])]
        whole = np.rint(np.concatenate([weight, bias], 1)).astype(np.int64)
        return [*reads, CONSTANT], whole

    def _first(
        self, use: _Application, weight: NDArray[np.float64]
    ) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
        """Return the units that the first layer reads, its weights, and what to add to the bias."""
        reads, columns, start = [], [], 0
        for slot in use.view.inputs:
            for value, name in self._values(slot):
                reads.append(name)
                columns.append(weight[:, start + value])
            start += slot.size
        shift = np.zeros((len(weight), 1))
        for number in range(use.pairs):
            absent, present = weight[:, start + 2 * number], weight[:, start + 2 * number + 1]
            reads += [f"pair {number}", f"pair {number}, more than one"]
            columns += [present - absent, absent - present]
            shift[:, 0] += absent
        return reads, np.stack(columns, 1), shift

    def _values(self, slot: Slot) -> Iterator[tuple[int, str]]:
        """Yield the values of a slot with the units that stand for them; none if it is not there."""
        if slot.column < 0:
            return
        for value in range(self.fields.factors[slot.column].size):
            name = value_name(self.fields, slot.column, value)
            yield value, fetched(name) if slot.look_back else name

    def _last(self, before: dict[str, int]) -> Affine:
        """Bring what blocks say to the residual stream."""
        layer = LayerBuilder(before)
        zeros = [name for name in self.heads.fields if name not in self.heads.said]
        layer.dense(zeros, [], np.zeros((len(zeros), 0), np.int64))
        for use in self.applied:
            reads, weights = self._weights(use, self.depth - 1)
            start = 0
            for slot in use.view.outputs:
                names = self.heads.said_values(slot.column) if slot.column >= 0 else []
                layer.dense(names, reads, weights[start : start + len(names)])
                start += slot.size
        return _in_order(layer.affine(), self.heads.fields)


def scale_for(model: LevelModel) -> int:
    """Return the power of two at which weights fit 16 bits, and all sums a float64."""
    scale = LARGEST_SCALE
    while scale > 1 and not all(_fits(model.block(name), scale) for name in BLOCKS):
        scale //= 2
    return scale


def _fits(block: Block, scale: int) -> bool:
    bound = 1.0
    for linears in block.networks.layers:
        assert isinstance(linears, Linears)
        weight, bias = linears.weight.detach().abs(), linears.bias.detach().abs()
        largest = max(float(weight.max()), float(bias.max()))
        if 2 * largest * scale > LARGEST:
            return False
        bound *= scale * float((weight.sum(1) + bias[:, 0]).max())
    return bound < MOST


def _in_order(affine: Affine, names: tuple[str, ...]) -> Affine:
    """Return an affine map with its rows in another order."""
    place = {name: row for row, name in enumerate(names)}
    rows = np.array([place[name] for name in affine.names])[affine.matrix.rows]
    order = np.lexsort((affine.matrix.columns, rows))
    old = affine.matrix
    matrix = replace(
        old, rows=rows[order].astype(np.int32), columns=old.columns[order], values=old.values[order]
    )
    return Affine(matrix, np.zeros(len(names), np.int32), names)
