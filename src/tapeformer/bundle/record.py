"""The record of a compiled model: its weights, its layout, and how to prompt and read it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from tapeformer.faults import quoted
from tapeformer.layout import Layout
from tapeformer.weights.positions import offsets_for, window_for
from tapeformer.weights.record import TransformerWeights
from tapeformer.weights.tokens import Prompt


@dataclass(frozen=True)
class RuleOrigin:
    """A rule of the machine as text, and where it was read: the name of a file, and a line."""

    text: str
    source: str = ""
    line: int | None = None

    def __str__(self) -> str:
        where = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{self.text}  ({where})" if where else self.text


@dataclass(frozen=True, eq=False, repr=False)
class Bundle:
    """A model with all that is needed to give it a word and to read its answer.

    `answer` is plain data for the decoder, `machine` the text of the Turing machine's file. After
    loading, `modified` says that the parameters are not those that were compiled.
    """

    name: str
    weights: TransformerWeights
    layout: Layout
    prompt: Prompt
    answer: Mapping[str, object]
    machine: str
    modified: bool = False
    rules: tuple[RuleOrigin, ...] = ()

    @property
    def offsets(self) -> tuple[int, ...]:
        """Return the look-back of each positional coordinate."""
        return offsets_for(self.weights, self.layout.lengths)

    @property
    def window(self) -> int:
        """Return the number of tokens that must be kept."""
        return window_for(self.offsets)

    def save(self, folder: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the model as a folder; another bundle is replaced only with `overwrite`."""
        from tapeformer.bundle.save import save_bundle

        save_bundle(self, folder, overwrite=overwrite)

    def __repr__(self) -> str:
        weights, layout = self.weights, self.layout
        heads = sum(len(layer.heads) for layer in weights.layers)
        return (
            f"<Bundle {quoted(self.name)}: {layout.construction}, levels={layout.levels}, "
            f"base={layout.base}, layers={len(weights.layers)}, "
            f"heads={heads}, d_model={len(weights.fields)}>"
        )
