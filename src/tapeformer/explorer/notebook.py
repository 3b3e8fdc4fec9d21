"""`tf.show`: the explorer in a cell of a notebook, or as a page that can be saved."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from tapeformer.explorer.export import exported
from tapeformer.explorer.session import Session
from tapeformer.inference.answer import Answer
from tapeformer.inference.model import Model, Source, Word, find_model, symbols_of
from tapeformer.inference.options import run_options

MOST_TOKENS = 10_000
HEIGHT = 820


@dataclass(frozen=True, repr=False)
class Shown:
    """A recorded run as a page; a notebook shows it."""

    page: str
    title: str

    def save(self, file: str | PathLike[str]) -> None:
        """Write the page to a file."""
        Path(file).write_text(self.page, encoding="utf-8")

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.page)}" title="{escape(self.title)}" '
            f'sandbox="allow-scripts" style="width: 100%; height: {HEIGHT}px; border: 0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<Shown {self.title}: a page of {len(self.page):,} characters>"


def show(machine: Source | Answer, word: Word = "", **options: Any) -> Shown:
    """Show a run token by token: an answer of `run`, or a machine and a word with `run`'s options.

    At most 10,000 tokens are recorded where `max_tokens` does not say otherwise.
    """
    asked = run_options(options)
    if isinstance(machine, Answer):
        model = Model(machine.bundle, asked.compile)
        symbols = machine.word
    else:
        model = find_model(machine, asked.compile, allow_modified=asked.allow_modified)
        symbols = symbols_of(model, word, asked.spaced)
    session = Session(model.machine, model, symbols, limit=asked.max_tokens or MOST_TOKENS)
    session.record()
    return Shown(exported(session), f"{model.machine.name} on {model.machine.spell(symbols)!r}")
