"""Read the words and worked cases in tapeformer's YAML."""

from __future__ import annotations

from tapeformer.faults import did_you_mean, quoted
from tapeformer.formats.reading import Collector
from tapeformer.formats.yaml_tree import Items, Mapping, Node, Scalar, kind_of
from tapeformer.machine.record import Case, TuringMachine
from tapeformer.machine.verify import alphabet_text

KEYS = ("input", "outcome", "state", "steps", "tapes")
OUTCOMES = ("accept", "reject", "halt", "limit", "out_of_space")


def read_word(
    node: Node | None, machine: TuringMachine, faults: Collector
) -> tuple[str, ...] | None:
    """Read a word: a list of symbols, or a text (with spaces if some symbols are longer)."""
    if node is None:
        return None
    if isinstance(node, Scalar):
        return tuple(node.text) if machine.single_characters else tuple(node.text.split())
    if isinstance(node, Items) and all(isinstance(item, Scalar) for item in node.items):
        return tuple(item.text for item in node.items if isinstance(item, Scalar))
    faults.add("a word", node.line, "a text or a list of symbols", kind_of(node))
    return None


def read_cases(
    node: Node | None, machine: TuringMachine, faults: Collector, complete: bool
) -> tuple[Case, ...]:
    """Read the worked cases: `- {input: ..., outcome: ..., state: ..., steps: ..., tapes: [...]}`.

    `complete` says that all rules could be read, so that an unknown name is a fault.
    """
    if node is None or (isinstance(node, Scalar) and node.is_null):
        return ()
    if not isinstance(node, Items):
        faults.add("`cases`", node.line, "a list", kind_of(node))
        return ()
    cases = [_case(item, machine, faults, complete) for item in node.items]
    return tuple(case for case in cases if case is not None)


def _case(node: Node, machine: TuringMachine, faults: Collector, complete: bool) -> Case | None:
    if not isinstance(node, Mapping):
        faults.add("a case", node.line, "a mapping with " + ", ".join(KEYS), kind_of(node))
        return None
    entries = {key.text: value for key, value in node.pairs if isinstance(key, Scalar)}
    for key in entries:
        if key not in KEYS:
            faults.add(f"unknown key {quoted(key)} in a case", node.line, ", ".join(KEYS))
    outcome = _text(entries.get("outcome"))
    if outcome not in OUTCOMES:
        faults.add("a case's outcome", node.line, ", ".join(OUTCOMES), quoted(outcome or ""))
    if len(entries) < len(node.pairs):
        faults.add("a case's keys", node.line, "each of them once")
    case = Case(
        word=read_word(entries.get("input"), machine, faults) or (),
        outcome=outcome or "",
        state=_text(entries.get("state")),
        steps=_steps(entries.get("steps"), faults),
        tapes=_tapes(entries.get("tapes"), machine, faults),
    )
    if complete:
        _check_names(case, node.line, machine, faults)
    return case


def _check_names(case: Case, line: int, machine: TuringMachine, faults: Collector) -> None:
    """Check that the symbols and the state of a case are the machine's."""
    for symbol in dict.fromkeys(case.word):
        if symbol not in machine.word_symbols:
            what = f"a case's input has the symbol {quoted(symbol)}"
            faults.add(what, line, alphabet_text(machine))
    if case.state is not None and case.state not in machine.states:
        what = f"a case ends in the state {quoted(case.state)}"
        nearest = did_you_mean(case.state, machine.states)
        faults.add(what, line, "a state of the machine", remedy=nearest)


def _text(node: Node | None) -> str | None:
    return node.text if isinstance(node, Scalar) else None


def _steps(node: Node | None, faults: Collector) -> int | None:
    if node is None:
        return None
    text = (_text(node) or "").replace("_", "").replace(",", "")
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        faults.add("a case's steps", node.line, "a number", kind_of(node))
        return None
    return int(text)


def _tapes(
    node: Node | None, machine: TuringMachine, faults: Collector
) -> tuple[tuple[str, ...], ...] | None:
    if node is None:
        return None
    if not isinstance(node, Items) or len(node.items) != machine.tapes:
        faults.add("a case's tapes", node.line, f"a list of {machine.tapes} words", kind_of(node))
        return None
    return tuple(read_word(item, machine, faults) or () for item in node.items)
