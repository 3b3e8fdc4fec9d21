"""The record of a compiled model: its weights, its layout, and how to prompt and read it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from tapeformer.dataclass import dataclass
from tapeformer.faults import counted, quoted
from tapeformer.layout import Layout
from tapeformer.weights.positions import offsets_for, window_for
from tapeformer.weights.record import Factor, TransformerWeights
from tapeformer.weights.tokens import Prompt

if TYPE_CHECKING:
    from tapeformer.weights.explain import Explanation


@dataclass(frozen=True)
class RuleOrigin:
    """A rule of the machine as text, and where it was read: the name of a file, and a line."""

    text: str
    source: str = ""
    line: int | None = None

    def __str__(self) -> str:
        where = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{self.text}  ({where})" if where else self.text


def listed_factors(names: Sequence[str], vocabulary: Sequence[Sequence[str]]) -> tuple[Factor, ...]:
    """Return the factors of listed tokens, each with its values in the order of their first use."""
    columns = zip(*vocabulary, strict=True)
    return tuple(
        Factor(name, tuple(dict.fromkeys(column)))
        for name, column in zip(names, columns, strict=True)
    )


@dataclass(frozen=True, eq=False, repr=False)
class Bundle:
    """A model with all that is needed to give it a word and to read its answer.

    `answer` is plain data for the decoder, `machine` the text of the Turing machine's file. After
    loading, `modified` says that the parameters are not those that were compiled. `learned` says
    what a model was trained on whose network was not compiled but learned; it is empty for others.
    """

    name: str
    weights: TransformerWeights
    layout: Layout
    prompt: Prompt
    answer: Mapping[str, object]
    machine: str
    modified: bool = False
    rules: tuple[RuleOrigin, ...] = ()
    learned: str = ""

    @cached_property
    def digest(self) -> str:
        """One hash for all of the model: the one that `config.json` has for itself."""
        from tapeformer.bundle.save import model_digest

        return model_digest(self)

    @property
    def offsets(self) -> tuple[int, ...]:
        """Return the look-back of each positional coordinate."""
        return offsets_for(self.weights, self.layout.lengths)

    @property
    def window(self) -> int:
        """Return the number of tokens that must be kept."""
        return window_for(self.offsets)

    @property
    def vocabulary(self) -> tuple[tuple[str, ...], ...]:
        """Return the factors of each token of a flat model; nothing for other models."""
        reading = self.answer.get("reading")
        listed = reading.get("vocabulary", ()) if isinstance(reading, Mapping) else ()
        return tuple(map(tuple, listed))

    @property
    def token_factors(self) -> tuple[Factor, ...]:
        """Return the factors that tokens are read by: the model's own, or those listed."""
        if not self.vocabulary:
            return self.weights.factors
        reading = self.answer["reading"]
        assert isinstance(reading, Mapping)
        return listed_factors((*reading["factors"], self.prompt.parity), self.vocabulary)

    @property
    def steps_per_token(self) -> int:
        """Return how many steps of the Turing machine a token makes at most."""
        values = {factor.name: factor.values for factor in self.token_factors}
        return max(map(int, values[str(self.answer["stepped"])]))

    def save(self, folder: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the model as a folder; another bundle is replaced only with `overwrite`."""
        from tapeformer.bundle.save import save_bundle

        save_bundle(self, folder, overwrite=overwrite)

    def explain(
        self, *, head: int | None = None, neuron: int | None = None, field: str | None = None
    ) -> str:
        """Say what parts read and write, why, and which rules of the machine they come from."""
        rules = {number: str(rule) for number, rule in enumerate(self.rules, 1)}
        return "\n\n".join(part.text(rules) for part in self.explanations(head, neuron, field))

    def explanations(
        self, head: int | None, neuron: int | None, field: str | None
    ) -> list[Explanation]:
        """Return the explanation of each part that is named."""
        from tapeformer.weights.explain import explain_field, explain_head, explain_neuron

        found = []
        if head is not None:
            found.append(explain_head(self.weights, head, self.layout.lengths))
        if neuron is not None:
            found.append(explain_neuron(self.weights, neuron))
        if field is not None:
            found.append(explain_field(self.weights, field))
        return found

    @property
    def facts(self) -> dict[str, str]:
        """The sizes of the model in words, by name."""
        from tapeformer.weights.count import count

        sizes, layout = count(self.weights), self.layout
        return {
            "machine": self.name,
            **({"learned": self.learned} if self.learned else {}),
            "construction": layout.construction,
            "levels, base": f"{layout.levels}, {layout.base}",
            "attention heads": f"{sizes.attention_heads}, looking back {_listed(self.offsets)}",
            "window": counted(self.window, "token"),
            "layers": str(sizes.layers),
            "d_model": f"{sizes.d_model:,}",
            "parameters": f"{sizes.parameters:,}, {sizes.nonzero_parameters:,} not zero",
        }

    def _repr_html_(self) -> str:
        from tapeformer.display import facts_html

        return facts_html(self.facts)

    def __repr__(self) -> str:
        weights, layout = self.weights, self.layout
        heads = sum(len(layer.heads) for layer in weights.layers)
        return (
            f"<Bundle {quoted(self.name)}: {layout.construction}, levels={layout.levels}, "
            f"base={layout.base}, layers={len(weights.layers)}, "
            f"heads={heads}, d_model={len(weights.fields)}>"
        )


def _listed(offsets: tuple[int, ...], most: int = 16) -> str:
    """List distinct look-backs, smallest first; only the first and the last where there are many."""
    found = [f"{offset:,}" for offset in sorted(set(offsets))]
    shown = found if len(found) <= most else [*found[: most - 2], "...", found[-1]]
    return ", ".join(shown)
