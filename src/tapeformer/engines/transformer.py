"""A decoder-only Transformer in plain PyTorch: tokens (B, T, K) to logits (B, T, K, V).

A token has K factors: its embedding is the sum of theirs, and each factor has its own argmax. A
head looks back one fixed distance, or at itself where that lies before the start. This file needs
nothing but torch. Hook points are named as in TransformerLens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Literal, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

Point = Callable[[], nn.Module]
"""Makes a hook point: nn.Identity, or another module that returns its input."""


@dataclass(frozen=True)
class Shape:
    """All that is not a parameter.

    `sizes` has the number of values of each factor, `offsets` the look-back of each positional
    coordinate, `heads[l][h]` the coordinate of a head, and `hidden[l]` the widths of a layer's ReLU
    network (None without one). A query sees the `window` most recent tokens.
    """

    sizes: tuple[int, ...]
    d_model: int
    key_width: int
    value_width: int
    offsets: tuple[int, ...]
    heads: tuple[tuple[int, ...], ...]
    hidden: tuple[tuple[int, ...] | None, ...]
    window: int
    layer_norm: bool = False

    @property
    def starts(self) -> list[int]:
        """Return the row of each factor's first value in the embedding and output matrices."""
        return [0, *accumulate(self.sizes)][:-1]


class Context(NamedTuple):
    """What every layer needs beside the residual stream.

    `encoding` has the rows pos(0), pos(1), ...; `cache.update(k, v, layer)` returns the keys and
    values kept so far followed by the new ones, as the caches of `transformers` do; `mask`
    (B, keys) is 0 at padding.
    """

    encoding: Tensor
    cache: Any = None
    mask: Tensor | None = None


class Embed(nn.Module):
    """The sum of the factors' embeddings; `weight` has a row for each value of each factor."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.starts = shape.starts
        self.weight = nn.Parameter(torch.zeros(sum(shape.sizes), shape.d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        """Embed tokens (B, T, K), or distributions over all values (B, T, rows of `weight`)."""
        if tokens.is_floating_point():
            return tokens @ self.weight
        rows = tokens + torch.tensor(self.starts, device=tokens.device)
        summed = functional.embedding_bag(rows.flatten(0, 1), self.weight, mode="sum")
        return summed.view(*tokens.shape[:2], -1)


class PositionInKey(nn.Module):
    """The positional term of a score for each distance: q . pos(distance)."""

    def forward(self, q: Tensor, encoding: Tensor) -> Tensor:
        """Return (B, heads, T, distances)."""
        return q @ encoding.T


class Hardmax(nn.Module):
    """All of a head's attention on the leftmost of the highest scores."""

    def forward(self, scores: Tensor) -> Tensor:
        """Return the pattern: 1 at the position attended to, else 0."""
        highest = scores == scores.amax(-1, keepdim=True)
        first = highest.int().argmax(-1, keepdim=True)
        return (first == torch.arange(scores.shape[-1], device=scores.device)).to(scores.dtype)


class Attention(nn.Module):
    """Scores q . (k + pos(distance)), hardmax, values, and the map back to the residual stream.

    With `offsets`, a head reads the position at its look-back without scoring any: the same values
    where keys are zero and queries are constant.
    """

    def __init__(self, shape: Shape, layer: int, offsets: bool, point: Point) -> None:
        super().__init__()
        self.layer, self.window, self.offsets = layer, shape.window, offsets
        self.look_backs = [shape.offsets[coordinate] for coordinate in shape.heads[layer]]
        heads = len(self.look_backs)
        self.keys, self.values = (heads, shape.key_width), (heads, shape.value_width)
        self.q = nn.Linear(shape.d_model, heads * shape.key_width, bias=False)
        self.k = nn.Linear(shape.d_model, heads * shape.key_width, bias=False)
        self.v = nn.Linear(shape.d_model, heads * shape.value_width, bias=False)
        self.o = nn.Linear(heads * shape.value_width, shape.d_model)
        self.position: nn.Module = PositionInKey()
        self.hardmax: nn.Module = Hardmax()
        self.hook_q, self.hook_k, self.hook_v, self.hook_z = (point() for _ in range(4))
        self.hook_attn_scores, self.hook_pattern = point(), point()

    def forward(self, x: Tensor, context: Context) -> tuple[Tensor, Tensor]:
        """Return what the heads add to the stream, and their pattern (B, heads, T, keys)."""
        q = self.hook_q(self.q(x).view(*x.shape[:2], *self.keys)).transpose(1, 2)
        k, v = self.remember(x, context)
        if self.offsets:
            pattern = sources = self.sources(x.shape[1], v.shape[2], context.mask, x.device)
            z = v.gather(2, sources.expand(*v.shape[:2], -1, v.shape[3]))
        else:
            pattern = self.hook_pattern(self.hardmax(self.scores(q, k, context)))
            z = pattern @ v
        return self.o(self.hook_z(z.transpose(1, 2)).flatten(2)), pattern

    def remember(self, x: Tensor, context: Context) -> tuple[Tensor, Tensor]:
        """Return the keys and values (B, heads, keys, width), those kept so far first."""
        k = self.hook_k(self.k(x).view(*x.shape[:2], *self.keys)).transpose(1, 2)
        v = self.hook_v(self.v(x).view(*x.shape[:2], *self.values)).transpose(1, 2)
        if context.cache is not None:
            k, v = context.cache.update(k, v, self.layer)
        return k, v

    def scores(self, q: Tensor, k: Tensor, context: Context) -> Tensor:
        """Return (B, heads, T, keys); minus infinity at what is not seen."""
        time, keys = q.shape[2], k.shape[2]
        at = torch.arange(keys, device=q.device)
        distance = at[keys - time :, None] - at
        by_distance = self.position(q, context.encoding)
        index = distance.clamp(0, self.window - 1).expand(*q.shape[:3], keys)
        scores = q @ k.transpose(-1, -2) + by_distance.expand(*q.shape[:3], -1).gather(-1, index)
        seen = (distance >= 0) & (distance < self.window)
        if context.mask is not None:
            real = context.mask[:, None, None, -keys:].bool()
            seen = seen & (real | (distance == 0))
        hidden: Tensor = self.hook_attn_scores(scores.masked_fill(~seen, -torch.inf))
        return hidden

    def sources(self, time: int, keys: int, mask: Tensor | None, device: torch.device) -> Tensor:
        """Return the position that each head reads (B or 1, heads, T, 1)."""
        here = torch.arange(keys, device=device)[keys - time :]
        back = torch.tensor(self.look_backs, dtype=torch.long, device=device)
        there = here - back[:, None]
        usable = (there >= 0)[None]
        if mask is not None:
            usable = usable & mask[:, -keys:].bool()[:, there.clamp(min=0)]
        return torch.where(usable, there, here)[..., None]


class MLP(nn.Module):
    """Affine maps with a ReLU between two: a network of any depth, or none at all."""

    def __init__(self, shape: Shape, layer: int, point: Point) -> None:
        super().__init__()
        hidden = shape.hidden[layer]
        widths = [] if hidden is None else [shape.d_model, *hidden, shape.d_model]
        self.linears = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(widths))
        self.hook_pre = nn.ModuleList(point() for _ in widths[1:-1])
        self.hook_post = nn.ModuleList(point() for _ in widths[1:-1])

    def forward(self, x: Tensor) -> Tensor:
        """Return what the network adds to the stream."""
        if not len(self.linears):
            return torch.zeros_like(x)
        for linear, pre, post in zip(self.linears, self.hook_pre, self.hook_post, strict=False):
            x = post(torch.relu(pre(linear(x))))
        added: Tensor = self.linears[-1](x)
        return added


class LayerNorm(nn.Module):
    """Layer normalisation without gain or bias; exact where the stream consists of 1 and -1."""

    def __init__(self, point: Point) -> None:
        super().__init__()
        self.hook_normalized = point()

    def forward(self, x: Tensor) -> Tensor:
        """Return the stream as a sub-layer reads it."""
        centred = x - x.mean(-1, keepdim=True)
        whole: Tensor = self.hook_normalized(
            centred / centred.square().mean(-1, keepdim=True).sqrt()
        )
        return whole


class Block(nn.Module):
    """Attention, residual, ReLU network, residual."""

    attention = Attention

    def __init__(self, shape: Shape, layer: int, offsets: bool, point: Point) -> None:
        super().__init__()
        self.ln1, self.ln2 = _norm(shape, point), _norm(shape, point)
        self.attn = self.attention(shape, layer, offsets, point)
        self.mlp = MLP(shape, layer, point)
        self.hook_resid_pre, self.hook_resid_mid, self.hook_resid_post = point(), point(), point()
        self.hook_attn_out, self.hook_mlp_out = point(), point()

    def forward(self, x: Tensor, context: Context) -> tuple[Tensor, Tensor]:
        """Return the stream after this layer, and the pattern of its heads."""
        x = self.hook_resid_pre(x)
        added, pattern = self.attn(self.ln1(x), context)
        x = self.hook_resid_mid(x + self.hook_attn_out(added))
        x = self.hook_resid_post(x + self.hook_mlp_out(self.mlp(self.ln2(x))))
        return x, pattern


class Transformer(nn.Module):
    """Embedding, blocks, output.

    `attention` is "scores", or "offsets" for long sequences: nothing of size T x T is made.
    """

    block, embedding = Block, Embed

    def __init__(
        self,
        shape: Shape,
        attention: Literal["scores", "offsets"] = "scores",
        point: Point = nn.Identity,
    ) -> None:
        super().__init__()
        self.shape = shape
        self.embed, self.hook_embed = self.embedding(shape), point()
        offsets = attention == "offsets"
        self.blocks = nn.ModuleList(
            self.block(shape, layer, offsets, point) for layer in range(len(shape.heads))
        )
        self.ln_final = _norm(shape, point)
        self.unembed = nn.Linear(shape.d_model, sum(shape.sizes))

    @property
    def layers(self) -> list[Block]:
        """Return the blocks, first to last."""
        return cast("list[Block]", list(self.blocks))

    def forward(self, tokens: Tensor, cache: Any = None, mask: Tensor | None = None) -> Tensor:
        """Return the logits (B, T, K, V), minus infinity beyond a factor's last value."""
        stream, _, _ = self.trace(tokens, cache, mask)
        return self.by_factor(self.unembed(self.ln_final(stream)))

    def trace(
        self, tokens: Tensor, cache: Any = None, mask: Tensor | None = None
    ) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        """Return the last residual stream, the stream before each block, and each block's pattern.

        With "offsets", in place of a pattern stands the position that each head reads.
        """
        x = self.hook_embed(self.embed(tokens))
        context = Context(self.encoding(x), cache, mask)
        streams, patterns = [], []
        for block in self.layers:
            streams.append(x)
            x, pattern = block(x, context)
            patterns.append(pattern)
        return x, streams, patterns

    def absorb(self, tokens: Tensor, cache: Any) -> None:
        """Take tokens into a cache without asking for logits: the last block only remembers."""
        x = self.hook_embed(self.embed(tokens))
        context = Context(self.encoding(x), cache)
        for block in self.layers[:-1]:
            x, _ = block(x, context)
        for block in self.layers[-1:]:
            block.attn.remember(block.ln1(x), context)

    def encoding(self, like: Tensor) -> Tensor:
        """Return pos(0), pos(1), ...: pos(0) is all ones, pos(D) is 2 where a look-back is D."""
        shape = self.shape
        used = [r for r, offset in enumerate(shape.offsets) if 0 < offset < shape.window]
        rows = like.new_zeros(shape.window, shape.key_width)
        rows[0] = 1
        rows[[shape.offsets[r] for r in used], used] = 2
        return rows

    def by_factor(self, flat: Tensor) -> Tensor:
        """Return all logits (..., rows of `unembed`) as (..., K, V)."""
        shape = self.shape
        starts, sizes = torch.tensor([shape.starts, shape.sizes], device=flat.device)[..., None]
        value = torch.arange(max(2, *shape.sizes), device=flat.device)
        places = torch.where(value < sizes, starts + value, flat.shape[-1])
        padded = functional.pad(flat, (0, 1), value=-torch.inf)
        chosen = padded.index_select(-1, places.flatten())
        return chosen.view(*flat.shape[:-1], *places.shape)

    def new_cache(self) -> Cache:
        """Return an empty cache, to run the model step by step."""
        return Cache(self.shape.window)


class Cache:
    """Keys and values of the most recent positions, in one piece: twice the window is held.

    It is for generating without gradients: positions are written in place.
    """

    def __init__(self, window: int) -> None:
        self.window = window
        self.buffers: dict[int, tuple[Tensor, Tensor]] = {}
        self.ends: dict[int, int] = {}

    def update(self, k: Tensor, v: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        """Append the new positions of a layer; return those that its queries can see."""
        new = k.shape[2]
        if layer not in self.buffers:
            self.buffers[layer], self.ends[layer] = (self._room(k), self._room(v)), 0
        end = self.ends[layer]
        old = min(end, self.window - 1)
        if end + new > self.buffers[layer][0].shape[2]:
            self._to_front(layer, old, new)
            end = old
        for buffer, rows in zip(self.buffers[layer], (k, v), strict=True):
            buffer[:, :, end : end + new] = rows
        self.ends[layer] = end + new
        keys, values = (part[:, :, end - old : end + new] for part in self.buffers[layer])
        return keys, values

    def _room(self, rows: Tensor, more: int = 0) -> Tensor:
        length = 2 * self.window + more
        return rows.new_zeros(*rows.shape[:2], length, rows.shape[3])

    def _to_front(self, layer: int, old: int, new: int) -> None:
        """Make room: the positions still seen move to the front, of longer buffers if need be."""
        end, moved = self.ends[layer], []
        for buffer in self.buffers[layer]:
            kept = buffer[:, :, end - old : end].clone()
            room = buffer if old + new <= buffer.shape[2] else self._room(buffer, new)
            room[:, :, :old] = kept
            moved.append(room)
        self.buffers[layer] = (moved[0], moved[1])


def _norm(shape: Shape, point: Point) -> nn.Module:
    return LayerNorm(point) if shape.layer_norm else nn.Identity()
