"""Read tapeformer's YAML: turingmachine.io's, extended to several tapes, roles and worked cases.

States whose row is empty are halting states, unless a `halt:` list says which ones are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeVar

from tapeformer.faults import did_you_mean, quoted
from tapeformer.formats.conventions import Conventions
from tapeformer.formats.reading import Collector, Draft, Source, finish
from tapeformer.formats.tapeformer_cases import read_cases, read_word
from tapeformer.formats.tapeformer_writer import losses, write
from tapeformer.formats.yaml_table import TableReader
from tapeformer.formats.yaml_tree import Items, Mapping, Node, Scalar, compose, kind_of
from tapeformer.machine.record import AcceptOn, TapeKind, TuringMachine

__all__ = ["NAME", "TITLE", "Document", "losses", "read", "recognises", "write"]

NAME = "tapeformer"
TITLE = "tapeformer's YAML (several tapes, roles, worked cases)"
SHARED_KEYS = ("name", "input", "blank", "start state", "synonyms", "table")
TELLING_KEYS = (
    *("tapes", "tape kind", "accept", "reject", "halt", "accept on", "no rule"),
    *("symbols", "input symbols", "cases"),
)
OWN_KEYS = ("description", *TELLING_KEYS)
MOST_TAPES = 16

Choice = TypeVar("Choice", bound=Enum)


def top_keys(text: str) -> set[str]:
    """Return what look like the keys at the top level of a YAML file."""
    lines = (line for line in text.split("\n") if ":" in line)
    return {line.split(":", 1)[0].rstrip().strip("'\"") for line in lines}


def recognises(text: str) -> bool:
    """Return whether there is a `table:` and a key that turingmachine.io does not have."""
    keys = top_keys(text)
    return "table" in keys and not keys.isdisjoint(TELLING_KEYS)


def read(source: Source, conventions: Conventions) -> TuringMachine:
    """Read the machine of a file; every key must be known."""
    document = Document.of(compose(source.text, source.name), Collector(source))
    document.check_keys()
    return document.machine(conventions, NAME)


@dataclass(frozen=True)
class Document:
    """The top level of a file: its keys, and the faults found so far."""

    entries: dict[str, Node]
    lines: dict[str, int]
    faults: Collector

    @classmethod
    def of(cls, root: Node, faults: Collector) -> Document:
        """Return the keys of a tree; a file that is not a mapping is refused."""
        if not isinstance(root, Mapping):
            faults.add("the file", root.line, "keys such as `blank:` and `table:`", kind_of(root))
            faults.raise_if_any()
        pairs = root.pairs if isinstance(root, Mapping) else []
        entries: dict[str, Node] = {}
        for key, value in pairs:
            name = key.text if isinstance(key, Scalar) else ""
            if name in entries:
                faults.add(f"the key {quoted(name)} is given twice", key.line)
            entries[name] = value
        lines = {key.text: key.line for key, _ in pairs if isinstance(key, Scalar)}
        return cls(entries, lines, faults)

    def check_keys(self) -> None:
        """Check that every key is known: this finds misspelt ones."""
        known = (*SHARED_KEYS, *OWN_KEYS)
        for key in self.entries:
            if key not in known:
                what, expected = f"unknown key {quoted(key)}", "one of " + ", ".join(known)
                nearest = did_you_mean(key, known)
                self.faults.add(what, self.lines.get(key), expected, remedy=nearest)

    def text(self, key: str, default: str | None = None) -> str | None:
        """Return a text, or the default if the key is missing or empty."""
        node = self.entries.get(key)
        if node is None or (isinstance(node, Scalar) and node.is_null):
            return default
        if not isinstance(node, Scalar):
            self.faults.add(f"`{key}`", node.line, "a text", kind_of(node))
            return default
        return node.text

    def names(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; a single text is a list of one."""
        node = self.entries.get(key)
        if node is None or (isinstance(node, Scalar) and node.is_null):
            return ()
        items = node.items if isinstance(node, Items) else [node]
        texts = tuple(item.text for item in items if isinstance(item, Scalar))
        if len(texts) < len(items):
            self.faults.add(f"`{key}`", node.line, "a list of texts", kind_of(node))
        return texts

    def choice(self, key: str, choices: type[Choice], default: Choice) -> Choice:
        """Return the member of an enumeration that a key names."""
        text = self.text(key, default.value)
        try:
            return choices(text)
        except ValueError:
            known = ", ".join(str(choice.value) for choice in choices)
            self.faults.add(f"`{key}`", self.lines[key], f"one of {known}", quoted(text or ""))
            return default

    def tapes(self) -> int:
        """Return the number of tapes, 1 if it is not stated."""
        text = self.text("tapes", "1") or ""
        if text.isascii() and text.isdecimal() and len(text) < 4 and 1 <= int(text) <= MOST_TAPES:
            return int(text)
        self.faults.add("`tapes`", self.lines["tapes"], f"1 to {MOST_TAPES}", quoted(text))
        return 1

    def required(self, key: str, example: str) -> str:
        """Return a text that must be there."""
        text = self.text(key)
        if text is None:
            self.faults.add(
                f"there is no `{key}`", 1, expected=f"a line such as `{key}: {example}`"
            )
        return text or ""

    def machine(self, conventions: Conventions, origin: str) -> TuringMachine:
        """Return the machine that the keys describe."""
        draft = self._draft(conventions)
        complete = not self.faults.faults
        machine = finish(draft, self.faults, conventions, origin)
        machine = self._with_roles(machine, draft.states)
        machine = self._with_examples(machine, complete)
        self._check_states(machine, draft.states)
        self.faults.raise_if_any(machine)
        return machine

    def _draft(self, conventions: Conventions) -> Draft:
        blank, start = self.required("blank", "' '"), self.required("start state", "q0")
        tapes = self.tapes()
        table = self.entries.get("table")
        if not isinstance(table, Mapping):
            got = "" if table is None else kind_of(table)
            self.faults.add("there is no table of rules", 1, "`table:` with a row a state", got)
            table = Mapping()
        matches_blank = conventions.wildcard_matches_blank is not False
        reader = TableReader(tapes, blank, matches_blank, self.faults)
        patterns, states = reader.read(table, self.entries.get("synonyms"))
        name = self.text("name") or self.faults.source.stem
        return Draft(
            name=name,
            tapes=tapes,
            blank=blank,
            start=start,
            patterns=tuple(patterns),
            states=tuple(states),
            symbols=(*self.names("symbols"), *self._input_letters()),
            input_symbols=self.names("input symbols"),
        )

    def _input_letters(self) -> tuple[str, ...]:
        """Return the symbols of the input in the file, which turingmachine.io does not declare."""
        word = self.entries.get("input")
        declared = "symbols" in self.entries or "input symbols" in self.entries
        return tuple(word.text) if isinstance(word, Scalar) and not declared else ()

    def _with_roles(self, machine: TuringMachine, states: tuple[str, ...]) -> TuringMachine:
        accepting, rejecting = frozenset(self.names("accept")), frozenset(self.names("reject"))
        with_rules = {rule.state for rule in machine.rules}
        silent = frozenset(states) - with_rules - accepting - rejecting
        halting = frozenset(self.names("halt")) if "halt" in self.entries else silent
        no_rule = self.choice("no rule", NoRule, NoRule.HALT)
        return replace(
            machine,
            accepting=accepting,
            rejecting=rejecting,
            halting=halting,
            tape_kind=self.choice("tape kind", TapeKind, TapeKind.TWO_WAY),
            accept_on=self.choice("accept on", AcceptOn, AcceptOn.ENTRY),
            no_rule_rejects=no_rule is NoRule.REJECT,
            description=(self.text("description", "") or "").strip(),
        )

    def _with_examples(self, machine: TuringMachine, complete: bool) -> TuringMachine:
        cases = read_cases(self.entries.get("cases"), machine, self.faults, complete)
        word = read_word(self.entries.get("input"), machine, self.faults)
        return replace(machine, cases=cases, default_word=word)

    def _check_states(self, machine: TuringMachine, declared: tuple[str, ...]) -> None:
        """Check that every state entered has a row or a role: this finds misspelt ones."""
        known = [*declared, *machine.accepting, *machine.rejecting, *machine.halting]
        entered = {rule.next_state: rule.location for rule in reversed(machine.rules)}
        if machine.start and machine.start not in known:
            nearest = did_you_mean(machine.start, known)
            what = f"the start state {quoted(machine.start)} has no row in the table"
            self.faults.add(what, self.lines["start state"], remedy=nearest or "add a row")
        for state in sorted(entered.keys() - set(known)):
            location, nearest = entered[state], did_you_mean(state, known)
            remedy = "add one (with nothing in it for a halting state), or correct the name"
            what = f"state {quoted(state)} has no row in the table"
            line = location.line if location else None
            self.faults.add(what, line, remedy=f"{nearest} {remedy}".strip())


class NoRule(Enum):
    """What a missing rule means in a machine without accepting states."""

    HALT = "halt"
    REJECT = "reject"
