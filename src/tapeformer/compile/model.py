"""From a machine to its model: options are checked, sizes chosen, and known models found again."""

from __future__ import annotations

from typing import Any

from tapeformer.bundle.record import Bundle
from tapeformer.compile.cache import cached
from tapeformer.compile.options import CompileOptions, compile_options
from tapeformer.compile.rules import rule_origins
from tapeformer.compile.sizes import for_every_word
from tapeformer.formats.tapeformer_writer import write
from tapeformer.machine.record import TuringMachine
from tapeformer.machine.verify import checked


def compile_machine(
    machine: TuringMachine, options: CompileOptions | None = None, **named: Any
) -> Bundle:
    """Compile a machine to a model that runs every word that fits.

    Options are given by name (`levels=5`), or as one `CompileOptions`. A model that was compiled
    before, by the same version of this package, comes from the cache.
    """
    chosen = for_every_word(checked(machine), compile_options(options, named))

    def make() -> Bundle:
        from tapeformer.compile.passes import compiled, made

        return made(compiled(machine, chosen).bundle)

    return cached(_text(machine), repr(chosen), make)


def _text(machine: TuringMachine) -> str:
    """Return all of a machine that ends up in its model: its text, and where rules were read."""
    return f"{machine.name}\n{write(machine)}\n{rule_origins(machine)}"
