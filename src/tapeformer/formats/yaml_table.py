"""Read the transition table of turingmachine.io's YAML, extended to several tapes.

One tape:     `q: {0: R, [1, 2]: {write: x, L: p}}`
Several:      `q: {[0, ~, [1, 2]]: {write: [x, ~, y], move: RSL, to: p}}`
A plain `~` reads any symbol, or keeps the one that was read. `S` stays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tapeformer.faults import quoted
from tapeformer.formats.patterns import Pattern, ReadPattern, any_of, anything, exactly
from tapeformer.formats.reading import Collector, moves_from
from tapeformer.formats.yaml_tree import Items, Mapping, Node, Scalar, kind_of
from tapeformer.machine.record import Move

MOVES = {"L": Move.LEFT, "R": Move.RIGHT, "S": Move.STAY}


@dataclass(frozen=True)
class _Action:
    """What an instruction says; None keeps the symbol or the state."""

    write: tuple[str | None, ...]
    moves: tuple[Move, ...]
    next_state: str | None


@dataclass
class TableReader:
    """Reads the rows of a table for a number of tapes, adding faults to `faults`."""

    tapes: int
    blank: str
    wildcard_matches_blank: bool
    faults: Collector

    def read(self, table: Mapping, synonyms: Node | None) -> tuple[list[Pattern], list[str]]:
        """Return the patterns of all rows, and every state that has a row."""
        actions = self._synonyms(synonyms)
        patterns: list[Pattern] = []
        states: dict[str, None] = {}
        for key, row in table.pairs:
            if not isinstance(key, Scalar):
                self.faults.add("a state's name", key.line, "a text", kind_of(key))
                continue
            if key.text in states:
                self.faults.add(f"state {quoted(key.text)} has two rows", key.line)
            states[key.text] = None
            patterns += self._row(key.text, row, actions)
        return patterns, list(states)

    def _synonyms(self, node: Node | None) -> dict[str, _Action]:
        if node is None or (isinstance(node, Scalar) and node.is_null):
            return {}
        if not isinstance(node, Mapping):
            self.faults.add("synonyms", node.line, "a mapping of names to instructions")
            return {}
        return {
            key.text: action
            for key, value in node.pairs
            if isinstance(key, Scalar) and (action := self._action(value, {})) is not None
        }

    def _row(self, state: str, row: Node, synonyms: dict[str, _Action]) -> list[Pattern]:
        if isinstance(row, Scalar) and row.is_null:
            return []
        if not isinstance(row, Mapping):
            expected = "a mapping of symbols to instructions, or nothing for a halting state"
            self.faults.add(f"the row of state {quoted(state)}", row.line, expected, kind_of(row))
            return []
        patterns = []
        for key, value in row.pairs:
            reads = self._reads(key)
            action = self._action(value, synonyms)
            if reads is not None and action is not None:
                location = self.faults.source.location(key.line)
                pattern = Pattern(state, reads, action.write, action.moves, action.next_state)
                patterns.append(replace(pattern, location=location))
        return patterns

    def _reads(self, key: Node) -> tuple[ReadPattern, ...] | None:
        parts = [key] if self.tapes == 1 else self._per_tape(key, "symbols read")
        reads = [self._one_read(part) for part in parts or []]
        known = tuple(read for read in reads if read is not None)
        return known if parts is not None and len(known) == self.tapes else None

    def _one_read(self, node: Node) -> ReadPattern | None:
        if isinstance(node, Scalar):
            if node.plain and node.text == "~":
                return anything(but=[] if self.wildcard_matches_blank else [self.blank])
            parts = node.text.split(",")
            listed = node.plain and len(parts) > 1 and all(len(part) == 1 for part in parts)
            return any_of(parts) if listed else exactly(node.text)
        if isinstance(node, Items) and node.items:
            texts = [item.text for item in node.items if isinstance(item, Scalar)]
            if len(texts) == len(node.items):
                return any_of(texts)
        self.faults.add(
            "what a rule reads", node.line, "a symbol or a list of symbols", kind_of(node)
        )
        return None

    def _per_tape(self, node: Node, what: str) -> list[Node] | None:
        """Return one entry per tape, from a list or a text with one character for each."""
        entries: list[Node] = []
        if isinstance(node, Items):
            entries = node.items
        elif isinstance(node, Scalar):
            entries = [Scalar(letter, node.line, plain=False) for letter in node.text]
        if len(entries) == self.tapes:
            return entries
        got = kind_of(node) if isinstance(node, Mapping) else f"{len(entries)}"
        self.faults.add(what, node.line, f"one entry for each of {self.tapes} tapes", got)
        return None

    def _action(self, node: Node, synonyms: dict[str, _Action]) -> _Action | None:
        if isinstance(node, Scalar):
            return self._short_action(node, synonyms)
        if isinstance(node, Mapping):
            return self._long_action(node)
        expected = "a move, a synonym, or a mapping such as {write: x, R: state}"
        self.faults.add("an instruction", node.line, expected, kind_of(node))
        return None

    def _short_action(self, node: Scalar, synonyms: dict[str, _Action]) -> _Action | None:
        if len(node.text) == self.tapes and all(letter in MOVES for letter in node.text):
            moves = tuple(MOVES[letter] for letter in node.text)
            return _Action((None,) * self.tapes, moves, None)
        if node.text not in synonyms:
            expected = f"{self.tapes} of L, R, S, or a synonym"
            self.faults.add("an instruction", node.line, expected, kind_of(node))
        return synonyms.get(node.text)

    def _long_action(self, node: Mapping) -> _Action | None:
        entries = {key.text: value for key, value in node.pairs if isinstance(key, Scalar)}
        unknown = [key for key in entries if key not in ("write", "move", "to", *MOVES)]
        moving = [key for key in entries if key in MOVES]
        if unknown or len(entries) < len(node.pairs):
            got = quoted(unknown[0]) if unknown else "a key that is no text, or one twice"
            self.faults.add("an instruction's key", node.line, "write, L, R, S, move, to", got)
            return None
        if len(moving) + ("move" in entries) != 1 or (moving and self.tapes > 1):
            expected = "one of L, R, S" if self.tapes == 1 else "move: with a letter for each tape"
            self.faults.add("an instruction's move", node.line, expected)
            return None
        moves_node = Scalar(moving[0], node.line) if moving else entries["move"]
        moves, write = self._moves(moves_node), self._writes(entries.get("write"))
        goal = entries.get(moving[0] if moving else "to")
        return _Action(write, moves, self._goal(goal)) if moves and write else None

    def _moves(self, node: Node) -> tuple[Move, ...] | None:
        entries = self._per_tape(node, "moves")
        if entries is None:
            return None
        letters = [entry.text if isinstance(entry, Scalar) else "" for entry in entries]
        return moves_from(letters, MOVES, self.faults, node.line)

    def _writes(self, node: Node | None) -> tuple[str | None, ...] | None:
        if node is None:
            return (None,) * self.tapes
        entries = [node] if self.tapes == 1 else self._per_tape(node, "symbols written")
        if entries is None or not all(isinstance(entry, Scalar) for entry in entries):
            self.faults.add(
                "what a rule writes", node.line, "a symbol for each tape", kind_of(node)
            )
            return None
        scalars = [entry for entry in entries if isinstance(entry, Scalar)]
        return tuple(None if s.plain and s.text == "~" else s.text for s in scalars)

    def _goal(self, node: Node | None) -> str | None:
        if node is None or (isinstance(node, Scalar) and node.is_null):
            return None
        if not isinstance(node, Scalar):
            self.faults.add("the next state", node.line, "a state's name", kind_of(node))
            return None
        return node.text
