"""The compiled Transformer as a model to train: its nonzero weights, one parameter for all levels.

Heads keep the look-backs that the construction gives them. An entry of a matrix is the same for all
levels but those at the ends (`weights.tying`), so what is trained serves any number of levels. Spare
neurons beside the compiled ones can bring the model to a number of parameters.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from tapeformer.bundle.record import Bundle
from tapeformer.learning.blocks import Choices
from tapeformer.learning.spare_neurons import LevelColumns, SpareNeurons
from tapeformer.weights.tying import Key, Labelled, LevelShift, labelled

Parameter = tuple[Key, int]
"""An entry up to a shift of the level, and its compiled value."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """Where a matrix has entries, and which shared parameter each of them is."""

    shape: tuple[int, int]
    places: Tensor
    parameters: Tensor


class SharedParameters:
    """Numbers the parameters that levels share, as they are met."""

    def __init__(self) -> None:
        self.number: dict[Parameter, int] = {}

    @property
    def values(self) -> Tensor:
        """The compiled value of each."""
        return torch.tensor([float(value) for _, value in self.number])

    @property
    def used(self) -> Tensor:
        """Whether training can show each: the last level, which no word comes to, is like no other."""
        return torch.tensor(["last" not in "".join(key) for key, _ in self.number])

    def patterns(self, bundle: Bundle) -> dict[str, Pattern]:
        """Return the matrices of a model by name, parts that belong together as one."""
        shift = LevelShift(bundle.layout.levels)
        found: dict[str, list[Labelled]] = defaultdict(list)
        depth = 0
        for part in labelled(bundle.weights):
            name = _matrix_name(part.path)
            if name.startswith("network"):
                name, depth = f"{name} {depth // 2}", depth + 1
            found[name].append(part)
        return {name: self._pattern(parts, shift) for name, parts in found.items()}

    def _pattern(self, parts: list[Labelled], shift: LevelShift) -> Pattern:
        """Put parts below each other."""
        columns, start = parts[0].matrix.shape[1], 0
        places, numbers = [], []
        for part in parts:
            entries = part.matrix
            for row, column, value in zip(
                entries.rows.tolist(),
                entries.columns.tolist(),
                entries.values.tolist(),
                strict=True,
            ):
                key = shift.key((part.path, part.rows[row], part.columns[column])), value
                places.append((start + row) * columns + column)
                numbers.append(self.number.setdefault(key, len(self.number)))
            start += entries.shape[0]
        kept = (torch.tensor(part, dtype=torch.long) for part in (places, numbers))
        return Pattern((start, columns), *kept)


def _matrix_name(path: str) -> str:
    """Return which matrix a part belongs to."""
    if path.startswith("embedding"):
        return "embedding"
    if path.startswith("output"):
        return "output bias" if path.endswith("bias") else "output"
    for ending in ("mix bias", "mix", "network matrix", "network bias", "query", "key", "value"):
        if path.endswith(ending):
            return ending
    raise ValueError(path)


class CompiledModel(nn.Module):
    """One vector of shared parameters for each seed, and spare neurons if any, with noise added."""

    def __init__(
        self, shared: SharedParameters, seeds: list[int], noise: float, spare: SpareNeurons | None
    ) -> None:
        super().__init__()
        self.spare = spare
        values = shared.values
        drawn = [
            torch.randn(len(values), generator=torch.Generator().manual_seed(seed))
            for seed in seeds
        ]
        self.values = nn.Parameter(values + noise * torch.stack(drawn) * shared.used)


@dataclass(frozen=True, eq=False)
class Expanded:
    """A model for some number of levels: its matrices, and the spare neurons of every level."""

    matrices: dict[str, Tensor]
    spare: SpareNeurons | None


class Step:
    """The next token of a compiled model with so many levels, from shared parameters."""

    def __init__(self, bundle: Bundle, shared: SharedParameters, device: torch.device) -> None:
        self.patterns = {
            name: Pattern(p.shape, p.places.to(device), p.parameters.to(device))
            for name, p in shared.patterns(bundle).items()
            if name not in ("query", "key")
        }
        sizes = [len(factor.values) for factor in bundle.weights.factors]
        self.choices = Choices(sizes).to(device)
        self.starts = torch.tensor([0, *sizes], device=device).cumsum(0)[:-1]
        (layer,) = bundle.weights.layers
        backs = [0, *(bundle.offsets[head.position] for head in layer.heads)]
        self.backs = torch.tensor(backs, device=device)
        self.depth = len(layer.feed_forward)
        self.columns = LevelColumns(bundle.weights.fields, bundle.layout.levels, device)

    def expanded(self, model: CompiledModel, more: Tensor | None = None) -> Expanded:
        """Return a model for this number of levels; `more` are shared parameters it has not got."""
        values: Tensor = model.values
        if more is not None:
            values = torch.cat([values, more.to(values.device).expand(len(values), -1)], 1)
        return Expanded(self._matrices(values), model.spare)

    def _matrices(self, values: Tensor) -> dict[str, Tensor]:
        """Return every matrix (seeds, rows, columns) from the shared parameters (seeds, P)."""
        found = {}
        for name, pattern in self.patterns.items():
            rows, columns = pattern.shape
            flat = torch.zeros(len(values), rows * columns, device=values.device)
            flat = flat.index_copy(1, pattern.places, values[:, pattern.parameters])
            found[name] = flat.view(len(values), rows, columns)
        return found

    def logits(self, model: Expanded, tokens: Tensor, at: Tensor, first: Tensor) -> Tensor:
        """Return the logits (seeds, n, values) of the tokens after places (seeds, n)."""
        m = model.matrices
        place = at[..., None] - self.backs
        place = torch.where(place >= first[..., None], place, at[..., None])
        seen = self._one_hot(tokens[place])
        fetched = m["embedding"] @ m["value"].mT
        heads = len(self.backs) - 1
        fetched = fetched.view(*fetched.shape[:2], heads, -1)
        brought = torch.einsum("snhv,svhw->snhw", seen[:, :, 1:], fetched)
        x = seen[:, :, 0] @ m["embedding"] + brought.flatten(2) @ m["mix"].mT + m["mix bias"].mT
        h = x
        for depth in range(self.depth):
            h = h @ m[f"network matrix {depth}"].mT + m[f"network bias {depth}"].mT
            h = h if depth == self.depth - 1 else functional.relu(h)
        if model.spare is not None:
            h = h + model.spare(x, self.columns)
        return (x + h) @ m["output"].mT + m["output bias"].mT

    def scores(
        self, model: Expanded, tokens: Tensor, at: Tensor, first: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return loss and exactness (seeds, n) of the tokens after places."""
        logits = self.logits(model, tokens, at, first)
        found: tuple[Tensor, Tensor] = self.choices(logits, tokens[at + 1] + 1)
        return found

    def _one_hot(self, tokens: Tensor) -> Tensor:
        rows = tokens.long() + self.starts
        flat = torch.zeros(*rows.shape[:-1], self.choices.width, device=tokens.device)
        return flat.scatter_(-1, rows, 1.0)
