"""What a machine can come to: the symbols on a tape, the rules that can apply, how it stops.

This is the compiler's own statement of it; the direct simulation shares none of this code.
"""

from __future__ import annotations

from tapeformer.machine.record import Rule, TuringMachine


def tape_symbols(machine: TuringMachine, tape: int) -> tuple[str, ...]:
    """Return the symbols that can be on a tape (from 0): the blank, the input's, and what rules write."""
    found = {machine.blank, *(rule.write[tape] for rule in machine.rules)}
    if tape == 0:
        found |= machine.word_symbols
    return tuple(symbol for symbol in machine.symbols if symbol in found)


def live_rules(machine: TuringMachine) -> tuple[Rule, ...]:
    """Return the rules that can apply: of a state that does not stop, reading what can be there."""
    symbols = [set(tape_symbols(machine, tape)) for tape in range(machine.tapes)]
    return tuple(
        rule
        for (state, read), rule in machine.rule_for.items()
        if state not in machine.stopping
        and all(symbol in known for symbol, known in zip(read, symbols, strict=True))
    )


def rule_numbers(machine: TuringMachine) -> dict[tuple[str, tuple[str, ...]], int]:
    """Return each rule's number, from 1 in the machine's order, by its state and symbols read."""
    numbered = reversed(list(enumerate(machine.rules, 1)))
    return {(rule.state, rule.read): number for number, rule in numbered}


def verdict_of(machine: TuringMachine, state: str) -> str:
    """Return the verdict where no rule applies in `state`, or where entering `state` stops the machine."""
    if state in machine.accepting:
        return "accept"
    rejects = state in machine.rejecting or bool(machine.accepting)
    unplanned = machine.no_rule_rejects and state not in machine.halting
    return "reject" if rejects or unplanned else "halt"
