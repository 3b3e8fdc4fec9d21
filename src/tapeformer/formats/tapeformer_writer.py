"""Write tapeformer's YAML: every machine fits, and reads back as itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tapeformer.formats.yaml_scalars import scalar_text
from tapeformer.machine.record import AcceptOn, Case, Rule, TuringMachine


def write(machine: TuringMachine) -> str:
    """Return the machine as the text of a file, without loss."""
    return "\n".join([*_head(machine), *_table(machine), *_cases(machine)]) + "\n"


def losses(_: TuringMachine) -> list[str]:
    """Return nothing: the format keeps everything."""
    return []


def _head(machine: TuringMachine) -> Iterator[str]:
    yield f"name: {scalar_text(machine.name)}"
    if machine.description:
        yield f"description: {scalar_text(machine.description)}"
    if machine.default_word is not None:
        yield f"input: {word_text(machine, machine.default_word)}"
    yield f"tapes: {machine.tapes}"
    yield f"tape kind: {machine.tape_kind.value}"
    yield f"blank: {scalar_text(machine.blank)}"
    yield f"start state: {scalar_text(machine.start)}"
    roles = {"accept": machine.accepting, "reject": machine.rejecting, "halt": machine.halting}
    for key, states in roles.items():
        if states or key == "halt":
            yield f"{key}: {list_text(sorted(states))}"
    if machine.accept_on is not AcceptOn.ENTRY:
        yield f"accept on: {machine.accept_on.value}"
    if machine.no_rule_rejects:
        yield "no rule: reject"
    yield f"symbols: {list_text(machine.more_symbols)}"
    if machine.input_symbols:
        yield f"input symbols: {list_text(machine.input_symbols)}"


def _table(machine: TuringMachine) -> Iterator[str]:
    """Yield the rules in their order, one row per state in order of its first rule."""
    yield "table:"
    for state in dict.fromkeys((*machine.rules_of, *machine.states)):
        rules = machine.rules_of.get(state, [])
        yield f"  {scalar_text(state)}:" + ("" if rules else " {}")
        yield from (f"    {rule_text(rule)}" for rule in rules)


def rule_text(rule: Rule) -> str:
    """Return one entry of a row."""
    goal = scalar_text(rule.next_state)
    if len(rule.read) == 1:
        change = "" if rule.write == rule.read else f"write: {scalar_text(rule.write[0])}, "
        return f"{scalar_text(rule.read[0])}: {{{change}{rule.moves[0].letter}: {goal}}}"
    moves = "".join(move.letter for move in rule.moves)
    change = "" if rule.write == rule.read else f"write: {list_text(rule.write)}, "
    return f"{list_text(rule.read)}: {{{change}move: {moves}, to: {goal}}}"


def list_text(names: Iterable[str]) -> str:
    """Return texts as a YAML list on one line."""
    return "[" + ", ".join(map(scalar_text, names)) + "]"


def word_text(machine: TuringMachine, word: tuple[str, ...]) -> str:
    """Return a word as one text if that reads back as the same word, else as a list."""
    spelled = machine.spell(word)
    back = tuple(spelled) if machine.single_characters else tuple(spelled.split())
    return scalar_text(spelled) if back == word else list_text(word)


def _cases(machine: TuringMachine) -> Iterator[str]:
    if machine.cases:
        yield "cases:"
        yield from (f"  - {_case_text(machine, case)}" for case in machine.cases)


def _case_text(machine: TuringMachine, case: Case) -> str:
    parts = [f"input: {word_text(machine, case.word)}", f"outcome: {case.outcome}"]
    if case.state is not None:
        parts.append(f"state: {scalar_text(case.state)}")
    if case.steps is not None:
        parts.append(f"steps: {case.steps}")
    if case.tapes is not None:
        parts.append("tapes: [" + ", ".join(word_text(machine, tape) for tape in case.tapes) + "]")
    return "{" + ", ".join(parts) + "}"
