"""The record of a compiled model: its weights, its layout, and how to prompt and read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tapeformer.layout import Layout
from tapeformer.weights.positions import offsets_for, window_for
from tapeformer.weights.record import TransformerWeights
from tapeformer.weights.tokens import Prompt


@dataclass(frozen=True, eq=False)
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

    @property
    def offsets(self) -> tuple[int, ...]:
        """The look-back of each positional coordinate."""
        return offsets_for(self.weights, self.layout.lengths)

    @property
    def window(self) -> int:
        """Tokens that must be kept."""
        return window_for(self.offsets)
