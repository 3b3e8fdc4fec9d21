"""What a user names becomes a model: a machine to be compiled, or a bundle that is compiled."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path

from tapeformer.bundle.record import Bundle
from tapeformer.compile.options import CompileOptions
from tapeformer.dataclass import dataclass
from tapeformer.faults import Fault, TapeformerError, described
from tapeformer.inference.grow import Grow, growth
from tapeformer.machine.record import TuringMachine
from tapeformer.machine.verify import checked
from tapeformer.machine.word import checked_word, parse_word

MODIFIED_TOKENS = 10**6
"""How far edited parameters may run where no limit was given: they may never come to an end."""

LEARNED_TOKENS = 20_000
"""The same for a learned model, whose dense network takes longer for a token."""

log = logging.getLogger("tapeformer")

Source = str | PathLike[str] | TuringMachine | Bundle
Word = str | Sequence[str]


def most_tokens(bundle: Bundle) -> int | None:
    """Return how far a model may run where no limit was given; None where it is as compiled."""
    if bundle.learned:
        return LEARNED_TOKENS
    return MODIFIED_TOKENS if bundle.modified else None


@dataclass(frozen=True, eq=False)
class Model:
    """A machine with options on compiling it, or a bundle that is compiled already."""

    source: TuringMachine | Bundle
    options: CompileOptions

    @cached_property
    def machine(self) -> TuringMachine:
        """The Turing machine; a bundle's is read from the text that it carries."""
        if isinstance(self.source, TuringMachine):
            return self.source
        from tapeformer.formats.registry import OWN_FORMAT, loads

        return loads(self.source.machine, "machine.yaml", OWN_FORMAT, stem=self.source.name)

    @property
    def bundle(self) -> Bundle | None:
        """The bundle that was given."""
        return self.source if isinstance(self.source, Bundle) else None

    def for_word(self, word: Sequence[str]) -> Bundle:
        """Return the bundle that was given, or one compiled for an input."""
        from tapeformer.compile.sizes import for_word

        if isinstance(self.source, Bundle):
            return self.source
        return self.compiled(for_word(self.source, self.options, word))

    def for_words(self, longest: int) -> Bundle:
        """Return a model for inputs up to a length, which cannot grow."""
        from tapeformer.compile.sizes import for_words

        if isinstance(self.source, Bundle):
            return self.source
        return self.compiled(for_words(self.source, self.options, longest))

    def for_every_word(self) -> Bundle:
        """Return the bundle that was given, or one compiled for every input that fits."""
        return self.bundle or self.compiled(self.options)

    def compiled(self, options: CompileOptions) -> Bundle:
        """Compile the machine with sizes that are chosen."""
        from tapeformer.compile.model import compile_machine

        return compile_machine(self.machine, options)

    def grow(self) -> Grow | None:
        """Return how the model gets more levels; None for a bundle, or where sizes are fixed."""
        return None if self.bundle is not None else growth(self.machine, self.options)


def find_model(
    source: Source, options: CompileOptions | None = None, *, allow_modified: bool = False
) -> Model:
    """Find what is named: a gallery machine, a file, busy-beaver text, a bundle's folder, a record."""
    chosen = CompileOptions() if options is None else options
    if isinstance(source, str | PathLike) and is_folder(source):
        source = _loaded(Path(source), allow_modified)
    if isinstance(source, Bundle):
        return Model(source, _no_options(chosen))
    if isinstance(source, str | PathLike):
        from tapeformer.sources import find_machine

        source = find_machine(str(source))
    if not isinstance(source, TuringMachine):
        raise TapeformerError(_nothing_named(source))
    return Model(checked(source), chosen)


def _nothing_named(source: object) -> Fault:
    expected = "a gallery name, a path, busy-beaver text, a tf.TuringMachine or a tf.Bundle"
    remedy = 'give a name such as "palindrome"; tf.gallery_names() lists them'
    return Fault("not a machine or a bundle", None, expected, described(source), remedy)


def is_folder(source: str | PathLike[str]) -> bool:
    """Say whether a folder is named; a text too long to be a name names none."""
    try:
        return str(source) != "" and Path(source).is_dir()
    except (OSError, ValueError):
        return False


def symbols_of(model: Model, word: Word, spaced: bool = False) -> tuple[str, ...]:
    """Return an input as symbols: text is spelled as on the command line."""
    if isinstance(word, str):
        return parse_word(model.machine, word, spaced)
    return checked_word(model.machine, word)


def _loaded(folder: Path, allow_modified: bool) -> Bundle:
    from tapeformer.bundle.load import load_bundle, modified_warning

    bundle = load_bundle(folder, allow_modified=allow_modified)
    if bundle.modified:
        log.warning("%s", modified_warning(folder))
    return bundle


def _no_options(options: CompileOptions) -> CompileOptions:
    if options != CompileOptions():
        raise TapeformerError(
            Fault(
                "a bundle is already compiled",
                expected="no options on compiling",
                remedy="leave them out, or name the machine instead of the bundle",
            )
        )
    return options
