"""From what a user names to a session: a machine, a bundle, an answer, or one of the gallery."""

from __future__ import annotations

from tapeformer.compile.options import CompileOptions
from tapeformer.explorer.recording import MOST_TOKENS
from tapeformer.explorer.requests import entry_word
from tapeformer.explorer.session import Session
from tapeformer.formats.conventions import Conventions
from tapeformer.inference.model import Model, find_model, is_folder, symbols_of
from tapeformer.sources import find_machine

FIRST = "palindrome_two_tapes"
"""The machine that is shown where none is named."""


def opened_session(
    machine: str | None,
    word: str | None,
    options: CompileOptions,
    *,
    reading: tuple[str | None, Conventions | None] = (None, None),
    spaced: bool = False,
    allow_modified: bool = False,
    max_tokens: int | None = None,
) -> Session:
    """Return a session for a gallery name, a file, busy-beaver text or a bundle's folder."""
    model = _model(machine or FIRST, options, reading, allow_modified)
    if machine is None and word is None:
        symbols = entry_word(model.machine)
    else:
        symbols = symbols_of(model, word or "", spaced)
    limit = MOST_TOKENS if max_tokens is None else max_tokens
    return Session(model.machine, model, symbols, limit=limit)


def _model(
    machine: str,
    options: CompileOptions,
    reading: tuple[str | None, Conventions | None],
    allow_modified: bool,
) -> Model:
    if is_folder(machine):
        return find_model(machine, options, allow_modified=allow_modified)
    return find_model(find_machine(machine, *reading), options)
