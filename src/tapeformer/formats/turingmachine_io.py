"""turingmachine.io: YAML with `input`, `blank`, `start state`, `table`, optional `synonyms`.

A state with an empty row halts; `accept` is only a name. The site saves a machine inside a second
document, under `source code`: both are read.
"""

from __future__ import annotations

from dataclasses import replace

from tapeformer.formats.conventions import Conventions
from tapeformer.formats.reading import Collector, Source
from tapeformer.formats.tapeformer_writer import rule_text, word_text
from tapeformer.formats.tapeformer_yaml import TELLING_KEYS, Document, top_keys
from tapeformer.formats.writing import lost_roles, one_plain_tape, refuse, unnamed_symbols
from tapeformer.formats.yaml_scalars import scalar_text
from tapeformer.formats.yaml_tree import Mapping, Node, Scalar, compose
from tapeformer.machine.record import Move, TuringMachine

NAME = "turingmachine.io"
TITLE = "turingmachine.io (YAML)"


def recognises(text: str) -> bool:
    """Return whether there is a `table:` or `source code:`, and no key that only tapeformer's YAML has."""
    keys = top_keys(text)
    return not keys.isdisjoint(("table", "source code")) and keys.isdisjoint(TELLING_KEYS)


def read(source: Source, conventions: Conventions) -> TuringMachine:
    """Read the machine of a file; keys that the site does not know are ignored, as the site does."""
    root = compose(source.text, source.name)
    name, inner = _saved(root)
    if inner is not None:
        above = "\n" * _first_line(source.text)
        source = replace(source, text=above + inner, stem=name or source.stem)
        root = compose(source.text, source.name)
    return Document.of(root, Collector(source)).machine(conventions, NAME)


def _saved(root: Node) -> tuple[str | None, str | None]:
    """Return the name and the text inside a saved document."""
    pairs = root.pairs if isinstance(root, Mapping) else []
    texts = {k.text: v.text for k, v in pairs if isinstance(k, Scalar) and isinstance(v, Scalar)}
    return texts.get("name"), texts.get("source code")


def _first_line(text: str) -> int:
    """Return how many lines are above the text inside a saved document."""
    lines = text.split("\n")
    starts = (number for number, line in enumerate(lines, 1) if line.startswith("source code"))
    return next(starts, 0)


def write(machine: TuringMachine) -> str:
    """Return the machine in this format; raise every reason why it does not fit."""
    refuse(NAME, _misfits(machine))
    lines = [f"# {line}".rstrip() for line in machine.description.splitlines()]
    lines += [f"name: {scalar_text(machine.name)}"]
    if machine.default_word is not None:
        lines += [f"input: {word_text(machine, machine.default_word)}"]
    lines += [f"blank: {scalar_text(machine.blank)}", f"start state: {scalar_text(machine.start)}"]
    lines += ["table:"]
    for state in machine.states:
        lines += [f"  {scalar_text(state)}:"]
        if state not in machine.stopping:
            lines += [f"    {rule_text(rule)}" for rule in machine.rules_of.get(state, [])]
    return "\n".join(lines) + "\n"


def losses(machine: TuringMachine) -> list[str]:
    """Return what is lost: roles, and symbols that no rule and no input names."""
    in_word = machine.default_word or ()
    unnamed = [symbol for symbol in unnamed_symbols(machine) if symbol not in in_word]
    extra = ["symbols that no rule names are left out"] if unnamed else []
    return [*lost_roles(machine), *extra]


def _misfits(machine: TuringMachine) -> dict[str, bool]:
    return {
        **one_plain_tape(machine),
        "it has stay moves": any(Move.STAY in rule.moves for rule in machine.rules),
        "a symbol has several characters": not machine.single_characters,
    }
