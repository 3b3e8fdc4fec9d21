"""Look-backs that are learned: each level's head has a softmax over distances.

The same blocks as with given look-backs read what the heads bring: mixtures of tokens at first. For
evaluation a head is taken at its most likely distance.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from tapeformer.learning.fields import TokenFields
from tapeformer.learning.level_model import LevelModel
from tapeformer.learning.situations import BLOCKS, Reader, View
from tapeformer.learning.traces import DeviceTraces


class SoftModel(nn.Module):
    """Blocks and heads, for several seeds at once; a head sees the `reach` most recent tokens.

    Weights of distances are equal at first or, with a prior for `near` ones, fall as 1 / (1 + d).
    """

    def __init__(
        self, model: LevelModel, fields: TokenFields, reach: int, near: bool = False
    ) -> None:
        super().__init__()
        self.model, self.fields, self.reach = model, fields, reach
        logits = -torch.arange(1.0, reach + 1).log() if near else torch.zeros(reach)
        self.heads = nn.Parameter(logits.repeat(len(model.seeds), fields.levels, 1))
        self.layout = _SoftLayout(fields)

    def losses(self, traces: DeviceTraces, at: Tensor, first: Tensor) -> Tensor:
        """Return the loss (seeds, runs) of each seed on its own runs of places (seeds, runs, n)."""
        fetched = self.fetched(traces.tokens, at, first)
        parts = [self._block_losses(name, traces.tokens, fetched, at) for name in BLOCKS]
        return torch.stack(parts).sum(0)

    def _block_losses(self, name: str, tokens: Tensor, fetched: Tensor, at: Tensor) -> Tensor:
        block, reader = self.model.block(name), self.layout.readers[name]
        said = torch.stack([c.values(tokens, at.flatten() + 1) for c in reader.outputs])
        said = said.view(len(said), *at.shape, -1).movedim(0, 1)
        inputs = self.layout.inputs(name, fetched)
        logits = block.networks(inputs.flatten(1, 3))
        losses: Tensor = block.choices(logits, said.flatten(1, 3))[0]
        return losses.view(said.shape[:-1]).mean((1, 3))

    def fetched(self, tokens: Tensor, at: Tensor, first: Tensor) -> Tensor:
        """Return a soft token for each place (seeds, runs, n, width): queues as the heads bring them."""
        start = at[..., :1] - (self.reach - 1)
        places = start + torch.arange(at.shape[-1] + self.reach - 1, device=at.device)
        seen = self.layout.one_hot(tokens[places.clamp(min=0)])
        seen = seen * (places >= first[..., :1])[..., None]
        now = seen[..., self.reach - 1 :, :]
        weights = functional.softmax(self.heads, -1)
        parts = [now]
        for level, columns in enumerate(self.layout.queue_columns):
            band = _band(weights[:, level], at.shape[-1])
            parts.append(band[:, None] @ seen[..., columns])
        return self.layout.assembled(parts)

    def distances(self) -> list[list[int]]:
        """Return each seed's most likely distance for each level."""
        found: list[list[int]] = self.heads.argmax(-1).tolist()
        return found


def with_look_backs(fields: TokenFields, distances: list[int]) -> TokenFields:
    """Return fields whose queues are read at other distances, one for each level."""
    level_of = _levels_of(fields)
    factors = [
        replace(factor, look_back=distances[level_of[column] - 1]) if column in level_of else factor
        for column, factor in enumerate(fields.factors)
    ]
    return TokenFields(factors, fields.levels)


def _band(weights: Tensor, count: int) -> Tensor:
    """Return (seeds, count, count + reach - 1): row p has the weight of each distance at its place."""
    reach = weights.shape[-1]
    rows = torch.arange(count, device=weights.device)[:, None]
    columns = torch.arange(count + reach - 1, device=weights.device)
    distance = rows + reach - 1 - columns
    inside = (distance >= 0) & (distance < reach)
    return torch.where(inside, weights[:, distance.clamp(0, reach - 1)], 0.0)


def _levels_of(fields: TokenFields) -> dict[int, int]:
    """Return the level of each factor that lies in a queue."""
    found = {column: level for (_, level, _), column in fields.cells.items() if level > 0}
    found |= {column: level for (level, _), column in fields.clock.items()}
    return {c: level for c, level in found.items() if fields.factors[c].look_back is not None}


class _SoftLayout(nn.Module):
    """Where each value of each factor is in a soft token, and which of them each view reads."""

    def __init__(self, fields: TokenFields) -> None:
        super().__init__()
        sizes = [factor.size for factor in fields.factors]
        ends = torch.tensor(sizes).cumsum(0)
        self.starts, self.width = (ends - torch.tensor(sizes)).tolist(), int(ends[-1])
        level_of = _levels_of(fields)
        self.queue_columns = [
            torch.tensor(self._values(fields, [c for c, at in level_of.items() if at == level]))
            for level in range(1, fields.levels + 1)
        ]
        self.readers = {name: Reader(fields, name, torch.device("cpu")) for name in BLOCKS}
        self.index = {name: self._index(reader.views) for name, reader in self.readers.items()}
        self.pairs = self._pairs(fields)

    def to_device(self, fields: TokenFields, device: torch.device) -> None:
        """Move what the layout holds."""
        self.readers = {name: Reader(fields, name, device) for name in BLOCKS}
        self.index = {name: index.to(device) for name, index in self.index.items()}
        self.queue_columns = [columns.to(device) for columns in self.queue_columns]
        self.pairs = tuple(part.to(device) for part in self.pairs)

    def _values(self, fields: TokenFields, columns: list[int]) -> list[int]:
        return [self.starts[c] + v for c in columns for v in range(fields.factors[c].size)]

    def _index(self, views: list[View]) -> Tensor:
        """Return (views, width of a block's input): places in a soft token, its end for none."""
        rows = []
        for view in views:
            row: list[int] = []
            for slot in view.inputs:
                there = slot.column >= 0
                values = range(slot.size)
                own = self._size(slot.column) if there else 0
                row += [self.starts[slot.column] + v if v < own else self.width for v in values]
            rows.append(row)
        return torch.tensor(rows)

    def _size(self, column: int) -> int:
        ends = [*self.starts[1:], self.width]
        return int(ends[column] - self.starts[column])

    def _pairs(self, fields: TokenFields) -> tuple[Tensor, ...]:
        levels = range(2, fields.levels + 1)
        load = [fields.tick(level, "load").column for level in levels]
        symbol = [fields.tick(level, "delay.input").column for level in levels]
        sizes = (2, fields.tick(2, "delay.input").size)
        return tuple(
            torch.tensor([[self.starts[c] + v for v in range(size)] for c in columns])
            for columns, size in zip((load, symbol), sizes, strict=True)
        )

    def one_hot(self, tokens: Tensor) -> Tensor:
        """Return tokens (..., K) as vectors (..., width)."""
        index = tokens.long() + torch.tensor(self.starts, device=tokens.device)
        flat = torch.zeros(*tokens.shape[:-1], self.width, device=tokens.device)
        return flat.scatter_(-1, index, 1.0)

    def assembled(self, parts: list[Tensor]) -> Tensor:
        """Return current tokens with their queues' values replaced by what the heads bring."""
        now, *brought = parts
        return now.index_copy(
            -1, torch.cat(self.queue_columns), torch.cat(brought, -1).to(now.dtype)
        )

    def inputs(self, name: str, fetched: Tensor) -> Tensor:
        """Return a block's inputs (seeds, views, runs, n, width) from soft tokens."""
        padded = functional.pad(fetched, (0, 1))
        chosen = padded[..., self.index[name]].movedim(-2, 1)
        if name != "control":
            return chosen
        load, symbol = (fetched[..., part] for part in self.pairs)
        pairs = (load[..., :, None] * symbol[..., None, :]).flatten(-2).amax(-2)
        both = torch.stack([1 - pairs, pairs], -1).flatten(-2)
        return torch.cat([chosen, both[:, None]], -1)
