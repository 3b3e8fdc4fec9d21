"""The card of an exported model: what it is, where it comes from, what it can and cannot do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tapeformer import __version__
from tapeformer.bundle.record import Bundle
from tapeformer.bundle.save import model_digest
from tapeformer.constructions import construction
from tapeformer.export.module import exact_dtype
from tapeformer.formats.registry import OWN_FORMAT, loads
from tapeformer.machine.record import TuringMachine
from tapeformer.weights.count import count

FRONT = """---
library_name: transformers
pipeline_tag: text-generation
license: apache-2.0
tags: [tapeformer, turing-machine, interpretability]
---
"""


@dataclass(frozen=True)
class Card:
    """The facts of one model in one floating-point type."""

    bundle: Bundle
    dtype: str

    @cached_property
    def machine(self) -> TuringMachine:
        """The Turing machine."""
        return loads(self.bundle.machine, "machine.yaml", OWN_FORMAT, stem=self.bundle.name)

    @property
    def word(self) -> str:
        """An input that fits, as the command line spells it: the machine's own, or a short one."""
        word = self.machine.default_word or tuple(self.bundle.prompt.symbols)[:2]
        fits = construction(self.bundle.layout.construction).longest_word(self.bundle.layout)
        spaced = bool(self.bundle.answer.get("spaced"))
        return (" " if spaced else "").join(word[: min(fits, 12)])

    def text(self, usage: Sequence[str], front: str = FRONT) -> str:
        """Return the page; `usage` are the sections that show how the files are used."""
        name = _plain(self.bundle.name)
        said = _plain(self.machine.description) or "A Turing machine."
        opening = f"{said} {self._origin()}"
        parts = [f"# {name}", opening, *usage, self._sizes(), self._limits(), self._provenance()]
        return front + "\n\n".join(parts) + "\n"

    def _origin(self) -> str:
        """Say whether the weights were compiled or trained: only the former are exact."""
        trained = _plain(self.bundle.learned)
        if trained:
            return f"A Transformer trained on chains of thought ({trained}): answers may be wrong."
        return f"Compiled to an exact Transformer by tapeformer {__version__}."

    def _sizes(self) -> str:
        bundle, counts, layout = self.bundle, count(self.bundle.weights), self.bundle.layout
        offsets = ", ".join(map(str, sorted(set(bundle.offsets))))
        rows = {
            "machine": f"{self.machine.tapes} tape(s), {len(self.machine.states)} states,"
            f" {len(self.machine.rules)} rules; `machine.yaml`",
            "construction": f"{layout.construction}, {layout.levels} levels, base {layout.base}",
            "attention": f"{counts.attention_heads} heads in {counts.layers} layer(s),"
            f" looking back {offsets}; window {bundle.window} tokens",
            "width": f"d_model {counts.d_model}, feed-forward depth {counts.ff_depth},"
            f" {counts.neurons} neurons",
            "parameters": f"{counts.parameters:,}, of which {counts.nonzero_parameters:,} are not"
            f" zero; whole numbers of {counts.precision} bits, stored as {self.dtype}",
            "numbers": f"every sum is exact in {exact_dtype(bundle)}, by a bound on the weights alone",
            "token": f"{len(bundle.weights.factors)} factors, each with its own argmax",
        }
        lines = [f"| {key} | {value} |" for key, value in rows.items()]
        return "\n".join(["## Sizes", "", "| | |", "|---|---|", *lines])

    def _limits(self) -> str:
        layout = self.bundle.layout
        longest = construction(layout.construction).longest_word(layout)
        return "\n".join(
            [
                "## Limits",
                "",
                f"* Words have at most {longest:,} symbols; the tokenizer refuses longer ones and"
                " names the levels that they need.",
                f"* A tape holds up to {layout.capacity:,} cells on either side of its head. The"
                " model cannot grow: a run that needs more ends with `out_of_space`, which is not"
                " an answer. Export it with more levels instead.",
                "* Attention is a hardmax and the weights are exact as they stand. Training,"
                " quantising or pruning makes it another model.",
            ]
        )

    def _provenance(self) -> str:
        learned = self.bundle.learned
        made = (
            "trained, not compiled" if learned else "compiled from the machine's rules, not trained"
        )
        return "\n".join(
            [
                "## Provenance",
                "",
                f"Written by tapeformer {__version__} from a bundle with SHA-256"
                f" `{model_digest(self.bundle)}`. The weights were {made}."
                " The construction implements and extends Li and Wang, *Efficient Turing Machine"
                " Simulation with Transformers*. The Python files are tapeformer's own source"
                " (Apache-2.0).",
            ]
        )


def _plain(text: str) -> str:
    """Return a name or description on one line, with nothing that Markdown would act on."""
    return re.sub(r"([\\`*_<>\[\]|#])", r"\\\1", " ".join(text.split()))
